"""Draft a request's prompts and settle the draft: find a release for every private text, then
store and charge them in one transaction before anything is sent, or send nothing.

A passage that was released before, in this request or an earlier one, is sent as it was released
then. The rest is cut into units, which are drawn. A sensitive part that is found in one text of
the request counts in all. The releases are proposals until they are settled in the store, which
may hold another replica's draw.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import accumulate, islice
from typing import Any

from extraction.errors import LocalModelError
from perturb import DocumentTooLong, RefusedPart, Sanitizer
from perturb.release import EMPTY, Known
from perturb.text.fold import display_small
from perturb.work import are_light, check_work, compute_once, hash_values, keep_result, offload
from proxy.access.auth import Client
from proxy.config.settings import Config, Limits
from proxy.errors import PartsRefused, from_local, too_large
from proxy.metrics import Metrics
from proxy.records.chain import Chain, Positions, write_charge
from proxy.release import Release
from proxy.remote.guard import are_brief, check_releases
from proxy.requests.messages import Part, Prompt
from proxy.storage.digests import Digests, find_channel, spell_channel
from proxy.storage.ledger import BudgetExceeded, Charge, Disclosure, Ledger, price
from proxy.storage.memo import Answers, Found, Memo, Passage, PassagePiece, Passages, Pending
from proxy.storage.store import Connection, Store

__all__ = [
    "Draft",
    "DraftTurn",
    "Drafter",
    "Private",
    "Quote",
    "Reader",
    "Settlement",
    "Settler",
    "TurnFindings",
    "TurnSpan",
    "TurnText",
    "find",
]


@dataclass(frozen=True)
class Private:
    """Hold a private text that has no release yet."""

    raw: str


@dataclass(frozen=True)
class Quote:
    """Hold an earlier generation of the remote, and the key of the answer made from it."""

    text: str
    key: bytes


Content = Release | Quote | Private | str


@dataclass(frozen=True)
class TurnSpan:
    """Hold a stretch of a text.

    Attributes:
        content: sent in its place; a string is sent as it is.
        start, end: its place in the text, in characters.
    """

    content: Content
    start: int = 0
    end: int = 0

    @property
    def outgoing(self) -> str:
        """Return the text that is sent in its place."""
        match self.content:
            case Release(sanitized=sanitized):
                return sanitized.text
            case Quote(text=text):
                return text
            case str(text):
                return text
        raise AssertionError("a private text without a release cannot be sent")


@dataclass(frozen=True)
class TurnText:
    """Hold a text of a turn; `raw` is None for public text and for a recognised answer."""

    raw: str | None
    spans: tuple[TurnSpan, ...]

    @property
    def private(self) -> list[str]:
        """Return the raw private texts in it, as they are released."""
        kinds = (Release, Private)
        return [span.content.raw for span in self.spans if isinstance(span.content, kinds)]


@dataclass(frozen=True)
class DraftTurn:
    """Hold a turn of a prompt."""

    role: str
    texts: tuple[TurnText, ...]

    @property
    def spans(self) -> list[TurnSpan]:
        """Return all spans in order."""
        return [span for text in self.texts for span in text.spans]

    @property
    def private(self) -> list[str]:
        """Return the raw private texts in it, whole and as they are released."""
        whole = [text.raw for text in self.texts if text.raw is not None]
        return [*whole, *(raw for text in self.texts for raw in text.private)]

    @property
    def pending(self) -> list[str]:
        """Return the raw private texts in it that have no release yet."""
        return [span.content.raw for span in self.spans if isinstance(span.content, Private)]


@dataclass(frozen=True)
class Draft:
    """Hold a prompt as it was read for the remote.

    Attributes:
        conversation: the name of the conversation it belongs to.
        scope: the scope of equal texts and answers, see `Memo.releases`.
    """

    prompt: Prompt
    conversation: str
    scope: str
    turns: tuple[DraftTurn, ...]

    @property
    def spans(self) -> list[TurnSpan]:
        """Return all spans in order."""
        return [span for turn in self.turns for span in turn.spans]

    @property
    def releases(self) -> list[Release]:
        """Return the releases that are sent with it."""
        return [span.content for span in self.spans if isinstance(span.content, Release)]

    @property
    def unique_releases(self) -> tuple[Release, ...]:
        """Return the release of each private text once, as it is charged."""
        return tuple({release.key: release for release in self.releases}.values())

    @property
    def quotes(self) -> list[Quote]:
        """Return the remote's own words that are sent with it."""
        return [span.content for span in self.spans if isinstance(span.content, Quote)]

    def change(self, change: Callable[[Content], Content]) -> Draft:
        """Return the draft with a function applied to the content of each span."""

        def change_text(text: TurnText) -> TurnText:
            spans = [TurnSpan(change(span.content), span.start, span.end) for span in text.spans]
            return TurnText(text.raw, tuple(spans))

        turns = [DraftTurn(turn.role, tuple(map(change_text, turn.texts))) for turn in self.turns]
        return Draft(self.prompt, self.conversation, self.scope, tuple(turns))


