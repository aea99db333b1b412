"""The request bodies: which fields exist, what each may hold, and where each may go.

Every field is marked with its treatment; nothing is read that is not declared here, and an
undeclared field is an error. Only `remote` fields and the pipeline's own output can leave.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from proxy.errors import ApiError, bad_request

__all__ = [
    "ChatRequest",
    "CompletionRequest",
    "FunctionCall",
    "Message",
    "Options",
    "PerturbRequest",
    "RefusalPart",
    "SamplingRequest",
    "StreamOptions",
    "Strict",
    "TextPart",
    "ToolCall",
    "Treatment",
    "local_fields",
    "treatment_of",
    "unsupported",
    "validate",
]


class Treatment(StrEnum):
    """Where a field may go."""

    PIPELINE = "pipeline"  # read by the proxy; text in it is split, perturbed and guarded
    REMOTE = "remote"  # a number or an enumerated word: to the remote and to the local model
    LOCAL = "local"  # to the local model only
    DROP = "drop"  # accepted for compatibility, goes nowhere


PIPELINE, REMOTE, LOCAL, DROP = Treatment
Body = TypeVar("Body", bound=BaseModel)
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh"]
Json = dict[str, Any]


class Strict(BaseModel):
    """Frozen, no coercion, no unknown keys; validation errors never carry the input."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        hide_input_in_errors=True,
        protected_namespaces=(),
    )


class Options(Strict):
    """The `inferdpt` object (SDKs send it through `extra_body`)."""

    mechanism: str | None = None
    epsilon: float | None = Field(None, gt=0, allow_inf_nan=False)
    task: Literal["chat", "continuation", "instruct"] | None = None
    instruction: str | None = None
    receipt: Literal["none", "summary", "full"] = "summary"
    local_only: bool = False


class TextPart(Strict):
    """A text part of a message; only the text is read."""

    type: Literal["text"]
    text: str
    annotations: Any = None
    cache_control: Any = None


class RefusalPart(Strict):
    """A refusal part of an assistant turn; dropped."""

    type: Literal["refusal"]
    refusal: str


class FunctionCall(Strict):
    """A function's name and its arguments as JSON text."""

    name: str
    arguments: str
    parsed_arguments: Any = None


class ToolCall(Strict):
    """A tool call of an assistant turn."""

    id: str
    type: Literal["function"] = "function"
    function: FunctionCall
    index: int | None = None


class Message(Strict):
    """One message of a conversation.

    The fields after `function_call` are what SDKs and clients send back of an answer: accepted,
    and read by nobody.
    """

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[TextPart | RefusalPart] | None = None
    name: str | None = None
    refusal: str | None = None
    tool_call_id: str | None = None
    tool_calls: list[ToolCall] | None = None
    function_call: FunctionCall | None = None
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
        """The message's text parts; a plain string is one."""
        if isinstance(self.content, list):
            return [part.text for part in self.content if isinstance(part, TextPart)]
        return [self.content or ""]

    @property
    def text(self) -> str:
        """The message's text, parts joined by newlines."""
        return "\n".join(self.texts)


class StreamOptions(Strict):
    """`include_usage` asks for a last chunk with the usage."""

    include_usage: bool | None = None
    include_obfuscation: bool | None = None
    continuous_usage_stats: bool | None = None


