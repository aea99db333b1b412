"""Look for known parts in texts as whole words, whatever their capitals; and for the names of
accounts that are made of a person's name: `aschmidt82` after Anna Schmidt. A name
is also found in its other forms: `Holzapfels`, `Novákové`, `Сидорову`; and without its accents:
`Szczepanska`, `Muller`, `Mueller`.

An operator's own terms are looked for in the same way: those that are always marked, and those
that never are.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import accumulate, chain, pairwise
from typing import Any

from perturb.errors import ParameterError
from perturb.release import Span
from perturb.sanitizer import Policy
from perturb.selective.patterns.composed import split_humps
from perturb.selective.patterns.given import is_ordinary_word
from perturb.selective.patterns.names import NAME_TYPES, follows_determiner
from perturb.selective.patterns.shape import words_of
from perturb.text.fold import fold_name, read, spell_plain
from perturb.text.marks import MARKS
from perturb.text.search import Prefixes
from perturb.work import hash_values

__all__ = [
    "CUSTOM",
    "Cover",
    "ExceptTerms",
    "Inflections",
    "KnownParts",
    "Parts",
    "Terms",
    "Tokens",
    "check_terms",
    "find_known",
    "hash_terms",
    "list_handles",
    "list_plain",
    "read_tokens",
]

LONGEST_REPEAT = 64  # a longer finding is looked for by its beginning, which bounds the work
# Scripts that do not separate words by spaces: Thai, Lao, Khmer, kana, Han, Hangul. Every
# character counts as a word. A mark belongs to the word of its letter.
_UNSPACED = "\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
# Given names that are words of programs as well, and counted more often as names.
_NAMES_TOO = words_of("angel chase dale dawn dean duke eve grace guy hunter joy max ruby wolf")
_DECLARES = words_of(
    "class def func fn function struct enum interface trait import new const let var"
)
_CAMEL = re.compile(r"[a-z][A-Z]")
_JOINS = frozenset("_.:$")
_QUOTES = frozenset("\"'`")
_LETTERS = 4  # of a surname: a shorter one beside an initial is too often a word
_TOKEN = re.compile(rf"(?:[^\W_{_UNSPACED}]|[{MARKS}])+|\s+|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a text in order: words as they are displayed, white space as one blank,
    and other characters.

    `starts` and `ends` are their places in the text as written.
    """

    words: list[str]
    starts: list[int]
    ends: list[int]


def read_tokens(text: str) -> Tokens:
    """Cut a text into tokens, as it is displayed."""
    reading = read(text)
    words = _TOKEN.findall(reading.text)  # every character belongs to one
    ends = list(accumulate(map(len, words)))
    starts = [0, *ends[:-1]] if ends else []
    if not isinstance(reading.starts, range):
        starts = [reading.starts[start] for start in starts]
        ends = [reading.ends[end - 1] for end in ends]
    escaped = "\\" in text
    for i, word in enumerate(words):
        # JSON's `\n` is read as two blanks: a part that ends there would be torn from the `n`.
        if word.isspace() and not (escaped and "\\" in text[starts[i] : ends[i]]):
            words[i] = " "
    return Tokens(words, starts, ends)


_LEAST = 4  # letters of a name, or of its stem


def _list(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# What follows a name as it stands: German, Czech and Polish, Finnish and Hungarian, Russian.
_ENDINGS = frozenset(
    _list(
        """
        s es ens sche schen scher sches schem che chen cher ches chem
        ovi em ův ova ovo ové ových owi owie ów iem
        lla lle lta ssa sta lta nen nak nek val vel nál nél ék éknál
        а у ом ем е ы ым ой ою ою ю я и ых ыми ов ову овой ове
        """
    )
)
# Of these endings, one may stand for another.
_CHANGES = (
    _list("ová ové ovou ovej ových"),
    _list("ova ovy ově ovu ovou ove ovoj"),
    _list("ski skiego skiemu skim skich scy"),
    _list("ska skiej ską"),
    _list("cki ckiego ckiemu ckim"),
    _list("cka ckiej cką"),
    _list("ský ského skému ským"),
    _list("ská ské skou skej"),
    _list("ова овой ову овою"),
    _list("ева евой еву евою"),
    _list("ина иной ину"),
    _list("ский ского скому ским ском ская скую ской"),
    _list("а ы е у ой ою"),
    _list("я и е ю ей ею"),
    _list("ий ия ию ием ии"),
    _list("й я ю ем е"),
    _list("ь я ю ем е"),
)
_BY_ENDING = {
    ending: [number for number, endings in enumerate(_CHANGES) if ending in endings]
    for ending in chain.from_iterable(_CHANGES)
}
_LONGEST_ENDING = max(map(len, _BY_ENDING))
_SHORT = 5  # letters of a stem whose endings are single letters
_SPELLED_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})


