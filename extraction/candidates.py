"""Write several candidate answers and return the one that is nearest to the document.

The first candidate is the local model's own, the others are made with the remote's generation. So
a generation that makes answers worse loses against the model's own answer. A reply to a passage is
used only if it and the passage are nearer to the document than that answer. Both are decided on
this machine and cost no privacy.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, TypeVar

from extraction.backends.base import Delta
from extraction.extractor import Extractor, Job, with_seed
from extraction.judge import Judge
from perturb.work import SHORT, offload

__all__ = ["Writer", "gather", "read_document"]

T = TypeVar("T")
Write = Callable[[Job, dict[str, Any]], Coroutine[Any, Any, list[Delta]]]
DOCUMENT = 50_000  # characters at the end of a conversation that a text is held against
SEEDS_APART = 1 << 10  # between two candidates; a request has fewer choices


class Writer:
    """Write answers.

    Args:
        extractor: makes an answer from a job.
        judge: chooses the best candidate.
        note: called with `alone` or `generation` where a choice was made.
    """

    def __init__(
        self, extractor: Extractor, judge: Judge, note: Callable[[str], None] = lambda source: None
    ) -> None:
        self._extractor = extractor
        self._judge = judge
        self._note = note

    async def complete(
        self,
        job: Job,
        options: dict[str, Any],
        candidates: int = 1,
        *,
        passage: str | None = None,
    ) -> Delta:
        """Return the whole answer, the best of `candidates`.

        Args:
            job: its generation may be None.
            options: of the local model.
            candidates: how many answers are written.
            passage: what the remote was shown. With one, the first candidate is written before
                the others, which are made with the generation only if it is helpful.

        Raises:
            LocalModelError: the local model failed on one of them.
        """
        if candidates == 1:
            return await self._extractor.complete(job, options)

        async def collect(job: Job, options: dict[str, Any]) -> list[Delta]:
            return [await self._extractor.complete(job, options)]

        (step,) = await self._write_best(job, options, candidates, passage, collect)
        return step

    async def stream(
        self,
        job: Job,
        options: dict[str, Any],
        candidates: int = 1,
        *,
        passage: str | None = None,
    ) -> AsyncGenerator[Delta]:
        """Yield the answer in steps. With several candidates the first step comes when all of
        them are finished.

        Args:
            job, options, candidates, passage: as in `complete`.

        Raises:
            LocalModelError: as `complete`.
        """
        if candidates == 1:
            async with aclosing(self._extractor.stream(job, options)) as steps:
                async for step in steps:
                    yield step
            return

        async def collect(job: Job, options: dict[str, Any]) -> list[Delta]:
            return [step async for step in self._extractor.stream(job, options)]

        for step in await self._write_best(job, options, candidates, passage, collect):
            yield step

    async def _write_best(
        self,
        job: Job,
        options: dict[str, Any],
        candidates: int,
        passage: str | None,
        write: Write,
    ) -> list[Delta]:
        """Return the steps of the best of several answers."""
        first, *others = _vary(job, options, candidates)
        if passage is None or job.generation is None:
            found = await gather([write(*pair) for pair in (first, *others)])
        else:
            alone = await write(*first)
            if not await self._is_helpful(job, passage, alone):
                job = first[0]
                others = [(job, own) for _, own in others]
            found = [alone, *await gather([write(*pair) for pair in others])]
        return found[await self._choose(job, found)]

    async def _is_helpful(self, job: Job, passage: str, answer: list[Delta]) -> bool:
        """Tell if a job's generation can make a better answer than one made without it."""
        document, text = read_document(job), _join(answer)
        material = [job.generation or "", passage]
        brief = len(document) + len(text) + sum(map(len, material)) <= SHORT
        return await offload(brief, self._judge.is_helpful, document, text, material)

    async def _choose(self, job: Job, answers: list[list[Delta]]) -> int:
        """Return the place of the best answer."""
        texts = list(map(_join, answers))
        document = read_document(job)
        brief = len(document) + sum(map(len, texts)) <= SHORT
        best = await offload(brief, self._judge.choose_best, document, texts)
        self._note("alone" if best == 0 or job.generation is None else "generation")
        return best


def read_document(job: Job) -> str:
    """Return the text that generations and answers have to be about: the client's own turns."""
    return "\n".join(
        message.get("content") or ""
        for message in job.messages
        if message["role"] not in ("system", "assistant")
    )[-DOCUMENT:]


async def gather(jobs: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Run all jobs concurrently; the first failure cancels the others and is raised itself."""
    if len(jobs) == 1:  # it needs no task of its own
        return [await jobs[0]]
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(job) for job in jobs]
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]


def _join(steps: list[Delta]) -> str:
    return "".join(step.message.get("content") or "" for step in steps)


def _vary(job: Job, options: dict[str, Any], count: int) -> list[tuple[Job, dict[str, Any]]]:
    """Return the job and the options of each candidate. With a seed, each has its own."""
    jobs = [replace(job, generation=None), *[job] * (count - 1)]
    return [(each, with_seed(options, SEEDS_APART * i)) for i, each in enumerate(jobs)]
