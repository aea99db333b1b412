"""Extraction mode: the remote sees perturbed text, and the local model writes the answer.

The remote is called once for each prompt, the local model once for each choice. Each answer is
remembered with the remote's generation behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing, nullcontext
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Any

from extraction.errors import LocalModelError
from extraction.extractor import (
    AnswerWriter,
    Demonstration,
    Extraction,
    Extractor,
    Job,
    Warmer,
    gather,
    read_document,
    with_seed,
)
from extraction.judge import Judge
from extraction.restore import restore
from perturb import Sanitizer
from perturb.work import SHORT, offload
from proxy.access.auth import Client
from proxy.config.settings import Config
from proxy.config.upstreams.local import DEMO_MODEL
from proxy.demonstrations import Demonstrations
from proxy.errors import (
    ApiError,
    PartsRefused,
    bad_request,
    from_local,
    not_permitted,
    too_large,
    unsupported,
)
from proxy.metrics import Metrics
from proxy.pipeline.drafting import Draft
from proxy.pipeline.memory import Memory
from proxy.pipeline.plan import (
    Announce,
    Answer,
    Composer,
    Consultation,
    Emit,
    Exchange,
    Outgoing,
    Plan,
    RemoteReply,
    Unsent,
)
from proxy.pipeline.public import INSTRUCTION, PublicText
from proxy.records.chain import Positions
from proxy.release import Release, pair_parts
from proxy.remote.guard import Clearance, Cleared
from proxy.remote.remotes import Route
from proxy.remote.upstream import Generation
from proxy.requests.messages import Prompt, count_tags, read_chat, read_text
from proxy.requests.protocol import ChatRequest, SamplingRequest, select_local_fields
from proxy.storage.memo import Answers

__all__ = ["Answerer", "ExtractionMode"]


SPARE = 3  # times the local model's share, where the judge drops sentences


class Answerer:
    """Answer plans.

    Args:
        judge: finds the parts of a generation that are about the document, and the best answer.
        extraction: `relevant` gives the local model those parts, or where a passage was sent and
            several candidates are judged, the whole generation if it has any and is helpful;
            `all` always the whole generation; `demonstrate` shows it as the answer to what was
            sent, before the conversation. It holds if the client does not choose.
    """

    def __init__(
        self,
        *,
        extractor: Extractor,
        warmer: Warmer,
        answers: Answers,
        metrics: Metrics,
        judge: Judge,
        extraction: Extraction,
    ) -> None:
        self._extractor = extractor
        self._warmer = warmer
        self._writer = AnswerWriter(
            extractor, judge, lambda source: metrics.chosen.labels(source).inc()
        )
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

    async def _call(self, plan: Plan, number: int, exchange: Exchange) -> RemoteReply:
        job = Job(exchange.prompt.task, exchange.prompt.messages, None)
        if exchange.outgoing is None:
            return RemoteReply(exchange.unsent, job)
        clearance = exchange.outgoing.clearance
        assert isinstance(clearance, Clearance)  # the composer makes no other
        remote = plan.route.remote
        extraction = self._choose_extraction(plan.request, clearance)
        try:
            most = self._limit_generation(plan.request, clearance)
            # A demonstration stands before the conversation, so nothing can be read ahead.
            warming = self._warmer.warming(job, plan.options)
            async with nullcontext() if extraction == "demonstrate" else warming:
                generation = await remote.generate(exchange.outgoing.body, clearance, most=most)
        except ApiError as exc:
            self._metrics.count_failure("remote", exc, remote.alias)
            plan.trace.note_failure(number, exc.upstream)
            # The guard's refusal is not a failure of the remote and is always raised.
            if exc.code == "guard_refused" or remote.config.on_remote_failure != "local_only":
                raise
            plan.trace.note_outcome(number, "failed")
            return RemoteReply("failed", job)
        self._metrics.count_remote(plan.request.model, generation.usage)
        plan.trace.note_ending(number, generation.ended)
        if not generation.text.strip():
            plan.trace.note_outcome(number, "empty")
            return RemoteReply("empty", job, generation)
        if extraction == "demonstrate":
            return await self._demonstrate(plan, number, exchange.outgoing, job, generation)
        document = read_document(job)
        brief = len(document) + len(generation.text) <= SHORT
        text = await offload(brief, _restore, generation.text, clearance)
        passage = None
        if extraction == "relevant":
            # A reply to a passage is about one subject, so a relevant sentence speaks for the
            # others. One to scrambled words may be relevant here and there by chance.
            whole = plan.candidates > 1 and plan.sanitizer.shows == "passages"
            keep = self._judge.keep_if_relevant if whole else self._judge.keep_relevant
            text = await offload(brief, keep, document, text)
            passage = _read_passage(clearance) if whole else None
        if not text.strip():
            plan.trace.note_outcome(number, "irrelevant")
            return RemoteReply("irrelevant", job, generation)
        plan.trace.note_outcome(number, "answered")
        return RemoteReply("answered", Job(job.task, job.messages, text), generation, passage)

    async def _demonstrate(
        self, plan: Plan, number: int, outgoing: Outgoing, job: Job, generation: Generation
    ) -> RemoteReply:
        """Return a reply whose job has a demonstration, unless it is of no use."""
        turns = _pair_turns(outgoing.turns, generation.text)
        if turns and generation.ended == "whole":
            instruction = plan.request.inferdpt.instruction or ""
            shown = replace(job, demonstration=Demonstration(turns, instruction))
            if await self._extractor.has_room(shown, plan.options):
                plan.trace.note_outcome(number, "answered")
                return RemoteReply("answered", shown, generation)
        plan.trace.note_outcome(number, "dropped")
        return RemoteReply("dropped", job, generation)

    def limits_generation(self, request: SamplingRequest, clearance: Cleared) -> bool:
        """Tell if the remote is told to stream, so that its generation can be cut."""
        assert isinstance(clearance, Clearance)  # the composer makes no other
        return self._limit_generation(request, clearance) is not None

    def _limit_generation(self, request: SamplingRequest, clearance: Clearance) -> int | None:
        """Return how many characters of a generation the local model could use at most; None if
        the generation is expected to be shorter.

        The remote sees where its generation is cut. So that depends on settings and on numbers
        that are sent, and not on the text.
        """
        # Of a demonstration, as of a judged generation, more than the share may be of use.
        spare = 1 if self._choose_extraction(request, clearance) == "all" else SPARE
        return self._extractor.limit_generation(select_local_fields(request), spare)

    def _choose_extraction(self, request: SamplingRequest, clearance: Clearance) -> Extraction:
        """Return the use of a generation. That of a remote that read the text itself, but for
        replaced parts, is used whole: it knows what the text is about."""
        releases = (piece for piece in clearance.pieces if isinstance(piece, Release))
        if all(release.sanitized.replaced is not None for release in releases):
            return "all"
        return request.inferdpt.extraction or self._extraction

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

    async def _complete(
        self, plan: Plan, exchange: Exchange, reply: RemoteReply, i: int
    ) -> Answer:
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
        self, plan: Plan, exchange: Exchange, reply: RemoteReply, i: int, index: int, emit: Emit
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
        self, plan: Plan, exchange: Exchange, reply: RemoteReply, answer: Answer
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


def _pair_turns(sent: Sequence[dict[str, str]], answer: str) -> tuple[dict[str, str], ...]:
    """Return the turns that were sent and the remote's answer, as many chat templates demand them:
    user and assistant in turn, the user first; none if they cannot be."""
    grouped = groupby(sent, key=itemgetter("role"))
    turns = [
        {"role": role, "content": "\n\n".join(turn["content"] for turn in same)}
        for role, same in grouped
    ]
    if not turns or turns[0]["role"] != "user" or turns[-1]["role"] != "user":
        return ()
    return (*turns, {"role": "assistant", "content": answer})


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


class ExtractionMode:
    """Read requests as prompts, and answer them with the local model (see
    `proxy.pipeline.pipeline.Mode`)."""

    has_local_model = True

    def __init__(
        self,
        config: Config,
        *,
        public: PublicText,
        demonstrations: Demonstrations,
        memory: Memory,
        extractor: Extractor,
        judge: Judge,
        metrics: Metrics,
    ) -> None:
        self._config = config
        self._is_demo = config.local.is_bundled
        self._public = public
        self._drafter = memory.drafter
        self._composer = Composer(config, demonstrations)
        self._answerer = Answerer(
            extractor=extractor,
            warmer=Warmer(
                extractor,
                config.local.warm_prefix,
                places=config.local.places,
                note=lambda end: metrics.warmed.labels(end).inc(),
            ),
            answers=memory.answers,
            metrics=metrics,
            judge=judge,
            extraction=config.local.extraction,
        )

    def check(self, request: SamplingRequest) -> None:
        """Check the candidates, the provider and the instruction of a request; raise
        `ApiError`."""
        most, asked = self._config.limits.choices, request.inferdpt.candidates or 1
        if request.choices * asked > most:
            raise bad_request(
                f"n times candidates must be <= {most}, got {request.choices} times {asked}.",
                param="inferdpt.candidates",
            )
        if request.provider:
            raise unsupported("provider", "the operator chooses where the remote runs")
        if request.inferdpt.instruction and not self._config.privacy.public_tags:
            raise not_permitted(
                "The instruction is sent as it is, and the operator allows no public text "
                "(privacy.public_tags: false).",
                param=INSTRUCTION,
            )

    async def read(
        self,
        request: SamplingRequest,
        texts: Sequence[str] | None,
        client: Client,
        route: Route,
    ) -> list[Prompt]:
        """Read a chat, or each text of a completion; raise `ApiError`."""
        del client, route
        if texts is not None:
            task = request.inferdpt.task or "continuation"
            return [read_text(text, task) for text in texts]
        assert isinstance(request, ChatRequest)
        privacy, most = self._config.privacy, self._config.limits.parts
        if privacy.public_tags and count_tags(request) > most:
            raise too_large(
                f"The messages of a request may have at most {most} public texts in all.",
                param="messages",
            )
        return [read_chat(request, system=privacy.system, public_tags=privacy.public_tags)]

    def read_text(self, text: str) -> Prompt:
        """Read a text that is not sent."""
        return read_text(text, "chat")

    async def inspect(self, request: SamplingRequest, asked: Sequence[Prompt]) -> dict[str, int]:
        """Count the sensitive parts of each type in public text; raise `ApiError`."""
        instruction = request.inferdpt.instruction
        own = [(INSTRUCTION, instruction)] if instruction else []
        public = [place for prompt in asked for place in prompt.public]
        await self._public.check_size([*public, *own * len(asked)])
        lines = {at: numbers for prompt in asked for at, numbers in prompt.lines.items()}
        return await self._public.inspect([*public, *own], lines)

    async def draft(
        self, client: Client, sanitizer: Sanitizer, asked: Sequence[Prompt], field: str | None
    ) -> list[Draft]:
        """Draft prompts; raise `ApiError`."""
        try:
            return await self._drafter.draft(client.tenant, sanitizer, asked)
        except PartsRefused as exc:
            for i, prompt in enumerate(asked):
                if found := prompt.find(exc.text):
                    at, line = found
                    several = f"{field}[{i}]" if len(asked) > 1 else field
                    exc.place(several or at, line)
                    break
            raise

    def count(self, asked: Sequence[Prompt], drafts: Sequence[Draft]) -> Positions:
        """Return nothing: the remote does not see where a part stood in a request."""
        del asked, drafts
        return {}

    async def compose(
        self, request: SamplingRequest, route: Route, asked: Sequence[Prompt], drafts: list[Draft]
    ) -> list[Exchange]:
        """Compose the bodies of settled drafts."""
        del asked
        return [
            Exchange(d.prompt, self._composer.compose(d, request, route), d.scope, "skipped")
            for d in drafts
        ]

    def keep(self, asked: Prompt, unsent: Unsent) -> Exchange:
        """Return the exchange of a prompt that the local model answers alone."""
        return Exchange(asked, None, "", unsent)

    async def write(
        self, request: SamplingRequest, route: Route, asked: Prompt, draft: Draft
    ) -> tuple[bytes | None, int]:
        """Write the body of a draft, and count the public examples in it."""
        del asked
        outgoing = self._composer.compose(draft, request, route)
        if outgoing is None:
            return None, 0
        limited = self._answerer.limits_generation(request, outgoing.clearance)
        return route.remote.write(outgoing.body, limited=limited), outgoing.demonstrations

    def choose(self, request: SamplingRequest) -> tuple[dict[str, Any], int]:
        """Return the local model's fields, and how many answers are written for each choice.

        The operator's number is lowered to the limit of choices. A call of a tool cannot be
        compared with a text, so a request with tools gets one answer.
        """
        fields = select_local_fields(request)
        if {"tools", "functions"} & fields.keys():
            return fields, 1
        most = self._config.limits.choices // request.choices
        return fields, request.inferdpt.candidates or min(self._config.local.candidates, most)

    async def answer(self, plan: Plan) -> tuple[list[Answer], dict[str, Any] | None]:
        """Call the remote and answer in full, see `Answerer.complete`; raise `ApiError`."""
        consultation = await self._answerer.consult(plan)
        return await self._answerer.complete(consultation), self._make_receipt(consultation)

    async def stream(self, plan: Plan, announce: Announce, emit: Emit) -> None:
        """Call the remote, announce the receipt, and pass every step to `emit`; see
        `Answerer.stream`; raise `ApiError`."""
        consultation = await self._answerer.consult(plan)
        await announce(self._make_receipt(consultation))
        await self._answerer.stream(consultation, emit)

    def _make_receipt(self, consultation: Consultation) -> dict[str, Any] | None:
        receipt = consultation.make_receipt()
        if receipt is not None and self._is_demo:
            receipt["local"] = DEMO_MODEL
        return receipt