class Inflections:
    """Look for names in their other forms.

    Args:
        names: single words of names, in small letters.

    >>> Inflections(["holzapfel"]).find(["Die", "Akte", "Holzapfels", "Hanna"])
    {'Holzapfels': 'holzapfel'}
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names: dict[str, str] = {}
        for name in names:
            for form in _write_stems(name):
                self._names.setdefault(form, name)

    def find(self, words: Iterable[str]) -> dict[str, str]:
        """Return the words with a capital that are a name in another form, each with its name."""
        found = {}
        for word in dict.fromkeys(words) if self._names else ():
            if len(word) < _LEAST or not word[0].isupper():
                continue
            form = next(filter(self._names.__contains__, _read_stems(word.casefold())), "")
            if form and self._names[form] != word.casefold() and not is_ordinary_word(word):
                found[word] = self._names[form]
        return found


def _write_stems(name: str) -> Iterator[str]:
    """Yield the forms of a name that tell its other forms: its stem and what it ends in."""
    if len(name) >= _LEAST:
        yield f"{name}|"
        yield f"{_drop_accents(name)}||"
        if not name.isascii():
            yield f"{fold_name(name.translate(_SPELLED_OUT))}||"
    yield from _read_changes(name)


def _drop_accents(word: str) -> str:
    return word if word.isascii() else fold_name(word)


def _read_stems(word: str) -> Iterator[str]:
    yield f"{_drop_accents(word)}||"
    for size in range(1, min(5, len(word) - _LEAST) + 1):
        if word[-size:] in _ENDINGS:
            yield f"{word[:-size]}|"
    yield from _read_changes(word)


def _read_changes(word: str) -> Iterator[str]:
    for size in range(1, _LONGEST_ENDING + 1):
        least = _SHORT if size < 3 else _LEAST - 1
        if len(word) - size >= least:
            for number in _BY_ENDING.get(word[-size:], ()):
                yield f"{word[:-size]}|{number}"


class Parts:
    """Look for parts as whole words, whatever their capitals.

    A single word in other capitals than those it was found in does not count if it is common:
    `like` after Mr. Like, `will` after Will. Nor does a common word of a name after a determiner:
    `the Court` after Ankara Court.
    """

    def __init__(self, common: Collection[str]) -> None:
        self._common = common
        self._parts: dict[str, tuple[str, int]] = {}  # in small letters: type, number of tokens
        self._first: set[str] = set()  # words
        self._longest = 0  # tokens
        self._handles: set[str] = set()  # of persons, without digits behind them
        self._plain: set[str] = set()  # words of persons' names without accents
        self._written: set[str] = set()  # single words as they were found

    def add(self, words: Sequence[str], type_: str) -> None:
        """Add a part by its tokens."""
        if not words:
            return
        folded = [word.casefold() for word in words[:LONGEST_REPEAT]]
        self._parts.setdefault("".join(folded), (type_, len(folded)))
        self._first.add(folded[0])
        self._longest = max(self._longest, len(folded))
        if type_ == "PERSON":
            self._handles.update(list_handles(words))
            self._plain.update(list_plain(words))
        for name in ("_prefixes", "_inflections"):
            self.__dict__.pop(name, None)
        if len(words) == 1:
            self._written.add(words[0])

    def find_inflected(self, words: Iterable[str]) -> dict[str, str]:
        """Return the words that are a name among the parts in another form, each with that name
        in small letters."""
        return self._inflections.find(words)

    def accounts(self, tokens: Tokens) -> Iterable[Span]:
        """Find the names of accounts that are made of a person's name, and its words in small
        letters without accents: `cengiz.yildirim`."""
        if self._handles or self._plain:
            handles, plain = self.find_handles(tokens.words), self.find_plain(tokens.words)
            for place, word in enumerate(tokens.words):
                if word in handles:
                    yield Span(tokens.starts[place], tokens.ends[place], "USERNAME")
                elif word in plain:
                    yield Span(tokens.starts[place], tokens.ends[place], "PERSON")

    def find_plain(self, words: Iterable[str]) -> set[str]:
        """Return the words that are those of persons' names without their accents."""
        return self._plain.intersection(words).difference(self._common)

    def find_handles(self, words: Iterable[str]) -> dict[str, str]:
        """Return the words that are made of a person's name, each with this in small letters: the
        word without digits, or two words of one in camel case."""
        if not self._handles:
            return {}
        found = {}
        for word in words:
            small = word.casefold()
            stem = small.rstrip("0123456789")
            if stem in self._handles and not (stem == small and small in self._common):
                found[word] = stem
            elif _CAMEL.search(word):
                pairs = (a + b for a, b in pairwise(map(str.casefold, split_humps(word))))
                if pair := next(filter(self._handles.__contains__, pairs), ""):
                    found[word] = pair
        return found

    @cached_property
    def _inflections(self) -> Inflections:
        parts = self._parts.items()
        return Inflections(p for p, (type_, size) in parts if size == 1 and type_ in NAME_TYPES)

    @cached_property
    def _prefixes(self) -> Prefixes:
        return Prefixes(self._parts)

    def spans(self, tokens: Tokens) -> Iterable[Span]:
        """Find the longest part that begins at each word, and the names in another form; they may
        overlap."""
        words = [word.casefold() for word in tokens.words]
        inflected = self.find_inflected(tokens.words)
        for first, word in enumerate(words):
            if name := inflected.get(tokens.words[first]):
                yield Span(tokens.starts[first], tokens.ends[first], self._parts[name][0])
            if word not in self._first:  # most words begin no part
                continue
            for part in self._prefixes.find("".join(words[first : first + self._longest]), 0):
                type_, size = self._parts[part]
                if sum(map(len, words[first : first + size])) != len(part):  # inside a word
                    continue
                if size > 1 or self._may_repeat(tokens, first, type_):
                    yield Span(tokens.starts[first], tokens.ends[first + size - 1], type_)
                    break

    def _may_repeat(self, tokens: Tokens, place: int, type_: str) -> bool:
        word = tokens.words[place]
        named, common = type_ in NAME_TYPES, word.lower() in self._common
        too = named and (common or word.lower() in _NAMES_TOO)
        if too and (self._is_code(tokens, place) or follows_determiner(tokens.words, place)):
            return False
        if too and word not in self._written and self._is_value(tokens, place):
            return False
        return word in self._written or not common

    def _is_value(self, tokens: Tokens, place: int) -> bool:
        """Tell if a word is a setting or its value: `max 600000`, `"max"`, or all of a text."""
        before, after = tokens.words[place - 1 : place], tokens.words[place + 1 : place + 3]
        if not before and not after:
            return True
        quoted = before and after and before[0] == after[0] and before[0] in _QUOTES
        return bool(quoted) or (after[:1] == [" "] and after[1:] != [] and after[1][:1].isdigit())

    def _is_code(self, tokens: Tokens, place: int) -> bool:
        """Tell if a word is an identifier or a part of one, and no other part stands beside it:
        `max_tokens`, `Math.max(`, `class Ray`."""
        words = [" ", " ", *tokens.words[max(0, place - 2) : place + 3], " ", " "]
        at = 2 + min(2, place)
        two, one, _, after, then = words[at - 2 : at + 3]
        if one == " " and two in _DECLARES:
            return True
        member = two[-1:].isalnum() or one == two == ":"
        if one in _JOINS and member and two.casefold() not in self._first:
            return True
        joined = after in _JOINS and then[:1].isalnum() and then.casefold() not in self._first
        return joined or after == "("


