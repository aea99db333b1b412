"""Check that a body has the form that OpenAI's or Anthropic's API requires.

OpenAI's endpoints are checked against the types of its SDK. Anthropic's SDK is no dependency, so
the form of `POST /v1/messages` is written out here, without fields that a gateway has no use for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Tag, TypeAdapter, ValidationError

__all__ = ["find_faults", "list_faults"]


def find_faults(path: str, body: Mapping[str, Any]) -> list[str]:
    """Return the places of a body that break the form of its endpoint, each with the rule.

    A field that the API does not have, such as vLLM's own, is no fault.

    Args:
        path: of the request, with `/v1/`; endpoints that generate nothing have no form here.
    """
    endpoint = path.partition("?")[0].partition("/v1/")[2]
    adapter = _find_adapter(endpoint, bool(body.get("stream")))
    return [] if adapter is None else list_faults(adapter, body)


def list_faults(adapter: TypeAdapter[Any], body: Mapping[str, Any]) -> list[str]:
    """Return the places of a body that break a type, each with the rule."""
    try:
        _read_all(adapter.validate_python(body, strict=True))
    except ValidationError as exc:
        return [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in exc.errors()]
    return []


def _read_all(value: Any) -> None:
    """Read what is validated only when it is read: the SDK's lists are iterables."""
    if isinstance(value, Mapping):
        value = value.values()
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for item in value:
            _read_all(item)


@cache
def _find_adapter(endpoint: str, streamed: bool) -> TypeAdapter[Any] | None:
    from openai.types import completion_create_params as completions
    from openai.types.chat import completion_create_params as chats

    types: dict[tuple[str, bool], Any] = {
        ("chat/completions", False): chats.CompletionCreateParamsNonStreaming,
        ("chat/completions", True): chats.CompletionCreateParamsStreaming,
        ("completions", False): completions.CompletionCreateParamsNonStreaming,
        ("completions", True): completions.CompletionCreateParamsStreaming,
        ("messages", False): _Messages,
        ("messages", True): _Messages,
    }
    found = types.get((endpoint, streamed))
    return None if found is None else TypeAdapter(found)


class _Form(BaseModel):
    """Hold a part of a request. A default stands for a field that may be left out."""

    model_config = ConfigDict(strict=True)


class _Typed(_Form):
    """Hold a block of another type, of which only the type is checked."""

    type: str


class _Text(_Form):
    type: Literal["text"]
    text: str


class _Thinking(_Form):
    type: Literal["thinking"]
    thinking: str
    signature: str


class _ToolUse(_Form):
    type: Literal["tool_use"]
    id: str
    name: str
    input: dict[str, Any]


class _ToolResult(_Form):
    type: Literal["tool_result"]
    tool_use_id: str
    content: str | list[_Block] = ""
    is_error: bool = False


def _find_type(block: Any) -> str:
    kind = block.get("type") if isinstance(block, Mapping) else None
    return kind if kind in ("text", "thinking", "tool_use", "tool_result") else "other"


_Block = Annotated[
    Annotated[_Text, Tag("text")]
    | Annotated[_Thinking, Tag("thinking")]
    | Annotated[_ToolUse, Tag("tool_use")]
    | Annotated[_ToolResult, Tag("tool_result")]
    | Annotated[_Typed, Tag("other")],
    Discriminator(_find_type),
]


class _Message(_Form):
    role: Literal["user", "assistant", "system"]
    content: str | list[_Block]


class _InputSchema(_Form):
    type: Literal["object"]
    properties: dict[str, Any] | None = None
    required: list[str] | None = None


class _Tool(_Form):
    name: str
    description: str = ""
    input_schema: _InputSchema | None = None  # tools that the server runs have none


class _Choice(_Form):
    type: Literal["auto", "any", "tool", "none"]
    name: str = ""


class _Messages(_Form):
    model: str
    max_tokens: int
    messages: list[_Message]
    system: str | list[_Text] = ""
    tools: list[_Tool] = []
    tool_choice: _Choice | None = None
    stop_sequences: list[str] = []
    stream: bool = False
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    thinking: _Typed | None = None
    output_config: dict[str, Any] = {}
    metadata: dict[str, str | None] = {}
