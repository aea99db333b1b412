"""A regular expression that takes time exponential in a text, and such a text."""

from __future__ import annotations

# Every way to part 40 letters into ones and twos: 3·10⁸ tries before it can say no.
CATASTROPHIC, ENDLESS = r"(?:a|aa)+$", "a" * 40 + "!"
