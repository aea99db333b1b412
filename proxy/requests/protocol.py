"""Define the request bodies: their fields, and the destination of each.

Every field is marked with its treatment. Nothing undeclared is read, and an undeclared field is
an error. Only `remote` fields and the pipeline's own output can be sent.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    FailFast,
    Field,
    Tag,
    model_validator,
)

from extraction.extractor import Extraction
from perturb.sanitizer import Demands

__all__ = [
    "EFFORTS",
    "MARKS",
    "TTLS",
    "ChatRequest",
    "CompletionRequest",
    "Effort",
    "FunctionCall",
    "Items",
    "Message",
    "Options",
    "PerturbRequest",
    "RefusalPart",
    "SamplingRequest",
    "StreamOptions",
    "Strict",
    "Terms",
    "TextPart",
    "Texts",
    "ToolCall",
    "Treatment",
    "find_treatments",
    "read_mark",
    "select_local_fields",
]

MARKS = 4  # the most of a request, by Anthropic's rule
TTLS = ("5m", "1h")


def read_mark(value: Any) -> dict[str, str] | None:
    """Return a mark as it may be sent: two enumerated words, which can hold nothing private.

    Keys other than `type` and `ttl`, such as Claude Code's `scope`, are left out.

    Returns:
        None if it is none that Anthropic knows.

    >>> read_mark({"type": "ephemeral", "ttl": "1h", "scope": "global"})
    {'type': 'ephemeral', 'ttl': '1h'}
    """
    if not isinstance(value, dict) or value.get("type") != "ephemeral":
        return None
    ttl = value.get("ttl")
    if ttl is None:
        return {"type": "ephemeral"}
    return {"type": "ephemeral", "ttl": ttl} if ttl in TTLS else None


T = TypeVar("T")
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")  # that may be sent


class _FirstError(FailFast):
    """Stop at a list's first bad item, since each error costs a kilobyte."""

    __hash__ = object.__hash__  # a union of types needs distinct members


Items = Annotated[list[T], _FirstError()]
# They are looked for in every text of the request.
Terms = Annotated[Items[Annotated[str, Field(max_length=200)]], Field(max_length=200)]


def _drop_unknown(value: Any) -> Any:
    """Drop an effort that is not on the list of forwarded ones."""
    return None if isinstance(value, str) and value not in EFFORTS else value


Effort = Annotated[str | None, BeforeValidator(_drop_unknown)]


def _find_kind(value: Any) -> str | None:
    """Find the form of texts by the first of them.

    A union without this would try every form and collect the errors of each.
    """
    if isinstance(value, str):
        return "<text>"
    if not isinstance(value, list):
        return None
    first = value[0] if value else ""
    kinds = {int: "<tokens>", list: "<token lists>"}
    return kinds.get(type(first), "<texts>")


Texts = Annotated[
    Annotated[str, Tag("<text>")]
    | Annotated[Items[str], Tag("<texts>")]
    | Annotated[Items[int], Tag("<tokens>")]
    | Annotated[Items[Items[int]], Tag("<token lists>")],
    Discriminator(
        _find_kind,
        custom_error_type="texts",
        custom_error_message="it should be a string, a list of strings, or token ids",
    ),
]


class Treatment(StrEnum):
    """Name the destination of a field."""

    PIPELINE = "pipeline"  # read by the proxy; text in it is split, perturbed and guarded
    REMOTE = "remote"  # a number or an enumerated word: to the remote and to the local model
    LOCAL = "local"  # to the local model only
    DROP = "drop"  # accepted for compatibility, goes nowhere


PIPELINE, REMOTE, LOCAL, DROP = Treatment
Json = dict[str, Any]


class Strict(BaseModel):
    """Hold a body: frozen, no coercion, no unknown keys. Errors never carry the input."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        hide_input_in_errors=True,
        protected_namespaces=(),
    )


class Options(Strict):
    """Hold the `inferdpt` object (SDKs send it through `extra_body`)."""

    mechanism: str | None = None
    epsilon: float | None = Field(None, ge=0, allow_inf_nan=False)
    task: Literal["chat", "continuation", "instruct"] | None = None
    instruction: str | None = None
    receipt: Literal["none", "summary", "full"] = "summary"
    local_only: bool = False
    extraction: Extraction | None = None
    candidates: int | None = Field(None, ge=1, le=128)
    actions: dict[str, str] | None = None
    deny: Terms | None = None
    thresholds: dict[str, float] | None = None

    @property
    def demands(self) -> Demands:
        """Return what is asked for beyond the configuration."""
        return Demands.of(self.actions, self.deny, self.thresholds)


class TextPart(Strict):
    """Hold a text part of a message; only the text is read."""

    type: Literal["text"]
    text: str
    annotations: Any = None
    cache_control: Any = None
    prompt_cache_breakpoint: Any = None


class RefusalPart(Strict):
    """Hold a refusal part of an assistant turn; it is dropped."""

    type: Literal["refusal"]
    refusal: str


class FunctionCall(Strict):
    """Hold a function's name and its arguments as JSON text."""

    name: str
    arguments: str
    parsed_arguments: Any = None


