"""The result of a sanitizer: the released text, its receipt and its guarantee.

A proved bound is written in few digits, rounded to the side on which it still holds.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from perturb.display import (
    Comparison,
    compare_parts,
    compare_words,
    show_columns,
    show_details,
    show_rows,
)
from perturb.text.fold import STROKES

__all__ = [
    "EMPTY",
    "Guarantee",
    "Known",
    "Link",
    "Perturbation",
    "Protected",
    "Receipt",
    "Replacement",
    "RequestLink",
    "Span",
    "Taken",
    "Unit",
    "format_lower",
    "format_sum",
    "format_upper",
]


Known = Mapping[str, str]  # raw sensitive parts of other texts, each with its type
EMPTY: Known = MappingProxyType({})
Link = Callable[[str], np.random.Generator]
# Failures of `take` in one request, and for each replacement of it: they bound the work of finding
# free ones.
_FAILURES, _FAILURES_EACH = 20_000, 10
_LETTERS = re.compile(r"[^\W\d_]+")
_WORD = re.compile(r"[^\W\d_]+|[0-9]+")
_DOMAIN = re.compile(r"(?:@|//)([\w-]{1,63}(?:\.[\w-]{1,63}){1,8})")
Protected = Literal["token", "marked part", "generated token", "sentence", "document"]


class Taken:
    """The replacements of one request, each with the value that it stands for.

    Forms that differ only in capitals, accents and punctuation count as one.

    Args:
        pairs: each replacement with its raw value.
        texts: the raw texts of the request; what is taken whole occurs in none of them.
    """

    def __init__(self, pairs: Iterable[tuple[str, str]] = (), texts: Iterable[str] = ()) -> None:
        self._pairs, self._texts = tuple(pairs), tuple(texts)
        self._failures = 0

    @cached_property
    def _values(self) -> dict[str, str]:
        values: dict[str, str] = {}
        for new, raw in self._pairs:
            ours, theirs = _LETTERS.findall(new), _LETTERS.findall(raw)
            words = zip(ours, theirs, strict=True) if len(ours) == len(theirs) else ()
            for one, value in ((new, raw), *words):
                values.setdefault(_fold(one), _fold(value))
        return values

    def take(self, new: str, raw: str) -> bool:
        """Take a replacement for a value; return False if it stands for another one.

        After too many failures it is true for any: what collides is not restored then.
        """
        value = _fold(raw)
        free = self._values.setdefault(_fold(new), value) == value
        self._failures += not free
        return free or self._failures > _FAILURES + _FAILURES_EACH * len(self._values)

    @cached_property
    def words(self) -> frozenset[str]:
        """Return the words and the numbers of the texts, folded."""
        return frozenset(
            _fold(word) for word in {w for t in self._texts for w in _WORD.findall(t)}
        )

    @cached_property
    def _words_news(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for pair in self._pairs:
            # A domain may have a person's name, and a surrogate of its own.
            new, raw = (_DOMAIN.sub("@", text) for text in pair)
            ours, theirs = _LETTERS.findall(new), _LETTERS.findall(raw)
            for one, value in zip(ours, theirs, strict=False) if len(ours) == len(theirs) else ():
                found.setdefault(_fold(value), one)
        return found

    def find_word(self, raw: str) -> str | None:
        """Return the word that stands for a word in an earlier replacement; None without one."""
        return self._words_news.get(_fold(raw))

    @cached_property
    def _domains_news(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for new, raw in self._pairs:
            ours, theirs = _DOMAIN.findall(new), _DOMAIN.findall(raw)
            for one, value in zip(ours, theirs, strict=False) if len(ours) == len(theirs) else ():
                found.setdefault(value.lower(), one)
        return found

    def find_domain(self, raw: str) -> str | None:
        """Return the domain that stands for a domain in an earlier address; None without one."""
        return self._domains_news.get(raw.lower())

    @cached_property
    def _wholes(self) -> dict[str, str]:
        return dict(self._pairs)

    def take_whole(self, new: str, raw: str) -> bool:
        """Take a replacement for exactly this value; return False if it stands for another one,
        in other capitals, too, or if it occurs in a text of the request."""
        if new not in self._wholes and any(new in text for text in self._texts):
            return False
        return self._wholes.setdefault(new, raw) == raw


def _fold(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.casefold().translate(STROKES))
    return "".join(filter(str.isalnum, plain)) or plain


@dataclass(frozen=True)
class RequestLink:
    """Link the texts of one request: the noise of an entity, and what different ones share.

    Attributes:
        noise: of an entity by its raw text.
        taken: the replacements of the request.
        day_first: whether the day is before the month where a date does not tell; None if
            nothing does.
        tagged: raw values that get a tag, whatever the action for their type: their surrogate
            did not come back.
        respelled: words of persons' names, in small letters, that get another surrogate than
            other spellings of the same name, such as `soren` beside `Søren`.
        earlier: the replacements of earlier turns, by the type and the raw value of their parts.
    """

    noise: Link
    taken: Taken
    day_first: bool | None = None
    tagged: frozenset[str] = frozenset()
    respelled: frozenset[str] = frozenset()
    earlier: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def __call__(self, entity: str) -> np.random.Generator:
        return self.noise(entity)


@dataclass(frozen=True)
class Guarantee:
    """State the proved bound for one released unit.

    Attributes:
        kind: `ldp`; `metric` where ε is per unit of distance (metric differential privacy);
            `none` where the nominal ε is not a bound.
        nominal: the configured ε.
        epsilon: the proved bound for replacing one unit by any other (metric mechanisms: ε times
            the largest distance between two units); ∞ if no bound is proved.
        statement: the guarantee in one sentence.
        unit: the unit that ε refers to: a `token` of the text, a word of a `marked part`, a
            `generated token` given those before it, a `sentence`, or the whole `document`.

    >>> Guarantee("ldp", 6.0, 6.0, "each released token is 6-LDP").unit
    'token'
    """

    kind: Literal["ldp", "metric", "none"]
    nominal: float
    epsilon: float
    statement: str
    unit: Protected = "token"


class Span(NamedTuple):  # a text may have thousands
    """Mark a sensitive part of a text: characters `start` to `end` (exclusive), and its type.

    >>> Span(5, 9, "NAME") < Span(8, 9, "AGE")
    True
    """

    start: int
    end: int
    type: str


@dataclass(frozen=True)
class Receipt:
    """Record the treatment of one document, in counts. A receipt holds no text.

    Attributes:
        mechanism, parameters, table: the source of the noise.
        tokens: the number of tokens of each class in the document.
        treatment: the treatment of each class.
        released: the number of tokens that the mechanism released.
        statistics: public figures of the draw.
        guarantee: the kind of guarantee; `statement` says it in words.
        epsilon_nominal: the configured ε, per unit.
        epsilon_per_token: the proved bound per unit (∞ if there is none).
        epsilon_per_document: the proved bound for replacing all released tokens at once.
        unbounded: the number of released tokens without a proved bound: those that no policy
            marked, and those drawn by a mechanism without a bound. Layout does not count.
        reveals: the facts about the document that the released text shows by design.
        entities: the number of replaced parts of each type, where parts are marked.
        actions: the number of parts of each type by their action, if it is not `replace`: those
            that were found and are left (`keep`) are no entities.
        vocabulary: the words of V, in a sentence; empty where no word of V is drawn.
        unit: the unit that the ε of the guarantee refers to, see `Guarantee`.
    """

    mechanism: str
    parameters: dict[str, Any]
    table: str
    tokens: dict[str, int]
    treatment: dict[str, str]
    released: int
    statistics: dict[str, float]
    guarantee: str
    statement: str
    epsilon_nominal: float
    epsilon_per_token: float
    epsilon_per_document: float
    unbounded: int
    reveals: tuple[str, ...]
    entities: dict[str, int] = field(default_factory=dict)
    actions: dict[str, dict[str, int]] = field(default_factory=dict)
    vocabulary: str = ""
    unit: str = "token"

    def to_dict(self) -> dict[str, Any]:
        """Return the receipt ready for JSON, which has no infinite numbers: an infinite ε becomes
        the string "infinity"."""
        out: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        for key in ("epsilon_per_token", "epsilon_per_document"):
            if math.isinf(out[key]):
                out[key] = "infinity"
        out["reveals"] = list(self.reveals)
        return out

    def _repr_html_(self) -> str:
        return show_rows((name.replace("_", " "), value) for name, value in self.to_dict().items())


@dataclass(frozen=True)
class Replacement:
    """Record one replaced part: its characters in the raw text (`start` to `end`, exclusive),
    its type, and the text that replaces it.

    >>> Replacement(5, 9, "NAME", "Mary").type
    'NAME'
    """

    start: int
    end: int
    type: str
    text: str


@dataclass(frozen=True)
class Perturbation:
    """A released text and its receipt. It holds nothing of the sensitive raw text, so it may
    be stored.

    Attributes:
        text: the released text.
        words: the words that the mechanism released, in order.
        receipt: the record of the treatment, in counts.
        replaced: the replaced parts, in order, if the rest was released verbatim; None if
            everything was perturbed.
    """

    text: str
    words: tuple[str, ...]
    receipt: Receipt
    replaced: tuple[Replacement, ...] | None = None

    def compare(self, raw: str) -> Comparison:
        """Compare the release with the text that it was made of.

        The result holds the raw text; in a notebook it shows both side by side.

        >>> from perturb import get_mechanism, seeded_generator
        >>> mechanism = get_mechanism("selective", epsilon=8, policy="digits")
        >>> made = mechanism.perturb("Room 1408.", seeded_generator(1))
        >>> made.compare("Room 1408.")
        <Comparison: 1 of 2 words changed>
        """
        parts = [(part.start, part.end, part.text) for part in self.replaced or ()]
        known = None if self.replaced is None else compare_parts(raw, self.text, parts)
        return Comparison(known or compare_words(raw, self.text))

    def _repr_html_(self) -> str:
        """Show the released text, its replaced parts marked, and the receipt."""
        parts = self._mark_replaced()
        if "".join(text for text, _ in parts) != self.text:
            parts = [(self.text, False)]
        receipt = show_details(f"Receipt: {self.receipt.statement}", self.receipt._repr_html_())
        return show_columns(("released", parts)) + receipt

    def _mark_replaced(self) -> list[tuple[str, bool]]:
        """Return the stretches of the released text, and whether each replaces a part."""
        parts, place, shift = [], 0, 0
        for part in self.replaced or ():
            parts += [(self.text[place : part.start + shift], False), (part.text, True)]
            shift += len(part.text) - (part.end - part.start)
            place = part.end + shift
        return [*parts, (self.text[place:], False)]


@dataclass(frozen=True)
class Unit:
    """A stretch of a text that is released on its own.

    Attributes:
        text: the raw stretch; "" where there is nothing but white space.
        after: the white space that is released after it.
        start: its first character, counted from the beginning of the text.
    """

    text: str
    after: str = ""
    start: int = 0


def format_upper(bound: float, digits: int = 6) -> str:
    """Return an upper bound, such as ε or δ, in so many significant digits, rounded up.

    >>> format_upper(1.55611, 4), format_upper(6.0000049), format_upper(6.0)
    ('1.557', '6.00001', '6')
    """
    return _format(bound, digits, ROUND_CEILING)


def format_lower(bound: float, digits: int = 6) -> str:
    """Return a lower bound, such as an ε that is refuted, rounded down.

    >>> format_lower(1.5569, 4)
    '1.556'
    """
    return _format(bound, digits, ROUND_FLOOR)


def format_sum(bound: float, digits: int = 6) -> str:
    """Return a sum of upper bounds as `format_upper` does. A sum of doubles is right in 12 digits
    of each of its parts: further ones are no part of it.

    >>> format_sum(0.1 + 0.2), format_sum(1.55611, 4)
    ('0.3', '1.557')
    """
    return format_upper(float(f"{bound:.12g}"), digits)


# A double is written in full as the shortest decimal that reads as it: 0.1 is 0.1.
def _format(bound: float, digits: int, rounding: str) -> str:
    if not math.isfinite(bound):
        return f"{bound:g}"
    rounded = Context(prec=digits, rounding=rounding).create_decimal(repr(bound))
    # `g` drops zeros at the end, and the decimal has no more digits than it writes.
    return format(float(rounded), f".{digits}g")
