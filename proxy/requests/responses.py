"""Define the body of `POST /v1/responses`, and convert it to a chat request, which the pipeline
plans and answers.

The rules are those of chat: every field has its treatment, and nothing undeclared is read. Fields
that need state at a server are refused by name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Field, model_validator

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
    StreamOptions,
    Strict,
    TextPart,
    ToolCall,
)
from proxy.requests.validation import HINT, validate

__all__ = [
    "COMPACTION",
    "AllowedTools",
    "CallItem",
    "CallOutputItem",
    "FunctionChoice",
    "FunctionTool",
    "InputTextPart",
    "OutputTextPart",
    "Reasoning",
    "ReasoningItem",
    "RefusalContent",
    "ResponsesMessage",
    "ResponsesRequest",
    "TextConfig",
    "TextFormat",
    "convert_to_chat",
    "find_place",
    "spell_items",
    "validate_response",
]

STATELESS = "the proxy and the remote keep no state; send the whole conversation in 'input'"
COMPACTION = (
    "A conversation is compacted by the client, not by a server: let it ask for a summary, as "
    "Codex does for a provider of its own ([model_providers]) with another name than OpenAI."
)
_ITEMS = ("message", "function_call", "function_call_output", "reasoning")
# Calls of hosted tools, and what these returned.
_HOSTED = frozenset(
    (
        *("apply_patch_call", "apply_patch_call_output", "code_interpreter_call"),
        *("computer_call", "computer_call_output", "file_search_call", "image_generation_call"),
        *("local_shell_call", "local_shell_call_output", "mcp_approval_request"),
        *("mcp_approval_response", "mcp_call", "mcp_list_tools", "program", "program_output"),
        *("shell_call", "shell_call_output", "tool_search_call", "tool_search_output"),
        "web_search_call",
    )
)
# Every type of the current SDK that is not served. Errors name only these.
REFUSED = _HOSTED | {
    *("additional_tools", "compaction", "compaction_trigger", "configuration_update"),
}
_PARTS = ("input_text", "output_text", "refusal")


class InputTextPart(Strict):
    """Hold a text part of a client."""

    type: Literal["input_text"]
    text: str
    prompt_cache_breakpoint: Any = None


class OutputTextPart(Strict):
    """Hold a text part of an answer; only the text is read."""

    type: Literal["output_text"]
    text: str
    annotations: Any = None
    logprobs: Any = None
    parsed: Any = None


class RefusalContent(Strict):
    """Hold a refusal of an earlier answer; it is dropped."""

    type: Literal["refusal"]
    refusal: str


Part = Annotated[InputTextPart | OutputTextPart | RefusalContent, Field(discriminator="type")]


class ResponsesMessage(Strict):
    """Hold a message, written by a client or sent back from an answer."""

    type: Literal["message"]
    role: Literal["system", "developer", "user", "assistant"]
    content: Items[Part]
    id: Any = None
    phase: Any = None
    status: Any = None


class CallItem(Strict):
    """Hold a function call of an earlier answer."""

    type: Literal["function_call"]
    call_id: str
    name: str
    arguments: str
    id: Any = None
    status: Any = None
    # added by SDKs that send an answer back
    async_: Any = Field(None, validation_alias=AliasChoices("async", "async_"))
    caller: Any = None
    created_by: Any = None
    namespace: Any = None
    parsed_arguments: Any = None


class CallOutputItem(Strict):
    """Hold a function's result, which is private text."""

    type: Literal["function_call_output"]
    call_id: str
    output: Items[Part]
    id: Any = None
    status: Any = None
    caller: Any = None
    created_by: Any = None
    name: Any = None
    namespace: Any = None


class ReasoningItem(Strict):
    """Hold the reasoning of another server's model; it is dropped."""

    type: Literal["reasoning"]
    id: Any = None
    content: Any = None
    encrypted_content: Any = None
    status: Any = None
    summary: Any = None


