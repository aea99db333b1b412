"""Gateway mode: without a local model, the remote answers what was sanitized of a request.

A request is read as a letter: a body whose texts are to be sanitized. The same pipeline, memory,
ledger and guard apply as in extraction mode.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from extraction.codec import dump
from perturb import ReleaseError, Sanitizer
from perturb.selective.surrogates.kinds import PERSONS
from perturb.selective.surrogates.names import read_words
from perturb.text.fold import fold_name
from perturb.work import LIGHT, SHORT, are_light, offload
from proxy.access.auth import Client
from proxy.config.settings import Config
from proxy.errors import PartsRefused, unsupported
from proxy.gateway.positions import WORDS, chat_positions, completion_positions
from proxy.gateway.relaying import Relayer
from proxy.gateway.rules import BodyReading, Fields, Outline, fill
from proxy.metrics import Metrics
from proxy.pipeline.drafting import Draft, DraftTurn, Private, TurnSpan, TurnText
from proxy.pipeline.memory import Memory
from proxy.pipeline.plan import (
    Announce,
    Answer,
    Emit,
    Exchange,
    Outgoing,
    Plan,
    Unsent,
    make_receipt,
)
from proxy.pipeline.public import PublicText
from proxy.records.chain import Positions
from proxy.remote.guard import StringClearance
from proxy.remote.messages import WORDS as MESSAGES_WORDS
from proxy.remote.messages import spell_messages
from proxy.remote.remotes import Route
from proxy.requests.messages import Prompt
from proxy.requests.protocol import ChatRequest, SamplingRequest
from proxy.restoring.way_back import Restored, WayBack, build_way_back, find_lost
from proxy.storage.digests import Digests
from proxy.storage.ledger import Charge

__all__ = [
    "GatewayMode",
    "Letter",
    "compose",
    "count_positions",
    "find_lost_parts",
    "find_spellings",
    "find_unsound_parts",
    "is_short",
    "make_gateway_receipt",
    "release",
    "write_body",
    "write_draft",
]


@dataclass(frozen=True)
class Letter:
    """Hold a body that is to be sent, before its texts are sanitized.

    Attributes:
        outline: the body without what the proxy itself adds.
        reading: its texts and words.
        opening: the raw texts that identify its conversation.
        added: the model and the numbers that the proxy adds; nothing private.
        api: of the remote.
    """

    outline: Outline
    reading: BodyReading
    opening: tuple[str, ...]
    added: dict[str, Any]
    api: Literal["openai", "messages"] = "openai"
    _backs: dict[Hashable, WayBack] = field(default_factory=dict, repr=False)

    def way_back(self, draft: Draft) -> WayBack:
        """Return the way back of a draft of it: the same for a draft that was settled unchanged,
        so that a long conversation's is built once."""
        releases = draft.releases
        key = tuple((r.raw, r.sanitized.text, r.sanitized.replaced) for r in releases)
        if key not in self._backs:
            form = self.outline.get("response_format") or {"type": "text"}
            self._backs[key] = build_way_back(
                releases,
                self.reading.wholes,
                self.reading.names,
                writes_json=form["type"] != "text" or "guided_json" in self.outline,
            )
        return self._backs[key]


def write_draft(digests: Digests, client: Client, letter: Letter, *, apart: bool) -> Draft:
    """Write the draft of a letter, in which each text is private and no text is cut.

    Args:
        apart: whether equal texts of two conversations have separate releases.
    """
    conversation = digests.conversation(client.tenant, letter.opening)
    turns = (
        DraftTurn(
            "user", tuple(TurnText(raw, (TurnSpan(Private(raw), 0, len(raw)),)) for raw in texts)
        )
        for texts in letter.reading.turns
    )
    prompt = Prompt("chat", (), (), (), ())
    return Draft(prompt, conversation, conversation if apart else "", tuple(turns))


def write_body(letter: Letter, draft: Draft) -> dict[str, Any]:
    """Write the body of a draft in the remote's API.

    Raises:
        ApiError: 400, a sanitized text cannot stand where it has to, or the API has no place for
            a field.
    """
    chat = _write_chat(letter, draft)
    return spell_messages(chat) if letter.api == "messages" else chat


def _write_chat(letter: Letter, draft: Draft) -> dict[str, Any]:
    sanitized = {release.raw: release.sanitized.text for release in draft.releases}
    body: dict[str, Any] = fill(letter.outline, sanitized)
    for message in body.get("messages", ()):
        if message.get("content") in (None, []):  # parts that are not sent, or none
            message["content"] = None if message.get("tool_calls") else ""
    return {**body, **letter.added}


