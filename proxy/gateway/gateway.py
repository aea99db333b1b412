"""Serve requests without a local model: the remote answers what was sanitized of them.

A gateway plans and answers as the pipeline does, which see (`proxy.pipeline.pipeline`); the same
memory and ledger, and the same guard, apply.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from extraction.codec import dump
from perturb import Perturbation, Sanitizer
from perturb.work import SHORT, offload
from proxy.access.auth import Client
from proxy.config.settings import Config
from proxy.errors import PartsRefused, bad_request
from proxy.gateway.positions import chat_positions, completion_positions
from proxy.gateway.relaying import Relayer
from proxy.gateway.rules import Fields, Reading
from proxy.gateway.sanitizing import (
    Letter,
    compose,
    count_positions,
    find_lost_parts,
    make_gateway_receipt,
    write_body,
    write_draft,
)
from proxy.metrics import Metrics
from proxy.pipeline.answering import Announce, Answer, Emit
from proxy.pipeline.drafting import Draft
from proxy.pipeline.memory import Memory
from proxy.pipeline.plan import Plan, Preview, Trace, join, merge
from proxy.pipeline.policy import Policy
from proxy.pipeline.public import PublicText
from proxy.remote.remotes import Remotes, Route
from proxy.requests.protocol import ChatRequest, CompletionRequest, SamplingRequest
from proxy.requests.validation import unsupported

__all__ = ["Gateway"]

NO_LOCAL_MODEL = "there is no local model (local.mode: none)"
PROMPT = "prompt"  # of a text completion
SHORT_REQUEST = 20 * SHORT  # characters of a request that is read in a few milliseconds


class Gateway:
    """Plan requests and relay them."""

    def __init__(
        self,
        config: Config,
        *,
        policy: Policy,
        public: PublicText,
        memory: Memory,
        remotes: Remotes,
        metrics: Metrics,
    ) -> None:
        self._config = config
        self._policy = policy
        self._remotes = remotes
        self._public = public
        self._digests = memory.digests
        self._drafter, self._settler = memory.drafter, memory.settler
        self._metrics = metrics
        self._relayer = Relayer(metrics)
        self._chat = chat_positions(public_system=config.privacy.system == "public")
        self._completion = completion_positions()

    async def plan_chat(
        self, request: ChatRequest, client: Client, *, housekeeping: bool = False
    ) -> Plan:
        """Plan a chat completion. Housekeeping is relayed like any other request.

        Raises:
            ApiError: the request breaks a rule or a limit, or its texts could not be settled.
        """
        del housekeeping
        sanitizer = self._check(request, client)
        route = await self._remotes.find(request.model)
        letter = await self._read_chat(request, client, route)
        return await self._plan(request, client, sanitizer, route, [letter])

    async def show(self, request: ChatRequest, client: Client) -> Preview:
        """Return what a chat would send; nothing is settled, charged or sent. Memory keeps the
        draws, as it does for `preview`.

        Raises:
            ApiError: as `plan_chat`.
        """
        sanitizer = self._check(request, client)
        route = await self._remotes.find(request.model)
        letter = await self._read_chat(request, client, route)
        await self._public.check_size(letter.reading.public)
        asked = write_draft(self._digests, client, letter, apart=self._apart)
        (draft,) = await self._draw(client, sanitizer, [letter], [asked])
        body = route.remote.write(await offload(False, write_body, letter, draft))
        return Preview(
            sanitizer, route.remote.alias, join(draft.spans), draft.unique_releases, body
        )

    async def plan_completion(
        self, request: CompletionRequest, texts: Sequence[str], client: Client
    ) -> Plan:
        """Plan a text completion, with one exchange for each text.

        Raises:
            ApiError: as `plan_chat`.
        """
        sanitizer = self._check(request, client)
        route = await self._remotes.find(request.model)
        if route.remote.config.api == "messages":
            raise unsupported("prompt", "the model's remote speaks the Messages API; send a chat")
        body = request.model_dump(exclude_unset=True)
        letters = [
            await self._read(
                self._completion, {**body, "prompt": text}, client, [text], request, route
            )
            for text in texts
        ]
        return await self._plan(request, client, sanitizer, route, letters)

    async def preview(self, text: str, sanitizer: Sanitizer, client: Client) -> Perturbation:
        """Return the release of a text without sending it; memory keeps the draw.

        Raises:
            ApiError: the key does not allow it, or the text could not be drafted.
        """
        client.check(None, sanitizer)
        reading = Reading(most=1)
        reading.add(text, "text")
        letter = Letter({}, reading, (text,), {})
        draft = write_draft(self._digests, client, letter, apart=self._apart)
        (drawn,) = await self._draw(client, sanitizer, [letter], [draft])
        if drawn.releases:
            return merge(drawn.spans)
        return replace(await sanitizer.release(""), text=text)

    async def release(self, plan: Plan) -> dict[str, Any]:
        """Return a settled plan for a caller who sends it: its body, the raw value of each
        replacement that can be told from other text, the others, which are left where they
        stand, the raw string of each that is restored where it is a whole string of JSON, and the
        receipt.

        Raises:
            ApiError: the guard refused.
        """
        (exchange,) = plan.exchanges
        assert exchange.outgoing is not None
        assert exchange.way_back is not None
        body, clearance, back = (
            exchange.outgoing.body,
            exchange.outgoing.clearance,
            exchange.way_back,
        )
        await offload(clearance.brief, clearance.check, dump(body))
        return {
            "object": "privacy.sanitization",
            "body": body,
            "replacements": back.replacements.raw_of,
            "left": back.replacements.left,
            "ordinary": sorted(back.replacements.ordinary),
            "wholes": dict(back.wholes),
            "receipt": make_gateway_receipt(plan, None),
        }

    async def answer(self, plan: Plan) -> tuple[list[Answer], dict[str, Any] | None]:
        """Relay a plan, and return the restored answers, ordered `prompt_index * n + i`, and the
        receipt if one was requested.

        Raises:
            ApiError: the remote failed, or the guard refused.
        """
        answers, restored = await self._relayer.answer(plan)
        return answers, make_gateway_receipt(plan, restored)

    async def stream(self, plan: Plan, announce: Announce, emit: Emit) -> None:
        """Relay a plan, announce the receipt as far as it is known, and pass every step of the
        answers to `emit`, the last with the whole receipt.

        Raises:
            ApiError: the remote failed, or the guard refused.
        """
        await announce(make_gateway_receipt(plan, None))
        ends, restored = await self._relayer.stream(plan, emit)
        *others, (index, last) = ends
        for end in others:
            await emit(*end)
        await emit(index, last, make_gateway_receipt(plan, restored))

    @property
    def _apart(self) -> bool:
        return self._config.memo.scope == "conversation"

    def _check(self, request: SamplingRequest, client: Client) -> Sanitizer:
        """Check a request against the limits and the client's grant; return its sanitizer."""
        options, most = request.inferdpt, self._config.limits.choices
        if request.choices > most:
            raise bad_request(f"n must be <= {most}.", param="n")
        for name in ("task", "instruction", "extraction", "candidates", "local_only"):
            if getattr(options, name):
                raise unsupported(f"inferdpt.{name}", NO_LOCAL_MODEL)
        sanitizer = self._policy.sanitizer(options, client.grant)
        client.check(request.model, sanitizer)
        return sanitizer

    async def _read_chat(self, request: ChatRequest, client: Client, route: Route) -> Letter:
        """Read a chat; raise `ApiError`."""
        body = request.model_dump(exclude_unset=True)
        first = next((m for m in request.messages if m.role == "user"), None)
        systems = [m for m in request.messages if m.role in ("system", "developer")]
        opening = [part for m in (*systems, *filter(None, [first])) for part in (m.role, m.text)]
        return await self._read(self._chat, body, client, opening, request, route)

    async def _read(
        self,
        positions: Fields,
        body: dict[str, Any],
        client: Client,
        opening: Sequence[str],
        request: SamplingRequest,
        route: Route,
    ) -> Letter:
        """Read a body by the table of its endpoint; raise `ApiError`."""

        def hash_name(name: str) -> str:
            return self._digests.of(client.tenant, "user", name).hex()

        kept = route.remote.config.identifiers == "pseudonym"
        most = self._config.limits.json_values // 8
        marks = route.remote.config.api == "messages"
        reading = Reading(most=most, alias=hash_name if kept else None, marks=marks)
        brief = sum(len(part) for part in opening) <= SHORT_REQUEST
        outline = await offload(brief, positions.read, body, "", reading)
        added, api = _add_fields(request, route), route.remote.config.api
        return Letter(outline, reading, tuple(opening), added, api)

    async def _draw(
        self,
        client: Client,
        sanitizer: Sanitizer,
        letters: Sequence[Letter],
        drafts: Sequence[Draft],
    ) -> list[Draft]:
        """Return the drafts of letters with a release for each text; raise `ApiError`.

        Each is brought back on its own before anything leaves: parts that would not come back as
        they were get a tag instead. What does not come back then, either, is counted in the
        receipt as ambiguous.
        """
        try:
            drawn = await self._drafter.draw(client.tenant, sanitizer, drafts)
            size = sum(len(release.raw) for draft in drawn for release in draft.releases)
            lost: frozenset[str] = frozenset()
            for pair in zip(letters, drawn, strict=True):
                lost |= await offload(size <= SHORT, find_lost_parts, *pair)
            if lost:
                drawn = await self._drafter.draw(client.tenant, sanitizer, drafts, tagged=lost)
            return drawn
        except PartsRefused as exc:
            places = ((i, letter.reading.find(exc.text)) for i, letter in enumerate(letters))
            if found := next(((i, at) for i, at in places if at is not None), None):
                number, at = found
                several = at == PROMPT and len(letters) > 1
                exc.place(f"{PROMPT}[{number}]" if several else at)
            raise

    async def _plan(
        self,
        request: SamplingRequest,
        client: Client,
        sanitizer: Sanitizer,
        route: Route,
        letters: Sequence[Letter],
    ) -> Plan:
        """Sanitize and settle the letters of a request; raise `ApiError`."""
        public = [place for letter in letters for place in letter.reading.public]
        await self._public.check_size(public)
        findings = await self._public.inspect(public)
        trace = Trace(["skipped"] * len(letters))
        with self._metrics.stage("perturb", trace.note_stage):
            drafts = [
                write_draft(self._digests, client, each, apart=self._apart) for each in letters
            ]
            drafts = await self._draw(client, sanitizer, letters, drafts)
        size = sum(len(release.raw) for draft in drafts for release in draft.releases)
        brief = size <= SHORT_REQUEST
        for pair in zip(letters, drafts, strict=True):  # what cannot be written is not charged
            await offload(brief, write_body, *pair)
        with self._metrics.stage("commit", trace.note_stage):
            settlement = await self._settler.settle(
                client,
                request.model,
                route.remote.alias,
                sanitizer,
                drafts,
                partial(count_positions, letters),
            )
        exchanges = [
            await offload(brief, compose, *pair)
            for pair in zip(letters, settlement.drafts, strict=True)
        ]
        plan = Plan(
            client=client,
            request=request,
            route=route,
            sanitizer=sanitizer,
            exchanges=tuple(exchanges),
            options={},
            candidates=1,
            settlement=settlement,
            exceeded=None,
            public_findings=findings,
            trace=trace,
        )
        self._metrics.count_plan(sanitizer, fresh=plan.fresh, released=plan.released)
        return plan


def _add_fields(request: SamplingRequest, route: Route) -> dict[str, Any]:
    """Return the fields of a body that the proxy adds."""
    added: dict[str, Any] = {"model": route.model}
    if isinstance(request, ChatRequest):
        added["store"] = False
    if request.choices > 1:
        added["n"] = request.choices
    if request.seed is not None and route.remote.config.send_seed:
        added["seed"] = request.seed
    if request.stream:
        added |= {"stream": True, "stream_options": {"include_usage": True}}
    return added
