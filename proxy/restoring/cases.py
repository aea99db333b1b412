"""Names in the cases of Slavic languages, and Cyrillic ones in Latin letters.

An answer in Polish, Czech or Russian declines the names that it uses. Only regular endings are
known here; a name that has none in a case stands as it is, as most speakers write foreign names.
"""

from __future__ import annotations

import re

from perturb.selective.patterns.given import is_given, sex_of

__all__ = ["CASES", "CYRILLIC", "SLAVIC", "decline", "romanize", "romanize_briefly"]

CASES = ("genitive", "dative", "accusative", "instrumental", "dative in -ovi")
MOST_WORDS = 4
FEWEST_LETTERS = 3
# Letters of Polish and Czech, and of languages with Cyrillic script.
SLAVIC = re.compile("[ąćęłńśźżčďěňřšťůžĄĆĘŁŃŚŹŻČĎĚŇŘŠŤŮŽ]")
CYRILLIC = re.compile("[А-Яа-яЁёІіЇїЄє]")
_VOWELS = "aąeęioóuyáéíúůýаеёиоуыэюя"
_HUSHED = "гкхжчшщ"  # after these, `ы` becomes `и`
# Endings by the sound of the name: in the order of `CASES`.
_POLISH_MEN = ("a", "owi", "a", "em", "ovi")
_POLISH_MEN_IN_SKI = ("ego", "emu", "ego", "m", "")
_POLISH_WOMEN_IN_SKA = ("iej", "iej", "ą", "ą", "")
_RUSSIAN_HARD = ("а", "у", "а", "ом", "")
_RUSSIAN_SOFT = ("я", "ю", "я", "ем", "")
_RUSSIAN_WOMEN = ("ы", "е", "у", "ой", "")
_RUSSIAN_WOMEN_SOFT = ("и", "е", "ю", "ей", "")
_RUSSIAN_WOMEN_IN_OVA = ("ой", "ой", "у", "ой", "")
_RUSSIAN_WOMEN_IN_SKAYA = ("ой", "ой", "ую", "ой", "")
_RUSSIAN_MEN_IN_SKY = ("ого", "ому", "ого", "им", "")
_SPELLED = "a b v g d e yo zh z i y k l m n o p r s t u f kh ts ch sh shch y e yu ya i yi ye"
_LATIN = dict(zip("абвгдеёжзийклмнопрстуфхцчшщыэюяіїє", _SPELLED.split(), strict=True), ъ="", ь="")


def decline(name: str, case: str, *, is_value: bool = False) -> str | None:
    """Return a person's name in a case; None if that is no other word.

    Args:
        is_value: whether a word that is also another name will do.

    >>> decline("Tomasz Kowalski", "dative"), decline("Анна Иванова", "genitive")
    ('Tomaszowi Kowalskiemu', 'Анны Ивановой')
    """
    words = name.split()
    if not 0 < len(words) <= MOST_WORDS or not all(_is_name(word) for word in words):
        return None
    number = CASES.index(case)
    write = _decline_russian if CYRILLIC.search(name) else _decline_polish
    sex = sex_of(words[0])
    is_woman = sex == "f" if sex else words[0][-1] in "aая"
    done = [write(word, number, is_woman) for word in words]
    shown = " ".join(done)
    if shown == name:
        return None
    if not is_value and len(words) == 1 and write is _decline_polish and is_given(shown):
        return None  # `Martina` is no genitive where it may be a name
    return shown


def romanize(name: str) -> str | None:
    """Return a Cyrillic name in Latin letters, as passports have it; None for another one.

    >>> romanize("Юлия Щукина")
    'Yuliya Shchukina'
    """
    if not CYRILLIC.search(name):
        return None
    out = []
    for letter in name:
        latin = _LATIN.get(letter.lower(), letter)
        out.append(latin.capitalize() if letter.isupper() else latin)
    return "".join(out)