def count_positions(
    letters: Sequence[Letter], drafts: Sequence[Draft]
) -> dict[str, dict[str, int]]:
    """Count the replaced parts in settled drafts by position and type."""
    found: dict[str, Counter[str]] = {}
    for letter, draft in zip(letters, drafts, strict=True):
        made = {release.raw: release.sanitized for release in draft.releases}
        for place, counts in letter.reading.count(made).items():
            found.setdefault(place, Counter()).update(counts)
    return {place: dict(sorted(counts.items())) for place, counts in found.items()}


def find_lost_parts(letter: Letter, draft: Draft) -> frozenset[str]:
    """Return the raw parts of a draft that an answer which repeats its texts does not bring
    back, or that may not leave as they are."""
    releases = draft.releases
    back = letter.way_back(draft)
    return find_unsound_parts(draft) | frozenset(
        release.raw[part.start : part.end]
        for release, numbers in find_lost(back, releases)
        for number, part in enumerate(release.sanitized.replaced or ())
        if number in numbers
    )


def find_spellings(drafts: Sequence[Draft], lost: frozenset[str]) -> dict[str, list[str]]:
    """Return the words of lost names that are spelled in several ways, in small letters, each
    with its spellings in the order of the texts: `Søren`, and `Soren`."""
    found: dict[str, dict[str, None]] = {}
    for release in (release for draft in drafts for release in draft.releases):
        for part in release.sanitized.replaced or ():
            raw = release.raw[part.start : part.end]
            for word in read_words(raw)[0] if part.type in PERSONS and raw in lost else ():
                found.setdefault(fold_name(word), {}).setdefault(word.lower())
    return {word: [*spellings] for word, spellings in found.items() if len(spellings) > 1}


def _is_spelled(part: str, spelled: Mapping[str, Sequence[str]]) -> bool:
    """Tell if a word of a name is one of those that are spelled in several ways."""
    return any(fold_name(word) in spelled for word in read_words(part)[0])


def find_unsound_parts(draft: Draft) -> frozenset[str]:
    """Return the names in the texts of a draft whose release does not pass its check. They may
    have tags, but nothing is refused for them."""
    unsound: set[str] = set()
    for release in draft.releases:
        try:
            release.verify()
        except ReleaseError:
            raw, parts = release.raw, release.sanitized.replaced or ()
            unsound.update(raw[p.start : p.end] for p in parts if p.type in PERSONS)
    return frozenset(unsound)


def compose(letter: Letter, draft: Draft) -> Exchange:
    """Compose the body of a settled draft, its clearance and its way back; raise `ApiError`."""
    reading, releases = letter.reading, draft.releases
    chat = _write_chat(letter, draft)
    body = spell_messages(chat) if letter.api == "messages" else chat
    spoken = MESSAGES_WORDS if letter.api == "messages" else frozenset[str]()
    clearance = StringClearance(
        releases=tuple(releases),
        words=frozenset((*reading.words, *WORDS, *spoken, *_find_words(letter.added), "content")),
        public=tuple(text for _, text in reading.public),
    )
    return Exchange(
        prompt=draft.prompt,
        outgoing=Outgoing(body, clearance),
        scope=draft.scope,
        unsent="skipped",
        way_back=letter.way_back(draft),
    )


def _find_words(added: dict[str, Any]) -> list[str]:
    """Return the strings in the fields that the proxy adds."""
    inner = [item for item in added.values() if isinstance(item, dict)]
    strings = [item for item in added.values() if isinstance(item, str)]
    return [*added, *strings, *(word for item in inner for word in item)]


LOGPROBS = "the tokens are the remote's own: replacements are not restored in them"


def make_gateway_receipt(plan: Plan, restored: Restored | None) -> dict[str, Any] | None:
    """Return the receipt at the level that the client requested; None if it requests none.

    It is an ordinary receipt, and in addition:

    - `positions`: the replaced parts by position and type, as often as they stand there;
    - `restored`: the replacements that came back in the answer and were restored;
    - `unrestored`: those that came back in a web address, or in a form that may be something
      else, and were left;
    - `ambiguous`: the replacements of the request that cannot be told from other text, and are
      left wherever they come back.

    Args:
        restored: None while the answer is on its way.
    """
    level = plan.request.inferdpt.receipt
    if level == "none":
        return None
    out = make_receipt(
        level,
        plan.sanitizer,
        [(release.sanitized, release.fresh) for release in plan.releases],
        [("relayed", "whole")] * len(plan.exchanges),
        [{"sent": each.outgoing.body} for each in plan.exchanges if each.outgoing],
        (plan.settlement.charge or Charge()).to_dict() | {"exceeded": None},
        public=plan.public_findings,
        sent_to=plan.sent_to,
    )
    out["positions"] = {place: dict(counts) for place, counts in plan.settlement.positions.items()}
    out["restored"] = None if restored is None else restored.restored
    out["unrestored"] = None if restored is None else restored.unrestored
    out["ambiguous"] = sum(each.way_back.ambiguous for each in plan.exchanges if each.way_back)
    if plan.request.wants_logprobs:
        out["logprobs"] = LOGPROBS
    return out


