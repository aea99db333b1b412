"""Bodies of requests against the types of the official SDKs: what a strict server would refuse."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import anthropic.types as anthropic
from pydantic import TypeAdapter

from proxy.verify import forms

_MESSAGES = {
    False: anthropic.message_create_params.MessageCreateParamsNonStreaming,
    True: anthropic.message_create_params.MessageCreateParamsStreaming,
}


def find_faults(path: str, body: Mapping[str, Any]) -> list[str]:
    """The places in a body that break the types of an endpoint that generates, each with the rule.

    A field that the SDK does not know, such as vLLM's own, is no fault.
    """
    if path.partition("?")[0].endswith("/v1/messages"):
        return forms.list_faults(_adapter(bool(body.get("stream"))), body)
    return forms.find_faults(path, body)


@cache
def _adapter(streamed: bool) -> TypeAdapter[Any]:
    return TypeAdapter(_MESSAGES[streamed])
