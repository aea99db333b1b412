"""What the check of bodies against the SDKs' types finds, and what it lets pass."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sdk_types import find_faults

CALL = {"id": "a", "function": {"name": "f", "arguments": "{}"}}
TEXT = {"role": "user", "content": [{"type": "text", "text": "hello"}]}
MARK = {"type": "ephemeral", "ttl": "1h"}


def marked(mark: Any) -> list[dict[str, Any]]:
    """Messages, each with a mark of the prompt cache on another kind of block."""
    use = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "a"}
    inner = {"type": "text", "text": "x", "cache_control": mark}
    return [
        {"role": "user", "content": [inner]},
        {"role": "assistant", "content": [{**use, "cache_control": mark}]},
        {"role": "user", "content": [{**result, "cache_control": mark}]},
        {"role": "user", "content": [{**result, "content": [inner]}]},
    ]


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
        *(("/v1/messages", chat(m, max_tokens=1)) for m in marked({**MARK, "ttl": "2h"})[2:]),
        *(("/v1/messages", chat(m, max_tokens=1)) for m in marked({"type": "for ever"})[2:]),
        ("/v1/messages", chat(TEXT, max_tokens=1, cache_control={"ttl": "1h"})),
        ("/v1/completions", {"model": "m", "prompt": "x", "suffix": 5}),
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
    tool = {"name": "f", "input_schema": {}, "cache_control": MARK}
    system = [{"type": "text", "text": "x", "cache_control": MARK}]
    kept = chat(*marked(MARK), max_tokens=1, tools=[tool], system=system, cache_control=MARK)
    assert find_faults("/v1/messages", {**kept, "stream": stream}) == []
    insertion = {"model": "m", "prompt": "x", "suffix": "y", "stream": stream}
    assert find_faults("/v1/completions", insertion) == []
    assert find_faults("/v1/embeddings", {"input": 4}) == []
