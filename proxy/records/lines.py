"""Read the audit record: one line for each request, made of the row of its charge and of its
end."""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

from sqlalchemy import Connection

from proxy.records.chain import (
    ALL,
    LEAST,
    MOST,
    Row,
    list_tenants,
    read_page,
    read_page_before,
)
from proxy.storage.store import Store

__all__ = ["COLUMNS", "read_latest", "read_lines", "spell_cell"]

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
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how a spreadsheet tells one


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


async def read_latest(
    store: Store,
    tenant: str,
    matches: Callable[[Mapping[str, Any]], bool] = lambda line: True,
    *,
    before: int = MOST,
    most: int = 50,
) -> tuple[list[dict[str, Any]], int | None]:
    """Return a tenant's latest requests, newest first, as `read_lines` has them.

    A request stands where its end does. One page of rows is looked at, whatever matches in it.

    Args:
        matches: selects lines.
        before: look at rows before this number.
        most: how many lines to return.

    Returns:
        The lines, and `before` for those after them; None if there are no more rows.

    Raises:
        ApiError: the store failed.
    """
    later, page, earlier = await store.scan(partial(_read_around, tenant=tenant, before=before))
    rows = [_write_line(row) for row in (*later, *page, *earlier)]
    ended = {line["request"] for line in rows if line["kind"] == "end"}
    charges = {line["request"]: line for line in rows if line["kind"] == "charge"}
    found: list[dict[str, Any]] = []
    for row in page:
        line = _write_line(row)
        match line["kind"]:
            case "charge" if line["request"] not in ended:
                whole = _join(line, {})
            case "end":
                whole = _join(charges.get(line["request"], {}), line)
            case _:
                continue
        if matches(whole):
            found.append(whole)
        if len(found) == most:
            return found, row.number
    return found, page[-1].number if earlier else None


def spell_cell(value: Any) -> Any:
    """Return a value of a line as CSV has it.

    Clients choose some of the texts, such as the name of a model. A spreadsheet would compute what
    begins like a formula, so such a text gets an apostrophe in front.

    >>> spell_cell("=1+1"), spell_cell("gpt-4o"), spell_cell(-1)
    ("'=1+1", 'gpt-4o', -1)
    """
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def _read_around(
    connection: Connection, tenant: str, before: int
) -> tuple[list[Row], list[Row], list[Row]]:
    """Return the rows from a number on, the page before it, and the page before that."""
    later = [] if before == MOST else read_page(connection, tenant, before - 1)
    page = read_page_before(connection, tenant, before)
    earlier = read_page_before(connection, tenant, page[-1].number) if page else []
    return later, page, earlier


def _write_line(row: Row) -> dict[str, Any]:
    moment = datetime.fromtimestamp(row.time, UTC).isoformat(timespec="milliseconds")
    own = {"tenant": row.tenant, "time": moment, "rows": [row.number], "hash": row.hash.hex()}
    return row.content | own


def _join(charge: Mapping[str, Any], end: Mapping[str, Any]) -> dict[str, Any]:
    known = {**charge, **{name: value for name, value in end.items() if value is not None}}
    known["rows"] = [*charge.get("rows", ()), *end.get("rows", ())]
    return {name: known.get(name) for name in COLUMNS}
