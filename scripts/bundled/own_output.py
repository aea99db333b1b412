"""The second round's material: what the model itself writes for perturbed prefixes.

In deployment the perturbed generation is a remote model's, which saw only scrambled words. Here
the model trained so far plays the remote, through the server, the prompt and the defaults of
the demo.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from tqdm.asyncio import tqdm

from proxy.config import load_config
from proxy.local import local_server

__all__ = ["write_all"]

AT_ONCE = 16
ANSWER_TOKENS = 100
TEMPERATURE = 0.5


def write_all(model: Path, prompts: list[str]) -> list[str]:
    """The answer of a GGUF file's model to every prompt, at most 100 tokens each."""
    return asyncio.run(_write_all(model, prompts))


async def _write_all(model: Path, prompts: list[str]) -> list[str]:
    engine = {"model": str(model), "parallel": AT_ONCE, "threads": os.cpu_count()}
    local = {"mode": "embedded", "embedded": engine, "concurrency": AT_ONCE}
    config = load_config(None, {"local": local})
    async with local_server(config.local) as server:

        async def write(number: int, prompt: str) -> str:
            options = {"max_tokens": ANSWER_TOKENS, "temperature": TEMPERATURE, "seed": number}
            answer = await server.complete([{"role": "user", "content": prompt}], options)
            return str(answer.message.get("content") or "")

        return await tqdm.gather(*(write(i, p) for i, p in enumerate(prompts)))
