"""Mark names and other personal data with the bundled token classifier (extra `detect`)."""

from __future__ import annotations

import copy
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from perturb.errors import ParameterError
from perturb.release import Span
from perturb.sanitizer import Policy
from perturb.selective.token_model import OUTSIDE, TokenModel, load_token_model
from perturb.text.fold import read

__all__ = ["DETECTED", "NAMES", "DetectorPolicy"]

# The types that the classifier tells apart, as Presidio names them where it has the type.
DETECTED = (
    "PERSON",
    "LOCATION",  # also addresses
    "ORGANIZATION",
    "DATE_TIME",  # also durations
    "DEMOGRAPHIC",  # age, profession, nationality, religion, illness
    "QUANTITY",  # also amounts of money
    "ID",
    "OTHER_NAME",  # of a work, an event or a law
)
NAMES = ("PERSON", "LOCATION", "ORGANIZATION")
RULES = 1  # increment whenever the code here and in token_model marks other parts


class DetectorPolicy:
    """Mark what the classifier takes for a name or other personal data.

    Args:
        entities: the types to mark, of `DETECTED`; all of them if none is named.
        names: finds names by their capitals: one of which the classifier marks a word is marked as
            a whole.
        model: another classifier than the bundled one.
        thresholds: the probability from which a type is marked. The most likely label of a word
            counts for types without one. The probabilities are the model's own, not calibrated.

    Raises:
        MissingPackage: the extra is not installed.
        DetectorError: the model is missing or damaged.
        ParameterError: the classifier does not know one of the types.
    """

    def __init__(
        self,
        entities: Sequence[str] = (),
        names: Policy | None = None,
        model: TokenModel | None = None,
        thresholds: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        unknown = {*entities, *thresholds}.difference(DETECTED)
        if unknown:
            raise ParameterError(f"entities must be among {', '.join(sorted(DETECTED))}")
        self._model, self._names = model or load_token_model(), names
        self._wanted = frozenset(entities or DETECTED)
        self._thresholds, self._lowered = dict(thresholds), dict[str, float]()

    @property
    def version(self) -> str:
        """Return what is equal where equal texts get equal marks."""
        least = [sorted(each.items()) or "" for each in (self._thresholds, self._lowered)]
        other = getattr(self._names, "version", "")
        return " ".join(["detector", f"{RULES}", self._model.sha256, *map(str, least), other])

    def lower(self, thresholds: Mapping[str, float]) -> DetectorPolicy:
        """Return this policy, which also marks words from these probabilities on. It marks no
        fewer words, whatever they are."""
        made = copy.copy(self)
        both = {type_: min(p, self._lowered.get(type_, p)) for type_, p in thresholds.items()}
        made._lowered = {**self._lowered, **both}
        return made

    def find(self, text: str) -> Iterable[Span]:
        found = tuple(self._mark(text))
        return (*found, *self._complete(text, found))

    def _mark(self, text: str) -> Iterator[Span]:
        reading = read(text)
        for start, end, label in self._join(reading.text):
            if self._model.labels[label] in self._wanted:
                yield Span(*reading.span(start, end), self._model.labels[label])

    def _complete(self, text: str, found: Sequence[Span]) -> Iterator[Span]:
        """Yield the names of which a word is found as a name."""
        named = [span for span in found if span.type in NAMES]
        ends = [span.end for span in named]
        for name in self._names.find(text) if self._names and named else ():
            at = bisect_right(ends, name.start)
            if at < len(named) and named[at].start < name.end:
                yield Span(name.start, name.end, named[at].type)

    def _spell(self, thresholds: Mapping[str, float]) -> NDArray[np.float64]:
        """Return the thresholds by label, float64 (labels,); ∞ for a label without one."""
        return np.array([thresholds.get(label, np.inf) for label in self._model.labels])

    def _join(self, text: str) -> Iterator[tuple[int, int, int]]:
        """Yield runs of words of one label in a line, without the signs around them."""
        run = (0, 0, OUTSIDE)
        given = self._thresholds or self._lowered
        least, lowered = (self._spell(each) for each in (self._thresholds, self._lowered))
        for start, end, label in self._model.classify(text, least if given else None, lowered):
            if label == OUTSIDE and run[2] == OUTSIDE:
                continue
            if label == run[2] and "\n" not in text[run[1] : start]:
                run = (run[0], end, label)
                continue
            yield from _trim(text, *run)
            run = (start, end, label)
        yield from _trim(text, *run)


def _trim(text: str, start: int, end: int, label: int) -> Iterator[tuple[int, int, int]]:
    if label == OUTSIDE:
        return
    while start < end and not text[start].isalnum():
        start += 1
    while start < end and not text[end - 1].isalnum():
        end -= 1
    if start < end:
        yield start, end, label
