"""Convert requests of the Messages API to chat requests, which the pipeline plans and answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from proxy.errors import bad_request
from proxy.requests.anthropic.blocks import (
    AnthropicMessage,
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
    read_mark,
)

__all__ = ["convert_to_chat", "find_place", "list_dropped"]

ALIKE = ("model", "inferdpt", "stream", "temperature", "top_p", "cache_control")
CHOICES = {"auto": "auto", "any": "required", "none": "none"}
FORMAT_NAME = "answer"  # chats give each format a name; here it has none
FAILED = "The tool failed:"  # chats have no field for it
# Claude Code spells a header of its own, with a fingerprint of the client, as a system text.
BILLING = "x-anthropic-billing-header:"
_MESSAGE = re.compile(
    r"messages\[(?P<message>\d+)\]"
    r"(?:(?P<content>\.content)(?:\[(?P<text>\d+)\])?|\.tool_calls\[(?P<call>\d+)\])?"
)
_TOOL = re.compile(r"(?<=\])\.function(\.parameters)?")
_NAMES = {  # how the names of a chat's fields begin, and those of the fields they are made from
    "max_completion_tokens": "max_tokens",
    "reasoning_effort": "output_config.effort",
    "response_format.json_schema": "output_config.format",
    "stop": "stop_sequences",
    "user": "metadata.user_id",
}


@dataclass(frozen=True)
class _BlockText:
    """Hold a text with its place in the request, and the block that it comes from."""

    at: str
    text: str
    block: TextBlock | None = None
    number: int = 0  # of the block in its message

    @property
    def mark(self) -> Json:
        """Return the field of its mark of the prompt cache."""
        return {} if self.block is None else _read_mark(self.block)

    def spell(self) -> TextPart:
        """Return it as a part of a message."""
        return TextPart(type="text", text=self.text, **self.mark)


@dataclass(frozen=True)
class _Origin:
    """Hold a message of the chat, and the places of the request that it comes from."""

    message: Message
    at: str
    texts: tuple[_BlockText, ...] = ()
    calls: tuple[str, ...] = ()

    def find(self, match: re.Match[str]) -> str:
        """Return the place of a field of the message."""
        if match["call"] is not None:
            return self.calls[int(match["call"])]
        if match["text"] is not None:
            return self.texts[int(match["text"])].at
        return self.texts[0].at if match["content"] and len(self.texts) == 1 else self.at


def convert_to_chat(request: Conversation) -> ChatRequest:
    """Convert a request to a chat request, without the fields that the client left out.

    Raises:
        ApiError: 400, the messages hold nothing to answer.
    """
    messages = [origin.message for origin in _convert_messages(request)]
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
        return list(_convert_messages(request))[int(match["message"])].find(match)
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
    found += [f"tools[].{name}" for name in sorted(inner)]
    unknown = any(read_mark(mark) != mark for mark in _list_marks(request))
    return [*found, "cache_control (of another form)"] if unknown else found


_THINKING = ("thinking", "redacted_thinking")
_UNUSED = {"allowed_callers", "defer_loading", "eager_input_streaming", "input_examples"}


def _list_marks(request: Conversation) -> Iterator[Any]:
    """Yield every mark of the prompt cache that is set."""
    blocks = [block for item in request.messages for block in item.content]
    results = [block for block in blocks if isinstance(block, ToolResultBlock)]
    inner = [part for result in results for part in result.content or ()]
    holders = (request, *(request.system or ()), *(request.tools or ()), *blocks, *inner)
    yield from (each.cache_control for each in holders if each.cache_control is not None)


def _convert_messages(request: Conversation) -> Iterator[_Origin]:
    """Yield the messages of the chat, each with the places that it comes from."""
    blocks = request.system or []
    texts = [
        _BlockText(
            f"system[{i}]" if len(blocks) > 1 else "system", _strip_billing(text.text), text
        )
        for i, text in enumerate(blocks)
    ]
    if kept := _keep_texts(texts):
        yield _Origin(_make_message("system", kept), "system", kept)
    for i, item in enumerate(request.messages):
        at = f"messages[{i}].content"
        if item.role == "assistant":
            yield _convert_answer(item, at)
        else:
            yield from _convert_turn(item, at)


def _strip_billing(text: str) -> str:
    """Return a system text without the line of the header."""
    return text.partition("\n")[2] if text.startswith(BILLING) else text


def _convert_answer(item: AnthropicMessage, at: str) -> _Origin:
    """Convert an answer: its texts and its calls are one turn; reasoning is left out."""
    texts = _keep_texts(_read_texts(item, at))
    calls = {
        f"{at}[{i}]": _convert_call(block)
        for i, block in enumerate(item.content)
        if isinstance(block, ToolUseBlock)
    }
    fields: dict[str, Any] = {"tool_calls": list(calls.values())} if calls else {}
    message = _make_message("assistant", texts, **fields)
    return _Origin(message, at, texts, tuple(calls))


def _convert_call(block: ToolUseBlock) -> ToolCall:
    arguments = json.dumps(block.input, ensure_ascii=False)
    function = FunctionCall(name=block.name, arguments=arguments)
    return ToolCall(id=block.id, function=function, **_read_mark(block))


def _convert_turn(item: AnthropicMessage, at: str) -> Iterator[_Origin]:
    """Convert a user's or a system's message: each result is a message of its own, and so are the
    texts between them."""
    texts = _read_texts(item, at)
    for i, block in enumerate(item.content):
        if isinstance(block, ToolResultBlock):
            before = [text for text in texts if text.number < i]
            if kept := _keep_texts(before):
                yield _Origin(_make_message(item.role, kept), at, kept)
            texts = texts[len(before) :]
            yield _convert_result(block, f"{at}[{i}]")
        elif not isinstance(block, TextBlock | ThinkingBlock | RedactedThinkingBlock):
            raise bad_request("Only an assistant's message may call a tool.", param="messages")
    if kept := _keep_texts(texts):
        yield _Origin(_make_message(item.role, kept), at, kept)


def _convert_result(block: ToolResultBlock, at: str) -> _Origin:
    parts = block.content or []
    texts = [_BlockText(at, FAILED)] if block.is_error else []
    for i, part in enumerate(parts):
        where = f"{at}.content[{i}]" if len(parts) > 1 else f"{at}.content"
        texts.append(_BlockText(where, part.text, part))
    kept = _keep_texts(texts)
    fields: dict[str, Any] = {"tool_call_id": block.tool_use_id, **_read_mark(block)}
    if len(kept) == 1 and kept[0].mark:  # the mark of the message is the one of the result
        fields["content"] = [kept[0].spell()]
    return _Origin(_make_message("tool", kept, **fields), at, kept)


def _make_message(role: Any, texts: Sequence[_BlockText], **fields: Any) -> Message:
    """Make a message: its content is a string, or parts where there are several texts.

    A string has no place for a mark, so the message has it: as parts, it would change the bytes
    of the history when the client marks another message.
    """
    if len(texts) > 1:
        content: Any = [text.spell() for text in texts]
    elif texts:
        content = texts[0].text
        if "content" not in fields:
            fields = {**texts[0].mark, **fields}
    else:
        content = None if fields.get("tool_calls") else ""
    return Message(role=role, **{"content": content, **fields})


def _read_texts(item: AnthropicMessage, at: str) -> list[_BlockText]:
    several = len(item.content) > 1
    return [
        _BlockText(f"{at}[{i}]" if several else at, block.text, block, i)
        for i, block in enumerate(item.content)
        if isinstance(block, TextBlock)
    ]


def _keep_texts(texts: Sequence[_BlockText]) -> tuple[_BlockText, ...]:
    """Return the texts that are not blank."""
    return tuple(text for text in texts if text.text.strip())


def _read_mark(block: TextBlock | ToolUseBlock | ToolResultBlock | Tool) -> Json:
    return {} if block.cache_control is None else {"cache_control": block.cache_control}


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
    return {"type": "function", "function": function, **_read_mark(tool)}
