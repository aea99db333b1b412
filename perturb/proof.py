"""The contract of exact proofs of ε: the largest P(y | x)/P(y | x'), without trusting any
rounding."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from perturb.release import Protected

__all__ = ["Progress", "Proof", "Worst"]

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Worst:
    """The inputs and the release with the largest ratio.

    Attributes:
        pair: names of x, x' and y.
        ratio: P(y | x)/P(y | x') there, exactly.
        bound: at least every ratio that there is.
    """

    pair: Mapping[str, str]
    ratio: Fraction
    bound: Fraction


class Proof(ABC):
    """Prove the ε of one sanitizer.

    Attributes:
        method: the method of proof, as the certificate states it.
        unit: the unit that ε refers to.
    """

    method: str
    unit: Protected = "token"

    @property
    @abstractmethod
    def vocabulary(self) -> str:
        """Describe in a sentence what can be released."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Return how many releases there are."""

    @abstractmethod
    def find_worst(self, progress: Progress) -> Worst:
        """Compare all inputs; `progress` is called with (done, total).

        Raises:
            CertificateError: what the proof rests on is broken.
        """

    @abstractmethod
    def ratio_of(self, pair: Mapping[str, str]) -> Fraction:
        """Return P(y | x)/P(y | x') for named x, x' and y, exactly and quickly.

        Raises:
            KeyError, ValueError: there is no such input.
        """
