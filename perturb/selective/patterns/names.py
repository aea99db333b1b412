"""Find likely proper names by their capitals."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from perturb.selective.patterns.people import TITLES
from perturb.selective.patterns.words import (
    AFTER_PARTICLES,
    DETERMINERS,
    GERMAN_DETERMINERS,
    GERMAN_NOUNS,
    GERMAN_PREPOSITIONS,
    INSTITUTIONS,
    OPENERS,
    ORDINALS,
    PARTICLES,
    PHRASES,
)

__all__ = ["NAME", "NAME_TYPES", "find_distinctive_words", "find_names", "follows_determiner"]

NAME = "NAME"
NAME_TYPES = frozenset((NAME, "PERSON"))  # ours and Presidio's

_WORD = re.compile(r"[^\W\d_]+(?:['’-](?!s\b)[^\W\d_]+)*")  # without a genitive's s
_NEXT = re.compile(r"(?:['’]s)? ([a-z]{3,20}+)(?![^\s,.;:!?])")
_OPENING = re.compile(r"[.!?:\n]")  # a sentence or a line begins after it
_PUNCTUATION = re.compile(r"[-.&]")
_BREAK = re.compile(r"-?[ \t]*+\r?[\n\v\f\x85\u2028\u2029][ \t>]*+")  # of a line, also quoted
_TITLES = frozenset(TITLES.split())
_PLAIN = OPENERS | _TITLES  # words that identify nobody
_GERMAN_NOUN = re.compile(r"\w{3,}(?:ung|heit|keit|schaft|tion|tät|ismus)(?:en)?")
_FUNCTION_WORDS = DETERMINERS | {"of", "and", "in", "for", "to", "with", "by", "on", "at"}
_ABBREVIATED = frozenset(("St", "Ste", "Mt", "Ft"))  # St. Louis
_NUMBERED = re.compile(
    r"(?=[ .])\.? ?(?:(?:no|nos|nr|number)\.? ?)?(?:\d|[IVX]+\b)", re.IGNORECASE
)


def find_names(
    text: str,
    proper: Collection[str] = (),
    common: Collection[str] = (),
    lexicon: Collection[str] = (),
) -> Iterator[tuple[int, int]]:
    """Find likely proper names: (start, end) of runs of words with a capital letter.

    >>> list(find_names("Please write to Anna Schmidt."))
    [(16, 28)]

    A run of two words or more counts anywhere, also across the end of a line. A single word
    counts only where it does not begin a sentence, after a title, before a comma and another
    name (`Schmidt, Maria`), or if it is one of the `proper` words, which are hardly ever written
    without a capital, or in none of the dictionary `lexicon`, in which the next word is. Words
    that open sentences, and `common` ones, do not count as names before a comma. Common words are
    no name after a determiner (`the Court`), before a number (`Article 8`), after an ordinal (`the
    Fourth Section`) and in headings (`THE FACTS OF THE CASE`); nor is a German noun after a
    determiner. Scripts without capitals have no names.
    """
    run: list[re.Match[str]] = []
    opens, before = True, ""  # the run stands where a sentence begins; the word before it
    last: re.Match[str] | None = None
    second: re.Match[str] | None = None  # the word before the last

    def accept(opens: bool) -> Iterator[tuple[int, int]]:
        return _accept_run(_Run(text, run, opens, before), proper, common, lexicon)

    for word in _WORD.finditer(text):
        if not run and not word[0][0].isupper():  # most words: nothing begins or ends here
            last, second = word, last
            continue
        gap = text[last.end() : word.start()] if last else "\n"
        broken = bool(run) and _BREAK.fullmatch(gap) is not None
        joined = bool(run) and _joins(gap, run, last)
        small = word[0] in PARTICLES or (
            last and last[0] in PARTICLES and word[0] in AFTER_PARTICLES
        )
        if (joined or broken) and small and not _PUNCTUATION.search(gap):
            last, second = word, last  # part of the run if a capital follows
            continue
        if broken and not joined:
            alone = opens and len(run) == 1 and not _is_proper(run[0][0], proper)
            goes_on = not alone or _is_proper(word[0], proper)
            joined = goes_on and word[0].lower() not in OPENERS
        if not joined:
            first = gap == ", " and _is_capitalised(word[0]) and _may_be_surname(run, common)
            yield from accept(opens and not first)
            run = []
        if _is_capitalised(word[0]):
            if not run:
                opens = _OPENING.search(gap) is not None and not _follows_title(last, gap)
                near = last and (gap == " " or _follows_title(last, gap))
                before = _read_before(last, second) if last and near else ""
            run.append(word)
        else:
            yield from accept(opens)
            run = []
        last, second = word, last
    yield from accept(opens)


class _Run(NamedTuple):
    """A run of capitalised words: whether a sentence begins there, and the word before it."""

    text: str
    words: list[re.Match[str]]
    opens: bool
    before: str


def _joins(gap: str, run: list[re.Match[str]], last: re.Match[str] | None) -> bool:
    """Tell if a run goes on after a gap. A full stop belongs to an initial before it, and to `St`
    unless that ends a street's name."""
    if gap in (". ", " . "):
        begins = len(run) == 1 or (len(run) == 2 and run[0][0].lower() in OPENERS)
        return _is_initial(last) or (begins and run[-1][0] in _ABBREVIATED)
    return gap in (" ", "-", " - ", " & ")