async def _make_receipt(plan: Plan, restored: Restored | None) -> dict[str, Any] | None:
    """Make the receipt of a plan, in a thread if it has many releases."""
    if len(plan.releases) <= FEW:
        return make_gateway_receipt(plan, restored)
    return await offload(False, make_gateway_receipt, plan, restored)


FEW = 50  # releases that are listed in a few milliseconds
TREATMENTS = 3  # draws of a request's parts: another surrogate for spellings of a name, tags, tags
NO_LOCAL_MODEL = "there is no local model (local.mode: none)"
PROMPT = "prompt"  # of a text completion


def is_short(body: Any) -> bool:
    """Tell if a request is read in a few milliseconds, by its characters and values. It is not
    looked at any further than that."""
    left, waiting = LIGHT, [body]
    while waiting and left > 0:
        value = waiting.pop()
        left -= len(value) if isinstance(value, str) else 1
        if isinstance(value, dict):
            waiting += (*value, *value.values())
        elif isinstance(value, list):
            waiting += value
    return left > 0


class GatewayMode:
    """Read requests as letters, and relay them (see `proxy.pipeline.pipeline.Mode`)."""

    has_local_model = False

    def __init__(
        self, config: Config, *, public: PublicText, memory: Memory, metrics: Metrics
    ) -> None:
        self._config = config
        self._public = public
        self._digests = memory.digests
        self._drafter = memory.drafter
        self._relayer = Relayer(metrics)
        self._chat = chat_positions(public_system=config.privacy.system == "public")
        self._completion = completion_positions()

    def check(self, request: SamplingRequest) -> None:
        """Refuse the fields of a request that a local model would need; raise `ApiError`."""
        for name in ("task", "instruction", "extraction", "candidates", "local_only"):
            if getattr(request.inferdpt, name):
                raise unsupported(f"inferdpt.{name}", NO_LOCAL_MODEL)

    async def read(
        self,
        request: SamplingRequest,
        texts: Sequence[str] | None,
        client: Client,
        route: Route,
    ) -> list[Letter]:
        """Read a chat, or each text of a completion; raise `ApiError`."""
        body = request.model_dump(exclude_unset=True)
        if texts is None:
            assert isinstance(request, ChatRequest)
            opening = _find_opening(request)
            return [await self._read(self._chat, body, client, opening, request, route)]
        if route.remote.config.api == "messages":
            raise unsupported(PROMPT, "the model's remote speaks the Messages API; send a chat")
        return [
            await self._read(
                self._completion, {**body, PROMPT: text}, client, [text], request, route
            )
            for text in texts
        ]

    def read_text(self, text: str) -> Letter:
        """Read a text that is not sent."""
        reading = BodyReading(most=1)
        reading.add(text, "text")
        return Letter({}, reading, (text,), {})

    async def inspect(self, request: SamplingRequest, asked: Sequence[Letter]) -> dict[str, int]:
        """Count the sensitive parts of each type in public text; raise `ApiError`."""
        del request
        public = [place for letter in asked for place in letter.reading.public]
        await self._public.check_size(public)
        return await self._public.inspect(public)

    async def draft(
        self, client: Client, sanitizer: Sanitizer, asked: Sequence[Letter], field: str | None
    ) -> list[Draft]:
        """Return the drafts of letters with a release for each text; raise `ApiError`.

        Each is brought back on its own before anything leaves: parts that would not come back as
        they were get another surrogate, if they are spellings of one name, or a tag. What does not
        come back then, either, is counted in the receipt as ambiguous.
        """
        apart = self._config.memo.scope == "conversation"
        light = are_light([t for letter in asked for turn in letter.reading.turns for t in turn])
        drafts = [
            await offload(light, write_draft, self._digests, client, letter, apart=apart)
            for letter in asked
        ]
        try:
            drawn = await self._drafter.draw(client.tenant, sanitizer, drafts)
            size = sum(len(release.raw) for draft in drawn for release in draft.releases)
            tagged: frozenset[str] = frozenset()
            respelled: frozenset[str] = frozenset()
            for _ in range(TREATMENTS):
                lost: frozenset[str] = frozenset()
                for pair in zip(asked, drawn, strict=True):
                    lost |= await offload(size <= SHORT, find_lost_parts, *pair)
                if lost <= tagged:
                    break
                spelled = {} if respelled else find_spellings(drawn, lost)
                respelled |= {word for words in spelled.values() for word in words[1:]}
                tagged |= {part for part in lost if not _is_spelled(part, spelled)}
                drawn = await self._drafter.draw(
                    client.tenant, sanitizer, drafts, tagged=tagged, respelled=respelled
                )
        except PartsRefused as exc:
            places = ((i, letter.reading.find(exc.text)) for i, letter in enumerate(asked))
            if found := next(((i, at) for i, at in places if at is not None), None):
                number, at = found
                several = at == field and len(asked) > 1
                exc.place(f"{field}[{number}]" if several else at)
            raise
        for pair in zip(asked, drawn, strict=True):  # what cannot be written is not charged
            await offload(light, write_body, *pair)
        return drawn

    def count(self, asked: Sequence[Letter], drafts: Sequence[Draft]) -> Positions:
        """Count the replaced parts in settled drafts by position and type."""
        return count_positions(asked, drafts)

    async def compose(
        self, request: SamplingRequest, route: Route, asked: Sequence[Letter], drafts: list[Draft]
    ) -> list[Exchange]:
        """Compose the bodies of settled drafts; raise `ApiError`."""
        del request, route
        light = are_light([release.raw for draft in drafts for release in draft.releases])
        pairs = zip(asked, drafts, strict=True)
        return [await offload(light, compose, *pair) for pair in pairs]

    def keep(self, asked: Letter, unsent: Unsent) -> Exchange:
        """Raise `AssertionError`: without a local model, everything is sent or refused."""
        raise AssertionError("a letter that is not sent has no answer")

    async def write(
        self, request: SamplingRequest, route: Route, asked: Letter, draft: Draft
    ) -> tuple[bytes | None, int]:
        """Write the body of a draft, which has no public examples; raise `ApiError`."""
        del request
        return route.remote.write(await offload(False, write_body, asked, draft)), 0

    def choose(self, request: SamplingRequest) -> tuple[dict[str, Any], int]:
        """Return no fields for a local model, and one answer for each choice."""
        del request
        return {}, 1

    async def answer(self, plan: Plan) -> tuple[list[Answer], dict[str, Any] | None]:
        """Relay a plan, and return the restored answers, ordered `prompt_index * n + i`, and the
        receipt if one was requested.

        Raises:
            ApiError: the remote failed, or the guard refused.
        """
        answers, restored = await self._relayer.answer(plan)
        return answers, await _make_receipt(plan, restored)

    async def stream(self, plan: Plan, announce: Announce, emit: Emit) -> None:
        """Relay a plan, announce the receipt as far as it is known, and pass every step of the
        answers to `emit`, the last with the whole receipt.

        Raises:
            ApiError: the remote failed, or the guard refused.
        """
        await announce(await _make_receipt(plan, None))
        ends, restored = await self._relayer.stream(plan, emit)
        *others, (index, last) = ends
        for end in others:
            await emit(*end)
        await emit(index, last, await _make_receipt(plan, restored))

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
        reading = BodyReading(most=most, alias=hash_name if kept else None, marks=marks)
        outline = await offload(is_short(body), positions.read, body, "", reading)
        added, api = _add_fields(request, route), route.remote.config.api
        return Letter(outline, reading, tuple(opening), added, api)


async def release(plan: Plan) -> dict[str, Any]:
    """Return a settled plan for a caller who sends it: its body, the raw value of each replacement
    that can be told from other text, the others, which are left where they stand, the raw string
    of each that is restored where it is a whole string of JSON, and the receipt.

    Raises:
        ApiError: the guard refused.
    """
    (exchange,) = plan.exchanges
    assert exchange.outgoing is not None
    assert exchange.way_back is not None
    body, clearance = exchange.outgoing.body, exchange.outgoing.clearance
    back = exchange.way_back
    await offload(clearance.brief, clearance.check, dump(body))
    return {
        "object": "privacy.sanitization",
        "body": body,
        "replacements": back.replacements.raw_of,
        "left": back.replacements.left,
        "ordinary": sorted(back.replacements.ordinary),
        "wholes": dict(back.wholes),
        "receipt": await _make_receipt(plan, None),
    }


def _find_opening(request: ChatRequest) -> list[str]:
    """Return the raw texts that identify a conversation: the system's and the first user's."""
    first = next((m for m in request.messages if m.role == "user"), None)
    systems = [m for m in request.messages if m.role in ("system", "developer")]
    return [part for m in (*systems, *filter(None, [first])) for part in (m.role, m.text)]


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
