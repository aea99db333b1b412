"""Define the interface of mechanisms that mark the parts of a text to replace."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence

from perturb.mechanisms.base import Mechanism
from perturb.release import EMPTY, Guarantee, Known, Span

__all__ = ["MarkingMechanism"]


class MarkingMechanism(Mechanism):
    """Mark parts of a text and release the rest verbatim.

    Attributes:
        consistent: whether equal words and equal parts get one replacement.
    """

    verbatim = True
    marks = True
    consistent: bool = True

    @property
    @abstractmethod
    def part_guarantee(self) -> Guarantee:
        """Return the guarantee of one released token of the parts that `spans` marks."""

    @abstractmethod
    def spans(self, text: str, known: Known = EMPTY) -> tuple[Span, ...] | None:
        """Return the parts of a text to perturb, in order and disjoint; None for all of it.

        `known` parts are sensitive in this text, too.
        """

    @property
    def finder(self) -> str:
        """Return the name of what is marked, and how: equal names treat equal texts alike. "" if
        nothing tells that."""
        return ""

    @property
    def value_epsilon(self) -> float:
        """Return ε of one step of a value's grid."""
        return 0.5

    @property
    def draws_names(self) -> bool:
        """Tell if some parts are replaced by public names."""
        return False

    def action(self, type_: str) -> str:
        """Return the action for marked parts of a type (`perturb.selective.profiles`)."""
        del type_
        return "replace"

    def redraws(self, type_: str, text: str) -> bool:
        """Tell if a part is a bare number that stays one, though its type has no surrogate: JSON
        and CSV have no place for a tag."""
        del type_, text
        return False

    def count_kept(self, text: str, spans: Sequence[Span]) -> Mapping[str, int]:
        """Count by type the parts that were found and are left, beside the marked `spans`."""
        del text, spans
        return {}
