"""Define the content blocks of `POST /v1/messages`, and normalise their spellings."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Tag

from proxy.errors import bad_request
from proxy.requests.protocol import Items, Json, Strict
from proxy.requests.validation import HINT, name_attachment

__all__ = [
    "HOSTED",
    "REFUSED",
    "AnthropicMessage",
    "Block",
    "RedactedThinkingBlock",
    "TextBlock",
    "ThinkingBlock",
    "ToolResultBlock",
    "ToolUseBlock",
    "spell_blocks",
    "spell_messages",
]

# Calls of tools that a server runs, and what these returned.
HOSTED = frozenset(
    (
        *("server_tool_use", "web_search_tool_result", "web_fetch_tool_result"),
        *("code_execution_tool_result", "bash_code_execution_tool_result"),
        *("text_editor_code_execution_tool_result", "tool_search_tool_result"),
        *("advisor_tool_result", "mcp_tool_use", "mcp_tool_result", "mcp_tool_listing"),
        *("browser_state", "tool_addition", "tool_removal"),
    )
)
# Every other type of the current SDK. Errors name only these.
REFUSED = HOSTED | {
    *("image", "document", "search_result", "container_upload", "tool_reference"),
    *("compaction", "fallback"),
}
_BLOCKS = ("text", "tool_use", "tool_result", "thinking", "redacted_thinking")


class TextBlock(Strict):
    """Hold a text; only the text is read."""

    type: Literal["text"]
    text: str
    cache_control: Any = None
    citations: Any = None
    parsed_output: Any = None  # added by SDKs that send an answer back


class ThinkingBlock(Strict):
    """Hold the reasoning of another server's model; it is dropped."""

    type: Literal["thinking"]
    thinking: Any = None
    signature: Any = None
    cache_control: Any = None


class RedactedThinkingBlock(Strict):
    """Hold encrypted reasoning of another server's model; it is dropped."""

    type: Literal["redacted_thinking"]
    data: Any = None
    cache_control: Any = None


class ToolUseBlock(Strict):
    """Hold a call of an earlier answer."""

    type: Literal["tool_use"]
    id: str
    name: str
    input: Json
    cache_control: Any = None
    caller: Any = None
    toolset_name: Any = None


class ToolResultBlock(Strict):
    """Hold a tool's result, which is private text."""

    type: Literal["tool_result"]
    tool_use_id: str
    content: Items[TextBlock] | None = None
    is_error: bool | None = None
    cache_control: Any = None
    toolset_name: Any = None


def _find_type(value: Any) -> str | None:
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return f"<{kind}>" if isinstance(kind, str) else None


Block = Annotated[
    Annotated[TextBlock, Tag("<text>")]
    | Annotated[ThinkingBlock, Tag("<thinking>")]
    | Annotated[RedactedThinkingBlock, Tag("<redacted_thinking>")]
    | Annotated[ToolUseBlock, Tag("<tool_use>")]
    | Annotated[ToolResultBlock, Tag("<tool_result>")],
    Discriminator(
        _find_type,
        custom_error_type="block",
        custom_error_message=f"it should be a block of one of the types {', '.join(_BLOCKS)}",
    ),
]


class AnthropicMessage(Strict):
    """Hold one message of a conversation. The fields after `content` have no effect."""

    role: Literal["user", "assistant", "system"]
    content: Items[Block]
    clear_at: Any = None
    output_config: Any = None


def spell_messages(given: Any, *, ignore: bool = False) -> Any:
    """Spell the contents of messages as lists of blocks; malformed input is left to the models.

    Args:
        ignore: leave out calls of hosted tools and what they returned, in place of an error. A
            blank text stands in their place, so that the other blocks keep their numbers.

    Raises:
        ApiError: 400, naming the place and the type of the first block that is not served.
    """
    if not isinstance(given, list):
        return given
    return [
        {**item, "content": _spell_content(item["content"], f"messages[{i}].content", ignore)}
        if isinstance(item, dict) and "content" in item
        else item
        for i, item in enumerate(given)
    ]


def _spell_content(given: Any, where: str, ignore: bool) -> Any:
    blocks = given
    if ignore and isinstance(given, list):
        blocks = [{"type": "text", "text": ""} if _is_hosted(block) else block for block in given]
    return spell_blocks(blocks, where, _BLOCKS)


def _is_hosted(block: Any) -> bool:
    kind = block.get("type") if isinstance(block, dict) else None
    return isinstance(kind, str) and kind in HOSTED


def spell_blocks(given: Any, where: str, served: tuple[str, ...] = ("text",)) -> Any:
    """Spell a content as a list of blocks; raise `ApiError` for types that are not served."""
    if isinstance(given, str):
        return [{"type": "text", "text": given}]
    if not isinstance(given, list):
        return given
    return [_spell_block(block, f"{where}[{i}]", served) for i, block in enumerate(given)]


def _spell_block(block: Any, where: str, served: tuple[str, ...]) -> Any:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind is None:
        return block
    if kind not in served:
        name = f"'{kind}'" if isinstance(kind, str) and kind in {*REFUSED, *_BLOCKS} else "this"
        hint = f" {HINT}" if name_attachment(kind) else ""
        raise bad_request(
            f"Only blocks of the types {', '.join(served)} are served here; {name} is not.{hint}",
            param=where,
            code="unsupported_content",
        )
    if kind == "tool_result" and "content" in block:
        return {**block, "content": spell_blocks(block["content"], f"{where}.content")}
    return block
