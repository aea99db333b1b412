"""Names in the cases of Slavic languages, and Cyrillic ones in Latin letters.

An answer in Polish, Czech or Russian declines the names that it uses. Only regular endings are
known here: a name that has none in a case stands as it is, as most people write foreign names.
"""

from __future__ import annotations

import re

__all__ = ["CASES", "CYRILLIC", "SLAVIC", "decline", "romanize", "romanize_briefly"]

CASES = ("genitive", "dative", "accusative", "instrumental", "dative in -ovi")
MOST_DECLINED = 4  # words of a name
SHORTEST_DECLINED = 3  # letters of a word
# Letters of Polish and Czech, and of languages with Cyrillic script.
SLAVIC = re.compile("[ąćęłńśźżčďěňřšťůžĄĆĘŁŃŚŹŻČĎĚŇŘŠŤŮŽ]")
CYRILLIC = re.compile("[А-Яа-яЁёІіЇїЄє]")
_VOWELS = "aąeęioóuyáéíúůýаеёиоуыэюяіїє"
_HUSHED = "гкхжчшщ"  # after these, `ы` becomes `и`
_MEN_NAMED = "Никита Илья Лука Фома Кузьма Савва Данила Миша Саша Лёша Дима Ваня"
_MEN_IN_A = frozenset(_MEN_NAMED.split())
_WOMEN_NAMED = (
    "Ирина Марина Галина Екатерина Полина Арина Кристина Алина Карина Нина Валентина Регина "
    "Ангелина Каролина Лина Дина Зина Антонина Альбина Сабина Эвелина"
)
_WOMEN_IN_INA = frozenset(_WOMEN_NAMED.split())
# Endings in the order of `CASES`; where there is none, the name stays.
_MEN_IN_SKI = ("ego", "emu", "ego", "m", "")
_WOMEN_IN_SKA = ("iej", "iej", "ą", "ą", "")
_MEN_IN_LATIN = ("a", "owi", "a", "em", "ovi")
_SOFTENED = {"k": "ce", "g": "dze", "r": "rze", "t": "cie", "d": "dzie", "ł": "le"}
_HARD = ("а", "у", "а", "ом", "")
_HARD_SURNAME = ("а", "у", "а", "ым", "")
_SOFT = ("я", "ю", "я", "ем", "")
_IN_A = ("ы", "е", "у", "ой", "")
_IN_YA = ("и", "е", "ю", "ей", "")
_IN_OVA = ("ой", "ой", "у", "ой", "")
_IN_SKAYA = ("ой", "ой", "ую", "ой", "")
_IN_SKY = ("ого", "ому", "ого", "им", "")
# The transliteration of passports.
_SPELLED = "a b v g d e yo zh z i y k l m n o p r s t u f kh ts ch sh shch y e yu ya i yi ye"
_LATIN = dict(zip("абвгдеёжзийклмнопрстуфхцчшщыэюяіїє", _SPELLED.split(), strict=True), ъ="", ь="")
_BRIEF = {"iya": "ia", "iy": "y", "yy": "y"}
_LONG_END = re.compile(r"(?:iya|iy|yy)\b")


def decline(name: str, case: str) -> str | None:
    """Return a person's name in a case; None if that is no other word.

    The first of several words is a given name: it tells if the others are those of a woman.

    >>> decline("Tomasz Kowalski", "dative"), decline("Анна Иванова", "genitive")
    ('Tomaszowi Kowalskiemu', 'Анны Ивановой')
    """
    words = name.split()
    if not 0 < len(words) <= MOST_DECLINED or not all(map(_can_be_declined, words)):
        return None
    number = CASES.index(case)
    write = _decline_in_cyrillic if CYRILLIC.search(name) else _decline_in_latin
    is_woman = words[0][-1] in "aая" and words[0] not in _MEN_IN_A
    shown = " ".join(
        write(word, number, is_woman=is_woman, is_given=place == 0 and len(words) > 1)
        for place, word in enumerate(words)
    )
    return None if shown == name else shown


def romanize(name: str) -> str | None:
    """Return a Cyrillic name in Latin letters, as passports have it; None for another one.

    >>> romanize("Юлия Щукина")
    'Yuliya Shchukina'
    """
    if not CYRILLIC.search(name):
        return None
    letters = ((letter, _LATIN.get(letter.lower(), letter)) for letter in name)
    return "".join(new.capitalize() if old.isupper() else new for old, new in letters)


def romanize_briefly(name: str) -> str | None:
    """Return a Cyrillic name in Latin letters, as most people write it.

    >>> romanize_briefly("Дмитрий Юрьев"), romanize_briefly("Мария")
    ('Dmitry Yurev', 'Maria')
    """
    latin = romanize(name)
    return latin and _LONG_END.sub(lambda found: _BRIEF[found[0]], latin)


def _can_be_declined(word: str) -> bool:
    return word.isalpha() and len(word) >= SHORTEST_DECLINED and word[0].isupper()


def _decline_in_latin(word: str, number: int, *, is_woman: bool, is_given: bool) -> str:
    for ends, cut, endings in (
        (("ska", "cka", "dzka"), 1, _WOMEN_IN_SKA),
        (("ski", "cki", "dzki"), 0, _MEN_IN_SKI),
    ):
        if word.endswith(ends):
            return word[: len(word) - cut] + endings[number] if endings[number] else word
    if word[-1] == "a":
        return _decline_in_a(word[:-1], number)
    if is_woman or word[-1] in _VOWELS:
        return word
    stem = f"{word[:-2]}k" if word.endswith("ek") and len(word) > SHORTEST_DECLINED else word
    ending = _MEN_IN_LATIN[number]
    return stem + ("i" if ending == "em" and stem[-1] in "kg" else "") + ending


def _decline_in_a(stem: str, number: int) -> str:
    last = stem[-1]
    if number == 0:
        return stem + ("i" if last in "kglji" else "y")
    if number == 1:
        if last in "ij":
            return stem + "i"
        if last in _SOFTENED:
            return stem[:-1] + _SOFTENED[last]
        return stem + ("e" if last in "lcz" else "ie")
    return stem + {2: "ę", 3: "ą"}.get(number, "a")


def _decline_in_cyrillic(word: str, number: int, *, is_woman: bool, is_given: bool) -> str:
    cut, endings = _find_endings(word, is_woman=is_woman, is_given=is_given)
    stem, ending = word[: len(word) - cut], endings[number]
    if not ending:
        return word
    if ending == "ы" and stem[-1] in _HUSHED:
        ending = "и"
    if ending == "е" and word.endswith("ия"):
        ending = "и"
    return stem + ending


def _find_endings(word: str, *, is_woman: bool, is_given: bool) -> tuple[int, tuple[str, ...]]:
    """Return how many letters of a Cyrillic name change, and what stands for them in each case."""
    if is_woman and word.endswith(("ская", "цкая")):
        return 2, _IN_SKAYA
    if not is_woman and word.endswith(("ский", "цкий", "ской")):
        return 2, _IN_SKY
    is_surname = not is_given and word not in _WOMEN_IN_INA
    if is_surname and word.endswith(("ова", "ева", "ёва", "ина", "ына")):
        return 1, _IN_OVA
    if word[-1] == "а":
        return 1, _IN_A
    if word[-1] == "я":
        return 1, _IN_YA
    if is_woman or word[-1] in _VOWELS:
        return 0, ("",) * len(CASES)
    if word[-1] in "йь":
        return 1, _SOFT
    if is_surname and word.endswith(("ов", "ев", "ёв", "ин", "ын")):
        return 0, _HARD_SURNAME
    return 0, _HARD
