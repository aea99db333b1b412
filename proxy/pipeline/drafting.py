"""Draft a request's prompts: find a release for every private text, without settling it.

The releases are proposals until they are settled in the store, which may hold another replica's
draw. A sensitive part that is found in one text of the request counts in all (`Findings`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, islice

from extraction.errors import LocalModelError
from perturb import DocumentTooLong, RefusedPart, Sanitizer
from perturb.release import EMPTY, Known
from perturb.text.fold import display_small
from perturb.text.once import compute_once
from perturb.work import check_work, offload
from proxy.config.settings import Config
from proxy.errors import PartsRefused, from_local, too_large
from proxy.metrics import Metrics
from proxy.pipeline.draft import Draft, Private
from proxy.pipeline.reading import Reader
from proxy.requests.messages import Prompt
from proxy.storage.answers import Answers
from proxy.storage.digests import Digests, find_channel, spell_channel
from proxy.storage.memo import Memo, Pending
from proxy.storage.passages import Passages

__all__ = ["Drafter", "Findings", "find"]


@dataclass(frozen=True)
class _Found:
    """Hold a sensitive part: its type, the turn it was first found in, and its displayed form in
    lower case."""

    type: str
    turn: int
    displayed: str


@dataclass(frozen=True)
class Findings:
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
        shown = compute_once(display_small, text)
        later = {
            found.turn
            for found in self.parts.values()
            if found.turn > turn and found.displayed in shown
        }
        # The text's own parts change nothing, wherever else they occur.
        own = self.own[text]
        here: Known = EMPTY
        channels: list[str] = []
        for last in (turn, *sorted(later)):
            here = self.sanitizer.known_in(text, self._find_known(last))
            others = {part: kind for part, kind in here.items() if part not in own}
            channel = spell_channel({**identity, "known": others} if others else identity)
            if channel not in channels:
                channels.append(channel)
        return tuple(channels), here

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


def find(sanitizer: Sanitizer, turns: Iterable[Iterable[str]]) -> Findings:
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
    return Findings(sanitizer, parts, own)


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
    ) -> list[Draft]:
        """Return drafts with a release for each of their private texts.

        Args:
            unsent: private texts that are not sent; their sensitive parts still count.
            tagged: sensitive parts that get a tag, see `RequestLink`; draws of texts that hold
                one are made again, unless they were released already.

        Raises:
            ApiError: as `draft`.
        """
        try:
            turns = [unsent, *(turn.private for draft in drafts for turn in draft.turns)]
            brief = sanitizer.is_brief(*(text for turn in turns for text in turn))
            findings = await offload(brief, find, sanitizer, turns)
            firsts = accumulate((len(draft.turns) for draft in drafts), initial=1)
            return [
                await self._draw_one(tenant, sanitizer, findings, draft, first, tagged)
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
        findings: Findings,
        draft: Draft,
        first: int,
        tagged: frozenset[str],
    ) -> Draft:
        """Return a draft with a release for each private text.

        `first` is the number of the draft's first turn in the findings.
        """
        texts = [(raw, n) for n, turn in enumerate(draft.turns, first) for raw in turn.pending]
        brief = sanitizer.is_brief(*(raw for raw, _ in texts))
        channels = await offload(brief, lambda: [findings.channels(*text) for text in texts])
        pending = [Pending(raw, *own) for (raw, _), own in zip(texts, channels, strict=True)]
        found = await self._memo.releases(tenant, draft.scope, sanitizer, pending, tagged)
        releases = iter(found)
        return draft.change(lambda c: next(releases) if isinstance(c, Private) else c)


def _find_unsent(prompts: Sequence[Prompt]) -> list[str]:
    """Return the private texts that are not sent; their sensitive parts still count."""
    sent = {part.text for prompt in prompts for turn in prompt.turns for part in turn.parts}
    private = dict.fromkeys(text for prompt in prompts for text in prompt.private)
    return [text for text in private if text not in sent]
