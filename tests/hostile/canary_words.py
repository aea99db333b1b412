"""Canaries for many requests: found again in megabytes, and, for `selective`, always of a form
that its policy marks."""

from __future__ import annotations

import re

from tests.proxy.canaries import LETTERS, Canaries

__all__ = ["HostileCanaries", "MarkedCanaries"]

_RUN = re.compile(rf"[{LETTERS}1-9]{{12,}}", re.ASCII)


class HostileCanaries(Canaries):
    """Words of twelve consonants and numbers of fourteen digits, anywhere in any bytes."""

    def key(self) -> str:
        """Return a field's name that nobody knows. Errors name such fields, cut at 64
        characters: the canary stands behind."""
        return "n" * 64 + self.word()

    def found_in(self, data: bytes) -> set[str]:
        text = data.decode("utf-8", "replace").casefold()
        return {
            run[i : i + size]
            for run in _RUN.findall(text)
            for size in (12, 14)
            for i in range(len(run) - size + 1)
        } & self.all


class MarkedCanaries(HostileCanaries):
    """Identifiers, names after a title, addresses and numbers: what `selective` must replace
    wherever it stands. It leaves the rest of a text as it is, by design."""

    def word(self) -> str:
        letters = "".join(self.random.choices(LETTERS, k=9))
        made = letters + "".join(self.random.choices("123456789", k=3))
        self.all.add(made)
        return made

    def person(self) -> str:
        made = "".join(self.random.choices(LETTERS, k=12))
        self.all.add(made)
        return made.capitalize()

    def text(self) -> str:
        kinds = [
            lambda: (
                f"The patient Mr. {self.person()} has file {self.word()}, call {self.number()}."
            ),
            lambda: (
                f"We wrote to {self.word()}@{self.word()}.com about Dr. {self.person()} today."
            ),
            lambda: f"See https://{self.word()}.org/?q={self.word()} or {self.number()}.",
            lambda: f"def run(x): return '{self.word()}' # {self.number()}",
            lambda: f"😀 {self.word()} مرحبا\n\n<public>a short notice</public> {self.word()}",
            lambda: f'{{"messages": "{self.word()}"}} {{document}} {{{self.word()}}}',
            lambda: self.word(),
        ]
        return self.random.choice(kinds)()
