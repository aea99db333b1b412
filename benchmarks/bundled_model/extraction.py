"""Generate the bundled model's answers from damaged generations, by the project's extractor."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tqdm.asyncio import tqdm

from extraction.backends.openai_server import OpenAIServer
from extraction.extractor import Extractor, Job
from extraction.prompts import Prompts, fill
from perturb import EmbeddingTable, Perturber, get_mechanism, seeded_generator
from proxy.app import build_tokenizer
from proxy.config.settings import Config, load_config
from proxy.local import local_server

__all__ = ["Engine", "Speed", "damage", "run_demo"]

ANSWER_TOKENS = 128  # as long as the true continuations: 100 tokens of GPT-2
DEMO_TOKENS = 100
PARALLEL = 8
CONTEXT = 1024
SPEED_REPEATS = 10


@dataclass(frozen=True)
class Speed:
    """Hold medians of answers generated one at a time.

    Attributes:
        ready_seconds: from starting the server until it is ready.
        answer_seconds: for an extraction of 100 tokens, including the prompt.
        first_token_seconds: until the first of them.
        tokens_per_second: of the answer, without the first token.
    """

    ready_seconds: float
    answer_seconds: float
    first_token_seconds: float
    tokens_per_second: float


class Engine:
    """Run the embedded server over a GGUF file, with the extractor that the proxy builds.

    Args:
        model: the GGUF file.
        table: for the tokenizer that estimates lengths.
    """

    def __init__(self, model: Path, table: EmbeddingTable, *, parallel: int = PARALLEL) -> None:
        self._table = table
        engine = {"model": str(model), "parallel": parallel, "threads": os.cpu_count() or 1}
        self.config: Config = load_config(
            None, {"local": {"mode": "embedded", "embedded": engine}}
        )

    def extract(
        self, prefixes: Sequence[str], generations: Sequence[str | None], *, tokens: int
    ) -> list[str]:
        """Continue raw prefixes with the help of perturbed generations; None works without one."""
        pairs = zip(prefixes, generations, strict=True)
        return asyncio.run(self._answer_all([_build_job(*pair) for pair in pairs], tokens))

    def ask(self, prompts: Sequence[str], *, tokens: int) -> list[str]:
        """Answer prompts as the stand-in remote does."""
        jobs = [Job("chat", ({"role": "user", "content": prompt},), None) for prompt in prompts]
        return asyncio.run(self._answer_all(jobs, tokens))

    def measure_speed(self, prefix: str, generation: str) -> Speed:
        """Time extractions of 100 tokens, one after the other."""
        return asyncio.run(self._measure_speed(prefix, generation))

    async def _answer_all(self, jobs: Sequence[Job], tokens: int) -> list[str]:
        async with local_server(self.config.local) as server:
            extractor = self._make_extractor(server)

            async def one(seed: int, job: Job) -> str:
                answer = await extractor.complete(job, {"max_tokens": tokens, "seed": seed})
                return str(answer.message.get("content") or "")

            return await tqdm.gather(
                *(one(i, job) for i, job in enumerate(jobs)), leave=False, disable=None
            )

    async def _measure_speed(self, prefix: str, generation: str) -> Speed:
        began = time.perf_counter()
        firsts, wholes, rates = [], [], []
        async with local_server(self.config.local) as server:
            ready = time.perf_counter() - began
            extractor = self._make_extractor(server)
            for seed in range(SPEED_REPEATS):
                # The texts differ each time, or the server would reuse the prompt it has read.
                job = _build_job(f"{seed}. {prefix}", f"{seed}. {generation}")
                began, times = time.perf_counter(), []
                options = {"max_tokens": 100, "min_tokens": 100, "ignore_eos": True, "seed": seed}
                async for step in extractor.stream(job, options):
                    if step.message.get("content"):
                        times.append(time.perf_counter())
                firsts.append(times[0] - began)
                wholes.append(times[-1] - began)
                rates.append((len(times) - 1) / (times[-1] - times[0]))
        return Speed(ready, *(float(np.median(x)) for x in (wholes, firsts, rates)))

    def _make_extractor(self, server: OpenAIServer) -> Extractor:
        local = self.config.local
        return Extractor(
            server,
            Prompts(),
            build_tokenizer(self._table.vocabulary, local.tokens_per_cl100k),
            context=CONTEXT,
            temperature=local.temperature,
        )


def damage(
    table: EmbeddingTable, mechanism: str, epsilon: float, texts: Sequence[str], seed: int
) -> list[str]:
    """Return texts with every token passed through a mechanism."""
    perturber = Perturber(get_mechanism(mechanism, table, epsilon=epsilon))
    rng = seeded_generator(seed)
    return [perturber.perturb(text, rng).text for text in texts]


def run_demo(
    engine: Engine, table: EmbeddingTable, texts: Sequence[str], epsilon: float, seed: int
) -> list[tuple[str, str, str]]:
    """Run the whole path for each text, with the model in both roles. Returns what the remote
    receives, its answer, and the extracted continuation."""
    sent = damage(table, "rantext", epsilon, texts, seed)
    template = Prompts().remote_continuation
    asked = [fill(template, document=text) for text in sent]
    generations = engine.ask(asked, tokens=DEMO_TOKENS)
    answers = engine.extract(texts, generations, tokens=DEMO_TOKENS)
    return list(zip(sent, generations, answers, strict=True))


def _build_job(prefix: str, generation: str | None) -> Job:
    return Job("continuation", ({"role": "user", "content": prefix},), generation)