class ToolCall(Strict):
    """Hold a tool call of an assistant turn."""

    id: str
    type: Literal["function"] = "function"
    function: FunctionCall
    index: int | None = None
    cache_control: Any = None

    @model_validator(mode="after")
    def _name_type(self) -> ToolCall:
        self.model_fields_set.add("type")  # remotes need it, whoever left it out
        return self


class Message(Strict):
    """Hold one message of a conversation. `cache_control` marks the end of its content.

    SDKs and clients send the fields after `cache_control` back with an answer. They are accepted
    and never read.
    """

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | Items[TextPart | RefusalPart] | None = None
    name: str | None = None
    refusal: str | None = None
    tool_call_id: str | None = None
    tool_calls: Items[ToolCall] | None = None
    function_call: FunctionCall | None = None
    cache_control: Any = None
    annotations: Any = None
    audio: None = None
    id: Any = None
    parsed: Any = None
    provider_specific_fields: Any = None
    reasoning: Any = None
    reasoning_content: Any = None
    reasoning_details: Any = None
    thinking_blocks: Any = None
    type: Any = None

    @property
    def texts(self) -> list[str]:
        """Return the message's text parts; a plain string is one."""
        if isinstance(self.content, list):
            return [part.text for part in self.content if isinstance(part, TextPart)]
        return [self.content or ""]

    @property
    def text(self) -> str:
        """Return the message's text, its parts joined by newlines."""
        return "\n".join(self.texts)


class StreamOptions(Strict):
    """Hold the options of a stream; `include_usage` asks for a last chunk with the usage."""

    include_usage: bool | None = None
    include_obfuscation: bool | None = None
    continuous_usage_stats: bool | None = None


class SamplingRequest(Strict):
    """Hold the fields that chat and text completions share."""

    model: Annotated[str, PIPELINE]
    inferdpt: Annotated[Options, PIPELINE] = Options()
    stream: Annotated[bool | None, PIPELINE] = None
    stream_options: Annotated[StreamOptions | None, PIPELINE] = None
    n: Annotated[int | None, PIPELINE] = Field(None, ge=1, le=128)
    temperature: Annotated[float | None, REMOTE] = Field(None, ge=0, le=2)
    top_p: Annotated[float | None, REMOTE] = Field(None, ge=0, le=1)
    max_tokens: Annotated[int | None, REMOTE] = Field(None, ge=1, lt=2**31)
    seed: Annotated[int | None, LOCAL] = Field(None, ge=-(2**63), lt=2**63)
    stop: Annotated[str | Items[str] | None, LOCAL] = None
    presence_penalty: Annotated[float | None, LOCAL] = Field(None, ge=-2, le=2)
    frequency_penalty: Annotated[float | None, LOCAL] = Field(None, ge=-2, le=2)
    logit_bias: Annotated[dict[str, float] | None, LOCAL] = None
    # extensions of vLLM and llama.cpp
    top_k: Annotated[int | None, LOCAL] = None
    min_p: Annotated[float | None, LOCAL] = Field(None, ge=0, le=1)
    repetition_penalty: Annotated[float | None, LOCAL] = Field(None, gt=0)
    min_tokens: Annotated[int | None, LOCAL] = Field(None, ge=0)
    stop_token_ids: Annotated[Items[int] | None, LOCAL] = None
    skip_special_tokens: Annotated[bool | None, LOCAL] = None
    include_stop_str_in_output: Annotated[bool | None, LOCAL] = None
    ignore_eos: Annotated[bool | None, LOCAL] = None
    guided_json: Annotated[str | Json | None, LOCAL] = None
    guided_regex: Annotated[str | None, LOCAL] = None
    guided_choice: Annotated[Items[str] | None, LOCAL] = None
    guided_grammar: Annotated[str | None, LOCAL] = None
    structured_outputs: Annotated[Json | None, LOCAL] = None
    chat_template_kwargs: Annotated[Json | None, LOCAL] = None
    user: Annotated[str | None, DROP] = None
    metadata: Annotated[Json | None, DROP] = None
    store: Annotated[bool | None, DROP] = None
    safety_identifier: Annotated[str | None, DROP] = None
    prompt_cache_key: Annotated[str | None, DROP] = None
    service_tier: Annotated[str | None, DROP] = None
    # extensions of OpenRouter, for a gateway's remote
    provider: Annotated[Json | None, PIPELINE] = None
    reasoning: Annotated[Json | None, PIPELINE] = None
    transforms: Annotated[Items[str] | None, PIPELINE] = None
    usage: Annotated[Json | None, PIPELINE] = None
    models: Annotated[Any, DROP] = None
    route: Annotated[Any, DROP] = None
    # known fields without effect here, whatever they hold
    background_options: Annotated[Any, DROP] = None
    client_metadata: Annotated[Any, DROP] = None
    moderation: Annotated[Any, DROP] = None
    prompt_cache_options: Annotated[Any, DROP] = None
    prompt_cache_retention: Annotated[Any, DROP] = None

    @property
    def choices(self) -> int:
        """Return the number of choices for each prompt."""
        return self.n or 1

    @property
    def include_usage(self) -> bool:
        """Tell if a stream ends with a usage chunk."""
        return self.stream_options is not None and bool(self.stream_options.include_usage)

    @property
    def wants_logprobs(self) -> bool:
        """Tell if the answer has log probabilities. In a text completion, 0 asks for them without
        alternatives."""
        asked = getattr(self, "logprobs", None)
        return asked is not None and asked is not False


