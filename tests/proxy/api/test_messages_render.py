"""The blocks of a message, as the pieces of an answer come."""

from __future__ import annotations

import json

import pytest

from extraction.backends.base import Delta
from perturb.testing.growth import grows_linearly
from proxy.api.messages_render import MessagesRenderer
from proxy.requests.anthropic import MessagesRequest, validate_messages
from tests.proxy.messages import ask

ARGUMENTS = (
    "{}",
    '{"a": 1}',
    ' {"a": {"b": [1, {"c": []}]}, "d": "x"}',
    '{"}": "{[", "\\"}": "\\\\", "\\\\\\"{": "\\u007b"}',
)


def renderer() -> MessagesRenderer:
    return MessagesRenderer(validate_messages(MessagesRequest, ask("Hi"), ignore=False))


def call(index: int, arguments: str) -> Delta:
    function = {"name": "" if arguments else "f", "arguments": arguments}
    return Delta({"tool_calls": [{"index": index, "function": function}]})


@pytest.mark.parametrize("arguments", ARGUMENTS)
@pytest.mark.parametrize("size", [1, 2, 100])
def test_a_block_closes_once_its_arguments_are_whole_and_another_has_begun(
    arguments: str, size: int
) -> None:
    made, seen = renderer(), ""
    shown = made.step(0, call(0, ""))
    for start in range(0, len(arguments), size):
        piece = arguments[start : start + size]
        shown += made.step(0, call(0, piece)) + made.step(0, call(1, ""))
        seen += piece
        assert (b"content_block_stop" in shown) is (seen == arguments)
    shown += made.step(0, call(1, arguments)) + made.end(None)
    events = [json.loads(line[6:]) for line in shown.decode().split("\n") if line[:5] == "data:"]
    told = ["", ""]
    for event in events:
        if event["type"] == "content_block_delta":
            told[event["index"]] += event["delta"]["partial_json"]
    assert told == [arguments] * 2


def test_a_call_that_stays_open_is_not_read_again_for_each_piece_of_the_next() -> None:
    """A remote chooses the pieces and their order, and all other requests wait meanwhile."""

    def work(length: int) -> None:
        made = renderer()
        made.step(0, call(0, '{"a": "' + "x" * 20 * length))
        for _ in range(length):
            made.step(0, call(1, "1"))
            made.step(0, call(0, "}"))

    assert grows_linearly(work, 8_000, seconds=0.05)
