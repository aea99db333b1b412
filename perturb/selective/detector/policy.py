"""Mark names and other personal data with the bundled token classifier."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from perturb.errors import ParameterError
from perturb.release import Span
from perturb.sanitizer import Policy
from perturb.selective.detector.completing import (
    CELL_GAP,
    JOINS_AFTER,
    complete_beside,
    complete_runs,
    cut_edges,
    find_cell,
)
from perturb.selective.detector.no_names import (
    CLOSING_OWN,
    NAME_WORD,
    NAMES,
    OPENS,
    OWN,
    SMALL_WORDS,
    WORD_BEFORE,
    is_no_name,
)
from perturb.selective.patterns.given import is_given, is_ordinary_word
from perturb.selective.patterns.labels import LABELS, is_label_alone, spell
from perturb.selective.patterns.labels import NAMES as LABEL_NAMES
from perturb.selective.patterns.letters import skip_lead
from perturb.selective.patterns.persons import OWN_KIN, RELATIONS
from perturb.selective.patterns.shape import words_of
from perturb.selective.patterns.words import NAME_PARTICLES
from perturb.selective.token_model import OUTSIDE, TokenModel, TokenWord, load_token_model
from perturb.text.fold import Reading, read

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
_FORMED = frozenset((*NAMES, "OTHER_NAME"))  # that have capitals, where a language has them
_SMALL = 0.4  # the least probability of a place, a firm or a work in small letters
_AND = frozenset(("&", "and", "or", "und", "oder", "et", "ou", "y", "e", "o"))
_AND_PERSONS = _AND - {"&", "y", "e", "o"}  # García y Vega
_GENITIVE = re.compile(r"\w['’][sS]\Z")
# Czech and Slovak, Polish, Hungarian, Finnish, Turkish, Croatian, Romanian.
_QUESTIONS = words_of(
    """
    kdo kdy kde jak jaký jaká jaké proč který která které kolik čí kto kedy prečo ktorý ktorá koľko
    gdzie kiedy dlaczego czy jaki jaka jakie który która które ile czyj czyja kim czym
    mikor miért hogyan melyik mennyi hány kuka mikä missä milloin miksi miten mitkä ketkä paljonko
    kimin nerede neden nasıl hangi tko gdje kada zašto koliko unde când cum cât câți
    """
)
_CAPITAL_WORD = re.compile(r"(?<= )[^\W\d_a-zß-ÿ]")
_FORM = re.compile(r"[^\W\d_a-z][^\W\d_A-Z]+(?:[-'’][^\W\d_a-z]?[^\W\d_A-Z]+)*")
_AFTER_TITLE = re.compile(r"(?<!\w)(?:Dr|Fr|Hr|Prof|Mr|Mrs|Ms|Sr|Sra)\. ?\Z")
_BEGINNING, _LEAST = 4000, 0.1  # characters; the share of words that tell a language
# Of languages that the classifier has not learnt, some of which have no accents: Indonesian,
# Hindi and Filipino in Latin letters, Turkish, Vietnamese.
_UNLEARNT_WORDS = words_of(
    """
    yang untuk dengan tidak saya kami kita ini itu pada dari dan adalah bisa akan juga sudah belum
    tolong buatkan apa siapa mengapa kenapa bagaimana gimana kapan jelaskan atau oleh karena
    seperti aku kamu mereka bikin bapak ibu pakai resep supaya banget nggak gak saja dong
    kahani sunao koi woh yeh bahut
    hai hain mein aur kya kyu kyon kyun nahi nahin mujhe mera mere meri chahiye kaise kab kahan
    batao likho liye bhi hota hoti karo karna unka uska
    ang mga paano
    bir ve için çok değil nasıl neden nedir olarak daha bana benim kadar gibi
    của và là cho tôi một về không được những các trong với này đã như thế nào tại sao hãy viết
    giúp cách làm gì
    """
)
_UNLEARNT_LEAST = 2  # different words of these
_VIETNAMESE = re.compile("[\u1ea0-\u1ef9ăđơư]")
RULES = 15  # increment whenever the code here and in token_model marks other parts


class DetectorPolicy:
    """Mark what the classifier takes for a name or other personal data.

    Args:
        entities: the types to mark, of `DETECTED`; all of them if none is named.
        names: finds names by their capitals: of one of which the classifier marks a word, the
            other words are marked, too; of a person's, those that may belong to the name.
        model: another classifier than the bundled one.
        named: the probability from which a person is marked whose word has the form of a name: a
            capital inside a sentence, and no word of the dictionary. A given name before such a
            word is then marked, whatever its probability. None for neither.
        thresholds: the probability from which a type is marked. The most likely label of a word
            counts for types without one. The probabilities are the model's own, not calibrated.

    Raises:
        DetectorError: the model is missing or damaged.
        ParameterError: the classifier does not know one of the types.
    """

    def __init__(
        self,
        entities: Sequence[str] = (),
        names: Policy | None = None,
        model: TokenModel | None = None,
        thresholds: Mapping[str, float] = MappingProxyType({}),
        named: float | None = None,
    ) -> None:
        self._named = named
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
        parts = ["detector", f"{RULES}", self._model.sha256, *map(str, least), f"{self._named}"]
        return " ".join([*parts, other])

    def lower(self, thresholds: Mapping[str, float]) -> DetectorPolicy:
        """Return this policy, which also marks words from these probabilities on, of types that it
        left, too. It marks no fewer words, whatever they are."""
        made = copy.copy(self)
        both = {type_: min(p, self._lowered.get(type_, p)) for type_, p in thresholds.items()}
        made._lowered, made._wanted = {**self._lowered, **both}, self._wanted.union(both)
        return made

    def find(self, text: str) -> Iterable[Span]:
        reading = read(text)
        words = list(self._classify(reading.text))
        found = tuple(self._mark(reading, words))
        likely = self._find_likely(reading, words) if found else {}
        completed = tuple(complete_runs(text, found, self._names, likely))
        beside = complete_beside(text, reading, found, completed, pairs=bool(self._named))
        whole = _cut_keys(text, dict.fromkeys((*found, *completed, *beside)))
        return tuple(cut_edges(text, whole))

    def _mark(self, reading: Reading, words: Iterable[TokenWord]) -> Iterator[Span]:
        text, labels = reading.text, self._model.labels
        learnt = _is_learnt(text)
        number, person = (
            labels.index(type_) if type_ in labels else OUTSIDE for type_ in ("ID", "PERSON")
        )
        lines = (
            (*line, label, share)
            for start, end, label, share in _join(text, words, number, person)
            for line in _cut_lines(text, start, end)
        )
        for start, end, label, share in lines:
            type_ = labels[label]
            if type_ == "PERSON":  # the title of a person names nobody
                start = _skip_question(text, skip_lead(text, start, end), end)
                end -= 2 * bool(_GENITIVE.search(text, start, end))
                start = _skip_relation(text, start, end)
            if type_ == "PERSON" and not learnt:
                start, end = _leave_small(text, start, end)
            if type_ in NAMES:
                start = _skip_label(text, start, end)
                end = _leave_cell(text, start, end)
            unlikely = share < _SMALL and type_ not in self._lowered
            plain = is_no_name(text, start, end, type_, unlikely=unlikely)
            if type_ in _FORMED and not _is_readable(text, start, end, learnt):
                start, end = _find_capitals(text, start, end)
            if type_ in self._wanted and start < end and not plain:
                yield Span(*reading.span(start, end), type_)

    def _find_likely(self, reading: Reading, words: Iterable[TokenWord]) -> dict[int, float]:
        """Return the words that may be a person's name, by their places, with the probability."""
        person = self._model.labels.index("PERSON")
        found = ((word, float(word.shares[person])) for word in words)
        return {
            reading.span(word.start, word.end)[0]: share
            for word, share in found
            if share >= JOINS_AFTER
        }

    def _spell(self, thresholds: Mapping[str, float]) -> NDArray[np.float64]:
        """Return the thresholds by label, float64 (labels,); ∞ for a label without one."""
        return np.array([thresholds.get(label, np.inf) for label in self._model.labels])

    def _classify(self, text: str) -> Iterator[TokenWord]:
        given = self._thresholds or self._lowered
        least, lowered = (self._spell(each) for each in (self._thresholds, self._lowered))
        named = (self._spell({"PERSON": self._named}), _has_form) if self._named else None
        return self._model.classify(text, least if given else None, lowered, named)


