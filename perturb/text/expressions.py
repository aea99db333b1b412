"""Match an operator's regular expressions against a client's text, for a bounded time."""

from __future__ import annotations

from collections.abc import Iterator

import regex

from perturb.errors import ExpressionTimeout

__all__ = ["Expression"]


class Expression:
    """Match a regular expression, and give up after a bounded time.

    An expression with nested repetition can take time exponential in the text. The parts that it
    did not mark would be released, so a caller must refuse the text after a timeout.

    >>> expression = Expression(r"[A-Z]{2}-[0-9]+", "patterns.CASE", seconds=1.0)
    >>> [found[0] for found in expression.finditer("see AB-12 and CD-3")]
    ['AB-12', 'CD-3']

    Args:
        pattern: the expression, in the syntax of the package `regex`, which includes that of `re`.
        name: its name in errors, such as `patterns.CASE`.
        seconds: the limit for one search of a text, in processor time of the process, which also
            passes while other threads work.

    Raises:
        ValueError: the expression does not compile; the message gives the reason.
    """

    def __init__(self, pattern: str, name: str, seconds: float) -> None:
        try:
            self._compiled = regex.compile(pattern)
        except regex.error as exc:
            raise ValueError(str(exc)) from None
        self.pattern = pattern
        self.flags = self._compiled.flags
        self._name, self._seconds = name, seconds

    def finditer(self, text: str) -> Iterator[regex.Match[str]]:
        """Yield every match in a text.

        Raises:
            ExpressionTimeout: the search ran out of time.
        """
        try:
            yield from self._compiled.finditer(text, timeout=self._seconds)
        except TimeoutError:
            raise self._timeout() from None

    def match(self, text: str) -> regex.Match[str] | None:
        """Return the match at the beginning of a text.

        Raises:
            ExpressionTimeout: the search ran out of time.
        """
        try:
            return self._compiled.match(text, timeout=self._seconds)
        except TimeoutError:
            raise self._timeout() from None

    def _timeout(self) -> ExpressionTimeout:
        return ExpressionTimeout(f"the regular expression {self._name} ran out of time on a text")
