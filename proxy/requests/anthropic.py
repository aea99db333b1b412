"""Define the bodies of `POST /v1/messages` and its `count_tokens`, and convert them to chat
requests, which the pipeline plans and answers.

The rules are those of chat: every field has its treatment, and nothing undeclared is read. Fields
that need state or work at a server are refused by name. Tools that the client does not run by a
schema of its own are refused or removed. Tokens are estimated on this machine; nothing is sent to
count them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Discriminator, Field, Tag

from perturb import Vocabulary
from perturb.vocabulary.vocabulary import encode_text
from proxy.errors import bad_request, unsupported
from proxy.requests.protocol import (
    DROP,
    LOCAL,
    PIPELINE,
    REMOTE,
    ChatRequest,
    Effort,
    FunctionCall,
    Items,
    Json,
    Message,
    Options,
    Strict,
    TextPart,
    ToolCall,
    Treatment,
    find_treatments,
    read_mark,
)
from proxy.requests.validation import HINT, name_attachment, validate

__all__ = [
    "DEFINED",
    "HOSTED",
    "REFUSED",
    "REJECTED",
    "AnthropicMessage",
    "Conversation",
    "MessagesRequest",
    "Metadata",
    "OutputConfig",
    "OutputFormat",
    "RedactedThinkingBlock",
    "TextBlock",
    "ThinkingBlock",
    "Tool",
    "ToolChoice",
    "ToolResultBlock",
    "ToolUseBlock",
    "convert_to_chat",
    "count_tokens",
    "find_place",
    "keep_own_tools",
    "list_dropped",
    "spell_blocks",
    "spell_messages",
    "validate_messages",
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


class OutputFormat(Strict):
    """Select JSON with a schema as the answer."""

    type: Literal["json_schema"]
    schema_: Json = Field(alias="schema")


class OutputConfig(Strict):
    """Hold the effort and the form of an answer; the fields after `format` have no effect."""

    effort: Effort = None
    format: OutputFormat | None = None
    task_budget: Any = None


class Metadata(Strict):
    """Hold the client's name for its own user."""

    user_id: str | None = None


class Conversation(Strict):
    """Hold what a model reads, and what `POST /v1/messages/count_tokens` counts."""

    model: Annotated[str, PIPELINE]
    messages: Annotated[Items[AnthropicMessage], PIPELINE] = Field(min_length=1)
    system: Annotated[Items[TextBlock] | None, PIPELINE] = None
    inferdpt: Annotated[Options, PIPELINE] = Options()
    output_config: Annotated[OutputConfig | None, REMOTE] = None
    tools: Annotated[Items[Tool] | None, LOCAL] = None
    tool_choice: Annotated[ToolChoice | None, LOCAL] = None
    cache_control: Annotated[Any, PIPELINE] = None
    # known fields without effect here, whatever they hold
    billing_policy: Annotated[Any, DROP] = None
    compaction: Annotated[Any, DROP] = None
    context_management: Annotated[Any, DROP] = None
    speed: Annotated[Any, DROP] = None
    thinking: Annotated[Any, DROP] = None
    user_profile_id: Annotated[Any, DROP] = None
    workspace_id: Annotated[Any, DROP] = None


class MessagesRequest(Conversation):
    """Hold the body of `POST /v1/messages`."""

    max_tokens: Annotated[int, REMOTE] = Field(ge=1, lt=2**31)
    stream: Annotated[bool | None, PIPELINE] = None
    temperature: Annotated[float | None, REMOTE] = Field(None, ge=0, le=1)
    top_p: Annotated[float | None, REMOTE] = Field(None, ge=0, le=1)
    stop_sequences: Annotated[Items[str] | None, LOCAL] = None
    metadata: Annotated[Metadata | None, DROP] = None  # gateways may send a hash of it
    diagnostics: Annotated[Any, DROP] = None
    fallback_credit_token: Annotated[Any, DROP] = None
    fallbacks: Annotated[Any, DROP] = None
    service_tier: Annotated[Any, DROP] = None
    top_k: Annotated[Any, DROP] = None


_STATELESS = "the proxy and the remote keep no state; send the whole conversation in 'messages'"
REJECTED = {
    "container": _STATELESS,
    "thread": _STATELESS,
    "mcp_servers": "they run at a server; only tools with 'input_schema' are served",
    "inference_geo": "the proxy does not choose where the remote runs",
    "output_format": "send it as 'output_config.format'",
    "extra_body": "SDKs merge its content into the body; send its fields at the top",
}
Body = TypeVar("Body", bound=Conversation)


def validate_messages(model: type[Body], body: Mapping[str, Any], *, ignore: bool) -> Body:
    """Parse a body.

    Args:
        model: `MessagesRequest` or `Conversation`.
        ignore: remove tools that are not served, instead of refusing them.

    Raises:
        ApiError: 400, naming the first field that is not served or breaks its rule.
    """
    plain = keep_own_tools(dict(body), ignore=ignore)
    if plain.get("mcp_servers") == [] or (ignore and "mcp_servers" in plain):
        del plain["mcp_servers"]
    if "messages" in plain:
        plain["messages"] = spell_messages(plain["messages"], ignore=ignore)
    if "system" in plain:
        plain["system"] = spell_blocks(plain["system"], "system")
    request = validate(model, plain, REJECTED)
    if request.messages[-1].role == "assistant":
        raise unsupported(
            f"messages[{len(request.messages) - 1}].role",
            "the remote cannot continue an answer that is begun; end with a user's message",
        )
    return request


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


OF_A_MESSAGE = 4  # tokens of the chat format around a message, as OpenAI counts for its models
OF_A_TOOL = 8  # … and around a tool


def count_tokens(chat: ChatRequest, vocabulary: Vocabulary) -> int:
    """Estimate the input tokens of a chat in tokens of cl100k_base. The remote counts in its own.

    Args:
        chat: the raw conversation with its tools.
    """
    around = OF_A_MESSAGE * len(chat.messages) + OF_A_TOOL * len(chat.tools or ())
    return around + sum(len(encode_text(text, vocabulary.encoding)) for text in _list_texts(chat))


def _list_texts(chat: ChatRequest) -> Iterator[str]:
    for message in chat.messages:
        yield from message.texts
        for call in message.tool_calls or ():
            yield call.function.name
            yield call.function.arguments
    for tool in chat.tools or ():
        yield json.dumps(tool["function"], ensure_ascii=False)
    if chat.response_format is not None:
        yield json.dumps(chat.response_format, ensure_ascii=False)
