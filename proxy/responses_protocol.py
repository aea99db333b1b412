"""The body of `POST /v1/responses`: which fields exist and where each may go.

The same rules as for chat: every field has its treatment, nothing undeclared is read. What needs
state at a server, or a tool that a server runs, is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Field, model_validator

from proxy.errors import bad_request
from proxy.protocol import (
    DROP,
    LOCAL,
    PIPELINE,
    REMOTE,
    Effort,
    Json,
    Options,
    StreamOptions,
    Strict,
    unsupported,
    validate,
)

__all__ = [
    "AllowedTools",
    "CallItem",
    "CallOutputItem",
    "FunctionChoice",
    "FunctionTool",
    "InputTextPart",
    "MessageItem",
    "OutputTextPart",
    "Reasoning",
    "ReasoningItem",
    "RefusedPart",
    "ResponsesRequest",
    "TextConfig",
    "TextFormat",
    "validate_response",
]

LOGPROBS = "message.output_text.logprobs"


class InputTextPart(Strict):
    """A text part as clients write it."""

    type: Literal["input_text"]
    text: str
    prompt_cache_breakpoint: Any = None


class OutputTextPart(Strict):
    """A text part as an answer has it; only the text is read."""

    type: Literal["output_text"]
    text: str
    annotations: Any = None
    logprobs: Any = None
    parsed: Any = None


class RefusedPart(Strict):
    """A refusal of an earlier answer; dropped."""

    type: Literal["refusal"]
    refusal: str


Part = Annotated[InputTextPart | OutputTextPart | RefusedPart, Field(discriminator="type")]


class MessageItem(Strict):
    """A message, written by a client or sent back of an answer."""

    type: Literal["message"]
    role: Literal["system", "developer", "user", "assistant"]
    content: list[Part]
    id: Any = None
    phase: Any = None
    status: Any = None


class CallItem(Strict):
    """A function call of an earlier answer."""

    type: Literal["function_call"]
    call_id: str
    name: str
    arguments: str
    id: Any = None
    status: Any = None
    # what SDKs put beside it when they send an answer back
    async_: Any = Field(None, validation_alias=AliasChoices("async", "async_"))
    caller: Any = None
    created_by: Any = None
    namespace: Any = None
    parsed_arguments: Any = None


class CallOutputItem(Strict):
    """A function's result: private text."""

    type: Literal["function_call_output"]
    call_id: str
    output: list[Part]
    id: Any = None
    status: Any = None
    caller: Any = None
    created_by: Any = None
    name: Any = None
    namespace: Any = None


class ReasoningItem(Strict):
    """What another server's model thought; dropped."""

    type: Literal["reasoning"]
    id: Any = None
    content: Any = None
    encrypted_content: Any = None
    status: Any = None
    summary: Any = None


Item = Annotated[
    MessageItem | CallItem | CallOutputItem | ReasoningItem, Field(discriminator="type")
]


class FunctionTool(Strict):
    """A function the local model may call; the fields after `strict` ask for nothing here."""

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
    """The function that is to be called."""

    type: Literal["function"]
    name: str


class AllowedTools(Strict):
    """The functions that may be called, or one of which has to be."""

    type: Literal["allowed_tools"]
    mode: Literal["auto", "required"]
    tools: list[FunctionChoice]


class TextFormat(Strict):
    """Text, any JSON object, or JSON after a schema."""

    type: Literal["text", "json_object", "json_schema"]
    name: str | None = None
    schema_: Json | None = Field(None, alias="schema")
    description: str | None = None
    strict: bool | None = None

    @model_validator(mode="after")
    def _complete(self) -> TextFormat:
        if self.type == "json_schema" and (self.name is None or self.schema_ is None):
            raise ValueError("json_schema needs a name and a schema")
        return self


class TextConfig(Strict):
    """The form of the answer's text; `verbosity` is dropped."""

    format: TextFormat | None = None
    verbosity: Literal["low", "medium", "high"] | None = None


class Reasoning(Strict):
    """Only the effort is read; there is no summary of the local model's thoughts to give."""

    effort: Effort | None = None
    context: Any = None
    generate_summary: Any = None
    mode: Any = None
    summary: Any = None


