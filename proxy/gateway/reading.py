"""Collect what a request holds: texts to sanitize, the protocol's words, labels, public text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping

from perturb import Perturbation
from proxy.errors import too_large
from proxy.gateway.outline import Field

__all__ = ["Reading"]

_INDEX = re.compile(r"\[\d+\]")


class Reading:
    """Collect the contents of one outgoing body.

    Args:
        most: the most texts of a request.
        alias: replaces the name of a client's own user; None leaves such names out.
        marks: whether the remote knows marks of Anthropic's prompt cache; else they are left out.

    Attributes:
        turns: the raw texts of each turn, each text where it occurs first. The first turn holds
            what stands outside of the conversation.
        wholes: raw strings that come back as they were where the answer repeats them.
        names: those of them that are names of functions.
        public: the place and the text of each text that the operator made public.
        words: the protocol's words in the body, and the labels.
    """

    def __init__(
        self, *, most: int, alias: Callable[[str], str] | None = None, marks: bool = False
    ) -> None:
        self.turns: list[list[str]] = [[]]
        self.wholes: dict[str, None] = {}
        self.names: dict[str, None] = {}
        self.public: list[tuple[str, str]] = []
        self.words: set[str] = set()
        self.alias = alias
        self.marks = marks
        self._most = most
        self._places: dict[str, Counter[str]] = {}
        self._firsts: dict[str, str] = {}
        self._labels: dict[str, str] = {}

    def find(self, raw: str) -> str | None:
        """Return the first place of a string; None if it has none."""
        return self._firsts.get(raw)

    def open_turn(self) -> None:
        """Open the next turn of the conversation."""
        self.turns.append([])

    def add(self, raw: str, at: str, *, whole: bool = False, named: bool = False) -> Field | str:
        """Add a string to sanitize; white space alone is passed. Raises `ApiError` for too many
        strings."""
        if not raw.strip():
            return raw
        if raw not in self._places:
            if len(self._places) >= self._most:
                raise too_large(f"A request may hold at most {self._most} texts.", param=at)
            self._places[raw] = Counter()
            self._firsts[raw] = at
            self.turns[-1].append(raw)
        self._places[raw][_INDEX.sub("[]", at)] += 1
        if whole:
            self.wholes[raw] = None
        if named:
            self.names[raw] = None
        return Field(raw, at, named)

    def speak(self, word: str) -> str:
        """Add a word that the protocol defines, and return it."""
        self.words.add(word)
        return word

    def label(self, raw: str) -> str:
        """Return the number that stands for a name inside the conversation."""
        if raw not in self._labels:
            self._labels[raw] = self.speak(f"call_{len(self._labels)}")
        return self._labels[raw]

    def count(self, made: Mapping[str, Perturbation]) -> dict[str, dict[str, int]]:
        """Count the replaced parts by position and type.

        Args:
            made: the release of each raw text.
        """
        counts: dict[str, Counter[str]] = {}
        for raw, places in self._places.items():
            for place, times in places.items():
                for kind, number in made[raw].receipt.entities.items():
                    counts.setdefault(place, Counter())[kind] += number * times
        return {place: dict(sorted(counts[place].items())) for place in sorted(counts)}