class Reader:
    """Read prompts.

    Args:
        least: the fewest words of a unit of a user's text; None to release every text whole.
        apart: whether equal texts of two conversations have separate releases.
    """

    def __init__(
        self,
        *,
        digests: Digests,
        memo: Memo,
        answers: Answers,
        passages: Passages,
        least: int | None,
        apart: bool,
    ) -> None:
        self._digests = digests
        self._memo = memo
        self._answers = answers
        self._passages = passages
        self._least = least
        self._apart = apart

    async def read(
        self, tenant: str, sanitizer: Sanitizer, prompts: Sequence[Prompt]
    ) -> list[Draft]:
        """Read a request's prompts.

        Raises:
            DocumentTooLong: a text is longer than the sanitizer takes.
            ApiError: the store failed.
        """
        drafts = []
        # The private texts of the request so far, by scope and anchor; a dictionary keeps order.
        seen: dict[str, dict[bytes, dict[str, None]]] = defaultdict(dict)
        for prompt in prompts:
            conversation = self._digests.conversation(tenant, prompt.opening)
            scope = conversation if self._apart else ""
            turns: list[DraftTurn] = []
            before = ""
            for turn in prompt.turns:
                quote = None
                if turn.role == "assistant":
                    key = self._answers.key(tenant, scope, before, turn.text)
                    quote = await self._find_quote(key)
                texts = [] if quote is None else [TurnText(None, (TurnSpan(quote),))]
                for part in turn.parts if quote is None else ():
                    least = self._least if turn.role == "user" else None
                    text = await self._read_part(
                        tenant, scope, sanitizer, part, least, seen[scope]
                    )
                    for anchor, raw in self._passages.anchors(tenant, scope, text.private):
                        seen[scope].setdefault(anchor, {})[raw] = None
                    texts.append(text)
                turns.append(DraftTurn(turn.role, tuple(texts)))
                before = turn.text
            drafts.append(Draft(prompt, conversation, scope, tuple(turns)))
        return drafts

    async def _read_part(
        self,
        tenant: str,
        scope: str,
        sanitizer: Sanitizer,
        part: Part,
        least: int | None,
        seen: Mapping[bytes, Iterable[str]],
    ) -> TurnText:
        """Read one part of a turn."""
        raw = part.text
        if part.public:
            return TurnText(None, (TurnSpan(raw),))
        brief = sanitizer.is_brief(raw)
        units = await offload(brief, _cut, sanitizer, raw, 0, least)
        if not raw.strip() or not sanitizer.divisible:
            return TurnText(raw, tuple(units))
        spans: list[TurnSpan] = []
        end = 0
        channel = find_channel(sanitizer)
        for found in await self._passages.find(tenant, scope, channel, raw, seen):
            recalled = await self._recall(sanitizer, raw, found)
            if recalled is None:
                continue
            gap = raw[end : found.start]
            spans += await offload(brief, _cut, sanitizer, gap, end, least)
            spans += recalled
            end = found.end
        if spans:
            spans += await offload(brief, _cut, sanitizer, raw[end:], end, least)
        return TurnText(raw, tuple(spans or units))

    async def _recall(self, sanitizer: Sanitizer, raw: str, found: Found) -> list[TurnSpan] | None:
        """Return the earlier releases of a passage; None if a piece of it is forgotten."""
        if not found.pieces:
            return [TurnSpan(Private(raw[found.start : found.end]), found.start, found.end)]
        keys = [bytes.fromhex(piece.value) for piece in found.pieces if piece.kind == "text"]
        known = await self._memo.recall(keys)
        spans = []
        for piece in found.pieces:
            start, end = found.start + piece.start, found.start + piece.end
            content: Release | Quote | str | None = piece.value
            if piece.kind == "text":
                key = bytes.fromhex(piece.value)
                made = known.get(key)
                content = Release(raw[start:end], made, sanitizer, key) if made else None
            elif piece.kind == "answer":
                content = await self._find_quote(bytes.fromhex(piece.value))
            if content is None:
                return None
            spans.append(TurnSpan(content, start, end))
        return spans

    async def _find_quote(self, key: bytes) -> Quote | None:
        generation = await self._answers.generation(key)
        return None if generation is None else Quote(generation, key)