class ResponsesRequest(Strict):
    """`POST /v1/responses`."""

    model: Annotated[str, PIPELINE]
    input: Annotated[list[Item], PIPELINE] = Field(min_length=1)
    instructions: Annotated[str | None, PIPELINE] = None
    inferdpt: Annotated[Options, PIPELINE] = Options()
    stream: Annotated[bool | None, PIPELINE] = None
    temperature: Annotated[float | None, REMOTE] = Field(None, ge=0, le=2)
    top_p: Annotated[float | None, REMOTE] = Field(None, ge=0, le=1)
    max_output_tokens: Annotated[int | None, REMOTE] = Field(None, ge=1, lt=2**31)
    reasoning: Annotated[Reasoning | None, REMOTE] = None
    include: Annotated[list[Literal["message.output_text.logprobs"]] | None, LOCAL] = None
    top_logprobs: Annotated[int | None, LOCAL] = Field(None, ge=0, le=20)
    text: Annotated[TextConfig | None, LOCAL] = None
    tools: Annotated[list[FunctionTool] | None, LOCAL] = None
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


_STATE = "the proxy and the remote keep no state; send the whole conversation in 'input'"
_CACHE = "the remote is asked to store nothing"
_REJECTED = {
    "previous_response_id": _STATE,
    "conversation": _STATE,
    "prompt": "stored prompts are not served; send the text in 'instructions' and 'input'",
    "context_management": _STATE,
    "prompt_cache_options": _CACHE,
    "prompt_cache_retention": _CACHE,
    "moderation": "moderation is not served",
    "access_programs": "access programs are not served",
    "image": "only text is served",
    "extra_body": "SDKs merge its content into the body; send its fields at the top",
}
_ITEMS = ("message", "function_call", "function_call_output", "reasoning")
_PARTS = ("input_text", "output_text", "refusal")


def validate_response(body: Mapping[str, Any]) -> ResponsesRequest:
    """Parse a body.

    Raises:
        ApiError: 400, naming the first field that is not served or breaks its rule.
    """
    _refuse_modes(body)
    _refuse_tools(body)
    plain = dict(body)
    if "input" in body:
        plain["input"] = _items(body["input"])
    return validate(ResponsesRequest, plain, _REJECTED)


def _refuse_modes(body: Mapping[str, Any]) -> None:
    """Refuse what is served in one way only where another is asked for."""
    if body.get("background") not in (None, False):
        raise unsupported("background", _STATE)
    if body.get("truncation") not in (None, "disabled"):
        raise unsupported("truncation", "only 'disabled' is")
    asked = body.get("include")
    for i, name in enumerate(asked if isinstance(asked, list) else ()):
        if name != LOGPROBS:
            raise unsupported(f"include[{i}]", f"only '{LOGPROBS}' can be included")


def _refuse_tools(body: Mapping[str, Any]) -> None:
    """Refuse tools that are no functions: they run at a server, and would be told raw text."""
    why = "only function tools are served; hosted tools, MCP servers and custom tools are not"
    tools = body.get("tools")
    for i, tool in enumerate(tools if isinstance(tools, list) else ()):
        if isinstance(tool, dict) and tool.get("type") != "function":
            raise unsupported(f"tools[{i}].type", why)
    choice = body.get("tool_choice")
    if isinstance(choice, dict):
        if choice.get("type") not in ("function", "allowed_tools"):
            raise unsupported("tool_choice.type", why)
        allowed = choice.get("tools")
        for i, tool in enumerate(allowed if isinstance(allowed, list) else ()):
            if isinstance(tool, dict) and tool.get("type") != "function":
                raise unsupported(f"tool_choice.tools[{i}].type", why)


def _items(given: Any) -> Any:
    """The input as a list of items with their types, texts as lists of parts: one spelling for
    what the API lets clients spell in several ways. What is malformed is left to the model."""
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    if not isinstance(given, list):
        return given
    return [_item(item, f"input[{i}]") for i, item in enumerate(given)]


def _item(item: Any, where: str) -> Any:
    if not isinstance(item, dict):
        return item
    kind = item.get("type")
    if kind is None:
        kind = "item_reference" if item.keys() <= {"id", "type"} else "message"
    if kind == "item_reference":
        raise unsupported(where, _STATE)
    if kind not in _ITEMS:
        raise _no_content("Only messages and function calls with their outputs are served.", where)
    out = {**item, "type": kind}
    for name in ("content", "output"):
        if name in item and kind != "reasoning":
            out[name] = _parts(item[name], kind, item.get("role"), f"{where}.{name}")
    return out


def _parts(given: Any, kind: str, role: Any, where: str) -> Any:
    if isinstance(given, str):
        return [{"type": "output_text" if role == "assistant" else "input_text", "text": given}]
    for i, part in enumerate(given if isinstance(given, list) else ()):
        if isinstance(part, dict) and part.get("type") not in _PARTS:
            raise _no_content(
                "Only text parts are supported; images, audio and files are not.", f"{where}[{i}]"
            )
    return given


def _no_content(message: str, where: str) -> Exception:
    return bad_request(message, param=where, code="unsupported_content")