class SamplingRequest(Strict):
    """Fields that chat and text completions share."""

    model: Annotated[str, PIPELINE]
    inferdpt: Annotated[Options, PIPELINE] = Options()
    stream: Annotated[bool | None, PIPELINE] = None
    stream_options: Annotated[StreamOptions | None, PIPELINE] = None
    n: Annotated[int | None, PIPELINE] = Field(None, ge=1, le=128)
    temperature: Annotated[float | None, REMOTE] = Field(None, ge=0, le=2)
    top_p: Annotated[float | None, REMOTE] = Field(None, ge=0, le=1)
    max_tokens: Annotated[int | None, REMOTE] = Field(None, ge=1, lt=2**31)
    seed: Annotated[int | None, LOCAL] = Field(None, ge=-(2**63), lt=2**63)
    stop: Annotated[str | list[str] | None, LOCAL] = None
    presence_penalty: Annotated[float | None, LOCAL] = Field(None, ge=-2, le=2)
    frequency_penalty: Annotated[float | None, LOCAL] = Field(None, ge=-2, le=2)
    logit_bias: Annotated[dict[str, float] | None, LOCAL] = None
    # extensions of vLLM and llama.cpp
    top_k: Annotated[int | None, LOCAL] = None
    min_p: Annotated[float | None, LOCAL] = Field(None, ge=0, le=1)
    repetition_penalty: Annotated[float | None, LOCAL] = Field(None, gt=0)
    min_tokens: Annotated[int | None, LOCAL] = Field(None, ge=0)
    stop_token_ids: Annotated[list[int] | None, LOCAL] = None
    skip_special_tokens: Annotated[bool | None, LOCAL] = None
    include_stop_str_in_output: Annotated[bool | None, LOCAL] = None
    ignore_eos: Annotated[bool | None, LOCAL] = None
    guided_json: Annotated[str | Json | None, LOCAL] = None
    guided_regex: Annotated[str | None, LOCAL] = None
    guided_choice: Annotated[list[str] | None, LOCAL] = None
    guided_grammar: Annotated[str | None, LOCAL] = None
    structured_outputs: Annotated[Json | None, LOCAL] = None
    chat_template_kwargs: Annotated[Json | None, LOCAL] = None
    user: Annotated[str | None, DROP] = None
    metadata: Annotated[Json | None, DROP] = None
    store: Annotated[bool | None, DROP] = None
    safety_identifier: Annotated[str | None, DROP] = None
    prompt_cache_key: Annotated[str | None, DROP] = None
    service_tier: Annotated[str | None, DROP] = None

    @property
    def choices(self) -> int:
        """How many choices for each prompt."""
        return self.n or 1

    @property
    def include_usage(self) -> bool:
        """Whether a stream ends with a usage chunk."""
        return self.stream_options is not None and bool(self.stream_options.include_usage)


class ChatRequest(SamplingRequest):
    """`POST /v1/chat/completions`."""

    messages: Annotated[list[Message], PIPELINE] = Field(min_length=1)
    max_completion_tokens: Annotated[int | None, REMOTE] = Field(None, ge=1, lt=2**31)
    reasoning_effort: Annotated[Effort | None, REMOTE] = None
    logprobs: Annotated[bool | None, LOCAL] = None
    top_logprobs: Annotated[int | None, LOCAL] = Field(None, ge=0, le=20)
    response_format: Annotated[Json | None, LOCAL] = None
    tools: Annotated[list[Json] | None, LOCAL] = None
    tool_choice: Annotated[str | Json | None, LOCAL] = None
    parallel_tool_calls: Annotated[bool | None, LOCAL] = None
    functions: Annotated[list[Json] | None, LOCAL] = None
    function_call: Annotated[str | Json | None, LOCAL] = None
    modalities: Annotated[list[Literal["text"]] | None, DROP] = None
    verbosity: Annotated[Literal["low", "medium", "high"] | None, DROP] = None
    prediction: Annotated[Json | None, DROP] = None
    web_search_options: Annotated[Json | None, DROP] = None


class CompletionRequest(SamplingRequest):
    """`POST /v1/completions`."""

    prompt: Annotated[str | list[str] | list[int] | list[list[int]], PIPELINE]
    echo: Annotated[bool | None, PIPELINE] = None
    best_of: Annotated[int | None, PIPELINE] = Field(None, ge=1)
    logprobs: Annotated[int | None, LOCAL] = Field(None, ge=0, le=5)


class PerturbRequest(Strict):
    """`POST /v1/privacy/perturb`: what would leave for this text. Nothing does."""

    text: Annotated[str, PIPELINE]
    mechanism: Annotated[str | None, PIPELINE] = None
    epsilon: Annotated[float | None, PIPELINE] = Field(None, gt=0, allow_inf_nan=False)


# Fields other servers know and this one refuses: named, so that the error helps.
_REJECTED = {
    "previous_response_id": "the remote keeps no state",
    "conversation": "the remote keeps no state",
    "background": "the remote keeps no state",
    "audio": "only text is served",
    "suffix": "text cannot be inserted",
    "use_beam_search": "beam search is not served",
    "length_penalty": "beam search is not served",
    "prompt_logprobs": "the prompt's own log probabilities are not served",
    "prompt_cache_retention": "the remote is asked to store nothing",
    "extra_body": "SDKs merge its content into the body; send its fields at the top",
}
_MEDIA = ("image", "audio", "file", "video")