Item = Annotated[
    ResponsesMessage | CallItem | CallOutputItem | ReasoningItem, Field(discriminator="type")
]


def spell_items(given: Any, *, ignore: bool = False) -> Any:
    """Spell the input as a list of typed items, with texts as lists of parts.

    Malformed input is left to the model that validates it. A call of a custom tool, whose input is
    a text, becomes a call of a function with the argument `input`.

    Args:
        ignore: leave out calls of hosted tools and what they returned, in place of an error. An
            item without content stands in their place, so that the others keep their numbers.

    Raises:
        ApiError: 400, naming the place and the type of the first item that is not served.
    """
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    if not isinstance(given, list):
        return given
    return [
        {"type": "reasoning"}
        if ignore and isinstance(item, dict) and _is_hosted(item.get("type"))
        else _spell_item(item, f"input[{i}]")
        for i, item in enumerate(given)
    ]


def _is_hosted(kind: Any) -> bool:
    return isinstance(kind, str) and kind in _HOSTED


def _spell_custom(item: dict[str, Any]) -> dict[str, Any]:
    """Spell a call of a custom tool, or its result, as one of a function."""
    kind = item["type"].replace("custom_tool_call", "function_call")
    out = {key: value for key, value in item.items() if key != "input"} | {"type": kind}
    if kind == "function_call":
        out["arguments"] = json.dumps({"input": item.get("input")}, ensure_ascii=False)
    return out


def _spell_item(item: Any, where: str) -> Any:
    if not isinstance(item, dict):
        return item
    if item.get("type") in ("custom_tool_call", "custom_tool_call_output"):
        item = _spell_custom(item)
    kind = item.get("type")
    if kind is None:
        kind = "item_reference" if item.keys() <= {"id", "type"} else "message"
    if kind == "item_reference":
        raise unsupported(where, STATELESS)
    if kind not in _ITEMS:
        name = f"'{kind}'" if isinstance(kind, str) and kind in REFUSED else "this item"
        hints = {"compaction": f" {HINT}", "compaction_trigger": f" {COMPACTION}"}
        raise _refuse_content(
            f"Only messages and function calls with their outputs are served; {name} is not."
            + (hints.get(kind, "") if isinstance(kind, str) else ""),
            where,
        )
    out = {**item, "type": kind}
    for name in ("content", "output"):
        if name in item and kind != "reasoning":
            out[name] = _spell_parts(item[name], kind, item.get("role"), f"{where}.{name}")
    return out


def _spell_parts(given: Any, kind: str, role: Any, where: str) -> Any:
    if isinstance(given, str):
        return [{"type": "output_text" if role == "assistant" else "input_text", "text": given}]
    for i, part in enumerate(given if isinstance(given, list) else ()):
        if isinstance(part, dict) and part.get("type") not in _PARTS:
            raise _refuse_content(
                f"Only text parts are supported; images, audio and files are not. {HINT}",
                f"{where}[{i}]",
            )
    return given


def _refuse_content(message: str, where: str) -> Exception:
    return bad_request(message, param=where, code="unsupported_content")


LOGPROBS = "message.output_text.logprobs"
# Clients may request these parts of answers; only the first is ever given here.
INCLUDABLE = (
    LOGPROBS,
    "code_interpreter_call.outputs",
    "computer_call_output.output.image_url",
    "file_search_call.results",
    "message.input_image.image_url",
    "reasoning.encrypted_content",
    "web_search_call.action.sources",
    "web_search_call.results",
)


class FunctionTool(Strict):
    """Hold a function that the local model may call; fields after `strict` have no effect."""

    type: Literal["function"]
    name: str
    description: str | None = None
    parameters: Json | None = None
    strict: bool | None = None
    allowed_callers: Any = None
    async_: Any = Field(None, alias="async")
    defer_loading: Any = None
    output_schema: Any = None