# The keys of lines: of vCard and iCalendar, of RIS, and of GEDCOM.
_FORMAT_KEY = re.compile(
    r"(?:(?:N|FN|NICKNAME|TEL|EMAIL|ADR|ORG|TITLE|ROLE|NOTE|URL|BDAY|PHOTO|UID|SUMMARY|LOCATION"
    r"|ORGANIZER|ATTENDEE|DESCRIPTION|CATEGORIES|STATUS)(?:;[^:\n]{0,60})?:"
    r"|TY {2}- [A-Z]{3,8}|[A-Z][A-Z\d] {2}-)[ ]?"
)
_TREE_KEY = re.compile(r"[ ]{0,8}\d{1,2} _?[A-Z]{3,5}(?![A-Za-z])[ ]?")
_TREE = re.compile(r"(?m:^)0 (?:HEAD(?=\s)|@\w{1,20}@ )")  # begins each record of a family tree
_LONGEST_KEY = 100  # characters


def _cut_keys(text: str, found: Iterable[Span]) -> Iterator[Span]:
    """Yield findings without the keys of lines: `AU  - Tong`, `2 PLAC Kolín`, `Mira\\nTEL:`."""
    forms = (_FORMAT_KEY, _TREE_KEY) if _TREE.search(text) else (_FORMAT_KEY,)
    for start, end, type_ in found:
        line = text.rfind("\n", max(0, start - _LONGEST_KEY), start) + 1
        while start < end:
            key = next(filter(None, (form.match(text, line) for form in forms)), None)
            start = min(max(start, key.end()), end) if key else start
            line = text.find("\n", start, end) + 1
            while line and not any(form.match(text, line) for form in forms):
                line = text.find("\n", line, end) + 1
            if start < (stop := line - 1 if line else end):
                yield Span(start, stop, type_)
            if not line:
                break
            start = line


