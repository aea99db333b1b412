"""Draft a request's prompts: find a release for every private text, without settling it.

The releases are proposals until they are settled in the store, which may hold another replica's
draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from extraction.errors import LocalModelError
from perturb import DocumentTooLong, RefusedPart, Sanitizer
from perturb.offload import offload
from proxy.config.settings import Config
from proxy.errors import PartsRefused, from_local, too_large
from proxy.metrics import Metrics
from proxy.pipeline.draft import Draft, Private
from proxy.pipeline.findings import Findings, find
from proxy.pipeline.reading import Reader
from proxy.requests.messages import Prompt
from proxy.storage.answers import Answers
from proxy.storage.digests import Digests
from proxy.storage.memo import Memo, Pending
from proxy.storage.passages import Passages

__all__ = ["Drafter"]


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
