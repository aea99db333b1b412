"""Answer a plan: call the remote once for each prompt and the local model once for each choice.

Each answer is remembered with the remote's generation behind it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from extraction.backends.base import Delta, Usage
from extraction.errors import LocalModelError
from extraction.extractor import Extractor, Job, Writer, gather, read_document, with_seed
from extraction.judge import Judge
from extraction.restore import restore
from extraction.warming import Warmer
from perturb.work import SHORT, offload
from proxy.errors import ApiError, from_local
from proxy.metrics import Metrics
from proxy.pipeline.plan import Consultation, Exchange, Plan, Reply
from proxy.release import Release, pair_parts
from proxy.remote.guard import Clearance, Cleared
from proxy.requests.messages import spell_turn
from proxy.requests.protocol import SamplingRequest, select_local_fields
from proxy.storage.memo import Answers

__all__ = ["Announce", "Answer", "Answerer", "Emit"]


@dataclass
class Answer:
    """Hold one choice, whole in `message` or assembled from its steps."""

    message: dict[str, Any] = field(default_factory=dict)
    logprobs: dict[str, Any] | None = None
    finish_reason: str | None = None
    usage: Usage | None = None
    stop: str | None = None
    _texts: list[str] = field(default_factory=list)
    _calls: dict[int, dict[str, str]] = field(default_factory=dict)

    def add(self, step: Delta) -> None:
        """Add a streamed step: the text and tool calls that `key` needs."""
        self._texts.append(step.message.get("content") or "")
        for call in step.message.get("tool_calls", ()):
            function = self._calls.setdefault(call["index"], {"name": "", "arguments": ""})
            for part in function:
                function[part] += (call.get("function") or {}).get(part) or ""

    @property
    def text(self) -> str:
        """Return the answer's text, without surrounding blanks."""
        return (self.message.get("content") or "".join(self._texts)).strip()

    @property
    def key(self) -> str:
        """Return the answer as `messages.spell_assistant` spells the client's copy of it."""
        calls = [call["function"] for call in self.message.get("tool_calls") or ()]
        if self.message.get("function_call"):
            calls.append(self.message["function_call"])
        calls += [self._calls[index] for index in sorted(self._calls)]
        return spell_turn(self.text, ((c["name"], c["arguments"]) for c in calls))


SPARE = 3  # times the local model's share, where the judge drops sentences
Announce = Callable[[dict[str, Any] | None], Awaitable[None]]  # takes the receipt of a stream


class Emit(Protocol):
    """Pass on a step of the choice with this number. The last step of a stream may carry the
    receipt, where it is not known before."""

    async def __call__(
        self, index: int, step: Delta, receipt: dict[str, Any] | None = None
    ) -> None: ...


class Answerer:
    """Answer plans.

    Args:
        judge: finds the parts of a generation that are about the document, and the best answer.
        extraction: `relevant` gives the local model those parts, or where a passage was sent and
            several candidates are judged, the whole generation if it has any and is helpful;
            `all` always the whole generation. It holds if the client does not choose.
    """

    def __init__(
        self,
        *,
        extractor: Extractor,
        warmer: Warmer,
        answers: Answers,
        metrics: Metrics,
        judge: Judge,
        extraction: Literal["relevant", "all"],
    ) -> None:
        self._extractor = extractor
        self._warmer = warmer
        self._writer = Writer(extractor, judge, lambda source: metrics.chosen.labels(source).inc())
        self._answers = answers
        self._metrics = metrics
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
        assert isinstance(clearance, Clearance)  # the composer makes no other
        remote = plan.route.remote
        try:
            most = self._limit_generation(plan.request, clearance)
            async with self._warmer.warming(job, plan.options):
                generation = await remote.generate(exchange.outgoing.body, clearance, most=most)
        except ApiError as exc:
            self._metrics.count_failure("remote", exc, remote.alias)
            plan.trace.note_failure(number, exc.upstream)
            # The guard's refusal is not a failure of the remote and is always raised.
            if exc.code == "guard_refused" or remote.config.on_remote_failure != "local_only":
                raise
            plan.trace.note_outcome(number, "failed")
            return Reply("failed", job)
        self._metrics.count_remote(plan.request.model, generation.usage)
        plan.trace.note_ending(number, generation.ended)
        if not generation.text.strip():
            plan.trace.note_outcome(number, "empty")
            return Reply("empty", job, generation)
        document = read_document(job)
        brief = len(document) + len(generation.text) <= SHORT
        text = await offload(brief, _restore, generation.text, clearance)
        passage = None
        if self._is_judged(plan.request, clearance):
            # A reply to a passage is about one subject, so a relevant sentence speaks for the
            # others. One to scrambled words may be relevant here and there by chance.
            whole = plan.candidates > 1 and plan.sanitizer.shows == "passages"
            keep = self._judge.keep_if_relevant if whole else self._judge.keep_relevant
            text = await offload(brief, keep, document, text)
            passage = _read_passage(clearance) if whole else None
        if not text.strip():
            plan.trace.note_outcome(number, "irrelevant")
            return Reply("irrelevant", job, generation)
        plan.trace.note_outcome(number, "answered")
        return Reply("answered", Job(job.task, job.messages, text), generation, passage)

    def limits_generation(self, request: SamplingRequest, clearance: Cleared) -> bool:
        """Tell if the remote is told to stream, so that its generation can be cut."""
        assert isinstance(clearance, Clearance)  # the composer makes no other
        return self._limit_generation(request, clearance) is not None

    def _limit_generation(self, request: SamplingRequest, clearance: Clearance) -> int | None:
        """Return the characters of a generation of which the local model can see any; None if it
        is expected to be shorter.

        The remote sees where its generation is cut. So that depends on settings and on numbers
        that are sent, and not on the text.
        """
        spare = SPARE if self._is_judged(request, clearance) else 1
        return self._extractor.limit_generation(select_local_fields(request), spare)

    def _is_judged(self, request: SamplingRequest, clearance: Clearance) -> bool:
        """Tell if a generation has to be relevant to go to the local model. A remote that
        read the text itself, but for replaced parts, knows what it is about."""
        if (request.inferdpt.extraction or self._extraction) == "all":
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
            step = await self._writer.complete(
                reply.job, options, plan.candidates, passage=reply.passage
            )
        except LocalModelError as exc:
            raise self._map_error(exc) from exc
        answer = Answer(step.message, step.logprobs, step.finish_reason, step.usage, step.stop)
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
            steps = self._writer.stream(reply.job, options, plan.candidates, passage=reply.passage)
            async with aclosing(steps):
                async for step in steps:
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
        self._metrics.count_failure("local", error)
        return error


def _read_passage(clearance: Clearance) -> str:
    """Return all released passages, as one text."""
    releases = (piece for piece in clearance.pieces if isinstance(piece, Release))
    return "\n".join(release.sanitized.text for release in releases)


def _restore(generation: str, clearance: Clearance) -> str:
    """Put the raw values of replaced parts back into a generation.

    The result is for the local model; receipts and the store keep the remote's own words.
    """
    pairs, kept = pair_parts(piece for piece in clearance.pieces if isinstance(piece, Release))
    return restore(generation, pairs, "\n".join(kept)) if pairs else generation
