"""Complete the names of which the classifier found a part, and find those beside them that it
left.

A name is completed inside its cell or line, and leaves the words around it (`cut_edges`).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from perturb.release import Span
from perturb.sanitizer import Policy
from perturb.selective.detector.no_names import (
    CAR,
    CLOSING_OWN,
    NAME_WORD,
    NAMES,
    NEAR,
    OWN,
    SMALL_WORDS,
)
from perturb.selective.patterns.forms import is_label
from perturb.selective.patterns.given import is_given, is_ordinary_word
from perturb.selective.patterns.labels import is_label_alone
from perturb.selective.patterns.letters import skip_lead
from perturb.selective.patterns.persons import OWN_KIN, RELATIONS
from perturb.selective.patterns.shape import words_of
from perturb.selective.patterns.words import NAME_PARTICLES
from perturb.text.fold import Reading, fold_name
from perturb.vocabulary.stop_words import FUNCTION_WORDS

__all__ = [
    "CELL_GAP",
    "JOINS_AFTER",
    "complete_beside",
    "complete_runs",
    "cut_edges",
    "find_cell",
]

_CAPITAL = re.compile(r"[^\W\d_a-z][^\W\d_]{1,20}")
_LONGEST_NAME = 5  # words of a place or a firm in capitals
_SENTENCE_WORDS = (FUNCTION_WORDS | SMALL_WORDS) - NAME_PARTICLES  # in capitals, too
# Jackson Women's Health Organization
_PEOPLE = re.compile(
    r"(?:Wom[ae]n|Men|Children|People|Girls|Boys|Workers|Veterans)['’][sS]? [A-Z]"
)
_LAST_CELL = re.compile(r"(?:[,;|][^\s,;|]{0,40}|\t[^\t\n]{0,40})\Z")
_WRAPPED = 50  # characters: a line that prose fills before it goes on has more
_BLOCK, _SLACK = 400, 8  # characters around a line in which the longest is looked for
_LATIN = r"[A-Z\u00c0-\u00de\u0100-\u017f][a-z\u00df-\u024f]{2,30}+"
_LINK = r" (?:d[aei]|d[oa]s|de[lnr]|della|van|van de[nr]?|von|von der|te[nr]|zu) "
_PAIR = re.compile(
    rf"(?<![\w'’.-])(?=(?P<part>{_LATIN}(?:[ _]|{_LINK}){_LATIN}(?:-{_LATIN})?)"
    rf"(?!\w))"
)
_LISTED = re.compile(
    rf"(?<!\w){_CAPITAL.pattern}(?:, {_CAPITAL.pattern}){{1,20}},? "
    rf"(?:and|or|&|und|oder|et|ou|y|e|o) {_CAPITAL.pattern}(?!\w)"
)
_SAINT = re.compile(r"(?<!\w)(?:San|Sankt|Santa|Santo|São|Saint|St\.?) \Z")
_GLOSS = re.compile(r"[*_]{0,3} ?[(（](?P<part>[^\W\d_\u0000-\u036f][^()\n]{1,24})[)）]")
_COUPLE = re.compile(
    r"(?<![\w'’-])(?P<given>[^\W\d_a-z][^\W\d_]{1,20}) (?:und|and|&|et|y|e|en|i|og|och|u\.) \Z"
)
_NEIGHBOUR = re.compile(r", (?P<given>[^\W\d_a-z][^\W\d_A-Z]{1,20})(?=\s*(?:[;\n)]|\Z))")
# The probability from which a word beside a name belongs to it, where both have capitals.
_JOINS_BEFORE, JOINS_AFTER = 0.02, 0.005
_APART = re.compile(r"\s[-–—|/]\s")  # between a name and what is no part of it
_KEYED = re.compile(r"[^\n:]{2,40}:")
CELL_GAP = re.compile(r" [–—|-] |[ \t]{3,}|\t")  # between the cells of a line
_LOCAL = re.compile(
    r"(?<![\w.+-])(?P<first>[a-z]{1,20}+)[._-](?P<last>[a-z]{3,25}+)\d{0,4}@[\w-]{1,60}\."
)
_MOST_OWNERS = 50  # addresses of a text whose owners are looked for


def _grow(text: str, span: Span, name: Span, likely: Mapping[int, float]) -> tuple[int, int]:
    """Return a person with the words on both sides that belong to the name, in a run of words with
    a capital: not the line that the name is in, as in `Photo of Anna Weber`."""
    start, end = span.start, span.end
    low, high = find_cell(text, start, end)
    before = [*NAME_WORD.finditer(text, max(name.start, start - NEAR, low), start)]
    after = NAME_WORD.finditer(text, end, min(name.end, end + NEAR, high))
    for words, least in ((reversed(before), _JOINS_BEFORE), (after, JOINS_AFTER)):
        for word in words:
            if is_label_alone(word[0]) or is_label(text, *word.span()):
                break
            if text[word.end() : word.end() + 1].isdigit():  # a code: CE2, K8s
                break
            if _PEOPLE.match(text, word.start(), word.end() + 4):
                break
            if _APART.search(text, min(end, word.end()), max(start, word.start())):
                break
            if word.start() > end and _is_small(word[0]):  # ANNA WEBER WILL NOT PAY
                break
            if word.end() <= start and _is_of_relation(word[0]):  # Dein Wendelin, Eşim Feride
                break
            # A given name alone is hardly the whole name.
            alone = word.start() > end and is_given(text[start:end])
            if (
                likely.get(word.start(), 0.0) >= least
                or is_given(word[0])
                or (alone and word[0].istitle() and not is_ordinary_word(word[0]))
            ):
                start, end = min(start, word.start()), max(end, word.end())
            elif word[0] not in NAME_PARTICLES:
                break
    return start, end


def _is_of_relation(word: str) -> bool:
    """Tell if a word, with a capital or without, says whose somebody is, or what."""
    plain = word.lower()
    kin = plain in RELATIONS and not is_given(word)
    return kin or plain in CLOSING_OWN or plain in OWN_KIN or plain in OWN


def _is_shouted(text: str, name: Span) -> bool:
    """Tell if a run of words with capitals is a sentence in capitals, small words among them."""
    words = NAME_WORD.findall(text, name.start, name.end)
    return (
        len(words) > _LONGEST_NAME and all(map(str.isupper, words)) and any(map(_is_small, words))
    )


def _is_small(word: str) -> bool:
    return word.isupper() and len(word) > 1 and word.lower() in _SENTENCE_WORDS


def _cut_run(text: str, span: Span, name: Span) -> tuple[int, int]:
    """Return a run of words with a capital around a firm or a place, in the cell of its line:
    `Augsburg` above `Unser Zeichen`, `Wakefield — Operations Manager`."""
    low, high = find_cell(text, span.start, span.end)
    start, end = max(name.start, low), min(name.end, high)
    if (line := text.rfind("\n", start, span.start)) >= 0 and _KEYED.match(text, line + 1):
        start = line + 1
    if (line := text.find("\n", span.end, end)) >= 0 and _KEYED.match(text, line + 1):
        end = line
    for gap in CELL_GAP.finditer(text, start, span.start):
        start = gap.end()
    after = CELL_GAP.search(text, span.end, end) if span.end < end else None
    return start, after.start() if after else max(end, span.end)


def find_cell(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the line around a part: its end counts if a cell of a table stands there or it is
    short, and its beginning if so does the line above. Else prose goes on in the next line."""
    low, high = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    high = len(text) if high < 0 else high
    above = low > 0 and (
        low - 1 - (text.rfind("\n", 0, low - 1) + 1) < _WRAPPED
        or _LAST_CELL.search(text, max(0, low - NEAR - 1), low - 1)
    )
    own = high - low < _WRAPPED or _LAST_CELL.search(text, max(low, high - NEAR), high)
    early = low > 0 and _ends_early(text, text.rfind("\n", 0, low - 1) + 1, low - 1)
    end = high if own or _ends_early(text, low, high) else len(text)
    return low if above or early else 0, end


