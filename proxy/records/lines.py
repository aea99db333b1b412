"""Export the audit record: one line for each request, made of the row of its charge and of its
end."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

from proxy.records.chain import ALL, LEAST, Row, list_tenants, read_page
from proxy.storage.store import Store

__all__ = ["COLUMNS", "read_lines"]

COLUMNS = (
    *("time", "request", "tenant", "key", "endpoint", "model", "sent_to", "mechanism"),
    *(
        "epsilon",
        "unit",
        "guarantee",
        "texts",
        "texts_new",
        "tokens",
        "entities",
        "positions",
        "charged",
    ),
    *("status", "error", "remote", "microseconds", "rows", "hash"),
)


async def read_lines(
    store: Store,
    *,
    tenant: str | None = None,
    since: float = -math.inf,
    until: float = math.inf,
) -> AsyncIterator[dict[str, Any]]:
    """Yield a line for each request: each of `COLUMNS`, None where it is not known.

    Requests come by tenant, in the order in which they ended; those without an end come last.
    `rows` are the numbers of a request's rows, and `hash` is that of the last of them.

    Args:
        tenant: only this tenant's.
        since, until: only requests that were admitted from then on, and before then (seconds
            since 1970).

    Raises:
        ApiError: the store failed.
    """
    for name in await store.scan(list_tenants) if tenant is None else [tenant]:
        if name == ALL:
            continue
        charged: dict[str, dict[str, Any]] = {}  # lines of requests without an end so far
        after = LEAST
        while page := await store.scan(
            partial(read_page, tenant=name, after=after, since=since, until=until)
        ):
            after = page[-1].number
            for row in page:
                line = _write_line(row)
                match line.pop("kind"):
                    case "charge":
                        charged[line["request"]] = line
                    case "end":
                        yield _join(charged.pop(line["request"], {}), line)
        for line in charged.values():
            yield _join(line, {})


def _write_line(row: Row) -> dict[str, Any]:
    moment = datetime.fromtimestamp(row.time, UTC).isoformat(timespec="milliseconds")
    own = {"tenant": row.tenant, "time": moment, "rows": [row.number], "hash": row.hash.hex()}
    return row.content | own


def _join(charge: Mapping[str, Any], end: Mapping[str, Any]) -> dict[str, Any]:
    known = {**charge, **{name: value for name, value in end.items() if value is not None}}
    known["rows"] = [*charge.get("rows", ()), *end.get("rows", ())]
    return {name: known.get(name) for name in COLUMNS}
