"""Answers restored outside of the proxy: texts, names and arguments, however a stream is cut."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from integrations.answer_restorer import AnswerRestorer

NAME, MAIL = 'Ann "Al" Ek', "ann@example.com"
TEXT = "Dear Films Pair, is maybe@site.net yours? Films Pairs: https://x.example/?q=Films%20Pair"
RESTORED = f"Dear {NAME}, is {MAIL} yours? {NAME}s: https://x.example/?q=Films%20Pair"
ARGUMENTS = {"to": "Films Pair", "size": "smoll", "text": "for Films Pair\nmaybe@site.net"}
RAW_ARGUMENTS = {"to": NAME, "size": "small", "text": f"for {NAME}\n{MAIL}"}


def done(**body: Any) -> dict[str, Any]:
    """Return what the proxy answers."""
    return {
        "body": body,
        "replacements": {"Films Pair": NAME, "maybe@site.net": MAIL},
        "wholes": {"smoll": "small", "Late": "look_up"},
    }


def cut(text: str, draw: random.Random) -> list[str]:
    pieces = []
    while text:
        size = draw.randint(1, 5)
        pieces.append(text[:size])
        text = text[size:]
    return pieces


def stream(
    back: AnswerRestorer, steps: list[dict[str, Any]]
) -> tuple[str, dict[int, tuple[str, str]]]:
    """Restore the deltas of one choice; return its text, and the name and arguments of calls."""
    text, calls = "", dict[int, tuple[str, str]]()
    for i, delta in enumerate(steps):
        choice = {"index": 0, "delta": delta}
        choice["finish_reason"] = "stop" if i == len(steps) - 1 else None
        back.restore_choice(choice)
        text += choice["delta"].get("content") or ""
        for call in choice["delta"].get("tool_calls") or ():
            name, arguments = calls.get(call["index"], ("", ""))
            function = call["function"]
            calls[call["index"]] = (
                name + function.get("name", ""),
                arguments + function.get("arguments", ""),
            )
    return text, calls


def test_a_text_is_restored_however_it_is_cut() -> None:
    draw = random.Random(1)
    assert AnswerRestorer(done()).restore_content(TEXT) == RESTORED
    for _ in range(200):
        steps = [{"content": piece} for piece in cut(TEXT, draw)]
        assert stream(AnswerRestorer(done()), steps)[0] == RESTORED


def test_no_replacement_is_ever_shown_in_part() -> None:
    back, shown = AnswerRestorer(done()), []
    for character in "Dear Films Pair, yes":
        choice = {"index": 0, "delta": {"content": character}}
        back.restore_choice(choice)
        shown.append(choice["delta"]["content"])
    assert "F" not in "".join(shown)


@pytest.mark.parametrize("ascii_only", [True, False])
def test_calls_stay_valid_json(ascii_only: bool) -> None:
    draw, written = random.Random(2), json.dumps(ARGUMENTS, ensure_ascii=ascii_only)
    for _ in range(200):
        steps: list[dict[str, Any]] = []
        for i in range(2):
            head = {"index": i, "id": "c", "function": {"name": "Late", "arguments": ""}}
            steps.append({"tool_calls": [head]})
            steps += (
                {"tool_calls": [{"index": i, "function": {"arguments": piece}}]}
                for piece in cut(written, draw)
            )
        _, calls = stream(AnswerRestorer(done()), steps)
        for name, arguments in calls.values():
            assert name == "look_up"
            assert json.loads(arguments) == RAW_ARGUMENTS


def test_an_answer_in_json_stays_json() -> None:
    back = AnswerRestorer(done(response_format={"type": "json_object"}))
    assert json.loads(back.restore_content(json.dumps(ARGUMENTS))) == RAW_ARGUMENTS


def test_messages_are_restored_whole() -> None:
    function = {"name": "Late", "arguments": json.dumps(ARGUMENTS)}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "Films Pair"}]},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": function}]},
    ]
    user, assistant = AnswerRestorer(done()).restore(messages)
    assert user["content"][0]["text"] == NAME
    (call,) = assistant["tool_calls"]
    assert call["function"]["name"] == "look_up"
    assert json.loads(call["function"]["arguments"]) == RAW_ARGUMENTS