class ChatRequest(SamplingRequest):
    """Hold the body of `POST /v1/chat/completions`."""

    messages: Annotated[Items[Message], PIPELINE] = Field(min_length=1)
    max_completion_tokens: Annotated[int | None, REMOTE] = Field(None, ge=1, lt=2**31)
    reasoning_effort: Annotated[Effort, REMOTE] = None
    cache_control: Annotated[Any, PIPELINE] = None
    logprobs: Annotated[bool | None, LOCAL] = None
    top_logprobs: Annotated[int | None, LOCAL] = Field(None, ge=0, le=20)
    response_format: Annotated[Json | None, LOCAL] = None
    tools: Annotated[Items[Json] | None, LOCAL] = None
    tool_choice: Annotated[str | Json | None, LOCAL] = None
    parallel_tool_calls: Annotated[bool | None, LOCAL] = None
    functions: Annotated[Items[Json] | None, LOCAL] = None
    function_call: Annotated[str | Json | None, LOCAL] = None
    modalities: Annotated[Items[Literal["text"]] | None, DROP] = None
    verbosity: Annotated[Any, DROP] = None
    prediction: Annotated[Json | None, DROP] = None
    web_search_options: Annotated[Json | None, DROP] = None


class CompletionRequest(SamplingRequest):
    """Hold the body of `POST /v1/completions`."""

    prompt: Annotated[Texts, PIPELINE]
    suffix: Annotated[str | None, PIPELINE] = None
    max_tokens: Annotated[int | None, REMOTE] = Field(None, ge=0, lt=2**31)
    echo: Annotated[bool | None, PIPELINE] = None
    best_of: Annotated[int | None, PIPELINE] = Field(None, ge=1)
    logprobs: Annotated[int | None, LOCAL] = Field(None, ge=0, le=5)


class PerturbRequest(Strict):
    """Hold the body of `POST /v1/privacy/perturb`, which previews a release."""

    text: Annotated[str, PIPELINE]
    mechanism: Annotated[str | None, PIPELINE] = None
    epsilon: Annotated[float | None, PIPELINE] = Field(None, ge=0, allow_inf_nan=False)
    actions: Annotated[dict[str, str] | None, PIPELINE] = None
    deny: Annotated[Terms | None, PIPELINE] = None
    thresholds: Annotated[dict[str, float] | None, PIPELINE] = None


@cache
def find_treatments(body: type[BaseModel]) -> dict[str, Treatment]:
    """Return the treatment of every field of a request body."""
    out = {}
    for name, field in body.model_fields.items():
        (out[name],) = (mark for mark in field.metadata if isinstance(mark, Treatment))
    return out


def select_local_fields(request: SamplingRequest) -> Json:
    """Return the fields that the local model gets as the client sent them, without absent ones."""
    marks = find_treatments(type(request))
    wanted = {
        name
        for name in request.model_fields_set
        if marks[name] in (Treatment.REMOTE, Treatment.LOCAL)
        and getattr(request, name) is not None
    }
    out = request.model_dump(include=wanted, exclude_unset=True) if wanted else {}
    for tool in out.get("tools") or ():
        tool.pop("cache_control", None)  # of a remote's cache
    if isinstance(request, CompletionRequest) and request.logprobs is not None:
        out |= {"logprobs": True, "top_logprobs": request.logprobs}  # the chat form
    return out
