"""Run the steps of a request in order.

Planning decides everything before anything is sent: read, draft, settle, compose. What depends on
who answers, the local model or the remote alone, is a mode's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, TypeVar

from perturb import Perturbation, Sanitizer
from proxy.access.auth import Client
from proxy.config.settings import Limits
from proxy.errors import bad_request
from proxy.metrics import Metrics
from proxy.pipeline.drafting import Draft, Settlement, Settler
from proxy.pipeline.plan import (
    Announce,
    Answer,
    Emit,
    Exchange,
    Plan,
    Preview,
    Trace,
    Unsent,
    join,
    merge,
)
from proxy.pipeline.policy import RequestPolicy
from proxy.records.chain import Positions
from proxy.remote.remotes import Remotes, Route
from proxy.requests.messages import keep_local
from proxy.requests.protocol import ChatRequest, CompletionRequest, SamplingRequest
from proxy.storage.ledger import BudgetExceeded

__all__ = ["Mode", "Pipeline"]

Asked = TypeVar("Asked")  # a chat or a text of a request, as a mode reads it


class Mode(Protocol[Asked]):
    """Define what extraction and gateway mode do each in its own way.

    Everything raises `ApiError`.
    """

    @property
    def has_local_model(self) -> bool:
        """Return whether a local model answers what is not sent."""

    def check(self, request: SamplingRequest) -> None:
        """Check the fields of a request that only one mode serves."""

    async def read(
        self,
        request: SamplingRequest,
        texts: Sequence[str] | None,
        client: Client,
        route: Route,
    ) -> list[Asked]:
        """Read a chat, or each text of a completion."""

    def read_text(self, text: str) -> Asked:
        """Read a text that is not sent."""

    async def inspect(self, request: SamplingRequest, asked: Sequence[Asked]) -> dict[str, int]:
        """Check the public text of a request, and count its sensitive parts of each type."""

    async def draft(
        self, client: Client, sanitizer: Sanitizer, asked: Sequence[Asked], field: str | None
    ) -> list[Draft]:
        """Return drafts with a release for each private text; `field` is the name of the field
        that holds texts, for errors."""

    def count(self, asked: Sequence[Asked], drafts: Sequence[Draft]) -> Positions:
        """Count the replaced parts in settled drafts by position and type."""

    async def compose(
        self, request: SamplingRequest, route: Route, asked: Sequence[Asked], drafts: list[Draft]
    ) -> list[Exchange]:
        """Compose what is sent for settled drafts."""

    def keep(self, asked: Asked, unsent: Unsent) -> Exchange:
        """Return the exchange of what is not sent, for a local model."""

    async def write(
        self, request: SamplingRequest, route: Route, asked: Asked, draft: Draft
    ) -> tuple[bytes | None, int]:
        """Write the body of a draft, without sending it.

        Returns:
            The bytes, or None if there is no text to send; the number of public examples in them.
        """

    def choose(self, request: SamplingRequest) -> tuple[dict[str, Any], int]:
        """Return the fields of a request that a local model gets, and how many candidates it
        writes for each choice."""

    async def answer(self, plan: Plan) -> tuple[list[Answer], dict[str, Any] | None]:
        """Ask the remote, and return the answers, ordered `prompt_index * n + i`, and the receipt
        if one was requested."""

    async def stream(self, plan: Plan, announce: Announce, emit: Emit) -> None:
        """Ask the remote, announce the receipt as far as it is known, and pass every step of the
        answers to `emit`."""


class Pipeline:
    """Plan requests and answer them, in one mode."""

    def __init__(
        self,
        limits: Limits,
        mode: Mode[Any],
        *,
        policy: RequestPolicy,
        settler: Settler,
        remotes: Remotes,
        metrics: Metrics,
    ) -> None:
        self._limits = limits
        self._mode = mode
        self._policy = policy
        self._settler = settler
        self._remotes = remotes
        self._metrics = metrics
        self.answer, self.stream = mode.answer, mode.stream

    async def plan_chat(
        self, request: ChatRequest, client: Client, *, housekeeping: bool = False
    ) -> Plan:
        """Plan a chat completion.

        Args:
            housekeeping: the client made the request on its own behalf. A local model answers it
                alone; without one, it is sent like any other.

        Raises:
            ApiError: the request breaks a rule or a limit, or its texts could not be settled.
        """
        if not (housekeeping and self._mode.has_local_model):
            return await self._plan(request, client)
        return await self._plan(keep_local(request), client, unsent="housekeeping")

    async def plan_completion(
        self, request: CompletionRequest, texts: Sequence[str], client: Client
    ) -> Plan:
        """Plan a text completion, with one exchange for each text.

        Raises:
            ApiError: as `plan_chat`.
        """
        return await self._plan(request, client, texts)

    async def preview(self, text: str, sanitizer: Sanitizer, client: Client) -> Perturbation:
        """Return the release of a text without sending it.

        Memory keeps the draw: the text, sent as a conversation's first turn, is released as
        previewed, so previews cannot be averaged either.

        Raises:
            ApiError: the key does not allow it, or the text could not be drafted.
        """
        client.check(None, sanitizer)
        asked = [self._mode.read_text(text)]
        (draft,) = await self._mode.draft(client, sanitizer, asked, "text")
        if draft.releases:
            return merge(draft.spans)
        return replace(await sanitizer.release(""), text=join(draft.spans))

    async def show(self, request: ChatRequest, client: Client) -> Preview:
        """Return what a chat would send; nothing is settled, charged or sent. Memory keeps the
        draws, as it does for `preview`.

        Raises:
            ApiError: as `plan_chat`.
        """
        sanitizer = self._check(request, client)
        route = await self._remotes.find(request.model)
        asked = await self._mode.read(request, None, client, route)
        await self._mode.inspect(request, asked)
        (draft,) = await self._mode.draft(client, sanitizer, asked, None)
        body, demonstrations = await self._mode.write(request, route, asked[0], draft)
        return Preview(
            sanitizer,
            route.remote.alias,
            join(draft.spans),
            draft.unique_releases,
            body,
            demonstrations,
        )

    async def _plan(
        self,
        request: SamplingRequest,
        client: Client,
        texts: Sequence[str] | None = None,
        *,
        unsent: Unsent = "skipped",
    ) -> Plan:
        mode, note = self._mode, self._metrics.stage
        sanitizer = self._check(request, client)
        route = await self._remotes.find(request.model)
        asked = await mode.read(request, texts, client, route)
        trace = Trace([unsent] * len(asked))
        findings: dict[str, int] = {}
        settlement, exceeded = Settlement(), None
        if not request.inferdpt.local_only:  # else nothing is drawn, since nothing is sent
            findings = await mode.inspect(request, asked)
            with note("perturb", trace.note_stage):
                field = None if texts is None else "prompt"
                drafts = await mode.draft(client, sanitizer, asked, field)
            try:
                with note("commit", trace.note_stage):
                    settlement = await self._settler.settle(
                        client,
                        request.model,
                        route.remote.alias,
                        sanitizer,
                        drafts,
                        partial(mode.count, asked),
                    )
            except BudgetExceeded as exc:
                if self._limits.on_budget == "refuse":
                    raise
                exceeded = exc.scope
        if settlement.drafts:
            exchanges = await mode.compose(request, route, asked, list(settlement.drafts))
        else:
            exchanges = [mode.keep(each, unsent) for each in asked]
        fields, candidates = mode.choose(request)
        plan = Plan(
            client=client,
            request=request,
            route=route,
            sanitizer=sanitizer,
            exchanges=tuple(exchanges),
            options=fields,
            candidates=candidates,
            settlement=settlement,
            exceeded=exceeded,
            public_findings=findings,
            trace=trace,
        )
        self._metrics.count_plan(sanitizer, fresh=plan.fresh, released=plan.released)
        return plan

    def _check(self, request: SamplingRequest, client: Client) -> Sanitizer:
        """Check a request against the limits and the client's grant; return its sanitizer."""
        if request.choices > self._limits.choices:
            raise bad_request(f"n must be <= {self._limits.choices}.", param="n")
        self._mode.check(request)
        sanitizer = self._policy.sanitizer(request.inferdpt, client.grant)
        client.check(request.model, sanitizer)
        return sanitizer
