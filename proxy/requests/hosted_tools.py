"""Refuse or remove hosted tools, which run at a server that would see raw text.

Only functions are served. Hosted tools are refused by their type, or removed from the request if
the operator configures it; neither the remote nor the local model sees them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proxy.errors import ApiError
from proxy.requests.protocol import Json
from proxy.requests.validation import unsupported

__all__ = ["HOSTED", "keep_functions"]

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
