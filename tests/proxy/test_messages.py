"""Messages: public spans, and what a turn is known by."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.messages import Part, assistant_key, split_public, turn_key
from proxy.outgoing import _joined
from proxy.plan import Answer
from proxy.protocol import (
    Message,
)


class TestPublicSpans:
    @pytest.mark.parametrize(
        ("text", "parts"),
        [
            ("", [("", False)]),
            ("abc", [("abc", False)]),
            ("<public>a</public>", [("a", True)]),
            ("<public>a</public> b", [("a", True), (" b", False)]),
            ("x<public>a</public>y", [("x", False), ("a", True), ("y", False)]),
            ("<public>a", [("<public>a", False)]),
            ("a</public>", [("a</public>", False)]),
            ("<public>a<public>b</public>c", [("<public>a", False), ("b", True), ("c", False)]),
            ("<public>a</public></public>", [("a", True), ("</public>", False)]),
            ("<PUBLIC>a</PUBLIC>", [("<PUBLIC>a</PUBLIC>", False)]),
        ],
    )
    def test_split(self, text: str, parts: list[tuple[str, bool]]) -> None:
        assert [(p.text, p.public) for p in split_public(text, tags=True)] == parts

    def test_operators_can_turn_tags_off(self) -> None:
        text = "<public>a</public>"
        assert split_public(text, tags=False) == (Part(text),)

    @given(st.lists(st.sampled_from(["<public>", "</public>", "a", " ", "\n"])))
    def test_nothing_is_lost_but_tags(self, pieces: list[str]) -> None:
        text = "".join(pieces)
        joined = "".join(part.text for part in split_public(text, tags=True))
        assert joined.replace("<public>", "").replace("</public>", "") == text.replace(
            "<public>", ""
        ).replace("</public>", "")

    def test_pieces_are_never_glued_into_a_word(self) -> None:
        assert _joined(["a:", "b", " c", "", "\nd"]) == "a: b c\nd"


class TestTurnKeys:
    def test_an_answer_and_its_copy_in_the_history_have_one_key(self) -> None:
        call = {"name": "f", "arguments": '{"a": 1}'}
        message = Message(
            role="assistant",
            content=" text ",
            tool_calls=[{"id": "1", "type": "function", "function": call}],  # type: ignore[list-item]
        )
        answer = Answer({"content": " text", "tool_calls": [{"function": call}]})
        assert answer.key == assistant_key(message) == turn_key("text", [("f", '{"a": 1}')])
