"""Bodies of requests against the types of the official SDKs: what a strict server would refuse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import anthropic.types as anthropic
from openai.types import completion_create_params as completions
from openai.types.chat import completion_create_params as chats
from pydantic import TypeAdapter, ValidationError

_TYPES = {
    ("chat/completions", False): chats.CompletionCreateParamsNonStreaming,
    ("chat/completions", True): chats.CompletionCreateParamsStreaming,
    ("completions", False): completions.CompletionCreateParamsNonStreaming,
    ("completions", True): completions.CompletionCreateParamsStreaming,
    ("messages", False): anthropic.message_create_params.MessageCreateParamsNonStreaming,
    ("messages", True): anthropic.message_create_params.MessageCreateParamsStreaming,
}


def find_faults(path: str, body: Mapping[str, Any]) -> list[str]:
    """The places in a body that break the types of an endpoint that generates, each with the rule.

    A field that the SDK does not know, such as vLLM's own, is no fault.
    """
    kind = path.partition("?")[0].partition("/v1/")[2], bool(body.get("stream"))
    if kind not in _TYPES:
        return []
    try:
        _read_all(_adapter(*kind).validate_python(body, strict=True))
    except ValidationError as exc:
        return [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in exc.errors()]
    return []


@cache
def _adapter(endpoint: str, streamed: bool) -> TypeAdapter[Any]:
    return TypeAdapter(_TYPES[endpoint, streamed])


def _read_all(value: Any) -> None:
    """Read what is validated only when it is read: the SDKs' lists are iterables."""
    if isinstance(value, Mapping):
        value = value.values()
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for item in value:
            _read_all(item)
