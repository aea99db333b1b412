"""Convert requests of the Messages API to chat requests, which the pipeline plans and answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from proxy.errors import bad_request
from proxy.requests.anthropic.blocks import (
    MessageItem,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from proxy.requests.anthropic.protocol import Conversation, MessagesRequest
from proxy.requests.anthropic.tools import Tool
from proxy.requests.protocol import (
    ChatRequest,
    FunctionCall,
    Json,
    Message,
    TextPart,
    ToolCall,
    Treatment,
    find_treatments,
)

__all__ = ["convert_to_chat", "find_place", "list_dropped"]

ALIKE = ("model", "inferdpt", "stream", "temperature", "top_p")
CHOICES = {"auto": "auto", "any": "required", "none": "none"}
FORMAT_NAME = "answer"  # chats give each format a name; here it has none
FAILED = "The tool failed:"  # chats have no field for it
# Claude Code spells a header of its own, with a fingerprint of the client, as a system text.
BILLING = "x-anthropic-billing-header:"
_MESSAGE = re.compile(r"messages\[(\d+)\]")
_TOOL = re.compile(r"(?<=\])\.function(\.parameters)?")
_NAMES = {  # how the names of a chat's fields begin, and those of the fields they are made from
    "max_completion_tokens": "max_tokens",
    "reasoning_effort": "output_config.effort",
    "response_format.json_schema": "output_config.format",
    "stop": "stop_sequences",
    "user": "metadata.user_id",
}
Origin = tuple[str, Message]  # a message, and its place in the request


def convert_to_chat(request: Conversation) -> ChatRequest:
    """Convert a request to a chat request, without the fields that the client left out.

    Raises:
        ApiError: 400, the messages hold nothing to answer.
    """
    messages = [message for _, message in _convert_messages(request)]
    if all(message.role == "system" for message in messages):
        raise bad_request("The messages hold nothing to answer.", param="messages")
    fields: dict[str, Any] = {name: getattr(request, name, None) for name in ALIKE}
    fields["messages"] = messages
    if isinstance(request, MessagesRequest):
        fields["max_completion_tokens"] = request.max_tokens
        fields["stop"] = request.stop_sequences or None
        fields["user"] = request.metadata.user_id if request.metadata is not None else None
    if request.output_config is not None:
        fields["reasoning_effort"] = request.output_config.effort
        if (form := request.output_config.format) is not None:
            schema = {"name": FORMAT_NAME, "schema": form.schema_}
            fields["response_format"] = {"type": "json_schema", "json_schema": schema}
    fields |= _convert_tools(request)
    return ChatRequest(**{name: value for name, value in fields.items() if value is not None})


def find_place(param: str | None, request: Conversation) -> str | None:
    """Return the name of a chat request's field in a request of this form."""
    if param is None:
        return None
    if match := _MESSAGE.match(param):
        origins = list(_convert_messages(request))
        return origins[int(match[1])][0]
    if param.startswith("tools["):
        return _TOOL.sub(lambda match: ".input_schema" if match[1] else "", param, count=1)
    for theirs, ours in _NAMES.items():
        if param.startswith(theirs):
            return ours + param.removeprefix(theirs)
    return param


def list_dropped(request: Conversation) -> list[str]:
    """List the fields and blocks that have no effect here, for the receipt."""
    marks = find_treatments(type(request))
    given = sorted(name for name in request.model_fields_set if marks[name] is Treatment.DROP)
    found = [name for name in given if getattr(request, name) is not None and name != "metadata"]
    if any(block.text.startswith(BILLING) for block in request.system or ()):
        found.append("system[].text (billing header)")
    blocks = {block.type for item in request.messages for block in item.content}
    found += [f"messages[].content[] ({kind})" for kind in _THINKING if kind in blocks]
    inner = {name for tool in request.tools or () for name in tool.model_fields_set & _UNUSED}
    return found + [f"tools[].{name}" for name in sorted(inner)]