def _cut(sanitizer: Sanitizer, text: str, offset: int, least: int | None) -> list[TurnSpan]:
    """Return the units of a text and the white space after each."""
    spans = []
    for unit in sanitizer.units(text, least) if text else ():
        start = offset + unit.start
        end = start + len(unit.text)
        if unit.text:
            spans.append(TurnSpan(Private(unit.text), start, end))
        if unit.after:
            spans.append(TurnSpan(unit.after, end, end))
    return spans


@dataclass(frozen=True)
class _Found:
    """Hold a sensitive part: its type, the turn it was first found in, and its displayed form in
    lower case."""

    type: str
    turn: int
    displayed: str


@dataclass(frozen=True)
class TurnFindings:
    """Hold the sensitive parts in the turns of a request.

    A new text is released without any of them. A text with an earlier release is sent as it was
    released then, when only some of them were known.

    Attributes:
        sanitizer: the sanitizer that found them.
        parts: the parts in the order of the turns.
        own: each text's own parts.
    """

    sanitizer: Sanitizer
    parts: Mapping[str, _Found]
    own: Mapping[str, Known]
    _known: dict[int, Known] = field(default_factory=dict)

    def channels(self, text: str, turn: int) -> tuple[tuple[str, ...], Known]:
        """Return the identities under which a text of a turn may have been released, oldest
        first, see `spell_channel`, and the parts that are sensitive in it if it is released now,
        under the last identity."""
        if not self.parts:
            return (find_channel(self.sanitizer),), EMPTY
        identity = self.sanitizer.identity()
        later = keep_result(
            partial(self._find_later, text, turn), "later", text, str(turn), self._digest
        )
        # The text's own parts change nothing, wherever else they occur.
        own = self.own[text]
        here: Known = EMPTY
        channels: list[str] = []
        for last in (turn, *later):
            here = self.sanitizer.known_in(text, self._find_known(last))
            others = {part: kind for part, kind in here.items() if part not in own}
            channel = spell_channel({**identity, "known": others} if others else identity)
            if channel not in channels:
                channels.append(channel)
        return tuple(channels), here

    def _find_later(self, text: str, turn: int) -> tuple[int, ...]:
        """Return the turns after one in which parts of its text were first found."""
        shown = compute_once(display_small, text)
        later = {
            found.turn
            for found in self.parts.values()
            if found.turn > turn and found.displayed in shown
        }
        return tuple(sorted(later))

    @cached_property
    def _digest(self) -> str:
        return hash_values([(found.displayed, found.turn) for found in self.parts.values()])

    def _find_known(self, last: int) -> Known:
        """Return the parts that were found up to a turn, prepared once for all texts: most turns
        find nothing new."""
        count = bisect_right(self._turns, last)
        if count not in self._known:
            known = {part: found.type for part, found in islice(self.parts.items(), count)}
            self._known[count] = self.sanitizer.index_known(known)
        return self._known[count]

    @cached_property
    def _turns(self) -> list[int]:
        return [found.turn for found in self.parts.values()]


def find(sanitizer: Sanitizer, turns: Iterable[Iterable[str]]) -> TurnFindings:
    """Find the sensitive parts of a request.

    Args:
        turns: the private texts of each turn, in order.
    """
    parts: dict[str, _Found] = {}
    own: dict[str, Known] = {}
    for turn, texts in enumerate(turns):
        for text in dict.fromkeys(texts):
            if text not in own:
                check_work()
                own[text] = sanitizer.findings(text)
            for part, kind in own[text].items():
                if part not in parts:
                    parts[part] = _Found(kind, turn, display_small(part))
    return TurnFindings(sanitizer, parts, own)