def treatment_of(body: type[BaseModel]) -> dict[str, Treatment]:
    """The treatment of every field of a request body."""
    out = {}
    for name, field in body.model_fields.items():
        (out[name],) = (mark for mark in field.metadata if isinstance(mark, Treatment))
    return out


def local_fields(request: SamplingRequest) -> Json:
    """The fields that reach the local model, as the client sent them; absent ones are absent."""
    marks = treatment_of(type(request))
    wanted = {
        name
        for name in request.model_fields_set
        if marks[name] in (Treatment.REMOTE, Treatment.LOCAL)
        and getattr(request, name) is not None
    }
    out = request.model_dump(include=wanted, exclude_unset=True)
    if isinstance(request, CompletionRequest) and request.logprobs is not None:
        out |= {"logprobs": True, "top_logprobs": request.logprobs}  # the chat form
    return out


def validate(model: type[Body], body: Json, rejected: Mapping[str, str] = _REJECTED) -> Body:
    """Parse a body; `rejected` names the fields that are refused, with the reason.

    Raises:
        ApiError: 400, naming the first field that breaks its rule and the rule, never its value.
    """
    # SDKs and clients spell "not set" as null, also for fields that are not served.
    body = {k: v for k, v in body.items() if v is not None or k not in (*rejected, "inferdpt")}
    for name, why in rejected.items():
        if name in body and name not in model.model_fields:
            raise unsupported(name, why)
    _refuse_media(body.get("messages"))
    try:
        return model.model_validate(body)
    except ValidationError as exc:
        errors = exc.errors(include_url=False, include_context=False, include_input=False)
        raise _field_error(model, errors) from None


def unsupported(param: str, why: str) -> ApiError:
    """400 for a field, or a value of one, that is known and not served."""
    return bad_request(
        f"'{param}' is not supported: {why}.", param=param, code="unsupported_parameter"
    )


def _refuse_media(messages: Any) -> None:
    if not isinstance(messages, list):
        return
    for i, message in enumerate(messages):
        parts = message.get("content") if isinstance(message, dict) else None
        for j, part in enumerate(parts if isinstance(parts, list) else ()):
            kind = part.get("type") if isinstance(part, dict) else None
            if isinstance(kind, str) and any(media in kind for media in _MEDIA):
                raise bad_request(
                    "Only text parts are supported; images, audio and files are not.",
                    param=f"messages[{i}].content[{j}]",
                    code="unsupported_content",
                )


def _field_error(model: type[BaseModel], errors: list[Any]) -> Exception:
    """Turn pydantic's list into one error: an unknown field first, else the first one found.

    Keys that a client invented are not repeated, only names that the protocol declares.
    """
    error = next((e for e in errors if e["type"] == "extra_forbidden"), errors[0])
    location = error["loc"]
    if error["type"] == "extra_forbidden":
        where = _path(model, location[:-1])
        near = get_close_matches(str(location[-1]), _fields_at(model, location[:-1]), n=1)
        return bad_request(
            f"Unknown field in {where or 'the body'}; unknown fields are refused."
            + (f" Did you mean '{near[0]}'?" if near else ""),
            param=where or None,
            code="unknown_parameter",
        )
    where = _path(model, location)
    said = error["msg"].removeprefix("Value error, ")
    rule = "is required" if error["type"] == "missing" else f"is invalid: {said}"
    return bad_request(f"'{where}' {rule}.", param=where, code="invalid_value")


def _fields_at(model: type[BaseModel], location: tuple[str | int, ...]) -> list[str]:
    """The field names of the object at a location, as far as it is known."""
    known: dict[str, type[BaseModel]] = {"inferdpt": Options, "stream_options": StreamOptions}
    names = [part for part in location if isinstance(part, str)]
    if not names:
        return list(model.model_fields)
    return list(known[names[-1]].model_fields) if names[-1] in known else []


def _path(model: type[BaseModel], location: tuple[str | int, ...]) -> str:
    """A location as a client writes it, `messages[0].content`: declared names and places only."""
    out = ""
    for part in location:
        if isinstance(part, int):
            out += f"[{part}]"
        elif part in _declared(model):
            out += f".{part}" if out else part
    return out


@cache
def _declared(model: type[BaseModel]) -> frozenset[str]:
    """The names of a body's fields, and of those of the objects in it."""
    names = {field.alias or name for name, field in model.model_fields.items()}
    inner = [m for f in model.model_fields.values() for m in _models(f.annotation)]
    return frozenset(names.union(*map(_declared, inner)))


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models that a type is made of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)