class KnownParts(dict[str, str]):
    """Known parts with their types, ready to be looked for in many texts.

    Args:
        known: the parts.
        common: see `Parts`.
    """

    def __init__(self, known: Mapping[str, str], common: Collection[str] = ()) -> None:
        super().__init__(known)
        self._common = common

    @cached_property
    def digest(self) -> str:
        """Return a digest of the parts, their types and their order."""
        return hash_values(*self.items())

    @cached_property
    def _index(self) -> tuple[Parts, dict[str, list[int]]]:
        """Return the parts, and their ranks by their words in small letters."""
        parts, by_form = Parts(self._common), dict[str, list[int]]()
        for rank, (part, type_) in enumerate(self.items()):
            words = read_tokens(part).words
            parts.add(words, type_)
            by_form.setdefault("".join(words).casefold(), []).append(rank)
            if type_ == "PERSON":
                for handle in list_handles(words) | list_plain(words):
                    by_form.setdefault(handle, []).append(rank)
        return parts, by_form

    def find(self, text: str) -> dict[str, str]:
        """Find the parts that `settle` marks in a text, or that such a part begins with; in time
        linear in the text."""
        parts, by_form = self._index
        found: set[int] = set()
        tokens = read_tokens(text)
        for name in parts.find_inflected(tokens.words).values():
            found.update(by_form.get(name, ()))
        handles = parts.find_handles(tokens.words).values()
        for handle in chain(handles, parts.find_plain(tokens.words)):
            found.update(by_form.get(handle, ()))
        for span in parts.spans(tokens):
            words = read_tokens(text[span.start : span.end]).words
            found.update(by_form.get("".join(words).casefold(), ()))
        return self.choose(sorted(found))

    def find_full_names(self, names: Iterable[str]) -> dict[str, str]:
        """Find the longer names that hold a word of one of these names: they tell which of its
        words is a surname. In time linear in both."""
        words = {word for name in names for word in _read_words(name)}
        found = {rank for word in words for rank in self._names_by_word.get(word, ())}
        return self.choose(sorted(found))

    def rank(self, parts: Iterable[str]) -> tuple[int, ...]:
        """Return the ranks of some of the parts: which they are, without their texts."""
        return tuple(map(self._ranks.__getitem__, parts))

    def choose(self, ranks: Iterable[int]) -> dict[str, str]:
        """Return the parts of these ranks, in the same order."""
        return {self._parts[rank]: self[self._parts[rank]] for rank in ranks}

    @cached_property
    def _parts(self) -> tuple[str, ...]:
        return tuple(self)

    @cached_property
    def _ranks(self) -> dict[str, int]:
        return {part: rank for rank, part in enumerate(self)}

    @cached_property
    def _names_by_word(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for rank, (part, type_) in enumerate(self.items()):
            words = _read_words(part) if type_ in NAME_TYPES else []
            for word in dict.fromkeys(words if len(words) > 1 else ()):
                found.setdefault(word, []).append(rank)
        return found


_LEAST_PLAIN = 6  # letters of a name without accents: `schon` is a word, and Schön a name


def list_plain(words: Iterable[str]) -> set[str]:
    """Return the words of a person's name without their accents.

    >>> list_plain(["Cengiz", " ", "Yıldırım"])
    {'yildirim'}
    """
    return {
        plain
        for word in words
        if not word.isascii() and word.isalpha() and "ß" not in word  # `weiss` is a word
        for plain in spell_plain(word)
        if plain.isascii() and len(plain) >= _LEAST_PLAIN
    }


def list_handles(words: Sequence[str]) -> set[str]:
    """Return the runs of letters that the names of a person's accounts are made of.

    >>> sorted(list_handles(["Jörg", " ", "Marks"]))
    ['jmarks', 'joergmarks', 'jorgmarks', 'marksj', 'marksjoerg', 'marksjorg']
    """
    spelled = [spell_plain(word) for word in words if word.isalpha() and len(word) > 1]
    if len(spelled) < 2:
        return set()
    found = set()
    for last in spelled[-1]:
        for given in chain.from_iterable(spelled[:-1]):
            found |= {given + last, last + given}
            if len(last) >= _LETTERS:
                found |= {given[0] + last, last + given[0]}
        if "-" in words and len(spelled) > 2 and len(last) >= _LETTERS:  # Jean-Claude Dupré
            initials = "".join(min(given)[0] for given in spelled[:-1])
            found |= {initials + last, last + initials}
    return found


def _read_words(name: str) -> list[str]:
    return [word.casefold() for word in read_tokens(name).words if word.isalpha()]


def find_known(
    text: str, known: Mapping[str, str], common: Collection[str] = ()
) -> dict[str, str]:
    """Find the known parts that `settle` marks in a text, or that such a part begins with.

    >>> find_known("Call Schmidt.", {"Schmidt": "NAME", "Weber": "NAME"})
    {'Schmidt': 'NAME'}
    """
    parts = known if isinstance(known, KnownParts) else KnownParts(known, common)
    return parts.find(text)


CUSTOM = "CUSTOM"  # the type of a term that is always marked


class Terms:
    """Find terms as whole words, in any capitals and any spelling of their characters.

    As a policy, it marks them with the type CUSTOM.

    >>> [*Terms(["blue bird"]).find("The Blue\\nBird flies.")]
    [Span(start=4, end=13, type='CUSTOM')]
    """

    def __init__(self, terms: Iterable[str]) -> None:
        self._parts = Parts(())
        for term in terms:
            self._parts.add(read_tokens(term.strip()).words, CUSTOM)

    def find(self, text: str) -> Iterable[Span]:
        return self._parts.spans(read_tokens(text))


class Cover:
    """The stretches of a text that some spans cover.

    >>> cover = Cover([Span(4, 13, "CUSTOM")])
    >>> cover.holds(4, 8), cover.holds(0, 8), cover.meets(0, 8), cover.meets(0, 4)
    (True, False, True, False)
    """

    def __init__(self, spans: Iterable[Span]) -> None:
        ordered = sorted(spans)
        self._starts = [span.start for span in ordered]
        self._ends = list(accumulate((span.end for span in ordered), max))

    def holds(self, start: int, end: int) -> bool:
        """Tell if one span holds all of a stretch."""
        place = bisect_right(self._starts, start) - 1
        return place >= 0 and self._ends[place] >= end

    def meets(self, start: int, end: int) -> bool:
        """Tell if a span overlaps a stretch."""
        place = bisect_right(self._starts, end - 1) - 1
        return place >= 0 and self._ends[place] > start


class ExceptTerms:
    """Mark with another policy, but never a part that lies inside one of the terms.

    Attributes:
        version: of the other policy.
    """

    def __init__(self, policy: Policy, terms: Terms) -> None:
        self._policy, self._terms = policy, terms
        self.version = getattr(policy, "version", "")

    def find(self, text: str) -> Iterable[Span]:
        found = list(self._policy.find(text))
        allowed = Cover(self._terms.find(text) if found else ())
        return [span for span in found if not allowed.holds(span.start, span.end)]


def check_terms(name: str, given: Any) -> tuple[str, ...]:
    """Return a list of terms in a fixed order.

    Raises:
        ParameterError: it is no list of terms.
    """
    if not isinstance(given, (list, tuple)) or not all(isinstance(term, str) for term in given):
        raise ParameterError(f"{name} must be a list of terms")
    for term in given:
        if not any(map(str.isalnum, term)):
            raise ParameterError(f"{name} must hold terms with a letter or a digit")
        if len(read_tokens(term.strip()).words) > LONGEST_REPEAT:
            raise ParameterError(f"{name} must hold terms of <= {LONGEST_REPEAT} words and signs")
    return tuple(sorted(set(given)))


def hash_terms(terms: Sequence[str]) -> str:
    """Return the digest that stands for terms in an identity; "" for none."""
    return sha256(json.dumps(terms).encode()).hexdigest() if terms else ""
