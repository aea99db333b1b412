"""Messages: public spans, and what a turn is known by."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.backends.base import Delta
from proxy.pipeline.plan import Answer, join_apart
from proxy.requests.messages import Part, spell_assistant, spell_turn, split_public
from proxy.requests.protocol import (
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
        assert join_apart(["a:", "b", " c", "", "\nd"]) == "a: b c\nd"


class TestTurnKeys:
    def test_an_answer_and_its_copy_in_the_history_have_one_key(self) -> None:
        call = {"name": "f", "arguments": '{"a": 1}'}
        message = Message(
            role="assistant",
            content=" text ",
            tool_calls=[{"id": "1", "type": "function", "function": call}],  # type: ignore[list-item]
        )
        answer = Answer({"content": " text", "tool_calls": [{"function": call}]})
        assert answer.key == spell_assistant(message) == spell_turn("text", [("f", '{"a": 1}')])

    def test_an_answer_in_steps_has_the_key_of_the_whole(self) -> None:
        call = {"name": "f", "arguments": '{"a": 1}'}
        answer = Answer()
        for text in (" te", "xt "):
            answer.add(Delta({"content": text}))
        answer.add(Delta({"tool_calls": [{"index": 1, "function": {"name": "g"}}]}))
        for part in ({"name": "f"}, {"arguments": '{"a"'}, {"arguments": ": 1}"}):
            answer.add(Delta({"tool_calls": [{"index": 0, "function": part}]}))
        whole = [{"function": call}, {"function": {"name": "g", "arguments": ""}}]
        assert answer.key == Answer({"content": "text", "tool_calls": whole}).key

    def test_no_room_is_made_for_calls_that_do_not_come(self) -> None:
        """The index is the server's word."""
        answer = Answer()
        tracemalloc.start()
        answer.add(Delta({"tool_calls": [{"index": 10**9, "function": {"name": "f"}}]}))
        assert tracemalloc.get_traced_memory()[1] < 100_000
        tracemalloc.stop()
        assert answer.key == spell_turn("", [("f", "")])


@given(st.lists(st.sampled_from(["<public>", "</public>", "<", "public>", "a", "\n", " é"])))
def test_public_spans_are_those_between_the_nearest_tags(pieces: list[str]) -> None:
    """Against a slow reference: a span holds no other tag, and nothing else is public."""
    text = "".join(pieces)
    expected, end = [], 0
    while (close := text.find("</public>", end)) >= 0:
        start = text.rfind("<public>", end, close)
        if start >= 0:
            expected.append(text[start + len("<public>") : close])
        end = close + len("</public>")
    parts = split_public(text, tags=True)
    assert [part.text for part in parts if part.public] == expected
