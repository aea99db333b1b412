"""Put a note in the place of images, audio, files and whatever else cannot be sanitized.

An agent sends its whole history again: one picture in it would refuse every later turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proxy.requests.protocol import Json

__all__ = ["HINT", "name_attachment", "note_attachments"]

HINT = "With server.attachments: note, a note stands in the place of such a part."
# The kinds that a note names, and what the types of parts that hold one contain.
_KINDS = {
    **dict.fromkeys(("image", "screenshot"), "image"),
    "audio": "audio",
    "video": "video",
    **dict.fromkeys(("file", "document", "container_upload"), "file"),
}
# Other parts without a text that can be read, by their whole type.
_OTHERS = {
    "compaction": "earlier conversation",  # encrypted for the server that wrote it
    "search_result": "search result",
    "tool_reference": "reference to a tool",
}
_LISTS = ("content", "output")  # of the parts of a message, an item or a block


def note_attachments(body: Mapping[str, Any]) -> Json:
    """Return a body with a text, such as `[image left out]`, in place of each image, audio, file
    or the like of its conversation. Nothing of them is kept, nor their names.

    Args:
        body: of a chat, a response or a message; malformed parts are left to its model.

    >>> note_attachments({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]})
    {'messages': [{'role': 'user', 'content': [{'type': 'text', 'text': '[image left out]'}]}]}
    """
    out = dict(body)
    for name in ("messages", "input"):
        if isinstance(out.get(name), list):
            out[name] = [_note_in(item, flat=name == "input") for item in out[name]]
    return out


def _note_in(item: Any, *, flat: bool) -> Any:
    """Return a message, an item of the Responses API (`flat`) or a block with notes in it."""
    if not isinstance(item, dict):
        return item
    if flat and item.get("type") == "compaction":
        note = {"type": "input_text", "text": _spell_note("compaction")}
        return {"type": "message", "role": "user", "content": [note]}
    text = "text"
    if flat:
        text = "output_text" if item.get("role") == "assistant" else "input_text"
    return {
        key: [_note_part(part, text) for part in value]
        if key in _LISTS and isinstance(value, list)
        else value
        for key, value in item.items()
    }


def _note_part(part: Any, text: str) -> Any:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind == "tool_result":
        return _note_in(part, flat=False)
    return {"type": text, "text": _spell_note(kind)} if name_attachment(kind) else part


def _spell_note(kind: Any) -> str:
    return f"[{name_attachment(kind)} left out]"


def name_attachment(kind: Any) -> str:
    """Return the name of what a part of a type holds; "" if no note can stand in its place."""
    if not isinstance(kind, str):
        return ""
    return _OTHERS.get(kind) or next((name for word, name in _KINDS.items() if word in kind), "")
