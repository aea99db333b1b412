"""Treat what cannot be sanitized: hosted tools, and images, audio, files and the like.

Hosted tools run at a server that would see raw text. Only functions are served; other tools are
refused by their type, or removed from the request if the operator configures it, and neither the
remote nor the local model sees them. A note may stand in the place of an image or a file: an agent
sends its whole history again, and one picture in it would refuse every later turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proxy.errors import ApiError, unsupported
from proxy.requests.protocol import Json

__all__ = ["HINT", "HOSTED", "keep_functions", "name_attachment", "note_attachments"]


# Every type of the current SDK but `function`. Errors name only these types.
HOSTED = frozenset(
    (
        "apply_patch",
        "code_interpreter",
        "computer",
        "computer_use_preview",
        "custom",
        "file_search",
        "image_generation",
        "local_shell",
        "mcp",
        "namespace",
        "programmatic_tool_calling",
        "shell",
        "tool_search",
        "web_search",
        "web_search_2025_08_26",
        "web_search_preview",
        "web_search_preview_2025_03_11",
    )
)


def keep_functions(body: Mapping[str, Any], *, ignore: bool) -> Json:
    """Return a body without hosted tools and without a choice of one.

    Args:
        body: the body of a chat completion or a response. Malformed parts are left to its
            model.
        ignore: remove hosted tools instead of refusing them.

    Raises:
        ApiError: 400, naming the place and type of the first one.
    """
    out = dict(body)
    if ignore:
        out.pop("plugins", None)  # hosted tools of OpenRouter
    if isinstance(out.get("tools"), list):
        out["tools"] = _keep_functions(out["tools"], "tools", ignore=ignore)
    out["tool_choice"] = _keep_choice(out.get("tool_choice"), ignore=ignore)
    if body.get("tools") and not out["tools"]:  # local servers refuse a choice without tools
        del out["tools"], out["tool_choice"]
    return out


def _keep_functions(tools: list[Any], where: str, *, ignore: bool) -> list[Any]:
    """Return the functions among tools; raise `ApiError` for others."""
    kept = []
    for i, tool in enumerate(tools):
        if not _is_hosted(tool):
            kept.append(tool)
        elif not ignore:
            raise _make_error(f"{where}[{i}].type", tool)
    return kept


def _keep_choice(choice: Any, *, ignore: bool) -> Any:
    """Return the choice of a tool, or `auto` for that of a hosted one; raise `ApiError`."""
    if not isinstance(choice, dict):
        return choice
    if choice.get("type") != "allowed_tools":
        if not _is_hosted(choice):
            return choice
        if not ignore:
            raise _make_error("tool_choice.type", choice)
        return "auto"
    # The Responses API spells the allowed tools flat, chat completions in an object of their own.
    nested = choice.get("allowed_tools")
    where = "tool_choice.allowed_tools.tools" if isinstance(nested, dict) else "tool_choice.tools"
    allowed = nested if isinstance(nested, dict) else choice
    tools = allowed.get("tools")
    if not isinstance(tools, list):
        return choice
    kept = _keep_functions(tools, where, ignore=ignore)
    if tools and not kept:
        return "auto"
    kept_choice = {**allowed, "tools": kept}
    return {**choice, "allowed_tools": kept_choice} if allowed is nested else kept_choice


def _is_hosted(tool: Any) -> bool:
    return isinstance(tool, dict) and tool.get("type", "function") != "function"


def _make_error(where: str, tool: Json) -> ApiError:
    kind = tool["type"]
    name = f"'{kind}'" if isinstance(kind, str) and kind in HOSTED else "this type of tool"
    return unsupported(
        where, f"{name} runs at a server or in the client's own way; only functions are served"
    )


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