_THINKING = ("thinking", "redacted_thinking")
_UNUSED = {"allowed_callers", "defer_loading", "eager_input_streaming", "input_examples"}


def _convert_messages(request: Conversation) -> Iterator[Origin]:
    """Yield the messages of the chat, each with the place that it comes from."""
    texts = [_strip_billing(block.text) for block in request.system or ()]
    if content := _spell_texts(texts):
        yield "system", Message(role="system", content=content)
    for i, item in enumerate(request.messages):
        where = f"messages[{i}].content"
        if item.role == "assistant":
            yield where, _convert_answer(item)
        else:
            yield from ((where, message) for message in _convert_turn(item))


def _strip_billing(text: str) -> str:
    """Return a system text without the line of the header."""
    return text.partition("\n")[2] if text.startswith(BILLING) else text


def _convert_answer(item: MessageItem) -> Message:
    """Convert an answer: its texts and its calls are one turn; reasoning is left out."""
    texts = [block.text for block in item.content if isinstance(block, TextBlock)]
    calls = [_convert_call(block) for block in item.content if isinstance(block, ToolUseBlock)]
    fields: dict[str, Any] = {"content": _spell_texts(texts) or ("" if not calls else None)}
    if calls:
        fields["tool_calls"] = calls
    return Message(role="assistant", **fields)


def _convert_call(block: ToolUseBlock) -> ToolCall:
    arguments = json.dumps(block.input, ensure_ascii=False)
    return ToolCall(id=block.id, function=FunctionCall(name=block.name, arguments=arguments))


def _convert_turn(item: MessageItem) -> Iterator[Message]:
    """Convert a user's or a system's message: each result is a message of its own, and so are the
    texts between them."""
    role: Any = item.role
    texts: list[str] = []
    for block in item.content:
        if isinstance(block, TextBlock):
            texts.append(block.text)
        elif isinstance(block, ToolResultBlock):
            if content := _spell_texts(texts):
                yield Message(role=role, content=content)
            texts = []
            yield _convert_result(block)
        elif not isinstance(block, ThinkingBlock | RedactedThinkingBlock):
            raise bad_request("Only an assistant's message may call a tool.", param="messages")
    if content := _spell_texts(texts):
        yield Message(role=role, content=content)


def _convert_result(block: ToolResultBlock) -> Message:
    texts = [FAILED] if block.is_error else []
    texts += [part.text for part in block.content or ()]
    return Message(role="tool", tool_call_id=block.tool_use_id, content=_spell_texts(texts) or "")


def _spell_texts(texts: Sequence[str]) -> Any:
    """Return texts as a content: a string, or parts where there are several; None if all are
    blank."""
    kept = [text for text in texts if text.strip()]
    if len(kept) > 1:
        return [TextPart(type="text", text=text) for text in kept]
    return kept[0] if kept else None


def _convert_tools(request: Conversation) -> Json:
    """Convert the tools and the choice between them."""
    choice = request.tool_choice
    if not request.tools:  # local servers refuse any choice without tools, even "none"
        if choice is not None and choice.type in ("any", "tool"):
            raise bad_request("'tool_choice' needs 'tools'.", param="tool_choice")
        return {}
    out: Json = {"tools": [_convert_tool(tool) for tool in request.tools]}
    if choice is not None:
        if choice.type == "tool" and choice.name is None:
            raise bad_request("'tool_choice.name' is required.", param="tool_choice.name")
        named = {"type": "function", "function": {"name": choice.name}}
        out["tool_choice"] = CHOICES.get(choice.type, named)
        if choice.disable_parallel_tool_use is not None:
            out["parallel_tool_calls"] = not choice.disable_parallel_tool_use
    return out


def _convert_tool(tool: Tool) -> Json:
    function: Json = {"name": tool.name, "parameters": tool.input_schema}
    for name in ("description", "strict"):
        if getattr(tool, name) is not None:
            function[name] = getattr(tool, name)
    return {"type": "function", "function": function}