class FunctionChoice(Strict):
    """Name the function that must be called."""

    type: Literal["function"]
    name: str


class AllowedTools(Strict):
    """Name the functions that may be called, or one of which must be."""

    type: Literal["allowed_tools"]
    mode: Literal["auto", "required"]
    tools: Items[FunctionChoice]


class TextFormat(Strict):
    """Select text, any JSON object, or JSON with a schema."""

    type: Literal["text", "json_object", "json_schema"]
    name: str | None = None
    schema_: Json | None = Field(None, alias="schema")
    description: str | None = None
    strict: bool | None = None

    @model_validator(mode="after")
    def _check_schema(self) -> TextFormat:
        if self.type == "json_schema" and (self.name is None or self.schema_ is None):
            raise ValueError("json_schema needs a name and a schema")
        return self


class TextConfig(Strict):
    """Hold the form of the answer's text; `verbosity` is dropped."""

    format: TextFormat | None = None
    verbosity: Any = None


class Reasoning(Strict):
    """Hold the options of reasoning. Only the effort is read."""

    effort: Effort = None
    context: Any = None
    generate_summary: Any = None
    mode: Any = None
    summary: Any = None


class ResponsesRequest(Strict):
    """Hold the body of `POST /v1/responses`."""

    model: Annotated[str, PIPELINE]
    input: Annotated[Items[Item], PIPELINE] = Field(min_length=1)
    instructions: Annotated[str | None, PIPELINE] = None
    inferdpt: Annotated[Options, PIPELINE] = Options()
    stream: Annotated[bool | None, PIPELINE] = None
    temperature: Annotated[float | None, REMOTE] = Field(None, ge=0, le=2)
    top_p: Annotated[float | None, REMOTE] = Field(None, ge=0, le=1)
    max_output_tokens: Annotated[int | None, REMOTE] = Field(None, ge=1, lt=2**31)
    reasoning: Annotated[Reasoning | None, REMOTE] = None
    include: Annotated[Items[str] | None, LOCAL] = None
    top_logprobs: Annotated[int | None, LOCAL] = Field(None, ge=0, le=20)
    text: Annotated[TextConfig | None, LOCAL] = None
    tools: Annotated[Items[FunctionTool] | None, LOCAL] = None
    tool_choice: Annotated[
        Literal["none", "auto", "required"] | FunctionChoice | AllowedTools | None, LOCAL
    ] = None
    parallel_tool_calls: Annotated[bool | None, LOCAL] = None
    background: Annotated[Literal[False] | None, DROP] = None
    max_tool_calls: Annotated[int | None, DROP] = Field(None, ge=1)  # of tools that servers run
    metadata: Annotated[Json | None, DROP] = None
    prompt_cache_key: Annotated[str | None, DROP] = None
    safety_identifier: Annotated[str | None, DROP] = None
    service_tier: Annotated[str | None, DROP] = None
    store: Annotated[bool | None, DROP] = None
    stream_options: Annotated[StreamOptions | None, DROP] = None
    truncation: Annotated[Literal["disabled"] | None, DROP] = None
    user: Annotated[str | None, DROP] = None
    # known fields without effect here, whatever they hold
    access_programs: Annotated[Any, DROP] = None
    background_options: Annotated[Any, DROP] = None
    client_metadata: Annotated[Any, DROP] = None
    image: Annotated[Any, DROP] = None
    moderation: Annotated[Any, DROP] = None
    prompt_cache_options: Annotated[Any, DROP] = None
    prompt_cache_retention: Annotated[Any, DROP] = None


REJECTED = {
    "previous_response_id": STATELESS,
    "conversation": STATELESS,
    "prompt": "stored prompts are not served; send the text in 'instructions' and 'input'",
    "context_management": STATELESS,
    "extra_body": "SDKs merge its content into the body; send its fields at the top",
}


