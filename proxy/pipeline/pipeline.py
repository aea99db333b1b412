"""Run the steps of a request in order.

Planning decides everything before anything is sent: draft, settle, compose. Then the remote is
consulted, and the local model answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from extraction.extractor import Extractor
from extraction.judge import Judge
from extraction.warming import Warmer
from perturb import Perturbation, Sanitizer
from proxy.access.grants import Client
from proxy.config.settings import Config
from proxy.config.upstreams.local import DEMO_MODEL
from proxy.demonstrations import Demonstrations
from proxy.errors import PartsRefused, bad_request, not_permitted
from proxy.metrics import Metrics
from proxy.pipeline.answering import Announce, Answer, Answerer, Emit
from proxy.pipeline.composing import Composer, join, merge
from proxy.pipeline.drafting import Draft
from proxy.pipeline.memory import Memory
from proxy.pipeline.plan import Consultation, Exchange, Plan, Preview, Trace, Unsent
from proxy.pipeline.policy import Policy
from proxy.pipeline.public import INSTRUCTION, PublicText
from proxy.pipeline.settling import Settlement
from proxy.remote.remotes import Remotes
from proxy.requests.housekeeping import keep_local
from proxy.requests.messages import Prompt, read_chat, read_text
from proxy.requests.protocol import (
    ChatRequest,
    CompletionRequest,
    SamplingRequest,
    select_local_fields,
)
from proxy.requests.validation import unsupported
from proxy.storage.ledger import BudgetExceeded

__all__ = ["Pipeline"]


class Pipeline:
    """Plan requests and answer them."""

    def __init__(
        self,
        config: Config,
        *,
        policy: Policy,
        public: PublicText,
        demonstrations: Demonstrations,
        memory: Memory,
        remotes: Remotes,
        extractor: Extractor,
        judge: Judge,
        metrics: Metrics,
    ) -> None:
        self._config = config
        self._policy = policy
        self._remotes = remotes
        self._public = public
        self._metrics = metrics
        self._drafter, self._settler = memory.drafter, memory.settler
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

    async def plan_chat(
        self, request: ChatRequest, client: Client, *, housekeeping: bool = False
    ) -> Plan:
        """Plan a chat completion.

        Args:
            housekeeping: the client made the request on its own behalf; the local model answers
                alone.

        Raises:
            ApiError: the request breaks a rule or a limit, or its texts could not be settled.
        """
        privacy = self._config.privacy
        asked = keep_local(request) if housekeeping else request
        prompt = read_chat(asked, system=privacy.system, public_tags=privacy.public_tags)
        return await self._plan(asked, client, [prompt], housekeeping=housekeeping)

    async def plan_completion(
        self, request: CompletionRequest, texts: Sequence[str], client: Client
    ) -> Plan:
        """Plan a text completion, with one exchange for each text.

        Raises:
            ApiError: as `plan_chat`.
        """
        task = request.inferdpt.task or "continuation"
        return await self._plan(request, client, [read_text(text, task) for text in texts])

    async def preview(self, text: str, sanitizer: Sanitizer, client: Client) -> Perturbation:
        """Return the release of a text without sending it.

        Memory keeps the draw: the text, sent as a conversation's first turn, is released as
        previewed, so previews cannot be averaged either.

        Raises:
            ApiError: the key does not allow it, or the text could not be drafted.
        """
        client.check(None, sanitizer)
        prompts = [read_text(text, "chat")]
        (draft,) = await self._draft(client, sanitizer, prompts, "text")
        if draft.releases:
            return merge(draft.spans)
        return replace(await sanitizer.release(""), text=join(draft.spans))

    async def show(self, request: ChatRequest, client: Client) -> Preview:
        """Return what a chat would send; nothing is settled, charged or sent. Memory keeps the
        draws, as it does for `preview`.

        Raises:
            ApiError: as `plan_chat`.
        """
        privacy = self._config.privacy
        prompt = read_chat(request, system=privacy.system, public_tags=privacy.public_tags)
        sanitizer = self._policy.sanitizer(request.inferdpt, client.grant)
        self._check(request, client, sanitizer)
        route = await self._remotes.find(request.model)
        await self._inspect_public(request, [prompt])
        (draft,) = await self._draft(client, sanitizer, [prompt])
        outgoing = self._composer.compose(draft, request, route)
        body, demonstrations = None, 0
        if outgoing is not None:
            limited = self._answerer.limits_generation(request, outgoing.clearance)
            body = route.remote.write(outgoing.body, limited=limited)
            demonstrations = outgoing.demonstrations
        return Preview(
            sanitizer,
            route.remote.alias,
            join(draft.spans),
            draft.unique_releases,
            body,
            demonstrations,
        )

    async def answer(self, plan: Plan) -> tuple[list[Answer], dict[str, Any] | None]:
        """Call the remote and answer in full, see `Answerer.complete`; raise `ApiError`.

        Returns:
            The answers, and the receipt if one was requested.
        """
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
        if receipt is not None and self._config.local.is_bundled:
            receipt["local"] = DEMO_MODEL
        return receipt

    async def _plan(
        self,
        request: SamplingRequest,
        client: Client,
        prompts: Sequence[Prompt],
        *,
        housekeeping: bool = False,
    ) -> Plan:
        options = request.inferdpt
        sanitizer = self._policy.sanitizer(options, client.grant)
        self._check(request, client, sanitizer)
        route = await self._remotes.find(request.model)
        unsent: Unsent = "housekeeping" if housekeeping else "skipped"
        trace = Trace([unsent] * len(prompts))
        findings: dict[str, int] = {}
        settlement, exceeded = Settlement(), None
        if not options.local_only:  # else nothing is drawn, since nothing is sent
            findings = await self._inspect_public(request, prompts)
            with self._metrics.stage("perturb", trace.note_stage):
                field = "prompt" if isinstance(request, CompletionRequest) else None
                drafts = await self._draft(client, sanitizer, prompts, field)
            try:
                with self._metrics.stage("commit", trace.note_stage):
                    settlement = await self._settler.settle(
                        client, request.model, route.remote.alias, sanitizer, drafts
                    )
            except BudgetExceeded as exc:
                if self._config.limits.on_budget == "refuse":
                    raise
                exceeded = exc.scope
        exchanges = [
            Exchange(d.prompt, self._composer.compose(d, request, route), d.scope, unsent)
            for d in settlement.drafts
        ] or [Exchange(prompt, None, "", unsent) for prompt in prompts]
        fields = select_local_fields(request)
        plan = Plan(
            client=client,
            request=request,
            route=route,
            sanitizer=sanitizer,
            exchanges=tuple(exchanges),
            options=fields,
            candidates=self._count_candidates(request, fields),
            settlement=settlement,
            exceeded=exceeded,
            public_findings=findings,
            trace=trace,
        )
        self._metrics.count_plan(sanitizer, fresh=plan.fresh, released=plan.released)
        return plan

    async def _draft(
        self,
        client: Client,
        sanitizer: Sanitizer,
        prompts: Sequence[Prompt],
        field: str | None = None,
    ) -> list[Draft]:
        """Draft prompts; `field` is the name of the field that holds their texts, if they are no
        chats. Raises `ApiError`."""
        try:
            return await self._drafter.draft(client.tenant, sanitizer, prompts)
        except PartsRefused as exc:
            for i, prompt in enumerate(prompts):
                if found := prompt.find(exc.text):
                    at, line = found
                    several = f"{field}[{i}]" if len(prompts) > 1 else field
                    exc.place(several or at, line)
                    break
            raise

    def _check(self, request: SamplingRequest, client: Client, sanitizer: Sanitizer) -> None:
        """Check a request against the limits and the client's grant; raise `ApiError`."""
        limits = self._config.limits
        if request.choices > limits.choices:
            raise bad_request(f"n must be <= {limits.choices}.", param="n")
        asked = request.inferdpt.candidates or 1
        if request.choices * asked > limits.choices:
            raise bad_request(
                f"n times candidates must be <= {limits.choices}, got {request.choices} times "
                f"{asked}.",
                param="inferdpt.candidates",
            )
        client.check(request.model, sanitizer)
        if request.provider:
            raise unsupported("provider", "the operator chooses where the remote runs")
        if request.inferdpt.instruction and not self._config.privacy.public_tags:
            raise not_permitted(
                "The instruction is sent as it is, and the operator allows no public text "
                "(privacy.public_tags: false).",
                param=INSTRUCTION,
            )

    def _count_candidates(self, request: SamplingRequest, fields: Mapping[str, Any]) -> int:
        """Return how many answers are written for each choice. The operator's number is lowered
        to the limit of choices. A call of a tool cannot be compared with a text, so a request
        with tools gets one answer."""
        if {"tools", "functions"} & fields.keys():
            return 1
        most = self._config.limits.choices // request.choices
        return request.inferdpt.candidates or min(self._config.local.candidates, most)

    async def _inspect_public(
        self, request: SamplingRequest, prompts: Sequence[Prompt]
    ) -> dict[str, int]:
        """Count the sensitive parts of each type in public text; raise `ApiError`."""
        instruction = request.inferdpt.instruction
        own = [(INSTRUCTION, instruction)] if instruction else []
        public = [place for prompt in prompts for place in prompt.public]
        await self._public.check_size([*public, *own * len(prompts)])
        lines = {at: numbers for prompt in prompts for at, numbers in prompt.lines.items()}
        return await self._public.inspect([*public, *own], lines)