_NEXT_CELL = re.compile(r"[,;|\t](?=[^\s,;|])")
_GOES_ON = re.compile(r"[.@_]\w")


def _cut_lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the lines of a finding each by itself where they are no prose, but for those behind
    the first that hold ordinary words alone: the labels of a form."""
    first = True
    while (stop := text.find("\n", start, end)) >= 0 and find_cell(text, start, start)[1] <= stop:
        if first or not _is_ordinary(text[start:stop]):
            yield start, stop
        start, first = stop + 1, False
    if start < end and (first or not _is_ordinary(text[start:end])):
        yield start, end


def _is_ordinary(line: str) -> bool:
    return all(is_ordinary_word(word) and not is_given(word) for word in line.split())


_LABEL_CELL = re.compile(r"([^\t\n;|]{1,40}?)(?:[\t;|]| {2,40})\s{0,8}(?=\S)")


def _skip_label(text: str, start: int, end: int) -> int:
    """Return where a name begins whose label stands in a cell before it."""
    cell = _LABEL_CELL.match(text, start, end)
    label = spell(cell[1]) if cell else ""
    return cell.end() if cell and (label in LABELS or label in LABEL_NAMES) else start


def _leave_cell(text: str, start: int, end: int) -> int:
    """Return where a name ends that ends inside the next cell of its row: before `1485.60` in
    `Springfield,1485.60`, or before an address."""
    if not _GOES_ON.match(text, end):
        return end
    *_, last = (start, *(cell.start() for cell in _NEXT_CELL.finditer(text, start, end)))
    return last if last > start else end


_PARTICIPLE = re.compile(r"\w{2,14}(?:é|és|ée|ées|ado|ido|ato|uto|ito)")


def _skip_relation(text: str, start: int, end: int) -> int:
    """Return where a name begins after a relation in small letters, a participle, or who signs:
    `figlia ginevra`, `a joué Lucien Bonaparte`, `Dein Wendelin`."""
    first, blank, _ = text[start:end].partition(" ")
    if blank and first.islower() and _PARTICIPLE.fullmatch(first) and not is_given(first):
        return start + len(first) + 1
    if blank and (first.lower() in CLOSING_OWN or first.lower() in OWN_KIN):
        return start + len(first) + 1
    while blank and (first in OWN or (first in RELATIONS and not is_given(first))):
        start += len(first) + 1
        first, blank, _ = text[start:end].partition(" ")
    return start


def _skip_question(text: str, start: int, end: int) -> int:
    """Return where the name of a finding begins, after the words that a question begins with in a
    language that the classifier has not learnt: `Kim byli Jan Matejko`. `end` if there is none."""
    word = text[start:end].split(" ")[0]
    named = word.istitle() and is_given(word) and word.isascii()  # Mika, but no mikä
    if word.lower() not in _QUESTIONS or named:
        return start
    capital = _CAPITAL_WORD.search(text, start + 1, end)
    return capital.start() if capital else end


def _join(
    text: str, words: Iterable[TokenWord], number: int, person: int
) -> Iterator[tuple[int, int, int, float]]:
    """Yield runs of words of one label in a line, without the signs around them, each with the
    highest probability of its words; two numbers, addresses or persons with `and` between them
    are two, and so are the cells of a line."""
    run = (0, 0, OUTSIDE, 0.0)
    for start, end, label, shares in words:
        if (label == number and text[start:end] in _AND) or (
            label == person and text[start:end] in _AND_PERSONS
        ):
            label = OUTSIDE
        if label == OUTSIDE and run[2] == OUTSIDE:
            continue
        share = float(shares[label])
        gap = text[run[1] : start]
        if label == run[2] and "\n" not in gap and not CELL_GAP.search(gap):
            run = (run[0], end, label, max(share, run[3]))
            continue
        yield from _trim(text, *run)
        run = (start, end, label, share)
    yield from _trim(text, *run)


def _is_learnt(text: str) -> bool:
    """Tell if a text may be in a language that the classifier has learnt: no letter of it has an
    accent, or some of its words are English, or small ones of German, French or Spanish; and not
    more are small ones of other languages."""
    words = NAME_WORD.findall(text[:_BEGINNING])
    unlearnt = [word.lower() for word in words if word.lower() in _UNLEARNT_WORDS]
    foreign = len(set(unlearnt)) >= _UNLEARNT_LEAST
    if text.isascii() and not foreign:
        return True
    known = sum(
        (word.lower() in SMALL_WORDS and len(word) > 1)
        or (len(word) > 3 and is_ordinary_word(word))
        or (word[0].isupper() and is_given(word))
        for word in words
    )
    if foreign:
        return bool(known > len(unlearnt))
    return len(words) < 3 or known >= _LEAST * len(words)


def _is_readable(text: str, start: int, end: int, learnt: bool) -> bool:
    """Tell if the classifier can read a finding: it is in Latin letters, of a language that it has
    learnt, or a given name is in it. A label names nobody: `ФИО: Фамилия Имя Отчество`."""
    words = NAME_WORD.findall(text[start:end])
    if words and all(map(is_label_alone, words)):
        return False
    latin = all(word[0] < "\u0370" or "\u1e00" <= word[0] < "\u1f00" for word in words)
    if latin and learnt:
        return True
    before = WORD_BEFORE.search(text, max(0, start - 30), start)
    if before and (before[1].istitle() or not _VIETNAMESE.search(text, start, end)):
        words.append(before[1])  # Văn is a name, and văn is a text
    return latin and any(is_given(word) for word in words if word not in _UNLEARNT_WORDS)


def _leave_small(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a person in a language that the classifier has not learnt without the words in small
    letters around the name, of which none is a given name: `padosi Ramkishore Tripathi`."""
    words = list(NAME_WORD.finditer(text, start, end))
    capitals = [word for word in words if word[0][0].isupper()]
    others = (word[0] for word in words if word[0].islower())
    if not capitals or any(is_given(word) and word not in _UNLEARNT_WORDS for word in others):
        return start, end
    return capitals[0].start(), capitals[-1].end()


