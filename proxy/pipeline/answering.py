"""Answer a plan: call the remote once for each prompt and the local model once for each choice.

Each answer is remembered with the remote's generation behind it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal

from extraction.backends.base import Delta
from extraction.candidates import Writer, gather, read_document
from extraction.errors import LocalModelError
from extraction.extractor import Extractor, Job, with_seed
from extraction.judge import Judge
from extraction.restore import restore
from perturb.offload import SHORT, offload
from proxy.errors import ApiError, from_local
from proxy.metrics import Metrics
from proxy.pipeline.answer import Answer
from proxy.pipeline.plan import Consultation, Exchange, Plan, Reply
from proxy.release import Release
from proxy.remote.guard import Clearance
from proxy.remote.upstream import RemoteClient
from proxy.storage.answers import Answers

__all__ = ["Answerer", "Emit"]

Emit = Callable[[int, Delta], Awaitable[None]]


class Answerer:
    """Answer plans.

    Args:
        on_failure: `local_only` lets the local model answer alone if the remote fails.
        judge: finds the parts of a generation that are about the document, and the best answer.
        extraction: `relevant` gives the local model those parts, or where a passage was sent and
            several candidates are judged, the whole generation if it has any; `all` always the
            whole generation. It holds if the client does not choose.
    """

    def __init__(
        self,
        *,
        remote: RemoteClient,
        extractor: Extractor,
        answers: Answers,
        metrics: Metrics,
        on_failure: Literal["error", "local_only"],
        judge: Judge,
        extraction: Literal["relevant", "all"],
    ) -> None:
        self._remote = remote
        self._writer = Writer(extractor, judge, lambda source: metrics.chosen.labels(source).inc())
        self._answers = answers
        self._metrics = metrics
        self._on_failure = on_failure
        self._judge = judge
        self._extraction = extraction

    async def consult(self, plan: Plan) -> Consultation:
        """Call the remote for all prompts concurrently.

        Raises:
            ApiError: a call failed, or the guard refused it.
        """
        with self._metrics.stage("remote", plan.trace.note_stage):
            calls = [self._call(plan, i, each) for i, each in enumerate(plan.exchanges)]
            return Consultation(plan, tuple(await gather(calls)))

    async def _call(self, plan: Plan, number: int, exchange: Exchange) -> Reply:
        job = Job(exchange.prompt.task, exchange.prompt.messages, None)
        if exchange.outgoing is None:
            return Reply(exchange.unsent, job)
        clearance = exchange.outgoing.clearance
        try:
            generation = await self._remote.generate(exchange.outgoing.body, clearance)
        except ApiError as exc:
            self._metrics.upstream_errors.labels("remote", exc.code or "").inc()
            plan.trace.note_failure(number, exc.upstream)
            # The guard's refusal is not a failure of the remote and is always raised.
            if exc.code == "guard_refused" or self._on_failure != "local_only":
                raise
            plan.trace.note_outcome(number, "failed")
            return Reply("failed", job)
        if not generation.text.strip():
            plan.trace.note_outcome(number, "empty")
            return Reply("empty", job, generation)
        document = read_document(job)
        brief = len(document) + len(generation.text) <= SHORT
        text = await offload(brief, _restore, generation.text, clearance)
        if self._is_judged(plan, clearance):
            # A reply to a passage is about one subject, so a relevant sentence speaks for the
            # others. One to scrambled words may be relevant here and there by chance.
            whole = plan.candidates > 1 and plan.sanitizer.shows == "passages"
            keep = self._judge.keep_if_relevant if whole else self._judge.keep_relevant
            text = await offload(brief, keep, document, text)
        if not text.strip():
            plan.trace.note_outcome(number, "irrelevant")
            return Reply("irrelevant", job, generation)
        plan.trace.note_outcome(number, "answered")
        return Reply("answered", Job(job.task, job.messages, text), generation)

    def _is_judged(self, plan: Plan, clearance: Clearance) -> bool:
        """Tell if a generation has to be relevant to go to the local model. A remote that
        read the text itself, but for replaced parts, knows what it is about."""
        if (plan.request.inferdpt.extraction or self._extraction) == "all":
            return False
        releases = (piece for piece in clearance.pieces if isinstance(piece, Release))
        return any(release.sanitized.replaced is None for release in releases)

    async def complete(self, consultation: Consultation) -> list[Answer]:
        """Return the answers, ordered `prompt_index * n + i`.

        Raises:
            ApiError: the local model failed.
        """
        plan = consultation.plan
        with self._metrics.stage("extract", plan.trace.note_stage):
            return await gather(
                [
                    self._complete(plan, exchange, reply, i)
                    for exchange, reply in zip(plan.exchanges, consultation.replies, strict=True)
                    for i in range(plan.request.choices)
                ]
            )

    async def _complete(self, plan: Plan, exchange: Exchange, reply: Reply, i: int) -> Answer:
        try:
            options = with_seed(plan.options, i)
            step = await self._writer.complete(reply.job, options, plan.candidates)
        except LocalModelError as exc:
            raise self._map_error(exc) from exc
        answer = Answer(step.message, step.logprobs, step.finish_reason, step.usage)
        await self._remember(plan, exchange, reply, answer)
        return answer

    async def stream(self, consultation: Consultation, emit: Emit) -> None:
        """Pass every step of the answers to `emit(index, step)` as it comes.

        Raises:
            ApiError: the local model failed.
        """
        plan = consultation.plan
        with self._metrics.stage("extract", plan.trace.note_stage):
            n = plan.request.choices
            pairs = zip(plan.exchanges, consultation.replies, strict=True)
            await gather(
                [
                    self._stream(plan, exchange, reply, i, p * n + i, emit)
                    for p, (exchange, reply) in enumerate(pairs)
                    for i in range(n)
                ]
            )

    async def _stream(
        self, plan: Plan, exchange: Exchange, reply: Reply, i: int, index: int, emit: Emit
    ) -> None:
        answer = Answer()
        try:
            options = with_seed(plan.options, i)
            async for step in self._writer.stream(reply.job, options, plan.candidates):
                answer.add(step)
                await emit(index, step)
        except LocalModelError as exc:
            raise self._map_error(exc) from exc
        finally:
            # An interrupted answer may come back as history, too, as far as the client saw it.
            await self._remember(plan, exchange, reply, answer)

    async def _remember(
        self, plan: Plan, exchange: Exchange, reply: Reply, answer: Answer
    ) -> None:
        if reply.generation is None or not reply.generation.text:
            return
        question, generation = exchange.prompt.question, reply.generation.text
        await self._answers.remember(
            plan.tenant, exchange.scope, question, answer.key, answer.text, generation
        )

    def _map_error(self, exc: LocalModelError) -> ApiError:
        error = from_local(exc)
        self._metrics.upstream_errors.labels("local", error.code or "").inc()
        return error


def _restore(generation: str, clearance: Clearance) -> str:
    """Put the raw values of replaced parts back into a generation.

    The result is for the local model; receipts and the store keep the remote's own words.
    """
    pairs: list[tuple[str, str]] = []
    kept: list[str] = []
    for piece in clearance.pieces:
        if isinstance(piece, Release) and piece.sanitized.replaced is not None:
            end = 0
            for part in piece.sanitized.replaced:
                pairs.append((part.text, piece.raw[part.start : part.end]))
                kept.append(piece.raw[end : part.start])
                end = part.end
            kept.append(piece.raw[end:])
    return restore(generation, pairs, "\n".join(kept)) if pairs else generation
