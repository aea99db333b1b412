"""Handle "Batches": the client's own batches, their states and counts, and how to stop one."""

from __future__ import annotations

from aiohttp import web

from proxy.api.app_keys import TENANT
from proxy.batches.run import BATCHES, RUNNER
from proxy.console.door import make_token, read_form
from proxy.console.pages import page

__all__ = ["cancel_batch", "show_batches"]

SHOWN = 50  # on a page
ENDINGS = {"completed": "good", "failed": "bad", "expired": "bad"}  # how states are coloured


async def show_batches(request: web.Request) -> web.Response:
    """List batches of the client's tenant, the newest first."""
    return await _show(request)


async def cancel_batch(request: web.Request) -> web.Response:
    """Stop a batch after the lines that are being answered."""
    id_ = read_form(request).get("id", "")
    await request.app[BATCHES].cancel(request[TENANT].tenant, id_)
    request.app[RUNNER].wake()
    return await _show(request, f"Batch {id_} is being cancelled.")


async def _show(request: web.Request, done: str | None = None) -> web.Response:
    tenant, after = request[TENANT].tenant, request.query.get("after")
    found, more = await request.app[BATCHES].list_some(tenant, after=after, limit=SHOWN)
    return page(
        request,
        "batches.html",
        make_token(request),
        of=tenant,
        batches=[(batch, ENDINGS.get(batch.status, "")) for batch in found],
        stoppable=("validating", "in_progress"),
        older=found[-1].id if more else None,
        newest=after is None,
        done=done,
    )
