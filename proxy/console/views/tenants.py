"""Choose whose figures a page shows: an operator may name a tenant, others see only their own."""

from __future__ import annotations

from aiohttp import web

from proxy.api.app_keys import KEYRING, LEDGER, STORE, TENANT
from proxy.errors import not_permitted
from proxy.records.chain import ALL, list_tenants

__all__ = ["check_operator", "choose_tenant", "list_everyone", "list_others"]


def choose_tenant(request: web.Request) -> str:
    """Return the tenant that the query names; without one, the client's own.

    Raises:
        ApiError: 403, it is another tenant's and the client is no operator.
    """
    own = request[TENANT].tenant
    asked = request.query.get("tenant", own)
    if asked != own:
        check_operator(request)
    return asked


def check_operator(request: web.Request) -> None:
    """Check that the client is an operator; raise `ApiError`."""
    if not request.app[KEYRING].sees_all(request[TENANT]):
        raise not_permitted(
            "Only operators may do this (server.operators names their tenants).", param="tenant"
        )


async def list_everyone(request: web.Request) -> list[str]:
    """Return every tenant that was charged or recorded, and the client's own."""
    charged = await request.app[LEDGER].totals()
    recorded = await request.app[STORE].scan(list_tenants)
    return sorted({request[TENANT].tenant, *charged, *recorded} - {ALL})


async def list_others(request: web.Request) -> list[str]:
    """Return the tenants that the client may choose among; none if there is no choice."""
    if not request.app[KEYRING].sees_all(request[TENANT]):
        return []
    names = await list_everyone(request)
    return names if len(names) > 1 else []
