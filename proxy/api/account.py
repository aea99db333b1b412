"""`GET /v1/privacy/ledger`: the account of a client's own tenant."""

from __future__ import annotations

from aiohttp import web

from proxy.api.app_keys import LEDGER, TENANT

__all__ = ["account_routes", "ledger"]

account_routes = web.RouteTableDef()


@account_routes.get("/v1/privacy/ledger")
async def ledger(request: web.Request) -> web.Response:
    """Return the account of the key's own tenant, see `Ledger.figures`."""
    figures = await request.app[LEDGER].figures(request[TENANT].tenant)
    return web.json_response({"object": "privacy.ledger", **figures})
