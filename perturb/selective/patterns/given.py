"""Say what a single word is: a given name of one of many languages, an ordinary word, or both."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from perturb.text.fold import drop_accents, fold_name
from perturb.vocabulary.word_list import dictionary_words

__all__ = [
    "begins_with_family",
    "has_family_first",
    "is_given",
    "is_ordinary_word",
    "is_word_elsewhere",
    "list_given",
    "may_be_given",
    "names_beside",
    "names_thing",
    "sex_of",
    "stands_alone",
]

_FILE = Path(__file__).parents[2] / "data" / "given_names.txt"
# More that are words. Alone they name nobody, so the public list has some of them.
_WORDS = """
    art autumn basil chance charity chase clay destiny duke ginger heath herb may miles misty
    patience ray reed rich rusty sage sky star storm
"""
# Names that are ordinary words of some language: in small letters, or where they begin a sentence,
# they are rather these. Indonesian, Turkish, Finnish, Hungarian, Filipino, Serbian and Croatian,
# Slovene, Czech and Slovak, Lithuanian and Latvian, Romanian, Spanish, French, Icelandic, Swahili,
# Vietnamese.
_ELSEWHERE = """
    ainoa alexandrie asali atena avgust awan bagus bahari bahati bakti batal betina
    beyler binay boði bucur budi busara cakrawala catur cezayir chema cuman dagur damu drauma
    drengur duha dursun duyên dúfa eldur enteng eron evde eşim falak floare friður gadang gaduh
    gaida galak gamblang gangsa ganjaran gauja gauti gesa gestur giòn gustas güler günden haddi
    hafnar hamis harini harja hawa hekima helmi hreinn hringur hương ikiz iklim ilgi ilim imge
    indah insa jasmani jati javi jele jerman jono kacung kada kapitola karam karya katė kauko
    keji ketan kinaya koldan kovu kritika laksana langgeng laze lembah lere liban liepa
    lintang lize louka luluh maija majd malou malu manni maža mihin milagros miran mujur mulya
    mustika mwezi nacio naib najam netra ngamia nhiên nilam nima nyoka nyuki oiva
    oleh paksu pandu pangeran perkasa phúc plamen puji puti putri putu rahmat
    rajata rasul restu reyna riad risasi rojus rupa ruža rózsa sabar sadan satu sauti saveta
    segun serah sevdi speranța stjarna suman suvakit suvi suze svetla swala söyler tanak tanır
    tarmo taru teguh timbul toivo tuuli tími unggul usiku uzima vija vilji
    virág vuokko warsa yada zawadi ąžuolas živa
"""
# Names that are also a place, a language or a club.
_OF_THINGS = """
    austin carolina chad chelsea china dallas florence georgia houston india israel jordan julia
    lincoln madison paris phoenix ruby savannah sydney victoria virginia
"""
_THINGS = frozenset(_OF_THINGS.split())
# Ordinary words that the dictionary is too old for.
_TECHNICAL_LIST = """
    backticks callback callbacks changelog checkbox checkboxes clickable codebase codeblock
    dropdown dropdowns filepath frontend frontends fullstack linter linting loopback
    middleware monospace navbar newline newlines precompiled retrying sidebar subdirectories
    subdirectory symlink symlinks todo todos tooltip tooltips webhook webhooks
