"""Define the tools of `POST /v1/messages`; refuse or remove those that the client does not run
by a schema of its own."""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import Field

from proxy.errors import unsupported
from proxy.requests.protocol import Json, Strict

__all__ = ["DEFINED", "Tool", "ToolChoice", "keep_own_tools"]

# Tools that Anthropic defines, with the date of their definition. Errors name only these.
DEFINED = re.compile(
    r"(?:advisor|bash|browser_toolset|code_execution|computer|computer_toolset|memory|text_editor"
    r"|tool_search_tool_bm25|tool_search_tool_regex|web_fetch|web_search)_\d{8}"
    r"|mcp_toolset|tool_search_tool_bm25|tool_search_tool_regex"
)


class Tool(Strict):
    """Hold a tool of the client; fields after `strict` have no effect."""

    name: str
    input_schema: Json
    description: str | None = None
    type: Literal["custom"] | None = None
    strict: bool | None = None
    allowed_callers: Any = None
    cache_control: Any = None
    defer_loading: Any = None
    eager_input_streaming: Any = None
    input_examples: Any = None


class ToolChoice(Strict):
    """Select whether a tool is called, and which."""

    type: Literal["auto", "any", "tool", "none"]
    name: str | None = Field(None, min_length=1)
    disable_parallel_tool_use: bool | None = None


def keep_own_tools(body: Json, *, ignore: bool) -> Json:
    """Return a body without tools that Anthropic defines and without a choice of one.

    Args:
        ignore: remove such tools instead of refusing them.

    Raises:
        ApiError: 400, naming the place and type of the first one.
    """
    tools = body.get("tools")
    if not isinstance(tools, list):
        return body
    kept, left = [], set()
    for i, tool in enumerate(tools):
        kind = tool.get("type") if isinstance(tool, dict) else None
        if kind in (None, "custom"):
            kept.append(tool)
        elif ignore:
            left.add(tool.get("name") if isinstance(tool.get("name"), str) else None)
        else:
            raise _refuse(f"tools[{i}].type", kind)
    out = {**body, "tools": kept}
    choice = body.get("tool_choice")
    chosen = choice.get("name") if isinstance(choice, dict) else None
    if left and not kept:
        del out["tools"]
        out.pop("tool_choice", None)
    elif isinstance(chosen, str) and chosen in left:
        out["tool_choice"] = {"type": "auto"}
    return out


def _refuse(where: str, kind: Any) -> Exception:
    known = isinstance(kind, str) and DEFINED.fullmatch(kind)
    name = f"'{kind}'" if known else "this type of tool"
    return unsupported(
        where, f"{name} has no schema of the client's; only tools with 'input_schema' are served"
    )
