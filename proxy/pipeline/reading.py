"""Read a request's prompts into drafts.

A passage that was released before, in this request or an earlier one, is sent as it was released
then. The rest is cut into units, which are drawn later.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from perturb import Sanitizer
from perturb.work import offload
from proxy.pipeline.draft import Draft, DraftTurn, Private, Quote, Span, Text
from proxy.release import Release
from proxy.requests.messages import Part, Prompt
from proxy.storage.answers import Answers
from proxy.storage.digests import Digests, find_channel
from proxy.storage.memo import Memo
from proxy.storage.passages import Found, Passages

__all__ = ["Reader"]


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
                texts = [] if quote is None else [Text(None, (Span(quote),))]
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
    ) -> Text:
        """Read one part of a turn."""
        raw = part.text
        if part.public:
            return Text(None, (Span(raw),))
        brief = sanitizer.is_brief(raw)
        units = await offload(brief, _cut, sanitizer, raw, 0, least)
        if not raw.strip() or not sanitizer.divisible:
            return Text(raw, tuple(units))
        spans: list[Span] = []
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
        return Text(raw, tuple(spans or units))

    async def _recall(self, sanitizer: Sanitizer, raw: str, found: Found) -> list[Span] | None:
        """Return the earlier releases of a passage; None if a piece of it is forgotten."""
        if not found.pieces:
            return [Span(Private(raw[found.start : found.end]), found.start, found.end)]
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
            spans.append(Span(content, start, end))
        return spans

    async def _find_quote(self, key: bytes) -> Quote | None:
        generation = await self._answers.generation(key)
        return None if generation is None else Quote(generation, key)


def _cut(sanitizer: Sanitizer, text: str, offset: int, least: int | None) -> list[Span]:
    """Return the units of a text and the white space after each."""
    spans = []
    for unit in sanitizer.units(text, least) if text else ():
        start = offset + unit.start
        end = start + len(unit.text)
        if unit.text:
            spans.append(Span(Private(unit.text), start, end))
        if unit.after:
            spans.append(Span(unit.after, end, end))
    return spans