def romanize_briefly(name: str) -> str | None:
    """Return a Cyrillic name in Latin letters, as most people write it.

    >>> romanize_briefly("Дмитрий Юрьев"), romanize_briefly("Мария")
    ('Dmitry Yuryev', 'Maria')
    """
    latin = romanize(name)
    return latin and _ENDINGS.sub(
        lambda found: {"iy": "y", "iya": "ia", "yy": "y"}[found[0]], latin
    )


_BRIEF = {"iya": "ia", "iy": "y", "yy": "y"}
_ENDINGS = re.compile(r"(?:iya|iy|yy)\b")


def _is_name(word: str) -> bool:
    return word.isalpha() and len(word) >= FEWEST_LETTERS and word[0].isupper()


def _decline_polish(word: str, number: int, is_woman: bool) -> str:
    if word.endswith(("ska", "cka", "dzka")):
        ending = _POLISH_WOMEN_IN_SKA[number]
        return word[:-1] + ending if ending else word
    if word.endswith(("ski", "cki", "dzki")):
        ending = _POLISH_MEN_IN_SKI[number]
        return word + ending if ending else word
    if word[-1] == "a":
        return _decline_in_a(word, number)
    if is_woman or word[-1] in _VOWELS:
        return word
    stem = f"{word[:-2]}k" if word.endswith("ek") and len(word) > FEWEST_LETTERS else word
    ending = _POLISH_MEN[number]
    return stem + ("i" if ending == "em" and stem[-1] in "kg" else "") + ending


def _decline_in_a(word: str, number: int) -> str:
    stem = word[:-1]
    last = stem[-1]
    if number == 0:
        return stem + ("i" if last in "kgljix" else "y")
    if number == 1:
        if last in "ij":
            return stem + "i"
        softened = {"k": "ce", "g": "dze", "r": "rze", "t": "cie", "d": "dzie", "ł": "le"}
        return stem[:-1] + softened[last] if last in softened else stem + _soften(last)
    return stem + {2: "ę", 3: "ą"}.get(number, "a")


def _soften(last: str) -> str:
    return "e" if last in "lcz" else "ie"


def _decline_russian(word: str, number: int, is_woman: bool) -> str:
    ending = _find_russian(word, is_woman)
    if ending is None:
        return word
    cut, endings = ending
    stem = word[: len(word) - cut]
    told = endings[number]
    if not told:
        return word
    if told == "ы" and stem[-1] in _HUSHED:
        told = "и"
    if word.endswith("ия") and told == "е":
        told = "и"
    if told == "ом" and word.endswith(("ов", "ев", "ёв", "ин", "ын")) and not is_given(word):
        told = "ым"
    return stem + told


def _find_russian(word: str, is_woman: bool) -> tuple[int, tuple[str, ...]] | None:
    """Return how many letters of a name change, and the endings that stand for them."""
    rules: tuple[tuple[tuple[str, ...], bool | None, int, tuple[str, ...]], ...] = (
        (("ская", "цкая"), True, 2, _RUSSIAN_WOMEN_IN_SKAYA),
        (("ский", "цкий", "ской"), False, 2, _RUSSIAN_MEN_IN_SKY),
        (("ова", "ева", "ёва", "ина", "ына"), True, 1, _RUSSIAN_WOMEN_IN_OVA),
        (("а",), None, 1, _RUSSIAN_WOMEN),
        (("я",), None, 1, _RUSSIAN_WOMEN_SOFT),
        (("й", "ь"), False, 1, _RUSSIAN_SOFT),
    )
    for ends, of_women, cut, endings in rules:
        if word.endswith(ends) and of_women in (None, is_woman):
            if endings is _RUSSIAN_WOMEN_IN_OVA and is_given(word):
                continue  # Ирина, Марина
            return cut, endings
    if is_woman or word[-1].lower() in _VOWELS:
        return None
    return 0, _RUSSIAN_HARD
