"""Texts and messages of chats with the fakes."""

from __future__ import annotations

from typing import Any

from tests.servers import WORDS

TEXT = "The board met on Monday to discuss the merger with our largest competitor."
ANSWER = "".join(WORDS)
CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "look_up", "arguments": '{"q": "x"}'},
}


def user(text: str = TEXT) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text}]
