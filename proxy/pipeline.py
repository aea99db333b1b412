"""One request on its way: split, perturb, remote, extract.

A plan holds everything about a request that is decided before anything leaves. Running it
calls the remote once for each prompt and the local model once for each choice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from extraction.backend import Delta, Usage
from extraction.errors import LocalModelError
from extraction.extractor import Extractor, Job, with_seed
from extraction.prompts import Prompts, fill
from perturb import DocumentTooLong, Perturbation, Perturber
from proxy.config import Config
from proxy.errors import ApiError, bad_request, from_local, too_large
from proxy.guard import Clearance, Segment
from proxy.memo import Memo
from proxy.messages import Part, Turn, conversation, local_messages, turn_key
from proxy.metrics import Metrics
from proxy.policy import Policy
from proxy.protocol import ChatRequest, CompletionRequest, SamplingRequest, local_fields
from proxy.receipt import RemoteOutcome, receipt
from proxy.upstream import Generation, RemoteClient

__all__ = ["Answer", "Exchange", "Pipeline", "Plan", "together"]

T = TypeVar("T")
Emit = Callable[[int, Delta], Awaitable[None]]
Task = Literal["chat", "continuation", "instruct"]


@dataclass
class Exchange:
    """One prompt: what would leave for it, and what the local model is to do with the answer."""

    job: Job
    body: dict[str, Any] = field(default_factory=dict)
    clearance: Clearance | None = None
    outcome: RemoteOutcome = "skipped"
    generation: Generation | None = None


@dataclass
class Plan:
    """A request, decided: nothing has left yet."""

    tenant: str
    request: SamplingRequest
    perturber: Perturber
    exchanges: list[Exchange]
    texts: list[tuple[Perturbation, bool]]
    options: dict[str, Any]
    timings: dict[str, float] = field(default_factory=dict)

    @property
    def released(self) -> int:
        """How many perturbed words stand in the request."""
        return sum(p.receipt.released for p, _ in self.texts)

    def receipt(self) -> dict[str, Any] | None:
        """The receipt the client asked for; complete once the remote has been called."""
        level = self.request.inferdpt.receipt
        if level == "none":
            return None
        sent = [
            {
                "sent": e.body.get("messages", []),
                "generation": e.generation.text if e.generation else None,
            }
            for e in self.exchanges
        ]
        outcomes = [e.outcome for e in self.exchanges]
        return receipt(level, self.perturber.mechanism, self.texts, outcomes, sent)


@dataclass
class Answer:
    """One choice, put together from its steps."""

    message: dict[str, Any] = field(default_factory=dict)
    logprobs: dict[str, Any] | None = None
    finish_reason: str | None = None
    usage: Usage | None = None

    def add(self, step: Delta) -> None:
        """Take in a streamed step (text and tool calls: what `key` needs)."""
        if text := step.message.get("content"):
            self.message["content"] = self.message.get("content", "") + text
        calls = self.message.setdefault("tool_calls", []) if "tool_calls" in step.message else []
        for call in step.message.get("tool_calls", ()):
            while len(calls) <= call["index"]:
                calls.append({"function": {"name": "", "arguments": ""}})
            for part, value in (call.get("function") or {}).items():
                calls[call["index"]]["function"][part] += value or ""
        self.finish_reason = step.finish_reason or self.finish_reason
        self.usage = step.usage or self.usage

    @property
    def key(self) -> str:
        """The answer as `messages.assistant_key` will spell the client's copy of it."""
        calls = [call["function"] for call in self.message.get("tool_calls") or ()]
        if self.message.get("function_call"):
            calls.append(self.message["function_call"])
        return turn_key(
            self.message.get("content") or "", ((c["name"], c["arguments"]) for c in calls)
        )


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
        executor: Executor,
    ) -> None:
        self._config = config
        self._prompts = Prompts(**config.prompts)
        self._policy = policy
        self._memo = memo
        self._remote = remote
        self._extractor = extractor
        self._metrics = metrics
        self._executor = executor

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
        if task == "instruct":
            turns = turns[-1:]
        if not turns:
            raise bad_request("The conversation has no turn to answer.", param="messages")
        return await self._plan(request, tenant, [(task, turns, raw)])

    async def plan_completion(
        self, request: CompletionRequest, prompts: Sequence[str], tenant: str
    ) -> Plan:
        """Plan a text completion: one exchange for each prompt. Raises `ApiError`."""
        task = request.inferdpt.task or "continuation"
        return await self._plan(
            request,
            tenant,
            [
                (task, (Turn("user", (Part(text),)),), [{"role": "user", "content": text}])
                for text in prompts
            ],
        )

    async def preview(self, text: str, perturber: Perturber, tenant: str) -> Perturbation:
        """What would leave for a text. The draw is remembered: sending the text later sends
        this, so previewing does not average either."""
        perturbation, _ = await self._perturb(text, perturber, tenant)
        return perturbation

    async def _plan(
        self,
        request: SamplingRequest,
        tenant: str,
        prompts: Sequence[tuple[Task, tuple[Turn, ...], list[dict[str, Any]]]],
    ) -> Plan:
        options = request.inferdpt
        model = self._policy.remote_model(request.model)
        perturber = self._policy.perturber(options)
        limits = self._config.limits
        if request.choices > limits.choices:
            raise bad_request(f"n must be <= {limits.choices}.", param="n")
        plan = Plan(tenant, request, perturber, [], [], local_fields(request))
        with self._metrics.stage("perturb", plan.timings):
            for task, turns, raw in prompts:
                exchange = Exchange(Job(task, tuple(raw), None))
                if not options.local_only:  # else nothing is drawn: nothing will leave
                    messages, exchange.clearance = await self._outgoing(plan, task, turns)
                    exchange.body = {
                        "model": model,
                        "messages": messages,
                        **self._numbers(request),
                    }
                plan.exchanges.append(exchange)
        self._count(plan)
        return plan

    async def _outgoing(
        self, plan: Plan, task: Task, turns: Sequence[Turn]
    ) -> tuple[list[dict[str, Any]], Clearance]:
        """The remote's messages, and the clearance to send them."""
        instruction = plan.request.inferdpt.instruction
        messages: list[dict[str, Any]] = []
        segments: list[Segment] = []
        known: list[str] = []
        for turn in turns:
            earlier = self._memo.generation(plan.tenant, turn.text)
            if turn.role == "assistant" and earlier is not None:
                known.append(earlier)
                messages.append({"role": "assistant", "content": earlier})
                continue
            pieces = []
            for part in turn.parts:
                if part.public:
                    pieces.append(part.text)
                else:
                    released, fresh = await self._perturb(part.text, plan.perturber, plan.tenant)
                    plan.texts.append((released, fresh))
                    segments.append(Segment(part.text, released, plan.perturber))
                    pieces.append(released.text)
            messages.append({"role": turn.role, "content": _join(pieces)})
        document = messages[-1]["content"]
        if task == "continuation":
            document = fill(self._prompts.remote_continuation, document=document)
        if instruction:
            document = fill(
                self._prompts.remote_instruct, instruction=instruction, document=document
            )
        messages[-1]["content"] = document
        return messages, Clearance(
            segments=tuple(segments),
            known=tuple(known),
            private=tuple(segment.raw for segment in segments),
            constants=(self._prompts.remote_continuation, self._prompts.remote_instruct),
        )

    async def _perturb(
        self, text: str, perturber: Perturber, tenant: str
    ) -> tuple[Perturbation, bool]:
        loop = asyncio.get_running_loop()

        async def draw() -> Perturbation:
            return await loop.run_in_executor(self._executor, perturber.perturb, text)

        identity = {
            **perturber.mechanism.identity(),
            "oov": perturber.options.oov,
            "number": perturber.options.number,
            "layout": perturber.options.layout,
        }
        try:
            return await self._memo.perturbation(tenant, identity, text, draw)
        except DocumentTooLong as exc:
            raise too_large(f"{exc}.") from exc

    def _numbers(self, request: SamplingRequest) -> dict[str, Any]:
        """The sampling numbers that may influence the remote."""
        names = ["temperature", "top_p", "max_tokens", "max_completion_tokens", "reasoning_effort"]
        if self._config.remote.send_seed:
            names.append("seed")
        found = {name: getattr(request, name, None) for name in names}
        return {**{k: v for k, v in found.items() if v is not None}, "store": False}

    def _count(self, plan: Plan) -> None:
        mechanism = plan.perturber.mechanism
        new = sum(p.receipt.released for p, fresh in plan.texts if fresh)
        self._metrics.tokens.labels(mechanism.name).inc(new)
        self._metrics.reused.labels(mechanism.name).inc(plan.released - new)
        self._metrics.epsilon.labels(mechanism.name, mechanism.guarantee.kind).inc(
            new * mechanism.epsilon
        )

    # -- running ----------------------------------------------------------------------------

    async def call_remote(self, plan: Plan) -> None:
        """Send what is to be sent, all prompts at once, and put the generations into the jobs."""
        with self._metrics.stage("remote", plan.timings):
            await together([self._exchange(plan, exchange) for exchange in plan.exchanges])

    async def _exchange(self, plan: Plan, exchange: Exchange) -> None:
        if exchange.clearance is None:
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
            exchange.job = Job(job.task, job.messages, generation.text)

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
            self._memo.remember_answer(plan.tenant, answer.key, exchange.generation.text)

    def _local_failed(self, exc: LocalModelError) -> ApiError:
        error = from_local(exc)
        self._metrics.upstream_errors.labels("local", error.code or "").inc()
        return error


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
