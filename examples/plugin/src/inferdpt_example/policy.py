"""An example policy, which marks a company's order numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from perturb import Span

ORDER = re.compile(r"(?<![A-Za-z0-9])AC-\d{6}(?![A-Za-z0-9])", re.IGNORECASE)


class OrderNumbers:
    """Mark order numbers such as AC-204817.

    Attributes:
        version: to be changed with the rules. Texts that were sanitized under another version
            are sanitized again.
    """

    version = "1"

    def find(self, text: str) -> Iterator[Span]:
        """Yield the order numbers in a text."""
        for match in ORDER.finditer(text):
            yield Span(match.start(), match.end(), "ORDER_NUMBER")