"""
_TECHNICAL = frozenset(_TECHNICAL_LIST.split())


@lru_cache(maxsize=1)
def list_given() -> tuple[str, ...]:
    """Return the names of the list as they are written, without those that are rather words."""
    return tuple(name.partition("/")[0] for name in _marked())


def is_given(word: str) -> bool:
    """Tell if a word may be a given name, in any capitals and with or without accents.

    >>> [is_given(word) for word in ("Jürgen", "ana", "Sky", "Board")]
    [True, True, True, False]
    """
    return fold_name(word) in _keys()


def may_be_given(word: str) -> bool:
    """Tell if a word in small letters is a given name, or its genitive without an apostrophe.

    >>> [may_be_given(word) for word in ("jürgen", "kayleighs", "board")]
    [True, True, False]
    """
    key = word if word.isascii() else fold_name(word)
    return key in _keys() or key.removesuffix("s") in _keys()


def stands_alone(word: str) -> bool:
    """Tell if a given name is no word of a language, and neither a well-known name nor a part of
    one: it names a person wherever it stands.

    >>> [stands_alone(word) for word in ("Wiebke", "anouk", "Julia", "Rose", "Board")]
    [True, True, False, False, False]
    """
    return drop_accents(word) in _alone()  # Guðrún is rare, Gudrun is not


# Surnames of Vietnam, Korea and China, without accents; and those that are words of some language.
_FAMILIES = frozenset(
    (
        *("nguyen", "tran", "pham", "hoang", "huynh", "phan", "vu", "vo", "dang", "bui", "ngo"),
        *("duong", "ly", "trinh", "dinh", "choi", "jung", "kang", "yoon", "jang", "wang", "li"),
        *("zhang", "liu", "chen", "yang", "huang", "zhao", "wu", "zhou", "xu", "zhu"),
    )
)
_FAMILY_WORDS = frozenset(("le", "ho", "kim", "lee", "park", "lim", "sun", "lin"))
_SYLLABLES = 8  # letters of a name after one: Xiaoming


def begins_with_family(words: Sequence[str]) -> bool:
    """Tell if words begin with a surname of Vietnam, Korea or China, which may be another word,
    too, and short ones follow, as in a name: `Le Minh Chau`, and `Le Petit Pain`."""
    family, given = words[0].lower(), words[1:]
    named = family in _FAMILIES or family in _FAMILY_WORDS
    return named and 0 < len(given) < 4 and all(len(word) <= _SYLLABLES for word in given)


def has_family_first(words: Sequence[str]) -> bool:
    """Tell if words may be a name that begins with a surname, as in Vietnam, Korea and China; two
    words, or those after a surname that is a word itself, if none of them is ordinary.

    >>> names = "Tran Van Hai", "Zhang Xiaoming", "Sun Jan", "Le Petit Pain"
    >>> [has_family_first(name.split()) for name in names]
    [True, True, False, False]
    """
    if not begins_with_family(words):
        return False
    family, given = words[0].lower(), words[1:]
    strange = not any(map(is_ordinary_word, given))
    if family in _FAMILY_WORDS:
        return len(given) > 1 and strange
    return len(given) > 1 or strange


def is_word_elsewhere(word: str) -> bool:
    """Tell if a given name is an ordinary word of some language.

    >>> [is_word_elsewhere(word) for word in ("Satu", "kada", "wiebke", "jürgen")]
    [True, True, False, False]
    """
    return word.lower() in _elsewhere()


@lru_cache(maxsize=1)
def _elsewhere() -> frozenset[str]:
    return frozenset(_ELSEWHERE.split())


@lru_cache(maxsize=1)
def names_beside() -> frozenset[str]:
    """Return the given names, in small letters with and without accents, that are no word of a
    language but may be a part of a well-known name: each names a person where another private
    person is named.

    >>> [name in names_beside() for name in ("rocco", "wiebke", "rose", "board")]
    [True, False, False, False]
    """
    names = _read_section("[beside]")
    return frozenset({*map(str.lower, names), *map(fold_name, names)} - _THINGS)


def is_ordinary_word(word: str) -> bool:
    """Tell if a word is one of the English dictionary that is written in small letters, or one of
    today's work with computers."""
    return word.lower() in dictionary_words() or word.lower() in _TECHNICAL


def names_thing(word: str) -> bool:
    """Tell if a given name is also that of a place, a language or a club: `Georgia`, `Julia`."""
    return word.lower() in _THINGS


def sex_of(word: str) -> str:
    """Return `f` for a given name of women, `m` for one of men; "" where the list does not tell,
    or both bear it.

    >>> [sex_of(word) for word in ("Wiebke", "jürgen", "Kim", "Board")]
    ['f', 'm', '', '']
    """
    return _sexes().get(fold_name(word), "")


@lru_cache(maxsize=1)
def _read() -> tuple[str, ...]:
    return tuple(_FILE.read_text("utf-8").splitlines())


@lru_cache(maxsize=1)
def _alone() -> frozenset[str]:
    return frozenset(map(drop_accents, _read_section("[alone]")))


def _read_section(title: str) -> list[str]:
    """Return the names of a section of one line, as they are written."""
    lines = _read()
    return [name.partition("/")[0] for name in lines[lines.index(title) + 1].split()]


@lru_cache(maxsize=1)
def _marked() -> tuple[str, ...]:
    """Return the names of the list, some with `/f` or `/m`."""
    return tuple(w for line in _read() if not line.startswith(("#", "[")) for w in line.split())


@lru_cache(maxsize=1)
def _sexes() -> dict[str, str]:
    marked = (name.partition("/") for name in _marked())
    return {fold_name(name): sex for name, _, sex in marked if sex}


@lru_cache(maxsize=1)
def _keys() -> frozenset[str]:
    return frozenset(map(fold_name, (*list_given(), *_WORDS.split())))
