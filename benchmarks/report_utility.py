"""The part of a report on how good the answers are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.records import Record

__all__ = ["utility"]


def utility(records: Sequence[Record]) -> Iterable[str]:
    """Sections on answers, documents and what the remote adds."""
    del records
    return ()
