"""Build what releases texts: the memory of earlier releases, the drafter and the settler."""

from __future__ import annotations

from dataclasses import dataclass, replace

from proxy.config.settings import Config, Limits
from proxy.metrics import Metrics
from proxy.pipeline.drafting import Drafter, Settler
from proxy.records.chain import Chain
from proxy.storage.digests import Digests
from proxy.storage.ledger import Ledger
from proxy.storage.memo import Answers, Memo, Passages
from proxy.storage.store import Store

__all__ = ["Memory", "build_memory"]


@dataclass(frozen=True)
class Memory:
    """Hold the objects over one store that release texts."""

    digests: Digests
    answers: Answers
    drafter: Drafter
    settler: Settler

    def under(self, limits: Limits) -> Memory:
        """Return the same memory for other limits."""
        return replace(self, settler=self.settler.under(limits))


def build_memory(config: Config, store: Store, ledger: Ledger, metrics: Metrics) -> Memory:
    """Build the memory of a store."""
    size, ttl = int(config.memo.megabytes * 1e6), config.memo.ttl_seconds
    digests, passages = Digests(store), Passages(store)
    memo = Memo(store, size=size, ttl=ttl)
    answers = Answers(store, passages, size=size, ttl=ttl)
    drafter = Drafter(
        config,
        digests=digests,
        memo=memo,
        answers=answers,
        passages=passages,
        metrics=metrics,
    )
    settler = Settler(
        config.limits,
        store=store,
        digests=digests,
        memo=memo,
        answers=answers,
        passages=passages,
        ledger=ledger,
        chain=Chain(store),
        metrics=metrics,
    )
    return Memory(digests, answers, drafter, settler)
