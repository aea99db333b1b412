"""Vicuna's chat template: rendered as FastChat renders it, and by vLLM as by transformers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from proxy.config.settings import Local
from proxy.local import VICUNA_TEMPLATE, build_vllm_command
from tests.vllm.stack import Stack

pytestmark = pytest.mark.vllm
in_session = pytest.mark.asyncio(loop_scope="session")

SYSTEM = (
    "A chat between a curious user and an artificial intelligence assistant. The assistant gives "
    "helpful, detailed, and polite answers to the user's questions."
)
CASES: dict[str, tuple[list[dict[str, Any]], str]] = {
    "one turn": (
        [{"role": "user", "content": "Who paid?"}],
        f"<s>{SYSTEM} USER: Who paid? ASSISTANT:",
    ),
    "system": (
        [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who paid?"}],
        "<s>Be brief. USER: Who paid? ASSISTANT:",
    ),
    "history": (
        [
            {"role": "user", "content": "Who paid?"},
            {"role": "assistant", "content": "The town."},
            {"role": "user", "content": "Why?"},
        ],
        f"<s>{SYSTEM} USER: Who paid? ASSISTANT: The town.</s>USER: Why? ASSISTANT:",
    ),
    "two systems": (
        [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Who paid?"},
            {"role": "system", "content": "Be kind."},
        ],
        "<s>Be brief.\nBe kind. USER: Who paid? ASSISTANT:",
    ),
    "tool result": (
        [
            {"role": "user", "content": "Who paid?"},
            {"role": "assistant", "content": None},
            {"role": "tool", "tool_call_id": "c1", "content": "The town."},
        ],
        f"<s>{SYSTEM} USER: Who paid? ASSISTANT: </s>USER: The town. ASSISTANT:",
    ),
}
cases = pytest.mark.parametrize(("messages", "expected"), CASES.values(), ids=CASES.keys())


@cases
@in_session
async def test_transformers_renders_the_template(
    stack: Stack, messages: list[dict[str, Any]], expected: str
) -> None:
    from transformers import AutoTokenizer

    tokenizer = await asyncio.to_thread(AutoTokenizer.from_pretrained, stack.model)
    rendered = tokenizer.apply_chat_template(
        messages,
        chat_template=VICUNA_TEMPLATE.read_text("utf-8"),
        tokenize=False,
        add_generation_prompt=True,
    )
    assert rendered == expected


@cases
@in_session
async def test_vllm_renders_the_template_it_was_started_with(
    stack: Stack, messages: list[dict[str, Any]], expected: str
) -> None:
    tokens = (await stack.vllm.post("/tokenize", {"messages": messages}))["tokens"]
    rendered = await stack.vllm.post("/detokenize", {"tokens": tokens})
    assert rendered["prompt"] == expected


@in_session
async def test_no_answer_is_opened_where_none_is_asked_for(stack: Stack) -> None:
    from transformers import AutoTokenizer

    tokenizer = await asyncio.to_thread(AutoTokenizer.from_pretrained, stack.model)
    rendered = tokenizer.apply_chat_template(
        CASES["history"][0][:2],
        chat_template=VICUNA_TEMPLATE.read_text("utf-8"),
        tokenize=False,
    )
    assert rendered == f"<s>{SYSTEM} USER: Who paid? ASSISTANT: The town.</s>"


def test_vicuna_gets_the_template_unless_the_operator_names_one(tmp_path: Path) -> None:
    own = tmp_path / "own.jinja"

    def command(**vllm: Any) -> list[str]:
        return build_vllm_command(Local.model_validate({"mode": "vllm", "vllm": vllm}), 1)

    assert str(VICUNA_TEMPLATE) in command(model="lmsys/vicuna-7b-v1.5")
    assert "--chat-template" not in command(model="some/llama-chat")
    assert str(VICUNA_TEMPLATE) not in command(model="a/vicuna", chat_template=str(own))
