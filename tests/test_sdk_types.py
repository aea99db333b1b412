"""What the check of bodies against the SDKs' types finds, and what it lets pass."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sdk_types import find_faults

CALL = {"id": "a", "function": {"name": "f", "arguments": "{}"}}
TEXT = {"role": "user", "content": [{"type": "text", "text": "hello"}]}


def chat(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages), **more}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", chat({"role": "assistant", "tool_calls": [CALL]})),
        ("/v1/chat/completions", chat({"role": "tool", "content": "x"})),
        ("/v1/chat/completions", chat(TEXT, temperature="0")),
        ("/v1/chat/completions", chat({"role": "user", "content": [{"type": "text"}]})),
        ("/v1/completions", {"model": "m"}),
        ("/v1/messages", chat(TEXT)),
        ("/v1/messages?beta=true", chat({"role": "user", "content": [{}]}, max_tokens=1)),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_a_body_of_another_form_is_found(path: str, body: dict[str, Any], stream: bool) -> None:
    assert find_faults(path, {**body, "stream": stream})


@pytest.mark.parametrize("stream", [False, True])
def test_what_a_server_accepts_passes(stream: bool) -> None:
    call = {**CALL, "type": "function"}
    turns = TEXT, {"role": "assistant", "tool_calls": [call]}
    assert find_faults("/v1/chat/completions", chat(*turns, top_k=4, stream=stream)) == []
    assert find_faults("/v1/messages", chat(TEXT, max_tokens=1, stream=stream)) == []
    assert find_faults("/v1/embeddings", {"input": 4}) == []
