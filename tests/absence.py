"""The search for what must not have left, where part of what is searched was drawn at random.

A mechanism draws any word of its vocabulary, now and then the raw one, a longer word may hold a
shorter one, and a short number comes back by chance. So only terms that no draw can make are
looked for, and they are found wherever they stand: in other capitals, in escapes of JSON, joined
to anything. Forms of releases are asserted on draws from a seed (`seeded_draws` in
`tests/conftest.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import get_args

from perturb.selective.surrogates.names import load_names
from perturb.vocabulary.words import Variant, load_vocabulary

__all__ = ["find_leaks", "may_be_drawn"]

NESTED = 2  # JSON in a string of JSON, as the arguments of a tool are
LETTERS, DIGITS = 4, 9  # letters and digits beside each other are drawn one by one
_RUNS = re.compile(r"[^\W\d_]+")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([^u]))")
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def find_leaks(terms: Iterable[str], *shown: str | bytes) -> list[str]:
    """Return the terms that are shown somewhere.

    Raises:
        ValueError: a draw may make one of the terms, and the assertion would fail by chance.
    """
    terms = list(terms)
    if drawn := [term for term in terms if may_be_drawn(term)]:
        raise ValueError(f"a draw may make {drawn}: look for words that are in no vocabulary")
    text = "\n".join(s.decode("utf-8", "replace") if isinstance(s, bytes) else s for s in shown)
    texts = [text]
    for _ in range(NESTED):
        texts.append(_unescape(texts[-1]))
    searched = "\n".join(texts).casefold()
    return [term for term in terms if term.casefold() in searched]


def may_be_drawn(term: str) -> bool:
    """Tell if words of a vocabulary, public names and fresh digits may make a term, alone or as
    a part of something longer."""
    runs = _RUNS.findall(term.casefold())
    if any(len(run) >= LETTERS and run not in _drawable() for run in runs):
        return False
    return sum(map(str.isdigit, term)) < DIGITS


@cache
def _drawable() -> str:
    """Return every word and name that a draw may write, a line each."""
    words = {word for variant in get_args(Variant) for word in load_vocabulary(variant).words}
    names = {n for some in load_names().values() for n in some.roles}
    return "\n".join(sorted(words | names)).casefold()


def _unescape(text: str) -> str:
    """Return a text with its escapes of JSON decoded."""
    read = _ESCAPE.sub(_character, text)
    return read.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _character(found: re.Match[str]) -> str:
    code, sign = found.groups()
    return chr(int(code, 16)) if code else _CONTROLS.get(sign, sign)
