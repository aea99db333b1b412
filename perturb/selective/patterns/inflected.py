"""Find the names of a text in their other forms: `Holzapfels`, `Novákové`, `Сидорову`; also
without their accents: `Szczepanska`, `Muller`, `Mueller`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from perturb.selective.patterns.settings import is_ordinary_word
from perturb.text.fold import fold_name

__all__ = ["Inflections"]

LEAST = 4  # letters of a name, or of its stem


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
_LONGEST = max(map(len, _BY_ENDING))
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
            if len(word) < LEAST or not word[0].isupper():
                continue
            form = next(filter(self._names.__contains__, _read_stems(word.casefold())), "")
            if form and self._names[form] != word.casefold() and not is_ordinary_word(word):
                found[word] = self._names[form]
        return found


def _write_stems(name: str) -> Iterator[str]:
    """Yield the forms of a name that tell its other forms: its stem and what it ends in."""
    if len(name) >= LEAST:
        yield f"{name}|"
        yield f"{_drop_accents(name)}||"
        if not name.isascii():
            yield f"{fold_name(name.translate(_SPELLED_OUT))}||"
    yield from _read_changes(name)


def _drop_accents(word: str) -> str:
    return word if word.isascii() else fold_name(word)


def _read_stems(word: str) -> Iterator[str]:
    yield f"{_drop_accents(word)}||"
    for size in range(1, min(5, len(word) - LEAST) + 1):
        if word[-size:] in _ENDINGS:
            yield f"{word[:-size]}|"
    yield from _read_changes(word)


def _read_changes(word: str) -> Iterator[str]:
    for size in range(1, _LONGEST + 1):
        least = _SHORT if size < 3 else LEAST - 1
        if len(word) - size >= least:
            for number in _BY_ENDING.get(word[-size:], ()):
                yield f"{word[:-size]}|{number}"
