"""Define the body of `POST /v1/responses`: its fields, and the destination of each.

The rules are those of chat: every field has its treatment, and nothing undeclared is read. Fields
that need state at a server are refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from proxy.errors import unsupported
from proxy.requests.protocol import (
    DROP,
    LOCAL,
    PIPELINE,
    REMOTE,
    Effort,
    Items,
    Json,
    Options,
    StreamOptions,
    Strict,
)
from proxy.requests.responses.items import STATELESS, Item, spell_items
from proxy.requests.validation import validate

__all__ = [
    "AllowedTools",
    "FunctionChoice",
    "FunctionTool",
    "Reasoning",
    "ResponsesRequest",
    "TextConfig",
    "TextFormat",
    "validate_response",
]

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
