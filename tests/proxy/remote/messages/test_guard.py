"""The guard reads bodies of the Messages API as it reads those of chats."""

from __future__ import annotations

import json
from typing import Any

import pytest

from perturb import EmbeddingTable, Perturber, get_mechanism, seeded_generator
from proxy.errors import GuardRefused
from proxy.release import Release
from proxy.remote.guard import Clearance, check
from tests.proxy.remote.test_guard import TEXT, clearance


def messages_body(system: Any, *contents: Any, **more: Any) -> bytes:
    turns = [{"role": "user", "content": content} for content in contents]
    return json.dumps({"model": "m", "system": system, "messages": turns, **more}).encode()


def blocks(*texts: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text} for text in texts]


def test_a_body_of_the_messages_api_is_held_against_the_clearance(table: EmbeddingTable) -> None:
    ok, released = clearance(table)
    leak = "They met on Monday to discuss it."
    check(messages_body(blocks("Be brief."), blocks(released)), ok)
    check(messages_body(blocks(released), blocks("Hello.")), ok)
    check(messages_body(released, "Hello."), ok)
    for system, content, more in (
        (blocks("Be brief."), blocks(TEXT), {}),
        (blocks("Be brief."), blocks(released[:-4]), {}),
        (blocks(leak), blocks(released), {}),
        (blocks("Be brief."), blocks(released, leak), {}),
        (blocks("Be brief."), blocks(released), {"metadata": {"user_id": leak}}),
        (blocks("Be brief."), blocks(released), {"stop_sequences": [leak]}),
    ):
        with pytest.raises(GuardRefused, match="repeats|not what the mechanism"):
            check(messages_body(system, content, **more), ok)


def test_blocks_of_another_form_are_refused(table: EmbeddingTable) -> None:
    ok, released = clearance(table)
    for wrong in (
        [{"type": "text", "text": released, "cache_control": {}}],
        [{"type": "image", "text": released}],
        [{"type": "text"}],
        [{"type": "text", "text": [released]}],
        [released],
        [None],
        {"type": "text", "text": released},
        5,
    ):
        for data in (messages_body(blocks("x"), wrong), messages_body(wrong, blocks(released))):
            with pytest.raises(GuardRefused, match="not a chat request"):
                check(data, ok)


def test_the_order_of_releases_counts_in_system_texts_too(table: EmbeddingTable) -> None:
    ok, released = clearance(table)
    other = Perturber(get_mechanism("rantext", table, epsilon=6.0))
    text = "A second text about the weather of the coming days."
    second = Release(text, other.perturb(text, seeded_generator(6)), other, b"")
    both = Clearance((*ok.pieces, second), (TEXT, text), ())
    check(messages_body(blocks(released), blocks(second.sanitized.text)), both)
    with pytest.raises(GuardRefused, match="not what the mechanism"):
        check(messages_body(blocks(second.sanitized.text), blocks(released)), both)
