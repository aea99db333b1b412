"""Handle the overview of all tenants, with which "Budgets" opens for operators."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from aiohttp import web

from proxy.api.app_keys import LEDGER, METRICS, STORE
from proxy.console.door import make_token
from proxy.console.pages import page
from proxy.console.views.health import read_costs, read_stages
from proxy.console.views.tenants import check_operator, list_everyone
from proxy.errors import bad_request
from proxy.records.chain import PAGE
from proxy.records.lines import spell_cell
from proxy.records.recent import ROWS, Recent, summarize

__all__ = ["Column", "export_overview", "show_overview"]

SHOWN = 50  # tenants on a page
SLOWEST = 3  # stages
PERIODS = {"today": 1, "week": 7, "month": 30, "all": None}  # days
PERIOD = "week"
NO_SUMS: Mapping[str, Any] = {
    **dict.fromkeys(("requests", "tokens", "nominal", "unbounded"), 0),
    "units": {},
}

Figures = Mapping[str, Any]  # of a tenant, by the names of columns


@dataclass(frozen=True)
class Column:
    """Describe a column: its name in queries and files, its title, and how its cells look."""

    name: str
    title: str
    kind: str = "number"


TENANT = Column("tenant", "Tenant", "tenant")
PROVED = "proved_"  # begins the names of the columns of proved ε, one for each unit
CHARGED = (Column("requests", "Charged requests"), Column("tokens", "Released tokens"))
UNPROVED = (
    Column("nominal", "Nominal ε, no bound", "epsilon"),
    Column("unbounded", "Tokens without a bound"),
    Column("parts", "Replaced parts without ε", "parts"),
)
RECORDED = (
    Column("counted", "Requests read", "counted"),
    Column("refused", "Refused", "outcome"),
    Column("failed", "Failed", "outcome"),
    Column("seconds", "95 % within, s"),
)
SORTABLE = tuple(column.name for column in (TENANT, *CHARGED, *UNPROVED, *RECORDED))
ONLY: dict[str, Callable[[Figures], bool]] = {
    "all": lambda one: True,
    "refused": lambda one: one["refused"] > 0,
    "failed": lambda one: one["failed"] > 0,
    "unbounded": lambda one: one["unbounded"] > 0,
    "nominal": lambda one: one["nominal"] > 0,
}


async def show_overview(request: web.Request) -> web.Response:
    """Show a page of tenants."""
    asked = _read_query(request)
    rows, columns = await _read_tenants(request, asked)
    last = max(0, (len(rows) - 1) // SHOWN)
    number = min(_read_number(request), last)
    metrics = request.app[METRICS]
    stages = sorted(read_stages(metrics), key=lambda stage: stage.most, reverse=True)
    return page(
        request,
        "overview.html",
        make_token(request),
        rows=rows[number * SHOWN : (number + 1) * SHOWN],
        count=len(rows),
        columns=[
            (column, urlencode({**asked, "sort": column.name, "order": _turn(column, asked)}))
            for column in columns
        ],
        asked=asked,
        since=_find_start(PERIODS[asked["period"]])[0],
        periods=list(PERIODS),
        only=list(ONLY),
        query=urlencode(asked),
        number=number,
        earlier=urlencode({**asked, "page": number - 1}) if number else None,
        later=urlencode({**asked, "page": number + 1}) if number < last else None,
        most=(PAGE, ROWS),
        stages=stages[:SLOWEST],
        costs=read_costs(metrics),
    )


async def export_overview(request: web.Request) -> web.Response:
    """Send all matching tenants as CSV."""
    rows, columns = await _read_tenants(request, _read_query(request))
    names = [column.name for column in columns]
    text = io.StringIO()
    table = csv.DictWriter(text, names, extrasaction="ignore")
    table.writeheader()
    table.writerows({name: spell_cell(row[name]) for name in names} for row in rows)
    return web.Response(
        body=text.getvalue().encode("utf-8", "replace"),
        headers={
            "Content-Type": "text/csv; charset=utf-8",
            "Content-Disposition": 'attachment; filename="tenants.csv"',
        },
    )


async def _read_tenants(
    request: web.Request, asked: Mapping[str, str]
) -> tuple[list[Figures], list[Column]]:
    """Return the matching tenants in the order that is asked for, and the columns that they fill;
    raise `ApiError`."""
    check_operator(request)
    part = asked["name"].casefold()
    names = [name for name in await list_everyone(request) if part in name.casefold()]
    day, since = _find_start(PERIODS[asked["period"]])
    charged = await request.app[LEDGER].compare(day)
    recent = await summarize(request.app[STORE], names, since=since)
    units = sorted({unit for sums in charged.values() for unit in sums["units"]})
    found = [_write_row(name, charged.get(name, NO_SUMS), recent[name], units) for name in names]
    rows = [row for row in found if ONLY[asked["only"]](row)]
    # Another period may lack a unit: its column then holds nothing to sort by.
    rows.sort(key=lambda row: _weigh(row.get(asked["sort"])), reverse=asked["order"] == "down")
    proved = [Column(PROVED + unit, f"Proved ε, by {unit}", "epsilon") for unit in units]
    return rows, [TENANT, *CHARGED, *proved, *UNPROVED, *RECORDED]


def _find_start(days: int | None) -> tuple[str | None, float]:
    """Return the first day (UTC) of a period, and its beginning in seconds since 1970."""
    if days is None:
        return None, float("-inf")
    now = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    first = now - timedelta(days=days - 1)
    return first.date().isoformat(), first.timestamp()


def _write_row(
    name: str, sums: Mapping[str, Any], recent: Recent, units: Sequence[str]
) -> Figures:
    outcomes = recent.outcomes
    return {
        "tenant": name,
        **sums,
        **{PROVED + unit: sums["units"].get(unit, 0.0) for unit in units},
        "parts": dict(recent.parts.most_common()),
        "counted": outcomes.total(),
        "refused": outcomes["refused"],
        "failed": outcomes["failed"],
        "seconds": recent.seconds,
        "since": recent.since,
    }


def _weigh(value: Any) -> Any:
    """Return what a cell is sorted by: an unknown value is below all others."""
    if isinstance(value, dict):
        return sum(value.values())
    return -1.0 if value is None else value


def _turn(column: Column, asked: Mapping[str, str]) -> str:
    """Return the order that a click on a column's title leads to: numbers fall at first."""
    first, second = ("up", "down") if column is TENANT else ("down", "up")
    return second if (asked["sort"], asked["order"]) == (column.name, first) else first


def _read_query(request: web.Request) -> dict[str, str]:
    """Return what is asked for, with defaults; raise `ApiError`."""
    choices: Mapping[str, Sequence[str]] = {
        "period": list(PERIODS),
        "only": list(ONLY),
        "order": ["up", "down"],
    }
    defaults = {"period": PERIOD, "only": "all", "sort": "tenant", "order": "up"}
    asked = {name: request.query.get(name, default) for name, default in defaults.items()}
    for name, known in choices.items():
        if asked[name] not in known:
            raise bad_request(f"{name} must be one of {', '.join(known)}.", param=name)
    if asked["sort"] not in SORTABLE and not asked["sort"].startswith(PROVED):
        known = ", ".join((*SORTABLE, f"{PROVED} and a unit"))
        raise bad_request(f"sort must be one of {known}.", param="sort")
    return {"name": request.query.get("name", "").strip(), **asked}


def _read_number(request: web.Request) -> int:
    """Return the number of the page, from 0; raise `ApiError`."""
    text = request.query.get("page", "0")
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise bad_request("page must be the number of a page.", param="page")
    return int(text)
