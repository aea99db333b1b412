"""The guard: the last look at a request body before it goes to the remote.

It trusts nothing that came before it. It reads the finished bytes, and lets them pass only if
every private segment in them is what the mechanism returned, nothing else in them repeats the
private text, and the mechanism changed as many words as its channel says it does.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from perturb import Perturbation, Perturber
from perturb.vocabulary import LAYOUT
from proxy.errors import GuardRefused

__all__ = ["Clearance", "Segment", "check", "too_many_kept"]

WINDOW = 5  # consecutive private words that nothing else in the body may repeat
FALSE_ALARM = 1e-9  # probability that an honest draw is refused by the kept-words rule
_WORD = re.compile(r"\w+")
_RELEASABLE = LAYOUT | set("0123456789")


@dataclass(frozen=True)
class Segment:
    """A private text, what was released for it, and what released it. Lives for one request."""

    raw: str
    released: Perturbation
    perturber: Perturber


@dataclass(frozen=True)
class Clearance:
    """What may be in one outgoing body.

    Attributes:
        segments: the private segments, in the order in which they stand in the body.
        known: texts the remote wrote itself (its earlier generations).
        private: every raw text of the request, whether its perturbation is sent or not.
        constants: the operator's templates: public, so their words cannot leak.
    """

    segments: tuple[Segment, ...]
    known: tuple[str, ...]
    private: tuple[str, ...]
    constants: tuple[str, ...]


def check(body: bytes, clearance: Clearance) -> None:
    """Look at a finished body.

    Raises:
        GuardRefused: it breaks a rule; `rule` says which.
    """
    try:
        strings = list(_strings(json.loads(body)))
    except ValueError:
        raise GuardRefused("the body is not JSON") from None
    for segment in clearance.segments:
        _check_release(segment)
    rest = _remove(strings, [segment.released.text for segment in clearance.segments])
    rest = _remove(rest, list(clearance.known))
    _check_rest(rest, clearance)


def too_many_kept(kept: int, rates: Sequence[float] | np.ndarray[Any, Any]) -> bool:
    """Whether `kept` unchanged words are more than the channel explains.

    Chernoff's bound for a sum of independent indicators with mean μ = Σ rates:
    Pr[sum ≥ c] ≤ e^{c − μ}·(μ/c)^c. A channel of rate 1 may keep everything.
    """
    mean = float(np.sum(rates))
    if kept == 0 or kept <= mean:
        return False
    if mean == 0:
        return True
    return kept - mean + kept * math.log(mean / kept) < math.log(FALSE_ALARM)


def _check_release(segment: Segment) -> None:
    """The released text holds released words, fresh digits and layout, and nothing else; and not
    too many of the words stand where the raw text has them."""
    released, perturber = segment.released, segment.perturber
    letters = "".join(c for c in released.text if c not in _RELEASABLE)
    if letters != "".join(released.words):
        raise GuardRefused("a released text holds more than released words")
    vocabulary = perturber.vocabulary
    _, places = perturber.places(vocabulary.encode(segment.raw))
    if len(places) != len(released.words):
        raise GuardRefused("a released text does not belong to its document")
    kept = sum(
        vocabulary.words[place] == word
        for place, word in zip(places.tolist(), released.words, strict=True)
    )
    if too_many_kept(kept, perturber.mechanism.keep_rate(places)):
        raise GuardRefused("the mechanism left too many words unchanged")


def _remove(strings: list[str], texts: list[str]) -> list[str]:
    """Cut each text out of the strings once; what is left is everything else.

    Raises:
        GuardRefused: a text that should be there, byte for byte, is not.
    """
    for text in sorted(filter(None, texts), key=len, reverse=True):
        for i, string in enumerate(strings):
            start = string.find(text)
            if start >= 0:
                strings = [
                    *strings[:i],
                    string[:start],
                    string[start + len(text) :],
                    *strings[i + 1 :],
                ]
                break
        else:
            raise GuardRefused("a private segment is not what the mechanism returned")
    return strings


def _check_rest(rest: list[str], clearance: Clearance) -> None:
    """Nothing outside the segments repeats the private text, unless it is the operator's own
    template that says it.

    A private text shorter than the window counts as a whole from three words on: one or two
    words ("yes", "the report") are in any template.
    """
    private: set[tuple[str, ...]] = set()
    for text in clearance.private:
        private |= _windows(_words(text))
    for text in clearance.constants:
        private -= {w for size in (3, 4, WINDOW) for w in _grams(_words(text), size)}
    for string in rest:
        words = _words(string)
        for size in (3, 4, WINDOW):
            if not private.isdisjoint(_grams(words, size)):
                raise GuardRefused("text outside the private segments repeats private words")


def _windows(words: list[str]) -> set[tuple[str, ...]]:
    if len(words) < 3:
        return set()
    return _grams(words, min(WINDOW, len(words)))


def _grams(words: list[str], size: int) -> set[tuple[str, ...]]:
    return {tuple(words[i : i + size]) for i in range(len(words) - size + 1)}


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _strings(value: Any) -> list[str]:
    """Every string in a JSON value, keys included."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [s for key, item in value.items() for s in (key, *_strings(item))]
    if isinstance(value, list):
        return [s for item in value for s in _strings(item)]
    return []