def validate_response(body: Mapping[str, Any], *, ignore: bool = False) -> ResponsesRequest:
    """Parse a body.

    Args:
        ignore: leave out calls of hosted tools in the history, in place of an error.

    Raises:
        ApiError: 400, naming the first field that is not served or breaks its rule.
    """
    _refuse_modes(body)
    plain = dict(body)
    if "input" in body:
        plain["input"] = spell_items(body["input"], ignore=ignore)
    return validate(ResponsesRequest, plain, REJECTED)


def _refuse_modes(body: Mapping[str, Any]) -> None:
    """Refuse values that request an unsupported mode."""
    if body.get("background") not in (None, False):
        raise unsupported("background", STATELESS)
    if body.get("truncation") not in (None, "disabled"):
        raise unsupported("truncation", "only 'disabled' is")
    asked = body.get("include")
    for i, name in enumerate(asked if isinstance(asked, list) else ()):
        if name not in INCLUDABLE:
            raise unsupported(f"include[{i}]", f"only {', '.join(INCLUDABLE)} can be")


ALIKE = ("model", "inferdpt", "stream", "temperature", "top_p")
_MESSAGE = re.compile(
    r"messages\[(?P<message>\d+)\]"
    r"(?:\.content(?:\[(?P<text>\d+)\])?|\.tool_calls\[(?P<call>\d+)\])?"
)
_TOOL = re.compile(r"tools\[(?P<tool>\d+)\](?:\.function)?(?P<field>.*)")
_NAMES = {  # how the names of a chat's fields begin, and those of the fields they are made from
    "max_completion_tokens": "max_output_tokens",
    "reasoning_effort": "reasoning.effort",
    "response_format.json_schema": "text.format",
    "response_format": "text.format",
    "messages": "input",
    "tool_choice.function": "tool_choice",
}


@dataclass(frozen=True)
class _Origin:
    """Hold a message of the chat, and the places of the request that it comes from: of its item,
    its texts and its calls."""

    message: Message
    at: str
    texts: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()

    def find(self, match: re.Match[str]) -> str:
        """Return the place of a field of the message."""
        if match["call"] is not None:
            return self.calls[int(match["call"])]
        if match["text"] is not None:
            return self.texts[int(match["text"])]
        return self.texts[0] if len(self.texts) == 1 else self.at


def convert_to_chat(request: ResponsesRequest) -> ChatRequest:
    """Convert a request for a response to a chat request, without the fields that the client left
    out.

    Raises:
        ApiError: 400, the input holds nothing to answer.
    """
    messages = [origin.message for origin in _convert_messages(request)]
    if not messages:
        raise bad_request("The input has no turn to answer.", param="input")
    fields: dict[str, Any] = {name: getattr(request, name) for name in ALIKE}
    fields["messages"] = messages
    fields["max_completion_tokens"] = request.max_output_tokens
    if request.reasoning is not None:
        fields["reasoning_effort"] = request.reasoning.effort
    if LOGPROBS in (request.include or ()):
        fields |= {"logprobs": True, "top_logprobs": request.top_logprobs}
    fields["response_format"] = _convert_format(request)
    fields |= _convert_tools(request)
    return ChatRequest(**{name: value for name, value in fields.items() if value is not None})


def find_place(param: str | None, request: ResponsesRequest) -> str | None:
    """Return the name of a chat request's field in the request for a response."""
    if param is None:
        return None
    if match := _MESSAGE.match(param):
        return _convert_messages(request)[int(match["message"])].find(match)
    if match := _TOOL.match(param):
        numbers = [i for i, tool in enumerate(request.tools or ()) if _allows(request, tool)]
        return f"tools[{numbers[int(match['tool'])]}]{match['field']}"
    for theirs, ours in _NAMES.items():
        if param.startswith(theirs):
            return ours + param.removeprefix(theirs)
    return param


