"""Handle "Budgets": what a tenant has spent, and what its limits leave.

Where there are several tenants, an operator comes to it from the overview of all.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

from proxy.access.auth import Grant
from proxy.api.app_keys import CONFIG, KEYRING, LEDGER, TENANT
from proxy.config.server import Limits
from proxy.config.store import Budget
from proxy.console.charts import draw_stacks
from proxy.console.door import make_token
from proxy.console.pages import page
from proxy.console.views.overview import show_overview
from proxy.console.views.tenants import choose_tenant, list_others

__all__ = ["show_budgets"]

DAYS = 30  # in the charts
SCOPES = {
    "request": "a request",
    "conversation": "a conversation",
    "day": "today",
    "total": "all time",
}
UNITS = {"epsilon": "ε", "tokens": "tokens", "unbounded": "tokens without a bound"}


async def show_budgets(request: web.Request) -> web.Response:
    """Show the account of the client's tenant. An operator may choose another, among all."""
    others = await list_others(request)
    if others and "tenant" not in request.query:
        return await show_overview(request)
    tenant, client = choose_tenant(request), request[TENANT]
    own = tenant == client.tenant
    grant = client.grant if own else await request.app[KEYRING].find_grant(tenant)
    account = await request.app[LEDGER].figures(tenant)
    today = account["days"].get(datetime.now(UTC).date().isoformat())
    days = sorted(account["days"].items())[-DAYS:]
    columns = [(day[5:], _split(one)) for day, one in days]
    series = sorted({name for _, values in columns for name in values})
    return page(
        request,
        "budgets.html",
        make_token(request),
        account=account,
        of=tenant,
        others=others,
        charts=draw_stacks(columns, series),
        series=series,
        days=[(day, one, _split(one)) for day, one in reversed(days)],
        limits=_find_limits(request.app[CONFIG].limits, grant, account["total"], today),
    )


def _split(account: Mapping[str, Any]) -> dict[str, float]:
    """Return the proved ε of an account by mechanism."""
    return {name: each["epsilon"] for name, each in account["mechanisms"].items()}


def _find_limits(
    limits: Limits, grant: Grant, total: Mapping[str, Any], today: Mapping[str, Any] | None
) -> list[dict[str, Any]]:
    """Return the limits in force, with what is spent of those on days and in all."""
    found = []
    for unit, spelled in UNITS.items():
        name = "budget" if unit == "epsilon" else f"budget_{unit}"
        budget: Budget = getattr(limits, name).under(getattr(grant, name))
        for scope, of in SCOPES.items():
            limit = getattr(budget, scope)
            if limit is None:
                continue
            account = {"day": today, "total": total}.get(scope)
            spent = None if scope not in ("day", "total") else _read(account, unit)
            left = None if spent is None else max(limit - spent, 0.0)
            found.append({"of": of, "unit": spelled, "limit": limit, "spent": spent, "left": left})
    return found


def _read(account: Mapping[str, Any] | None, unit: str) -> float:
    if account is None:
        return 0.0
    value: float = account["epsilon"]["charged"] if unit == "epsilon" else account[unit]
    return value
