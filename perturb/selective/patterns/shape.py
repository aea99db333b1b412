"""Define a type of sensitive text by its form.

Every shipped expression runs in time linear in the text: quantifiers are bounded or possessive,
and a look-behind keeps a failed match from being tried again inside the same run. A long text is
searched window by window (`perturb.text.windows`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from perturb.selective.patterns.clues import Clue, no_clue
from perturb.text.expressions import Expression
from perturb.text.windows import find_all

__all__ = ["Lazy", "Shape", "any_of", "digits", "shape"]


@dataclass(frozen=True)
class Lazy:
    """Hold a regular expression that is compiled on first use: the large ones take long."""

    pattern: str
    flags: int = 0

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """Return the compiled expression."""
        return re.compile(self.pattern, self.flags)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Yield every match in a text."""
        return find_all(self.compiled, text)


@dataclass(frozen=True)
class Shape:
    """Describe a type of sensitive text: its expression, and a check that a part must pass.

    The part is the group `part` of a shipped expression, or the whole match where there is no such
    group. An operator's expression is bounded in time; the shipped ones need no bound.

    Attributes:
        clue: tells quickly that a text has no part. It changes no result, only the time.
    """

    type: str
    pattern: re.Pattern[str] | Lazy | Expression
    passes: Callable[[str], bool] = bool
    clue: Clue = no_clue

    @property
    def source(self) -> str:
        """Return the expression with its flags."""
        return repr((self.pattern.pattern, self.pattern.flags))

    @cached_property
    def _named(self) -> bool:
        return isinstance(self.pattern, Lazy) and "(?P<part>" in self.pattern.pattern

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the start and the end of each part of a text."""
        named = self._named
        for match in self.pattern.finditer(text):
            group = "part" if named and match["part"] else 0
            if match[group] and self.passes(match[group]):
                yield match.span(group)


def shape(
    type: str,
    pattern: str,
    passes: Callable[[str], bool] = bool,
    *,
    case: bool = True,
    clue: Clue = no_clue,
) -> Shape:
    """Compile a shape; `case` says whether capitals matter, `clue` what every match holds."""
    return Shape(type, Lazy(pattern, 0 if case else re.IGNORECASE), passes, clue)


def digits(text: str) -> list[int]:
    """Return the values of the ASCII digits in a text."""
    return [int(c) for c in text if "0" <= c <= "9"]


def any_of(*lists: str) -> str:
    """Return an expression for the longest that fits of the words in lists. A blank inside an
    entry is written `_`.

    The words share their beginnings, so that most texts leave the expression at the first letter.

    >>> any_of("ab abc new_york")
    '(?:a(?:b(?:c)?)|new york)'
    """
    words = {word.replace("_", " ") for word in chain.from_iterable(map(str.split, lists))}
    return _share_beginnings(words)


def _share_beginnings(words: Collection[str]) -> str:
    by_first: dict[str, set[str]] = {}
    for word in sorted(filter(None, words)):
        by_first.setdefault(word[0], set()).add(word[1:])
    branches = []
    for first, rest in by_first.items():
        if len(rest) == 1:
            branches.append(re.escape(first + rest.pop()).replace(r"\ ", " "))
        else:
            branches.append(re.escape(first).replace(r"\ ", " ") + _share_beginnings(rest))
    return f"(?:{'|'.join(branches)})" + "?" * ("" in words)