class Drafter:
    """Draft requests."""

    def __init__(
        self,
        config: Config,
        *,
        digests: Digests,
        memo: Memo,
        answers: Answers,
        passages: Passages,
        metrics: Metrics,
    ) -> None:
        self._memo = memo
        self._metrics = metrics
        self._reader = Reader(
            digests=digests,
            memo=memo,
            answers=answers,
            passages=passages,
            least=config.memo.paragraph_words if config.memo.paragraphs else None,
            apart=config.memo.scope == "conversation",
        )

    async def draft(
        self, tenant: str, sanitizer: Sanitizer, prompts: Sequence[Prompt]
    ) -> list[Draft]:
        """Draft prompts, and draw the private texts without an earlier release.

        A part that is sensitive in one text of the request is sensitive in all its new texts.

        Raises:
            ApiError: a text is too long or holds a part of a type that is refused, the store
                failed, or a paraphrase could not be made.
        """
        try:
            drafts = await self._reader.read(tenant, sanitizer, prompts)
        except DocumentTooLong as exc:
            raise too_large(f"{exc}.") from exc
        return await self.draw(tenant, sanitizer, drafts, _find_unsent(prompts))

    async def draw(
        self,
        tenant: str,
        sanitizer: Sanitizer,
        drafts: Sequence[Draft],
        unsent: Sequence[str] = (),
        tagged: frozenset[str] = frozenset(),
        respelled: frozenset[str] = frozenset(),
    ) -> list[Draft]:
        """Return drafts with a release for each of their private texts.

        Args:
            unsent: private texts that are not sent; their sensitive parts still count.
            tagged: sensitive parts that get a tag, see `RequestLink`; draws of texts that hold
                one are made again, unless they were released already.
            respelled: words of names that get surrogates of their own, see `RequestLink`.

        Raises:
            ApiError: as `draft`.
        """
        try:
            turns = [unsent, *(turn.private for draft in drafts for turn in draft.turns)]
            brief = sanitizer.is_brief(*(text for turn in turns for text in turn))
            findings = await offload(brief, find, sanitizer, turns)
            firsts = accumulate((len(draft.turns) for draft in drafts), initial=1)
            return [
                await self._draw_one(tenant, sanitizer, findings, draft, first, tagged, respelled)
                for draft, first in zip(drafts, firsts, strict=False)
            ]
        except DocumentTooLong as exc:
            raise too_large(f"{exc}.") from exc
        except RefusedPart as exc:
            raise PartsRefused(exc.text, exc.lines) from exc
        except LocalModelError as exc:  # of a paraphrase
            error = from_local(exc)
            self._metrics.count_failure("local", error)
            raise error from exc

    async def _draw_one(
        self,
        tenant: str,
        sanitizer: Sanitizer,
        findings: TurnFindings,
        draft: Draft,
        first: int,
        tagged: frozenset[str],
        respelled: frozenset[str],
    ) -> Draft:
        """Return a draft with a release for each private text.

        `first` is the number of the draft's first turn in the findings.
        """
        texts = [(raw, n) for n, turn in enumerate(draft.turns, first) for raw in turn.pending]
        brief = sanitizer.is_brief(*(raw for raw, _ in texts))
        channels = await offload(brief, lambda: [findings.channels(*text) for text in texts])
        pending = [Pending(raw, *own) for (raw, _), own in zip(texts, channels, strict=True)]
        found = await self._memo.releases(
            tenant, draft.scope, sanitizer, pending, tagged, respelled
        )
        releases = iter(found)
        return draft.change(lambda c: next(releases) if isinstance(c, Private) else c)


def _find_unsent(prompts: Sequence[Prompt]) -> list[str]:
    """Return the private texts that are not sent; their sensitive parts still count."""
    sent = {part.text for prompt in prompts for turn in prompt.turns for part in turn.parts}
    private = dict.fromkeys(text for prompt in prompts for text in prompt.private)
    return [text for text in private if text not in sent]


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