def _may_be_surname(run: list[re.Match[str]], common: Collection[str]) -> bool:
    """Tell if a single word before a comma may be a surname."""
    return len(run) == 1 and run[0][0].lower() not in OPENERS and (run[0][0].lower() not in common)


def follows_determiner(words: Sequence[str], place: int) -> bool:
    """Tell if the token at a place follows a determiner and a blank.

    >>> follows_determiner(["the", " ", "Court"], 2)
    True
    """
    return place > 1 and words[place - 1] == " " and words[place - 2].lower() in DETERMINERS


def find_distinctive_words(name: str) -> Iterator[tuple[int, int]]:
    """Find the words of a name that identify it by themselves: (start, end) of each.

    They have three letters or more and a capital, and do not open sentences.

    >>> list(find_distinctive_words("Anna de Groot"))
    [(0, 4), (8, 13)]
    """
    for word in _WORD.finditer(name):
        plain = word[0].lower() in _PLAIN
        if len(word[0]) >= 3 and word[0][0].isupper() and not plain:
            yield word.start(), word.end()


def _is_proper(word: str, proper: Collection[str]) -> bool:
    return word in proper and word.lower() not in OPENERS


def _is_capitalised(word: str) -> bool:
    """Tell if a word may belong to a name: capitalised, and no title or pronoun."""
    pronoun = word in ("I", "OK") or word.startswith(("I'", "I’"))
    return word[0].isupper() and not pronoun and word.lower() not in _TITLES


def _is_initial(word: re.Match[str] | None) -> bool:
    """Tell if a word is an initial: a full stop after it belongs to it."""
    return word is not None and len(word[0]) == 1


def _follows_title(word: re.Match[str] | None, gap: str) -> bool:
    return word is not None and gap.strip(" ") == "." and word[0].lower() in _TITLES


def _read_before(last: re.Match[str], second: re.Match[str] | None) -> str:
    """Return the word before a run; a German determiner also over an adjective."""
    adjective = second is not None and last.start() - second.end() == 1
    if second and adjective and last[0].endswith(("e", "en", "em", "er", "es")):
        return second[0] if second[0].lower() in GERMAN_DETERMINERS else last[0]
    return last[0]


def _accept_run(
    run: _Run, proper: Collection[str], common: Collection[str], lexicon: Collection[str]
) -> Iterator[tuple[int, int]]:
    if run.opens and run.words and run.words[0][0].lower() in OPENERS and not _is_dotted(run):
        run = _Run(run.text, run.words[1:], False, run.words[0][0])
    if not run.words or _is_ordinary(run, proper, common):
        return
    first = run.words[0]
    if (
        len(run.words) > 1
        or not run.opens
        or _is_proper(first[0], proper)
        or _is_unknown(run.text, first, lexicon)
    ):
        yield first.start(), run.words[-1].end()


def _is_dotted(run: _Run) -> bool:
    """Tell if a run begins with an initial and its full stop: `A. Schmidt`."""
    first = run.words[0]
    return len(run.words) > 1 and _is_initial(first) and run.text[first.end()] == "."


def _is_unknown(text: str, word: re.Match[str], lexicon: Collection[str]) -> bool:
    """Tell if a word that opens a sentence is in no dictionary, and the next word is."""
    if not lexicon or len(word[0]) < 3 or word[0].lower() in lexicon or not word[0].istitle():
        return False
    following = _NEXT.match(text, word.end())
    return following is not None and following[1] in lexicon


def _is_ordinary(run: _Run, proper: Collection[str], common: Collection[str]) -> bool:
    """Tell if a run of capitalised words names nobody, by its words and its surroundings."""
    words = [word[0].lower() for word in run.words]
    before = run.before.lower()
    if before in _TITLES:
        return False
    first = run.words[0]
    if len(words) == 1 and _is_initial(first) and not run.text.startswith(".", first.end()):
        return True  # a letter: the grade B, C:\logs
    count = len(words)
    while count and " ".join(words[max(count - 2, 0) : count]) in PHRASES:
        count -= 2
    if not count:
        return True
    words, run = words[:count], run._replace(words=run.words[:count])
    if len(words) == 1 and run.words[0][0].istitle() and not _is_proper(run.words[0][0], proper):
        if before in GERMAN_DETERMINERS or words[0] in GERMAN_NOUNS:
            return True
        if before in GERMAN_PREPOSITIONS and _GERMAN_NOUN.fullmatch(words[0]):
            return True
    if not all(word in common or word in INSTITUTIONS for word in words):
        return False
    if all(word[0].isupper() for word in run.words):  # a heading, or an acronym
        heading = len(words) > 1 or (len(run.before) > 1 and run.before.isupper())
        return heading and not _FUNCTION_WORDS.isdisjoint((*words, before))
    if len(words) == 1 and before in DETERMINERS:
        return True
    if len(words) == 2 and words[0] in ORDINALS:
        return True
    return len(words) < 3 and _NUMBERED.match(run.text, run.words[-1].end()) is not None