def _find_capitals(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the words of a finding that have the form of a name: two capitals, or one inside a
    sentence; an empty place where there are none."""
    words = list(NAME_WORD.finditer(text[start:end]))
    while words and not words[0][0][0].isupper():
        words.pop(0)
    while words and not words[-1][0][0].isupper():
        words.pop()
    names = [word[0] for word in words if word[0] not in NAME_PARTICLES]
    named = all(name[0].isupper() for name in names)
    if not named or all(map(is_label_alone, names)):
        return start, start
    first = start + words[0].start()
    before = text[max(0, first - 8) : first]
    inside = not OPENS.search(before) or _AFTER_TITLE.search(before)
    return (first, start + words[-1].end()) if len(names) > 1 or inside else (start, start)


def _has_form(text: str, start: int, end: int) -> bool:
    """Tell if a word has the form of a name."""
    if end - start < 3 or not text[start].isupper():
        return False
    word = text[start:end]
    if not _FORM.fullmatch(word):
        return False
    opens = OPENS.search(text, max(0, start - 8), start)
    return is_given(word) or not (opens or is_ordinary_word(word))


def _trim(
    text: str, start: int, end: int, label: int, share: float
) -> Iterator[tuple[int, int, int, float]]:
    if label == OUTSIDE:
        return
    while start < end and not text[start].isalnum():
        start += 1
    while start < end and not text[end - 1].isalnum():
        end -= 1
    if start < end:
        yield start, end, label, share
