"""Build what serves batches, and run it beside the application."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

from proxy.api.app_keys import (
    ADMISSION,
    BACKGROUND,
    CONFIG,
    CURRENT,
    LEDGER,
    METRICS,
    STORE,
)
from proxy.batches.files import Files
from proxy.batches.leases import Leases
from proxy.batches.lines import LineAnswerer
from proxy.batches.run import Tools
from proxy.batches.runner import BatchRunner
from proxy.batches.store import BatchStore

__all__ = ["BATCHES", "FILES", "RUNNER", "running_batches"]

FILES = web.AppKey("files", Files)
BATCHES = web.AppKey("batches", BatchStore)
RUNNER = web.AppKey("runner", BatchRunner)


@asynccontextmanager
async def running_batches(app: web.Application) -> AsyncIterator[None]:
    """Serve and run batches during the block, if the operator wants them."""
    settings, store, ledger = app[CONFIG].batches, app[STORE], app[LEDGER]
    if not settings.enabled:
        yield
        return
    app[FILES] = files = Files(store, ledger, settings)
    app[BATCHES] = batches = BatchStore(store, ledger, files, settings)
    tools = Tools(
        files=files,
        leases=Leases(store, settings.lease_seconds),
        answerer=LineAnswerer(app[CURRENT]),
        admission=app[ADMISSION],
        metrics=app[METRICS],
        background=app[BACKGROUND],
        lease_seconds=settings.lease_seconds,
    )
    app[RUNNER] = runner = BatchRunner(batches, tools)
    async with runner.running():
        yield
