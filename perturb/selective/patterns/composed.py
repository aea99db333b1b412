"""Find the full names that identifiers are made of: `oskar_thackeray.json`, `NkechiOkonkwoTest`.

The first word is a given name that is no word of programs, and the second is in no dictionary.
"""

from __future__ import annotations

import re
from functools import lru_cache

from perturb.selective.patterns.given import (
    is_given,
    is_ordinary_word,
    is_word_elsewhere,
    names_beside,
    names_thing,
    stands_alone,
)
from perturb.selective.patterns.settings import PROGRAMS
from perturb.selective.patterns.shape import (
    Chosen,
    any_match,
    shape,
    words_of,
)

__all__ = ["COMPOSED", "find_pairs", "is_full_name", "split_humps"]

# Given names that stand for something else in programs and data: months, countries, languages,
# abbreviations (`conn_recv`), services and packages (`amazon_polly`).
_OF_PROGRAMS = words_of(
    """
    ada adan agda aida akka alexa alma amin amr andi ann anon april ara ari asia august basil
    berk bert boto camel carla cher claude conn corba dag dan danish dante dart dax deb dee dena
    deno django domenica domingo don dot dov dylan edda elif elm elsa elvis emilia ender erik
    esi finn flo flor floyd fran frar gene german gin gita gordan gradle gregorian hadi hana
    helm ida indo io ion isa isin iso ivy jackson jade jan java jin jose juli julio july juma
    jun june juni kafka kai kali karma kay kendra kent keras kerry kev kim kit kiva kotlin lee
    len lennard lex linus luna lux lynx maja mann mar mara mars maven mavi max mel mina mini
    mira misa mock modi moro nan nash nat nero nete nilo norma nout nova odin ole oli pam pascal
    pasha pat penny petra pia pim pip polly puma puri qi ram rana redis reno rex rico rio rob
    roman ron roy rust sally sam sami santiago saul selena sid sol sonata stan teo thor titan
    todd toma tor turkmen tyr uri ursa uwe val vega vera vi vim vita viva waldo wolfram xin yan
    yuan zen zephyr zeus
    """
)
_LEAST_FAMILY = 5  # letters; of names that name a person anywhere, one less
_TECHNICAL = words_of(
    """
    addr args argv async attr attrs auth autoscaling cert cfgs cmake coef coeff coeffs conf configs
    ctrl ctxt dataset datasets dtype dtypes enum enums errno expr exprs fmts freq func funcs github
    gitlab gmail googlemail html http https hdmi impl init ints interp iter json jsonl kwargs lang
    langid lexer lexers libs loggers meta misc mixin ndarray ngram npmrc num nums param params
    parens parser pkgs png posteo proc prod proto pyproject regex regexp repl repo repos rpc
    sqlite stddev stdev stmt strs substr sync tmpl tsconfig tuple tuples typing ubuntu ucal utf
    utils uuid vars webapp webpack wifi wiki xhtml xlsx docx pptx yaml ipynb
    """
)


# Two persons whose names one thing bears, and a region.
_KNOWN_PAIRS = frozenset(
    (
        *("emilia romagna", "frank entriken", "frank wolfe", "gordon lagrangian", "lucas lehmer"),
        *("malik cubature", "mathieu modcem", "stefan boltzmann", "vincent akritas"),
    )
)


@lru_cache(maxsize=65536)
def is_full_name(given: str, family: str) -> bool:
    """Tell if two words of an identifier, in any capitals, are a person's given name and surname.

    >>> [is_full_name(*words) for words in (("oskar", "thackeray"), ("grace", "hash"))]
    [True, False]
    """
    given, family = given.lower(), family.lower()
    if not _may_open(given) or is_given(family) or f"{given} {family}" in _KNOWN_PAIRS:
        return False
    if family in _TECHNICAL or family in PROGRAMS:
        return False
    rare = _is_rare(given)
    worded = _is_ordinary(family) if rare else _is_worded(family)
    return len(family) >= _LEAST_FAMILY - rare and not worded


@lru_cache(maxsize=65536)
def _may_open(word: str) -> bool:
    """Tell if a word in small letters is a given name and nothing else in a program."""
    return (
        is_given(word)
        and word not in _OF_PROGRAMS
        and not is_ordinary_word(word)
        and not is_word_elsewhere(word)
        and not names_thing(word)
    )


def _is_rare(given: str) -> bool:
    return stands_alone(given) or given in names_beside()


def _is_ordinary(word: str) -> bool:
    return is_ordinary_word(word) or is_ordinary_word(word.removesuffix("s"))


def _is_worded(word: str) -> bool:
    """Tell if a word is one of the dictionary, or two of them written as one: `startswith`."""
    if _is_ordinary(word):
        return True
    cuts = range(3, len(word) - 2)
    return any(is_ordinary_word(word[:cut]) and is_ordinary_word(word[cut:]) for cut in cuts)


_HUMP = re.compile(r"[A-Z]?[a-zà-öø-ÿ]+|[A-Z]+(?![a-zà-öø-ÿ])|[^\W\d_]")


def split_humps(word: str) -> list[str]:
    """Return the words of a run of letters in camel case.

    >>> split_humps("TamsinAchterbergIT"), split_humps("tamsin")
    (['Tamsin', 'Achterberg', 'IT'], ['tamsin'])
    """
    return _HUMP.findall(word)


def find_pairs(humps: list[str]) -> list[int]:
    """Return the places of the given names that a surname follows.

    >>> find_pairs(["get", "Tamsin", "Achterberg", "Orders"])
    [1]
    """
    return [i for i in range(len(humps) - 1) if is_full_name(humps[i], humps[i + 1])]


def _locate_pair(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of two words with a sign between: `oskar_thackeray`."""
    given, family = match["given"], match["family"]
    named = given.islower() == family.islower() and given.isupper() == family.isupper()
    if match["sign"] == "." and not given.islower():  # the end of a sentence
        return None
    full = named and is_full_name(given, family)
    return (match.start(), match.end("family")) if full else None


def _locate_run(match: re.Match[str]) -> tuple[int, int] | None:
    return match.span() if find_pairs(split_humps(match[0])) else None


_LETTER = r"[^\W\d_]"
COMPOSED = (
    shape(
        "PERSON",
        rf"(?<!{_LETTER})(?P<given>{_LETTER}{{3,16}}+)"
        rf"(?=(?P<sign>[_.-])(?P<family>{_LETTER}{{4,20}}+)(?!{_LETTER}))",
        clue=Chosen(_may_open),
        locate=_locate_pair,
        reach=2,
    ),
    shape(
        "USERNAME",
        r"(?<![A-Za-z])(?:[A-Z][a-z]{0,15}|[a-z]{1,16})(?>(?:[A-Z][a-z]{0,20}){1,12})(?![a-z])",
        clue=any_match(r"[A-Z](?<=[a-z]{2}.)[a-z]{3}"),
        locate=_locate_run,
    ),
)
