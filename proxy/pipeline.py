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
from extraction.restore import restore
from perturb import Perturbation, Sanitizer
from proxy.config import Config
from proxy.errors import ApiError, bad_request, from_local
from proxy.grants import Client
from proxy.guard import Clearance, Segment, check_segments
from proxy.ledger import BudgetExceeded, Ledger, price
from proxy.memo import Memo
from proxy.messages import (
    Part,
    Turn,
    conversation,
    local_messages,
    private_texts,
)
from proxy.metrics import Metrics
from proxy.outgoing import Draft, Outgoing
from proxy.plan import Answer, Exchange, Plan, Prompt
from proxy.policy import Policy
from proxy.protocol import ChatRequest, CompletionRequest, SamplingRequest, local_fields
from proxy.store import Store
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
        store: Store,
        memo: Memo,
        ledger: Ledger,
        remote: RemoteClient,
        extractor: Extractor,
        metrics: Metrics,
    ) -> None:
        self._config = config
        self._policy = policy
        self._store = store
        self._memo = memo
        self._ledger = ledger
        self._remote = remote
        self._extractor = extractor
        self._metrics = metrics
        self._outgoing = Outgoing(config, memo=memo, metrics=metrics)

    # -- planning ---------------------------------------------------------------------------

    async def plan_chat(self, request: ChatRequest, client: Client) -> Plan:
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
        return await self._plan(request, client, [Prompt(task, turns, tuple(raw), private)])

    async def plan_completion(
        self, request: CompletionRequest, prompts: Sequence[str], client: Client
    ) -> Plan:
        """Plan a text completion: one exchange for each prompt. Raises `ApiError`."""
        task = request.inferdpt.task or "continuation"
        return await self._plan(
            request,
            client,
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

    async def preview(self, text: str, sanitizer: Sanitizer, client: Client) -> Perturbation:
        """What would leave for a text, see `Outgoing.preview`. Raises `ApiError`."""
        client.check(None, sanitizer)
        return await self._outgoing.preview(text, sanitizer, client.tenant)

    async def _plan(
        self,
        request: SamplingRequest,
        client: Client,
        prompts: Sequence[Prompt],
    ) -> Plan:
        options = request.inferdpt
        model = self._policy.remote_model(request.model)
        sanitizer = self._policy.sanitizer(options)
        limits = self._config.limits
        if request.choices > limits.choices:
            raise bad_request(f"n must be <= {limits.choices}.", param="n")
        client.check(request.model, sanitizer)
        plan = Plan(client, request, sanitizer, [], local_fields(request))
        drafts: list[Draft] = []
        known: dict[str, str] = {}
        with self._metrics.stage("perturb", plan.timings):
            for prompt in prompts:
                plan.exchanges.append(
                    Exchange(Job(prompt.task, prompt.raw, None), prompt.turns[-1].text)
                )
                if not options.local_only:  # else nothing is drawn: nothing will leave
                    drafts.append(
                        await self._outgoing.draft(
                            client.tenant, sanitizer, prompt, known, plan.texts
                        )
                    )
        if drafts:
            with self._metrics.stage("commit", plan.timings):
                await self._commit(plan, drafts)
        if plan.exceeded is None:
            for exchange, draft in zip(plan.exchanges, drafts, strict=False):
                exchange.scope = draft.scope
                messages, exchange.clearance = self._outgoing.composed(
                    draft, sanitizer, options.instruction, model
                )
                exchange.body = {"model": model, "messages": messages, **self._numbers(request)}
        self._count(plan)
        return plan

    async def _commit(self, plan: Plan, drafts: Sequence[Draft]) -> None:
        """Settle and charge what leaves before anything does, in one transaction: all of it or
        nothing; what the guard would refuse is not even stored. A request that holds no private
        text is one in the ledger, and a text of which nothing is left has a price all the same:
        a paraphrase may be empty. Raises `ApiError`."""
        texts = list(plan.texts.values())
        segments = [Segment(text.raw, text.released, plan.sanitizer) for text in texts]
        await asyncio.to_thread(check_segments, segments)
        limits, grant = self._config.limits, plan.client.grant
        entries = [text.entry for text in texts]
        answers = [key for draft in drafts for key in draft.answers]
        try:
            async with self._ledger.turn(plan.tenant), self._store.writing() as connection:
                await self._ledger.lock(connection, plan.tenant)
                await self._memo.settle(connection, plan.tenant, entries, answers)
                plan.charge = await self._ledger.charge(
                    connection,
                    plan.tenant,
                    [
                        (text.conversation, price(plan.sanitizer, text.released))
                        for text in texts
                        if text.entry.fresh
                    ],
                    conversations=[draft.conversation for draft in drafts],
                    budget=limits.budget.under(grant.budget),
                    budget_tokens=limits.budget_tokens.under(grant.budget_tokens),
                )
        except BudgetExceeded as exc:
            self._metrics.refused.labels(exc.scope).inc()
            if limits.on_budget == "refuse":
                raise
            plan.exceeded = exc.scope
            plan.texts.clear()
            return
        self._memo.settled(entries)
        self._metrics.charged(plan.tenant, plan.charge.totals)

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
        new = plan.fresh
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
        await self._remember(plan, exchange, answer)
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
            await self._remember(plan, exchange, answer)

    async def _remember(self, plan: Plan, exchange: Exchange, answer: Answer) -> None:
        if exchange.generation is not None and exchange.generation.text:
            await self._memo.remember_answer(
                plan.tenant,
                exchange.scope,
                exchange.question,
                answer.key,
                exchange.generation.text,
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


async def together(jobs: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Run all at once; the first failure cancels the rest and is raised as itself."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(job) for job in jobs]
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]
