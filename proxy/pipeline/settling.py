"""Settle releases: store and charge them before anything is sent, or send nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from perturb import Sanitizer
from perturb.work import are_light, offload
from proxy.access.auth import Client
from proxy.config.settings import Limits
from proxy.metrics import Metrics
from proxy.pipeline.drafting import Draft, Quote, TurnText
from proxy.records.chain import Chain, Positions, write_charge
from proxy.release import Release
from proxy.remote.guard import are_brief, check_releases
from proxy.storage.digests import Digests, find_channel
from proxy.storage.ledger import BudgetExceeded, Charge, Disclosure, Ledger, price
from proxy.storage.memo import Answers, Memo, Passage, PassagePiece, Passages
from proxy.storage.store import Connection, Store

__all__ = ["Settlement", "Settler"]


@dataclass(frozen=True)
class Settlement:
    """Hold the drafts of a request as they are sent, each release in them once, and the charge.

    Attributes:
        positions: for a request that keeps its form, the replaced parts by position and type.
    """

    drafts: tuple[Draft, ...] = ()
    releases: tuple[Release, ...] = ()
    charge: Charge | None = None
    positions: Positions = field(default_factory=dict)


class Settler:
    """Settle requests, each in one transaction."""

    def __init__(
        self,
        limits: Limits,
        *,
        store: Store,
        digests: Digests,
        memo: Memo,
        answers: Answers,
        passages: Passages,
        ledger: Ledger,
        chain: Chain,
        metrics: Metrics,
    ) -> None:
        self._limits = limits
        self._store = store
        self._digests = digests
        self._memo = memo
        self._answers = answers
        self._passages = passages
        self._ledger = ledger
        self._chain = chain
        self._metrics = metrics

    def under(self, limits: Limits) -> Settler:
        """Return a settler over the same store for other limits."""
        made = copy(self)
        made._limits = limits
        return made

    async def settle(
        self,
        client: Client,
        model: str,
        sent_to: str,
        sanitizer: Sanitizer,
        drafts: Sequence[Draft],
        count: Callable[[Sequence[Draft]], Positions] = lambda drafts: {},
    ) -> Settlement:
        """Settle the releases of a request, charge it, and record the charge.

        The guard refuses before anything is stored. A request without private text still counts
        as one in the ledger. A text with an empty release still has a price: a paraphrase may be
        empty.

        Args:
            model: as clients name it.
            sent_to: the alias of its remote.
            count: counts the replaced parts in settled drafts by position and type.

        Raises:
            BudgetExceeded: nothing was stored or charged.
            ApiError: the guard refused, or the store failed.
        """
        tenant = client.tenant
        drawn: dict[bytes, Release] = {}
        conversations: dict[bytes, str] = {}  # a text is charged where it occurs first
        for draft in drafts:
            for release in draft.releases:
                drawn.setdefault(release.key, release)
                conversations.setdefault(release.key, draft.conversation)
        releases = list(drawn.values())
        brief = are_brief(releases)
        await offload(brief, check_releases, releases)
        grant = client.grant
        budgets = {
            "epsilon": self._limits.budget.under(grant.budget),
            "tokens": self._limits.budget_tokens.under(grant.budget_tokens),
            "unbounded": self._limits.budget_unbounded.under(grant.budget_unbounded),
        }
        quotes = [quote.key for draft in drafts for quote in draft.quotes]
        passages = await offload(brief, self._make_rows, tenant, sanitizer, drafts)
        light = brief or are_light([release.raw for release in releases])
        packed = {} if light else await self._memo.pack(releases)

        def settle(connection: Connection) -> Settlement:
            self._ledger.lock(connection, tenant)
            found = self._memo.settle(connection, tenant, releases, packed)
            settled = {release.key: release for release in found}
            self._answers.reuse(connection, quotes)
            self._passages.add(connection, passages)
            prices = {key: price(sanitizer, r.sanitized) for key, r in settled.items()}
            charge = self._ledger.charge(
                connection,
                tenant,
                [(conversations[key], prices[key]) for key, r in settled.items() if r.fresh],
                conversations=[draft.conversation for draft in drafts],
                disclosed=[
                    Disclosure(
                        draft.conversation, self._digests.release(settled[key]), prices[key]
                    )
                    for draft in drafts
                    for key in dict.fromkeys(release.key for release in draft.releases)
                ],
                budgets=budgets,
            )
            final = tuple(
                draft.change(lambda c: settled[c.key] if isinstance(c, Release) else c)
                for draft in drafts
            )
            positions = count(final)
            entry = write_charge(client, model, sent_to, sanitizer, found, positions, charge)
            self._chain.append(connection, tenant, [entry])
            return Settlement(final, tuple(found), charge, positions)

        try:
            settlement = await self._store.write(settle, lane=tenant, brief=light)
        except BudgetExceeded as exc:
            self._metrics.refused.labels(exc.scope).inc()
            raise
        self._memo.forget(settlement.releases)
        if settlement.charge is not None:
            fresh = [release.fresh for release in settlement.releases]
            self._metrics.count_charge(sanitizer, settlement.charge.charged.epsilon, fresh)
            self._metrics.set_account(tenant, settlement.charge.totals)
        return settlement

    def _make_rows(
        self, tenant: str, sanitizer: Sanitizer, drafts: Sequence[Draft]
    ) -> list[dict[str, Any]]:
        """Return the rows of the passages of drafts that may be released in parts."""
        if not sanitizer.divisible:
            return []
        channel = find_channel(sanitizer)
        return [
            row
            for draft in drafts
            for row in self._passages.rows(tenant, draft.scope, channel, _find_passages(draft))
        ]


def _find_passages(draft: Draft) -> Iterator[Passage]:
    """Yield the passages of a draft: each text, and each release and quote in it."""
    for turn in draft.turns:
        for text in turn.texts:
            if text.raw is not None:
                yield from _cut_passages(text.raw, text)


def _cut_passages(raw: str, text: TurnText) -> Iterator[Passage]:
    pieces = []
    for span in text.spans:
        match span.content:
            case Release(key=key):
                pieces.append(PassagePiece("text", key.hex(), span.start, span.end))
            case Quote(key=key):
                pieces.append(PassagePiece("answer", key.hex(), span.start, span.end))
            case _:
                pieces.append(PassagePiece("blank", span.outgoing, span.start, span.end))
    for piece in pieces:
        if piece.kind != "blank":
            own = PassagePiece(piece.kind, piece.value, 0, piece.end - piece.start)
            yield Passage(raw[piece.start : piece.end], (own,))
    if len(pieces) > 1:
        yield Passage(raw, tuple(pieces))
