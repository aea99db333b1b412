"""Housekeeping: what chat clients ask a model for on their own behalf (a title, tags, follow-up
questions, a completion of what is being typed), recognised by how the prompt begins.

The local model is good enough for it, and it repeats the conversation: sent on, it would spend
privacy on text that nobody asked about.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from proxy.protocol import ChatRequest

__all__ = ["Housekeeping", "local_only"]

# The beginnings of the default prompts of Open WebUI and of LibreChat. Open WebUI's prompt for
# answers from documents begins with "### Task:", too: it is none of these.
SHIPPED = (
    r"### Task:\s+Generate a concise, 3-5 word title",
    r"### Task:\s+Generate 1-3 broad tags",
    r"### Task:\s+Suggest 3-5 relevant follow-up questions",
    r"### Task:\s+You are an autocompletion system\.",
    r"### Task:\s+Analyze the chat history to determine the necessity of generating search",
    r"### Task:\s+Generate a detailed prompt for a[mn] image generation task",
    r"Your task is to reflect the speaker's likely facial expression through a fitting emoji\.",
    r"Please generate a concise, 5-word-or-less title for the conversation",
    r"Provide a concise, 5-word-or-less title for the conversation",
    r"Analyze this conversation and provide:\s+1\. The detected language of the conversation",
    r"Detect user language and write in the same language an extremely concise title",
)
LOOKED_AT = 1000  # characters: an operator's expression must not get a whole document to chew on


class Housekeeping:
    """The patterns in force.

    Args:
        patterns: regular expressions, each to match where a text begins (white space aside).
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = [re.compile(pattern) for pattern in patterns]

    def recognises(self, request: ChatRequest) -> bool:
        """Whether the last user turn, or a system turn, begins as one of the patterns says."""
        users = [message for message in request.messages if message.role == "user"]
        systems = [m for m in request.messages if m.role in ("system", "developer")]
        return any(self._matches(message.text) for message in (*users[-1:], *systems))

    def _matches(self, text: str) -> bool:
        beginning = text[:LOOKED_AT].lstrip()
        return any(pattern.match(beginning) for pattern in self._patterns)


def local_only(request: ChatRequest) -> ChatRequest:
    """The same request, to be answered by the local model alone."""
    options = request.inferdpt.model_copy(update={"local_only": True})
    return request.model_copy(update={"inferdpt": options})