def _ends_early(text: str, low: int, high: int) -> bool:
    """Tell if a line ends where the first word of the next one had room in it: the longest line
    near by, up to a blank one, shows how much prose that is wrapped fills."""
    following = text[high + 1 : high + 41].split(" ")[0].partition("\n")[0]
    before, after = text[max(0, low - _BLOCK) : low], text[high : high + _BLOCK]
    block = before.rpartition("\n\n")[2] + text[low:high] + after.partition("\n\n")[0]
    longest = max(map(len, block.split("\n")))
    return high - low + 1 + len(following) + _SLACK < longest


def _find_pairs(reading: Reading) -> Iterator[Span]:
    """Yield the given names before a word with a capital that is in no dictionary."""
    for match in _PAIR.finditer(reading.text):
        given, *_, family = match["part"].replace("_", " ").split(" ")
        plain = is_ordinary_word(given) or is_ordinary_word(family)
        # San Francisco, Lisbon
        town = _SAINT.search(reading.text, max(0, match.start() - 8), match.start())
        car = CAR.match(reading.text, match.start())
        if is_given(given) and not plain and not town and not car:
            yield Span(*reading.span(*match.span("part")), "PERSON")


def _find_owners(reading: Reading) -> Iterator[Span]:
    """Yield the names that e-mail addresses spell: `Ada Lindner` beside `ada.lindner@…`."""
    text = reading.text
    if "@" not in text:
        return
    addresses = {
        (found["first"], found["last"])
        for found in islice(_LOCAL.finditer(text.lower()), _MOST_OWNERS)
        if not is_label_alone(found["last"])
    }
    if not addresses:
        return
    for match in _PAIR.finditer(text):
        given, *_, family = (fold_name(word) for word in match["part"].split(" "))
        if is_ordinary_word(family) and not is_given(given):  # Foo Bar
            continue
        if (given, family) in addresses or (given[:1], family) in addresses:
            yield Span(*reading.span(*match.span("part")), "PERSON")


