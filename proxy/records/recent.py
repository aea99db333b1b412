"""Summarize the latest requests of several tenants, from a bounded number of rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import partial

from sqlalchemy import Connection

from proxy.records.chain import PAGE, read_page_before
from proxy.storage.store import Store

__all__ = ["OUTCOMES", "ROWS", "Recent", "find_outcome", "summarize"]

ROWS = 50_000  # of all tenants together
OUTCOMES = ("answered", "refused", "failed", "left", "open")
LEFT = 499  # the status of a request whose client went away


@dataclass(frozen=True)
class Recent:
    """Summarize a tenant's latest requests.

    Attributes:
        outcomes: the number of requests by outcome, of those that ended.
        parts: the parts that were replaced in texts without a bound, by type.
        seconds: 95 % of the answered requests took at most so long; None if there are none.
        since: the time of the oldest row that was read (seconds since 1970), if there are older
            ones that were not.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    parts: Counter[str] = field(default_factory=Counter)
    seconds: float | None = None
    since: float | None = None


def find_outcome(status: int | None) -> str:
    """Return how a request ended, among `OUTCOMES`, by the status of its answer.

    >>> [find_outcome(status) for status in (200, 403, 499, 502, None)]
    ['answered', 'refused', 'left', 'failed', 'open']
    """
    if status is None:
        return "open"
    if status == LEFT:
        return "left"
    return "answered" if status < 400 else "refused" if status < 500 else "failed"


async def summarize(
    store: Store, tenants: Collection[str], *, since: float = -math.inf
) -> dict[str, Recent]:
    """Summarize the latest requests of each tenant.

    At most `ROWS` rows are read, as many of each tenant.

    Args:
        since: only requests that were admitted from then on (seconds since 1970).

    Raises:
        ApiError: the store failed.
    """
    most = max(1, min(PAGE, ROWS // max(1, len(tenants))))
    return {
        tenant: await store.scan(partial(_summarize, tenant=tenant, since=since, most=most))
        for tenant in tenants
    }


def _summarize(connection: Connection, *, tenant: str, since: float, most: int) -> Recent:
    rows = read_page_before(connection, tenant, most=most)
    outcomes: Counter[str] = Counter()
    parts: Counter[str] = Counter()
    times = []
    for row in rows:
        if row.time < since:
            continue
        content = row.content
        match content["kind"]:
            case "charge" if content["guarantee"] == "none":
                parts.update(content["entities"])
            case "end":
                outcome = find_outcome(content["status"])
                outcomes[outcome] += 1
                if outcome == "answered":
                    times.append(content["microseconds"] / 1e6)
    times.sort()
    cut = len(rows) == most and rows[-1].time >= since
    return Recent(
        outcomes,
        parts,
        seconds=times[math.ceil(0.95 * len(times)) - 1] if times else None,
        since=rows[-1].time if cut else None,
    )
