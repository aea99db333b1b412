"""The model's own output, through the server, the prompts and the defaults of the demo.

The second round learns from its answers in the remote's role: in deployment the perturbed
generation comes from a remote model that saw only scrambled words. The third round learns from its
final answers.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any, NamedTuple

from openai import AsyncOpenAI, DefaultAsyncHttpxClient
from tqdm.asyncio import tqdm

from bundled.tokenizer import Turn
from proxy.config.settings import load_config
from proxy.local import local_server

__all__ = ["Answer", "write_all"]

SLOTS = 16
ANSWER_TOKENS = 128
TEMPERATURE = 0.5


class Answer(NamedTuple):
    """Hold an answer: its text, and whether the model ended it itself."""

    text: str
    ended: bool


def write_all(model: Path, prompts: list[list[Turn]], each: int = 1) -> list[list[Answer]]:
    """Generate `each` answers to every prompt with a GGUF file's model, of at most 128 tokens."""
    return asyncio.run(_write_all(model, prompts, each))


async def _write_all(model: Path, prompts: list[list[Turn]], each: int) -> list[list[Answer]]:
    engine = {"model": str(model), "parallel": SLOTS, "threads": os.cpu_count()}
    config = load_config(None, {"local": {"mode": "embedded", "embedded": engine}})
    # Not the project's backend, which requests one answer to a prompt, not several.
    direct = DefaultAsyncHttpxClient(trust_env=False)  # no HTTP proxy leads to this machine
    async with (
        local_server(config.local) as server,
        AsyncOpenAI(base_url=server.base_url, api_key="none", http_client=direct) as client,
    ):
        free = asyncio.Semaphore(max(1, SLOTS // each))

        async def write(number: int, turns: list[Turn]) -> list[Answer]:
            messages: Any = [{"role": turn.role, "content": turn.content} for turn in turns]
            async with free:
                answer = await client.chat.completions.create(
                    model="bundled",
                    messages=messages,
                    max_tokens=ANSWER_TOKENS,
                    temperature=TEMPERATURE,
                    seed=number,
                    n=each,
                )
            return [
                Answer(c.message.content or "", c.finish_reason == "stop") for c in answer.choices
            ]

        return await tqdm.gather(*(write(i, turns) for i, turns in enumerate(prompts)))
