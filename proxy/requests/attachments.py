"""Put a note in the place of images, audio and files, which cannot be sanitized.

An agent sends its whole history again: one picture in it would refuse every later turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proxy.requests.protocol import Json

__all__ = ["note_attachments"]

# The kinds that a note names, and what the types of parts that hold one contain.
_KINDS = {"image": "image", "screenshot": "image", "audio": "audio", "video": "video"}
_FILES = ("file", "document", "container_upload")
_LISTS = ("content", "output")  # of the parts of a message, an item or a block


def note_attachments(body: Mapping[str, Any]) -> Json:
    """Return a body with a text, such as `[image left out]`, in place of each image, audio or
    file of its conversation. Nothing of them is kept, nor their names.

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
    name = _name(kind) if isinstance(kind, str) else ""
    return {"type": text, "text": f"[{name} left out]"} if name else part


def _name(kind: str) -> str:
    """Return the name of what a part of a type holds; "" if it is no attachment."""
    found = next((name for word, name in _KINDS.items() if word in kind), "")
    return found or ("file" if any(word in kind for word in _FILES) else "")
