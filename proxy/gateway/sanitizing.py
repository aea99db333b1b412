"""Write the drafts of requests, and compose bodies from what the store settled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from proxy.access.auth import Client
from proxy.gateway.positions import WORDS
from proxy.gateway.rules import Outline, Reading, fill
from proxy.pipeline.drafting import Draft, DraftTurn, Private, Span, Text
from proxy.pipeline.plan import Exchange, Outgoing, Plan, make_receipt
from proxy.remote.guard import StringClearance
from proxy.remote.messages.request import WORDS as MESSAGES_WORDS
from proxy.remote.messages.request import spell_messages
from proxy.requests.messages import Prompt
from proxy.restoring.way_back import Restored, WayBack, build_way_back, find_lost
from proxy.storage.digests import Digests
from proxy.storage.ledger import Charge

__all__ = [
    "Letter",
    "compose",
    "count_positions",
    "find_lost_parts",
    "make_gateway_receipt",
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
    reading: Reading
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
        DraftTurn("user", tuple(Text(raw, (Span(Private(raw), 0, len(raw)),)) for raw in texts))
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
    back."""
    releases = draft.releases
    back = letter.way_back(draft)
    return frozenset(
        release.raw[part.start : part.end]
        for release, numbers in find_lost(back, releases)
        for number, part in enumerate(release.sanitized.replaced or ())
        if number in numbers
    )


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
    if getattr(plan.request, "logprobs", None) not in (None, False):
        out["logprobs"] = LOGPROBS
    return out
