"""Recognise housekeeping, the requests that a chat client makes on its own behalf (a title, tags,
follow-up questions, a summary), by the form of the prompt.

The local model is good enough for them. They repeat the conversation, so sending them to the
remote would spend budget on text that nobody asked about.
"""

from __future__ import annotations

from collections.abc import Sequence

from perturb.text.expressions import Expression
from proxy.config.upstreams.local import SHIPPED
from proxy.requests.protocol import ChatRequest

__all__ = ["Housekeeping", "keep_local"]

BEGINNING, ENDING = 1000, 200  # characters of a text that an operator's expression sees
SECONDS = 0.25  # for one expression, which takes microseconds if it is linear


class Housekeeping:
    """Recognise housekeeping by the patterns in force.

    Args:
        patterns: regular expressions that match from the beginning of a text (white space aside).
            They see its beginning and its end, joined by a line break if text in between is left
            out.

    Raises:
        ValueError: one is not a regular expression.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        own = [(i, pattern) for i, pattern in enumerate(patterns) if pattern not in SHIPPED]
        self.brief = not own  # else one may take its whole time
        self._patterns = [
            Expression(pattern, f"local.housekeeping.{i}", SECONDS) for i, pattern in own
        ]
        if shipped := [f"(?:{pattern})" for pattern in patterns if pattern in SHIPPED]:
            name = "local.housekeeping"  # as one, since each call takes longer than the match
            self._patterns.insert(0, Expression("|".join(shipped), name, SECONDS))

    def recognises(self, request: ChatRequest) -> bool:
        """Return whether the last user turn, or a system turn, matches one of the patterns.

        Raises:
            ExpressionTimeout: one ran out of time, so the request cannot be classified.
        """
        users = [message for message in request.messages if message.role == "user"]
        systems = [m for m in request.messages if m.role in ("system", "developer")]
        return any(self._matches(message.text) for message in (*users[-1:], *systems))

    def _matches(self, text: str) -> bool:
        beginning = text[:BEGINNING].lstrip()
        rest = max(BEGINNING, len(text) - ENDING)
        between = "\n" if rest > BEGINNING else ""
        excerpt = (beginning + between + text[rest:]).rstrip()
        return bool(beginning) and any(pattern.match(excerpt) for pattern in self._patterns)


def keep_local(request: ChatRequest) -> ChatRequest:
    """Return the same request, for the local model alone."""
    options = request.inferdpt.model_copy(update={"local_only": True})
    return request.model_copy(update={"inferdpt": options})
