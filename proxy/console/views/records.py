"""Handle "Records": the audit record of a tenant, filtered, and its export."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from aiohttp import web

from perturb.registry import sanitizer_names
from proxy.api.app_keys import KEYRING, REMOTES, STORE
from proxy.api.render import cut_unfinished, limit_time
from proxy.console.door import make_token
from proxy.console.pages import page
from proxy.console.views.tenants import choose_tenant, list_others
from proxy.errors import bad_request
from proxy.records.chain import MOST
from proxy.records.lines import COLUMNS, read_latest, read_lines, spell_cell
from proxy.records.recent import OUTCOMES, find_outcome

__all__ = ["export_records", "show_records"]

FILTERS = ("since", "until", "model", "mechanism", "key", "endpoint")
TYPES = {"csv": "text/csv", "jsonl": "application/jsonl"}
BLOCK = 64_000  # characters that are written at once


async def show_records(request: web.Request) -> web.Response:
    """Show a page of the latest requests."""
    tenant, asked = choose_tenant(request), _read_filters(request)
    before = _read_place(request.query.get("before", ""))
    matches, _ = _make_filter(asked)
    lines, more = await read_latest(request.app[STORE], tenant, matches, before=before)
    query = {"tenant": tenant, **asked}
    return page(
        request,
        "records.html",
        make_token(request),
        lines=lines,
        of=tenant,
        others=await list_others(request),
        asked=asked,
        outcomes=OUTCOMES,
        choices=await _list_choices(request, tenant, asked),
        query=urlencode(query),
        older=None if more is None else urlencode({**query, "before": more}),
        newest=before == MOST,
    )


async def export_records(request: web.Request) -> web.StreamResponse:
    """Send all matching requests as a file, oldest first."""
    tenant, asked = choose_tenant(request), _read_filters(request)
    form = request.query.get("format", "csv")
    if form not in TYPES:
        raise bad_request("format must be csv or jsonl.", param="format")
    matches, (since, until) = _make_filter(asked)
    response = web.StreamResponse(
        headers={
            "Content-Type": f"{TYPES[form]}; charset=utf-8",
            "Content-Disposition": f'attachment; filename="records.{form}"',
        }
    )
    block = io.StringIO()
    table = csv.DictWriter(block, COLUMNS)
    if form == "csv":
        table.writeheader()

    async def flush() -> None:
        async with limit_time(request):
            if not response.prepared:
                await response.prepare(request)
            await response.write(block.getvalue().encode("utf-8", "replace"))
        block.seek(0)
        block.truncate()

    async with cut_unfinished(request, response):
        lines = read_lines(request.app[STORE], tenant=tenant, since=since, until=until)
        async for line in lines:
            if not matches(line):
                continue
            if form == "csv":
                table.writerow({name: spell_cell(value) for name, value in line.items()})
            else:
                block.write(json.dumps(line, ensure_ascii=False) + "\n")
            if block.tell() > BLOCK:
                await flush()
        await flush()
    return response


async def _list_choices(
    request: web.Request, tenant: str, asked: Mapping[str, str]
) -> dict[str, list[str]]:
    """Return the values that each filter offers, and the one that is asked for, which may be older
    than the configuration."""
    app = request.app
    keys = await app[KEYRING].list_keys()
    paths = {
        route.resource.canonical
        for route in app.router.routes()
        if route.method == "POST" and route.resource is not None
    }
    found = {
        "model": app[REMOTES].models,
        "mechanism": sanitizer_names(),
        "key": [key.id for key in keys if key.tenant == tenant],
        "endpoint": paths,
    }
    return {
        name: sorted({*values, *([asked[name]] if name in asked else ())})
        for name, values in found.items()
    }


def _read_filters(request: web.Request) -> dict[str, str]:
    """Return the filters that are set."""
    found = {name: request.query.get(name, "").strip() for name in (*FILTERS, "outcome")}
    if found["outcome"] not in ("", *OUTCOMES):
        raise bad_request(f"outcome must be one of {', '.join(OUTCOMES)}.", param="outcome")
    return {name: value for name, value in found.items() if value}


def _make_filter(
    asked: Mapping[str, str],
) -> tuple[Callable[[Mapping[str, Any]], bool], tuple[float, float]]:
    """Return what selects lines, and the times between which they lie."""
    since, until = _read_day(asked, "since", -math.inf), _read_day(asked, "until", math.inf)
    same = {name: value for name, value in asked.items() if name in FILTERS[2:]}
    outcome = asked.get("outcome")

    def matches(line: Mapping[str, Any]) -> bool:
        moment = datetime.fromisoformat(line["time"]).timestamp()
        equal = all(line[name] == value for name, value in same.items())
        ended = outcome in (None, find_outcome(line["status"]))
        return since <= moment < until and equal and ended

    return matches, (since, until)


def _read_day(asked: Mapping[str, str], name: str, default: float) -> float:
    """Return the beginning of a day (UTC) in seconds since 1970; raise `ApiError`."""
    if name not in asked:
        return default
    try:
        moment = datetime.fromisoformat(asked[name])
    except ValueError:
        raise bad_request(f"{name} must be a day, as 2030-01-31.", param=name) from None
    return moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()


def _read_place(text: str) -> int:
    """Return the number of a row; raise `ApiError`."""
    if not text:
        return MOST
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise bad_request("before must be the number of a row.", param="before")
    return int(text)