def _complete_lists(text: str, found: Sequence[Span]) -> Iterator[Span]:
    """Yield the given names in a list of which two are found: `Will, Grace, Hunter and May`."""
    starts = {span.start for span in found if span.type == "PERSON"}
    if len(starts) < 2:
        return
    for match in _LISTED.finditer(text):
        names = list(_CAPITAL.finditer(text, match.start(), match.end()))
        if sum(name.start() in starts for name in names) > 1:
            for name in names:
                if name.start() not in starts and is_given(name[0]):
                    yield Span(name.start(), name.end(), "PERSON")


def _find_couples(text: str, found: Sequence[Span]) -> Iterator[Span]:
    """Yield the given name of who shares a surname with the person found after it: `Deniz und
    Melek Aydın`."""
    for span in found:
        if span.type != "PERSON" or " " not in text[span.start : span.end]:
            continue
        other = _COUPLE.search(text, max(0, span.start - 30), span.start)
        if other and is_given(other["given"]) and not is_ordinary_word(other["given"]):
            yield Span(*other.span("given"), "PERSON")


def _find_neighbours(text: str, found: Sequence[Span]) -> Iterator[Span]:
    """Yield the given name beside a person in a list: `Readers: Brenda, Alastair; Coffee`."""
    for span in found:
        other = _NEIGHBOUR.match(text, span.end) if span.type == "PERSON" else None
        if other and is_given(other["given"]) and not is_ordinary_word(other["given"]):
            yield Span(*other.span("given"), "PERSON")


def _find_glosses(text: str, found: Sequence[Span]) -> Iterator[Span]:
    """Yield a person's name in another script after it: `Xu Jiahui (许佳慧)`."""
    for span in found:
        gloss = _GLOSS.match(text, span.end) if span.type == "PERSON" else None
        if gloss:
            yield Span(*gloss.span("part"), "PERSON")


def complete_runs(
    text: str, found: Sequence[Span], names: Policy | None, likely: Mapping[int, float]
) -> Iterator[Span]:
    """Yield the runs of words with a capital in which a word is found as a name: of a person's,
    the words that may belong to the name.

    Args:
        names: finds such runs.
        likely: the places of words that may be a person's name, with the probability.
    """
    named = [span for span in found if span.type in NAMES]
    starts, ends = [span.start for span in named], [span.end for span in named]
    for name in names.find(text) if names and named else ():
        first, last = bisect_right(ends, name.start), bisect_left(starts, name.end)
        shouted = first < last and _is_shouted(text, name)
        done: dict[str, int] = {}  # by type: where the last part of this run ends
        for span in named[first:last]:
            if span.type == "PERSON":
                start, end = _grow(text, span, name, likely)
                yield Span(min(skip_lead(text, start, end), span.start), end, "PERSON")
            elif not shouted and span.end > (since := done.get(span.type, name.start)):
                start, end = _cut_run(text, span, Span(since, name.end, name.type))
                done[span.type] = end
                yield Span(start, end, span.type)


def complete_beside(
    text: str,
    reading: Reading,
    found: Sequence[Span],
    completed: Sequence[Span],
    *,
    pairs: bool,
) -> Iterator[Span]:
    """Yield the names beside those of a text that are found: the other ones of lists and couples,
    and their forms in other scripts.

    Args:
        reading: the text as it is displayed.
        completed: the found ones, completed.
        pairs: whether to yield given names before a word of no dictionary, and names that
            addresses spell, too.
    """
    made = [*_find_pairs(reading), *_find_owners(reading)] if pairs else []
    known = (*found, *completed, *made)
    yield from made
    yield from _complete_lists(text, found)
    yield from _find_glosses(text, found)
    yield from _find_couples(text, known)
    yield from _find_neighbours(text, known)


_EDGE_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_PREPOSITIONS = words_of(
    "according con avec mit laut selon secondo segundo según według podle volgens enligt ifølge"
)


def cut_edges(text: str, found: Iterable[Span]) -> Iterator[Span]:
    """Yield findings, persons without a preposition before the name.

    >>> text = "Según Szabo"
    >>> [span] = cut_edges(text, [Span(0, 11, "PERSON")])
    >>> text[span.start : span.end]
    'Szabo'
    """
    for span in found:
        yield _cut_edge(text, span) if span.type == "PERSON" else span


def _cut_edge(text: str, span: Span) -> Span:
    words = islice(_EDGE_WORD.finditer(text, span.start, span.end), 2)
    first, name = next(words, None), next(words, None)
    if first and name and first[0].lower() in _PREPOSITIONS and name[0][0].isupper():
        return Span(name.start(), span.end, span.type)
    return span
