"""Mark the sensitive parts of a text with policies, and apply the same rules to every finding.

A finding is widened to whole words, and overlapping findings become one; one that is too long
for a part becomes several, and so does a name that goes on in the line below a short one, if that
has a number: an address, as in the head of a letter. A part found once is sensitive wherever else
it occurs as a whole, in any capitals, and so is every distinctive word of a name. All rules read
the text as it is displayed (perturb.text.fold).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import lru_cache
from hashlib import sha256
from itertools import chain
from math import ceil
from types import MappingProxyType

from perturb.errors import ParameterError
from perturb.release import Span
from perturb.sanitizer import Policy
from perturb.selective.parts import LONGEST_REPEAT, Parts, Tokens, read_tokens
from perturb.selective.patterns import (
    NAME,
    RULES,
    SHIPPED,
    Shape,
    find_distinctive_words,
    find_names,
    shape_types,
)
from perturb.selective.patterns.forms import find_fields, find_listed
from perturb.selective.patterns.given import is_ordinary_word
from perturb.selective.patterns.letters import find_addressees
from perturb.selective.patterns.names import NAME_TYPES
from perturb.selective.patterns.shape import Facts, Index
from perturb.selective.patterns.tables import CELL_TYPES, find_cells
from perturb.text.fold import Reading, fold, read, spell_entities
from perturb.text.search import Expression
from perturb.vocabulary.vocabulary import LAYOUT

__all__ = [
    "PatternPolicy",
    "Policy",
    "collect_parts",
    "compile_patterns",
    "drop_numbered",
    "merge",
    "settle",
    "widen",
]

_ESCAPE = re.compile(r"\\u[0-9a-fA-F]{4}")
_TYPE = re.compile(r"[A-Z][A-Z0-9_]*")
_FIELDS = frozenset(("NAME", "ORGANIZATION", "PERSON"))
WRAPPED = 45  # characters of the shortest line that prose fills
# A linear expression takes 0.3 s on the longest text; the clock also runs for other threads.
EXPRESSION_SECONDS = 2.0


class PatternPolicy:
    """Find sensitive parts by their form.

    Args:
        shapes: the expressions.
        proper: words that are names wherever they have a capital, see
            `perturb.selective.patterns.find_names`; None to look for no names.
        common: words in small letters that are ordinary, see `find_names`.
        lexicon: the words of a dictionary, see `find_names`.
        cells: the types of cells of tables to look for, see `find_cells`.

    Attributes:
        version: equal where equal texts get equal marks, also in a later release of this code.

    >>> [*PatternPolicy.shipped(["EMAIL_ADDRESS"]).find("Write to anna@example.org.")][0].type
    'EMAIL_ADDRESS'
    """

    def __init__(
        self,
        shapes: Sequence[Shape],
        *,
        proper: Collection[str] | None = None,
        common: Collection[str] = (),
        lexicon: Collection[str] = (),
        cells: Collection[str] = (),
    ) -> None:
        self._cells = frozenset(cells)
        self._shapes = tuple(shapes)
        self._index = Index(shape.clue for shape in shapes)
        self._proper, self._common, self._lexicon = proper, common, lexicon
        marks = [(shape.type, shape.source) for shape in shapes]
        self.version = sha256(
            repr((RULES, proper is not None, marks, sorted(self._cells))).encode()
        ).hexdigest()

    def find(self, text: str) -> Iterable[Span]:
        # The unfolded text, too: an expression may match characters that folding changes. And the
        # text as displayed: a character without width may separate words or join them.
        places, spelled = (range(len(text)), range(1, len(text) + 1)), spell_entities(text)
        readings = {r.text: r for r in (Reading(t, *places) for t in (fold(spelled), spelled))}
        shown = read(text)
        readings.setdefault(shown.text, shown)
        facts = {text: Facts(text) for text in readings}
        addresses: list[int] = []
        for reading in readings.values():
            for number in self._index.find(facts[reading.text]):
                shape = self._shapes[number]
                for start, end in shape.search(facts[reading.text]):
                    yield Span(*reading.span(start, end), shape.type)
                    if shape.type == "STREET_ADDRESS" and reading.text == shown.text:
                        addresses.append(start)
            if self._proper is not None:
                words = self._proper, self._common, self._lexicon
                for start, end in find_names(reading.text, *words):
                    yield Span(*reading.span(start, end), NAME)
        for start, end, type_ in find_cells(text) if self._cells else ():
            if type_ in self._cells:
                yield Span(start, end, type_)
        for start, end, type_ in find_fields(shown.text) if self._cells else ():
            if type_ in self._cells:
                yield Span(*shown.span(start, end), type_)
        if "PERSON" in self._cells:
            listed = find_listed(facts[shown.text])
            for start, end in chain(listed, find_addressees(shown.text, addresses)):
                yield Span(*shown.span(start, end), "PERSON")

    @classmethod
    def shipped(
        cls,
        entities: Sequence[str] = (),
        proper: Collection[str] = (),
        common: Collection[str] = (),
        lexicon: Collection[str] = (),
    ) -> PatternPolicy:
        """Build the policy of the shipped set, or of these types of it.

        Raises:
            ParameterError: the set does not find one of the types.
        """
        policy = copy(_build_shipped(_check_types(entities, shape_types())))
        if policy._proper is not None:
            policy._proper = proper
        policy._common, policy._lexicon = common, lexicon
        return policy

    @classmethod
    def digits(cls, entities: Sequence[str] = ()) -> PatternPolicy:
        """Build the policy that marks every run of digits, of the type NUMBER (the thesis'
        policy).

        Raises:
            ParameterError: one of the types is not NUMBER.
        """
        shapes = [Shape("NUMBER", re.compile(r"\d+"))]
        _check_types(entities, [shape.type for shape in shapes])
        return cls(shapes)


# Every key with settings of its own has such a policy; its index of clues takes long.
@lru_cache(maxsize=64)
def _build_shipped(types: frozenset[str]) -> PatternPolicy:
    """Build the policy of these types of the shipped set; it knows no words yet."""
    shapes = [shape for shape in SHIPPED if shape.type in types]
    proper = () if NAME in types else None
    return PatternPolicy(shapes, proper=proper, cells=types.intersection(CELL_TYPES))


def compile_patterns(patterns: Mapping[str, str]) -> tuple[Shape, ...]:
    """Compile an operator's own expressions, each by its type and bounded in time.

    Raises:
        ParameterError: a type is not a valid name, or an expression does not compile or matches
            the empty text.
    """
    shapes = []
    for type_, pattern in patterns.items():
        if not isinstance(type_, str) or not _TYPE.fullmatch(type_):
            raise ParameterError("patterns must be named in capitals, digits and underscores")
        if not isinstance(pattern, str):
            raise ParameterError(f"patterns.{type_} must be a regular expression as a string")
        try:
            expression = Expression(pattern, f"patterns.{type_}", EXPRESSION_SECONDS)
        except ValueError as exc:
            raise ParameterError(f"patterns.{type_} must be a regular expression: {exc}") from None
        if expression.match(""):
            raise ParameterError(f"patterns.{type_} must not match the empty text")
        shapes.append(Shape(type_, expression))
    return tuple(shapes)


def _check_types(entities: Sequence[str], known: Iterable[str]) -> frozenset[str]:
    """Return the requested types, or all known ones, after a check that each is known."""
    requested, available = frozenset(entities or known), frozenset(known)
    if requested - available:
        raise ParameterError(f"entities must be among {', '.join(sorted(available))}")
    return requested


def settle(
    text: str,
    found: Iterable[Span],
    known: Mapping[str, str] = MappingProxyType({}),
    common: Collection[str] = (),
    rank: Callable[[str], int] = lambda type_: 0,
) -> tuple[Span, ...]:
    """Apply the module's rules to findings and return the sensitive parts, in order and disjoint.

    >>> settle("Anna wrote. anna!", [Span(1, 3, "NAME")])
    (Span(start=0, end=4, type='NAME'), Span(start=12, end=16, type='NAME'))

    Args:
        known: parts found elsewhere that are sensitive wherever they occur, with their types.
        common: words that do not repeat a single word found in other capitals.
        rank: of a type. Of findings that overlap, the longest of the highest rank gives the type.

    Raises:
        ParameterError: a finding lies outside the text.
    """
    lines = chain.from_iterable(_cut_lines(text, span) for span in found)
    found = _keep_escapes(text, (span for span in lines if span.start != span.end))
    if not found and not known:
        return ()
    tokens = read_tokens(text)
    widened = dict.fromkeys(_widen(span, text, tokens) for span in found)
    pieces = {span: list(_cut(span, text, tokens)) for span in merge(widened, rank)}
    merged = [*chain.from_iterable(pieces.values())]
    if any(span.end - span.start > LONGEST_REPEAT for span in widened):
        widened = dict.fromkeys(part for span in widened for part in _cut(span, text, tokens))
    own = dict.fromkeys(chain(widened, merged, _name_words(text, widened)))
    parts = Parts(common)
    for span in own:
        first, last = (bisect_left(tokens.starts, place) for place in (span.start, span.end))
        parts.add(tokens.words[first:last], span.type)
    for part, type_ in known.items():
        parts.add(read_tokens(part).words, type_)
    # The parts of a finding that repeats itself, such as `0,0,0,…`, would join it again.
    long = [span for span, own in pieces.items() if len(own) > 1]
    repeats = parts.spans(tokens)
    if long:
        repeats = (span for span in repeats if not _lies_inside(span, long, rank))
    # First: what the detector took for a name of its own is the person's whose name it is made of.
    return merge([*parts.accounts(tokens), *merged, *repeats], rank)


# In a string of JSON or code. Folding makes blanks of it, so that two names may seem one.
_LINE_BREAK = re.compile(r"\\{1,16}[nrt]")


def _cut_lines(text: str, span: Span) -> Iterator[Span]:
    """Yield the parts of a name in the lines of a form, an address or a string; of wrapped prose,
    the whole name."""
    start = span.start
    if span.type in ("PERSON", NAME) and text.find("\\", start, span.end) >= 0:
        gaps = [gap.span() for gap in _LINE_BREAK.finditer(text, start, span.end)]
        for end, after in gaps:
            if not all(map(is_ordinary_word, text[start:end].split())):
                yield Span(start, end, span.type)
            start = after
        if gaps and all(map(is_ordinary_word, text[start : span.end].split())):
            return
    if span.type in _FIELDS:
        while (end := text.find("\n", start, span.end)) >= 0:
            line, below = text.rfind("\n", 0, end) + 1, text.find("\n", end + 1)
            below = len(text) if below < 0 else below
            number = any(map(str.isdigit, text[end : min(below, end + WRAPPED)]))
            if end - line > WRAPPED or not number:
                break
            yield Span(start, end, span.type)
            start = end + 1
            while start < span.end and text[start].isspace():
                start += 1
    yield Span(start, span.end, span.type)


def _keep_escapes(text: str, found: Iterable[Span]) -> list[Span]:
    r"""Leave out findings inside an escape such as `\u2013`, which is one character, and widen
    those that hold a part of one."""
    escapes = [match.span() for match in _ESCAPE.finditer(text)] if "\\u" in text else []
    if not escapes:
        return list(found)
    starts = [start for start, _ in escapes]
    kept: list[Span] = []
    for span in found:
        start, end = span.start, span.end
        first, last = (bisect_right(starts, place) - 1 for place in (start, end - 1))
        if first == last >= 0 and starts[first] < start and end <= escapes[first][1]:
            continue
        if first >= 0 and start < escapes[first][1]:
            start = starts[first]
        if last >= 0 and end < escapes[last][1]:
            end = escapes[last][1]
        kept.append(Span(start, end, span.type))
    return kept


def _cut(span: Span, text: str, tokens: Tokens) -> Iterator[Span]:
    """Cut a finding that is too long to be one part, such as a list of numbers, at white space or
    signs that are left where they are. The parts are about equally long: none is a single word."""
    if span.end - span.start <= LONGEST_REPEAT:  # most findings: fewer characters than words
        yield span
        return
    first, end = (bisect_left(tokens.starts, place) for place in (span.start, span.end))
    start = span.start
    while end - first > LONGEST_REPEAT:
        size = ceil((end - first) / ceil((end - first) / LONGEST_REPEAT))
        for gap in chain(range(first + size - 1, first + size // 2, -1), range(first + size, end)):
            sign = text[tokens.starts[gap] : tokens.ends[gap]]
            if sign.isspace() or sign in LAYOUT:
                break
        else:
            break
        yield Span(start, tokens.starts[gap], span.type)
        first, start = gap + 1, tokens.ends[gap]
    if start < span.end:
        yield Span(start, span.end, span.type)


def _lies_inside(span: Span, others: Sequence[Span], rank: Callable[[str], int]) -> bool:
    """Tell if a part lies inside one of other spans, in order and disjoint, of no lower rank."""
    at = bisect_right(others, span.start, key=lambda other: other.start) - 1
    return at >= 0 and span.end <= others[at].end and rank(span.type) <= rank(others[at].type)


def widen(text: str, found: Iterable[Span]) -> tuple[Span, ...]:
    """Widen findings to whole words and merge those that overlap, without their repetitions.

    >>> widen("Anna wrote. anna!", [Span(1, 3, "NAME")])
    (Span(start=0, end=4, type='NAME'),)
    """
    tokens = read_tokens(text)
    return merge(_widen(span, text, tokens) for span in found if span.start != span.end)


def collect_parts(text: str, spans: Iterable[Span]) -> dict[str, str]:
    """Collect the marked parts of a text and the words of its names, each with its type.

    >>> collect_parts("Ask Anna Schmidt.", [Span(4, 16, "NAME")])
    {'Anna': 'NAME', 'Schmidt': 'NAME', 'Anna Schmidt': 'NAME'}
    """
    spans = tuple(spans)
    return {text[s.start : s.end]: s.type for s in (*_name_words(text, spans), *spans)}


def _name_words(text: str, found: Iterable[Span]) -> Iterable[Span]:
    """Yield the distinctive words of every name: later mentions often use only one of them."""
    for span in found:
        if span.type in NAME_TYPES:
            reading = read(text[span.start : span.end])
            if "\\" in reading.text:  # escapes that only the whole text tells
                continue
            for place in find_distinctive_words(reading.text):
                start, end = reading.span(*place)
                yield Span(span.start + start, span.start + end, span.type)


def _widen(span: Span, text: str, tokens: Tokens) -> Span:
    if not 0 <= span.start < span.end <= len(text):
        raise ParameterError("a policy must mark parts of the text")
    start, end = span.start, span.end
    first, last = (bisect_right(tokens.starts, place) - 1 for place in (start, end - 1))
    if first < last and _is_sign(text, tokens, first) and tokens.starts[first] < start:
        start = tokens.ends[first]  # the escape of a sign before a name: `%20Anna`
    elif first >= 0 and tokens.ends[first] > start:
        start = tokens.starts[first]
    if first < last and _is_sign(text, tokens, last) and end < tokens.ends[last]:
        end = tokens.starts[last]
    elif last >= 0:
        end = max(end, tokens.ends[last])
    return Span(start, end, span.type)


def _is_sign(text: str, tokens: Tokens, place: int) -> bool:
    """Tell if a token is a blank or a sign that is written as an escape of several characters."""
    word, start = tokens.words[place], tokens.starts[place]
    escaped = text[start] in "%=\\" and tokens.ends[place] - start > 1
    return escaped and len(word) == 1 and not word.isalnum()


_NUMBERED = frozenset(("LOCATION", "ORGANIZATION", "PERSON"))


def drop_numbered(text: str, found: Sequence[Span], own: Collection[str] = ()) -> tuple[Span, ...]:
    """Leave out what is found as a place, a firm or a person if it is another finding of a person
    with a count beside, as in a ranking: `198  Grace Njuguna`. What is more than a count stays a
    finding of its own.

    Args:
        own: types that the operator named, of which every finding counts.

    >>> found = Span(0, 18, "LOCATION"), Span(5, 18, "PERSON")
    >>> drop_numbered("198  Grace Njuguna", found)
    (Span(start=5, end=18, type='PERSON'),)
    >>> found = Span(0, 19, "LOCATION"), Span(6, 19, "PERSON")
    >>> [span.type for span in drop_numbered("28202 Grace Njuguna", found)]
    ['LOCATION', 'PERSON']
    """
    types = _NUMBERED.difference(own)
    numbered = {span for span in found if any(map(str.isdigit, text[span.start : span.end]))}
    # Who has no number is never left out, so that no two findings stand for each other.
    persons = sorted({(s.start, s.end) for s in found if s.type == "PERSON" and s not in numbered})

    def cut(span: Span) -> Iterator[Span]:
        if span.type not in types or span not in numbered:
            yield span
        elif sides := find_sides(span):
            yield from (Span(*side, span.type) for side in sides if not _is_count(text, *side))
        elif not is_rank(span):
            yield span

    def find_sides(span: Span) -> list[tuple[int, int]]:
        """Return what is beside a person in a finding, if it is nothing but numbers and signs."""
        first = max(0, bisect_left(persons, (span.start, 0)) - 1)
        for start, end in (persons[i] for i in range(first, len(persons))):
            if start >= span.end:
                break
            sides = [(span.start, max(start, span.start)), (min(end, span.end), span.end)]
            sides = [side for side in sides if side[0] < side[1]]
            counted = all(_NUMBERS.fullmatch(text, *side) for side in sides)
            if end > span.start and sides and counted:
                whole = span.type == "PERSON" and not all(_is_count(text, *s) for s in sides)
                return [(span.start, span.end)] if whole else sides
        return []

    def is_rank(span: Span) -> bool:
        """Tell if a finding is the number of a line in which a person follows."""
        rank = _RANK.fullmatch(text, text.rfind("\n", 0, span.start) + 1, span.end)
        after = _AFTER_RANK.match(text, span.end)
        if rank is None or after is None:
            return False
        place = bisect_left(persons, (after.end(), 0))
        return place < len(persons) and persons[place][0] == after.end()

    return tuple(part for span in found for part in cut(span))


_NUMBERS = re.compile(r"[\W\d_]+")
_COUNT = re.compile(r"[\W_]*(?:\d{1,3}[\W_]*)?")  # a rank or points; no postcode, and no PIN
_RANK = re.compile(r"[ \t]{0,12}\d{1,3}")
_AFTER_RANK = re.compile(r"[ \t]{0,3}[.):|]?[ \t]{1,8}")


def _is_count(text: str, start: int, end: int) -> bool:
    return _COUNT.fullmatch(text, start, end) is not None


def merge(spans: Iterable[Span], rank: Callable[[str], int] = lambda type_: 0) -> tuple[Span, ...]:
    """Merge overlapping spans into one, of the type of the longest one of the highest rank."""
    merged: list[Span] = []
    best = (0, 0)
    for span in sorted(spans, key=lambda s: (s.start, -s.end)):
        own = (rank(span.type), span.end - span.start)
        if merged and span.start < merged[-1].end:
            before = merged[-1]
            type_ = span.type if own > best else before.type
            best = max(best, own)
            merged[-1] = Span(before.start, max(before.end, span.end), type_)
        else:
            merged.append(span)
            best = own
    return tuple(merged)
