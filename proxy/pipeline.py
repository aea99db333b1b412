"""One request on its way: split, perturb, remote, extract.

A plan holds everything about a request that is decided before anything leaves. Running it
calls the remote once for each prompt and the local model once for each choice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, TypeVar

from extraction.backend import Delta
from extraction.errors import LocalModelError
from extraction.extractor import Extractor, Job, with_seed
from extraction.prompts import Prompts, fill
from extraction.restore import restore
from perturb import DocumentTooLong, Perturbation, Sanitizer, Span
from perturb.mechanism import EMPTY, Known
from perturb.policies import telling
from proxy.config import Config
from proxy.errors import ApiError, bad_request, from_local, too_large
from proxy.guard import Clearance, Segment
from proxy.memo import Memo
from proxy.messages import (
    Part,
    Turn,
    conversation,
    local_messages,
    private_texts,
)
from proxy.metrics import Metrics
from proxy.plan import Answer, Exchange, Plan, Prompt
from proxy.policy import Policy
from proxy.protocol import ChatRequest, CompletionRequest, SamplingRequest, local_fields
from proxy.upstream import RemoteClient

__all__ = ["Pipeline", "together"]

T = TypeVar("T")
Emit = Callable[[int, Delta], Awaitable[None]]


class Pipeline:
    """The spine of the proxy."""

    def __init__(
        self,
        config: Config,
        *,
        policy: Policy,
        memo: Memo,
        remote: RemoteClient,
        extractor: Extractor,
        metrics: Metrics,
    ) -> None:
        self._config = config
        self._prompts = Prompts(**config.prompts)
        self._policy = policy
        self._memo = memo
        self._remote = remote
        self._extractor = extractor
        self._metrics = metrics

    # -- planning ---------------------------------------------------------------------------

    async def plan_chat(self, request: ChatRequest, tenant: str) -> Plan:
        """Plan a chat completion. Raises `ApiError`."""
        privacy = self._config.privacy
        task = request.inferdpt.task or "chat"
        turns = conversation(request, system=privacy.system, public_tags=privacy.public_tags)
        raw = local_messages(request, public_tags=privacy.public_tags)
        if task == "continuation" and [t.role for t in turns if t.role != "system"] != ["user"]:
            raise bad_request(
                "Task 'continuation' takes one user message (and system messages).",
                param="messages",
            )
        if not turns:
            raise bad_request("The conversation has no turn to answer.", param="messages")
        private = private_texts(request, system=privacy.system, public_tags=privacy.public_tags)
        turns = turns[-1:] if task == "instruct" else turns
        return await self._plan(request, tenant, [Prompt(task, turns, tuple(raw), private)])

    async def plan_completion(
        self, request: CompletionRequest, prompts: Sequence[str], tenant: str
    ) -> Plan:
        """Plan a text completion: one exchange for each prompt. Raises `ApiError`."""
        task = request.inferdpt.task or "continuation"
        return await self._plan(
            request,
            tenant,
            [
                Prompt(
                    task,
                    (Turn("user", (Part(text),)),),
                    ({"role": "user", "content": text},),
                    (text,),
                )
                for text in prompts
            ],
        )

    async def preview(self, text: str, sanitizer: Sanitizer, tenant: str) -> Perturbation:
        """What would leave for a text. The draw is remembered: sending the text later sends
        this, so previewing does not average either."""
        perturbation, _ = await self._release(text, sanitizer, tenant)
        return perturbation

    async def _plan(
        self,
        request: SamplingRequest,
        tenant: str,
        prompts: Sequence[Prompt],
    ) -> Plan:
        options = request.inferdpt
        model = self._policy.remote_model(request.model)
        sanitizer = self._policy.sanitizer(options)
        limits = self._config.limits
        if request.choices > limits.choices:
            raise bad_request(f"n must be <= {limits.choices}.", param="n")
        plan = Plan(tenant, request, sanitizer, [], [], local_fields(request))
        known: dict[str, str] = {}
        with self._metrics.stage("perturb", plan.timings):
            for prompt in prompts:
                exchange = Exchange(Job(prompt.task, prompt.raw, None), prompt.turns[-1].text)
                if not options.local_only:  # else nothing is drawn: nothing will leave
                    messages, exchange.clearance = await self._outgoing(plan, prompt, model, known)
                    exchange.body = {
                        "model": model,
                        "messages": messages,
                        **self._numbers(request),
                    }
                plan.exchanges.append(exchange)
        self._count(plan)
        return plan

    async def _outgoing(
        self, plan: Plan, prompt: Prompt, model: str, known: dict[str, str]
    ) -> tuple[list[dict[str, Any]], Clearance]:
        """The remote's messages, and the clearance to send them.

        What is sensitive in one text is sensitive in those that come with it or after it:
        `known`, which grows. It is not in those before it, which left earlier as they are.
        """
        messages: list[dict[str, Any]] = []
        pieces: list[Segment | str] = []
        before = ""
        sent = {part.text for turn in prompt.turns for part in turn.parts}
        for text in prompt.private:
            if text not in sent:  # it stays here, and what it names is sensitive all the same
                known.update(await self._findings(plan, text))
        for turn in prompt.turns:
            content: list[str] = []
            earlier = None
            if turn.role == "assistant":
                earlier = self._memo.generation(plan.tenant, before, turn.text)
            if earlier is not None:
                pieces.append(earlier)
                content.append(earlier)
            else:
                private = [p.text for p in turn.parts if not p.public and p.text.strip()]
                for text in private if len(private) > 1 else ():
                    known.update(await self._findings(plan, text))
                for part in turn.parts:
                    if part.public or not part.text.strip():
                        content.append(part.text if part.public else self._blank(part.text))
                        continue
                    released = await self._perturb(plan, part.text, known)
                    spans = [Span(p.start, p.end, p.type) for p in released.replaced or ()]
                    known.update(telling(part.text, spans))
                    pieces.append(Segment(part.text, released, plan.sanitizer))
                    content.append(released.text)
            messages.append({"role": turn.role, "content": _join(content)})
            before = turn.text
        document = messages[-1]["content"]
        if prompt.task == "continuation":
            document = fill(self._prompts.remote_continuation, document=document)
        if instruction := plan.request.inferdpt.instruction:
            document = fill(
                self._prompts.remote_instruct, instruction=instruction, document=document
            )
        messages[-1]["content"] = document
        return [m for m in messages if m["content"]], Clearance(
            pieces=tuple(pieces),
            private=(*prompt.private, *(p.raw for p in pieces if isinstance(p, Segment))),
            constants=(self._prompts.remote_continuation, self._prompts.remote_instruct, model),
            public=tuple(part.text for turn in prompt.turns for part in turn.parts if part.public),
        )

    async def _findings(self, plan: Plan, text: str) -> Known:
        return await asyncio.to_thread(plan.sanitizer.findings, text)

    def _blank(self, text: str) -> str:
        """What leaves for white space: it is layout, and nothing to paraphrase."""
        keeps = self._config.privacy.document_options.layout == "keep"
        return text if keeps and text.isascii() else text and " "

    async def _perturb(self, plan: Plan, text: str, known: Known) -> Perturbation:
        """A text's perturbation, noted in the plan; a text that stands twice is noted once."""
        released, fresh = await self._release(text, plan.sanitizer, plan.tenant, known)
        if not any(released is noted for noted, _ in plan.texts):
            plan.texts.append((released, fresh))
        return released

    async def _release(
        self, text: str, sanitizer: Sanitizer, tenant: str, known: Known = EMPTY
    ) -> tuple[Perturbation, bool]:
        """What leaves for a text, from the memo or drawn now. Raises `ApiError`."""

        async def draw() -> Perturbation:
            return await sanitizer.release(text, link, here)

        identity = sanitizer.identity()
        link = self._memo.link(tenant, identity)
        here = await asyncio.to_thread(sanitizer.known_in, text, known) if known else EMPTY
        if here:
            identity = {**identity, "known": dict(here)}
        try:
            return await self._memo.perturbation(tenant, identity, text, draw)
        except DocumentTooLong as exc:
            raise too_large(f"{exc}.") from exc
        except LocalModelError as exc:  # of a paraphrase
            raise self._local_failed(exc) from exc

    def _numbers(self, request: SamplingRequest) -> dict[str, Any]:
        """The sampling numbers that may influence the remote."""
        names = ["temperature", "top_p", "max_tokens", "max_completion_tokens", "reasoning_effort"]
        if self._config.remote.send_seed:
            names.append("seed")
        found = {name: getattr(request, name, None) for name in names}
        # Rounded: seventeen digits of a temperature are a message, two are a setting.
        numbers = {k: round(v, 2) if isinstance(v, float) else v for k, v in found.items()}
        return {**{k: v for k, v in numbers.items() if v is not None}, "store": False}

    def _count(self, plan: Plan) -> None:
        guarantee, name = plan.sanitizer.guarantee, plan.sanitizer.name
        new = sum(p.receipt.released for p, fresh in plan.texts if fresh)
        self._metrics.tokens.labels(name).inc(new)
        self._metrics.reused.labels(name).inc(plan.released - new)
        self._metrics.epsilon.labels(name, guarantee.kind).inc(new * guarantee.nominal)

    # -- running ----------------------------------------------------------------------------

    async def call_remote(self, plan: Plan) -> None:
        """Send what is to be sent, all prompts at once, and put the generations into the jobs."""
        with self._metrics.stage("remote", plan.timings):
            await together([self._exchange(plan, exchange) for exchange in plan.exchanges])

    async def _exchange(self, plan: Plan, exchange: Exchange) -> None:
        if exchange.clearance is None or not exchange.body["messages"]:
            return
        try:
            generation = await self._remote.generate(exchange.body, exchange.clearance)
        except ApiError as exc:
            self._metrics.upstream_errors.labels("remote", exc.code or "").inc()
            # A refusal of the guard is no failure of the remote: it is never papered over.
            allowed = self._config.remote.on_remote_failure == "local_only"
            if exc.code == "guard_refused" or not allowed:
                raise
            exchange.outcome = "failed"
            return
        exchange.generation = generation
        exchange.outcome = "answered" if generation.text.strip() else "empty"
        if exchange.outcome == "answered":
            job = exchange.job
            text = await asyncio.to_thread(_restored, generation.text, exchange.clearance)
            exchange.job = Job(job.task, job.messages, text)

    async def complete(self, plan: Plan) -> list[Answer]:
        """Run a plan: the answers, ordered `prompt_index * n + i`. Raises `ApiError`."""
        await self.call_remote(plan)
        with self._metrics.stage("extract", plan.timings):
            return await together(
                [
                    self._complete(plan, exchange, i)
                    for exchange in plan.exchanges
                    for i in range(plan.request.choices)
                ]
            )

    async def _complete(self, plan: Plan, exchange: Exchange, i: int) -> Answer:
        try:
            step = await self._extractor.complete(exchange.job, with_seed(plan.options, i))
        except LocalModelError as exc:
            raise self._local_failed(exc) from exc
        answer = Answer(step.message, step.logprobs, step.finish_reason, step.usage)
        self._remember(plan, exchange, answer)
        return answer

    async def stream(self, plan: Plan, emit: Emit) -> None:
        """Run a plan, handing every step to `emit(index, step)` as it comes. Raises `ApiError`."""
        await self.call_remote(plan)
        with self._metrics.stage("extract", plan.timings):
            n = plan.request.choices
            await together(
                [
                    self._stream(plan, exchange, i, p * n + i, emit)
                    for p, exchange in enumerate(plan.exchanges)
                    for i in range(n)
                ]
            )

    async def _stream(
        self, plan: Plan, exchange: Exchange, i: int, index: int, emit: Emit
    ) -> None:
        answer = Answer()
        try:
            async for step in self._extractor.stream(exchange.job, with_seed(plan.options, i)):
                answer.add(step)
                await emit(index, step)
        except LocalModelError as exc:
            raise self._local_failed(exc) from exc
        finally:
            # Also what a client saw of an answer broken off comes back as its history.
            self._remember(plan, exchange, answer)

    def _remember(self, plan: Plan, exchange: Exchange, answer: Answer) -> None:
        if exchange.generation is not None and exchange.generation.text:
            self._memo.remember_answer(
                plan.tenant, exchange.question, answer.key, exchange.generation.text
            )

    def _local_failed(self, exc: LocalModelError) -> ApiError:
        error = from_local(exc)
        self._metrics.upstream_errors.labels("local", error.code or "").inc()
        return error


def _restored(generation: str, clearance: Clearance) -> str:
    """A generation with the raw values of the parts that were replaced in place. It is for the
    local model: receipts and the memo keep the remote's own words."""
    pairs: list[tuple[str, str]] = []
    kept: list[str] = []
    for piece in clearance.pieces:
        if isinstance(piece, Segment) and piece.released.replaced is not None:
            end = 0
            for part in piece.released.replaced:
                pairs.append((part.text, piece.raw[part.start : part.end]))
                kept.append(piece.raw[end : part.start])
                end = part.end
            kept.append(piece.raw[end:])
    return restore(generation, pairs, "\n".join(kept)) if pairs else generation


def _join(pieces: Sequence[str]) -> str:
    """Public and perturbed pieces side by side, never glued into one word."""
    out = ""
    for piece in filter(None, pieces):
        apart = out and not out[-1].isspace() and not piece[0].isspace()
        out += f" {piece}" if apart else piece
    return out


async def together(jobs: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Run all at once; the first failure cancels the rest and is raised as itself."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(job) for job in jobs]
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]