def _convert_messages(request: ResponsesRequest) -> list[_Origin]:
    """Convert the items to messages, each with the places that it comes from.

    The text and the calls of one answer become one assistant turn again, so that it is recognised
    and the remote sees its own words for it.
    """
    out: list[_Origin] = []
    if request.instructions:
        made = Message(role="system", content=request.instructions)
        out.append(_Origin(made, "instructions"))
    for i, item in enumerate(request.input):
        at = f"input[{i}]" if len(request.input) > 1 else "input"
        last = out[-1] if out and out[-1].message.role == "assistant" else None
        if isinstance(item, ResponsesMessage):
            texts = _read_texts(item.content, f"{at}.content" if at != "input" else at)
            content: list[Any] = [part for _, part in texts]
            places = tuple(place for place, _ in texts)
            if item.role == "assistant" and last is not None and last.message.content is None:
                made = last.message.model_copy(update={"content": content})
                out[-1] = replace(last, message=made, texts=places)
            else:
                out.append(_Origin(Message(role=item.role, content=content), at, places))
        elif isinstance(item, CallItem):
            function = FunctionCall(name=item.name, arguments=item.arguments)
            call = ToolCall(id=item.call_id, function=function)
            if last is not None:
                calls = [*(last.message.tool_calls or ()), call]
                made = last.message.model_copy(update={"tool_calls": calls})
                out[-1] = replace(last, message=made, calls=(*last.calls, at))
            else:
                made = Message(role="assistant", tool_calls=[call])
                out.append(_Origin(made, at, calls=(at,)))
        elif isinstance(item, CallOutputItem):
            texts = _read_texts(item.output, f"{at}.output")
            content = [part for _, part in texts]
            made = Message(role="tool", tool_call_id=item.call_id, content=content)
            out.append(_Origin(made, at, tuple(place for place, _ in texts)))
    return out


def _read_texts(parts: Sequence[Part], at: str) -> list[tuple[str, TextPart]]:
    """Return the texts among parts, each with its place."""
    return [
        (f"{at}[{i}]" if len(parts) > 1 else at, TextPart(type="text", text=part.text))
        for i, part in enumerate(parts)
        if not isinstance(part, RefusalContent)
    ]


def _convert_format(request: ResponsesRequest) -> Json | None:
    """Convert `text.format` to `response_format`; plain text needs none."""
    wanted = request.text.format if request.text is not None else None
    if wanted is None or wanted.type == "text":
        return None
    if wanted.type == "json_object":
        return {"type": "json_object"}
    schema = {"name": wanted.name, "schema": wanted.schema_}
    return {
        "type": "json_schema",
        "json_schema": schema | _select_given(wanted, "description", "strict"),
    }


def _convert_tools(request: ResponsesRequest) -> Json:
    """Convert the tools and the choice between them.

    `allowed_tools` has no chat form that local servers know, so the model gets only those.
    """
    tools, choice = request.tools or [], request.tool_choice
    chosen: Any = choice
    if isinstance(choice, AllowedTools):
        tools = [tool for tool in tools if _allows(request, tool)]
        chosen = choice.mode
    elif isinstance(choice, FunctionChoice):
        chosen = {"type": "function", "function": {"name": choice.name}}
    if not tools:  # local servers refuse any choice without tools, even "none"
        return {} if chosen in ("none", "auto") else {"tool_choice": chosen}
    return {
        "tools": [{"type": "function", "function": _convert_function(tool)} for tool in tools],
        "tool_choice": chosen,
        "parallel_tool_calls": request.parallel_tool_calls,
    }


def _allows(request: ResponsesRequest, tool: FunctionTool) -> bool:
    choice = request.tool_choice
    return not isinstance(choice, AllowedTools) or tool.name in {t.name for t in choice.tools}


def _convert_function(tool: FunctionTool) -> Json:
    return {"name": tool.name} | _select_given(tool, "description", "parameters", "strict")


def _select_given(model: TextFormat | FunctionTool, *names: str) -> Json:
    return {name: getattr(model, name) for name in names if getattr(model, name) is not None}
