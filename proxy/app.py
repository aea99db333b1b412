"""Build the application: every object once, reached by its key, closed when the server stops."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack

from aiohttp import web

from extraction.extractor import Extractor, Tokenizer
from extraction.prompts import Prompts
from perturb import EmbeddingTable, Vocabulary, load_table
from perturb.embeddings import BUNDLED_TABLE
from proxy.account import account_routes
from proxy.auth import Keyring
from proxy.config import Config
from proxy.handlers import routes
from proxy.housekeeping import Housekeeping
from proxy.keys import (
    CONFIG,
    EXTRACTOR,
    HOUSEKEEPING,
    KEYRING,
    LEDGER,
    LOCAL,
    METRICS,
    PIPELINE,
    POLICY,
    RATES,
    STARTED,
    STORE,
    TABLE,
)
from proxy.ledger import Ledger
from proxy.local import local_server, paraphraser
from proxy.memo import Memo
from proxy.metrics import Metrics
from proxy.middleware import observe, stamp
from proxy.pipeline import Pipeline
from proxy.policy import Policy
from proxy.rates import Rates
from proxy.store import open_store, sweeping
from proxy.upstream import RemoteClient

__all__ = ["build_app", "estimating_tokenizer", "runner"]


def build_app(config: Config, *, table: EmbeddingTable | None = None) -> web.Application:
    """The application for a configuration; `table` overrides the configured one.

    Raises:
        PerturbError: the table or the tokenizer cannot be loaded.
    """
    app = web.Application(middlewares=[observe], client_max_size=config.limits.body_bytes)
    app[CONFIG] = config
    app[STARTED] = time.monotonic()
    app[METRICS] = Metrics()
    app[HOUSEKEEPING] = Housekeeping(config.local.housekeeping)
    app[RATES] = Rates()
    app[TABLE] = table or load_table(config.privacy.table or BUNDLED_TABLE)
    app[POLICY] = Policy(config, app[TABLE])
    app.add_routes(routes)
    app.add_routes(account_routes)
    app.on_response_prepare.append(stamp)
    app.cleanup_ctx.append(_resources)
    return app


def runner(app: web.Application) -> web.AppRunner:
    """A runner with this project's rules: a client that goes away cancels its handler, a stop
    waits for running requests, and nothing is logged but by the project itself."""
    return web.AppRunner(
        app,
        handler_cancellation=True,
        access_log=None,
        shutdown_timeout=app[CONFIG].server.drain_seconds,
    )


async def _resources(app: web.Application) -> AsyncIterator[None]:
    """The pipeline and what it holds open."""
    config = app[CONFIG]
    remote = RemoteClient(config.remote)
    # One small pool for all CPU work: every thread keeps buffers of its own.
    executor = ThreadPoolExecutor(max_workers=os.cpu_count(), thread_name_prefix="inferdpt")
    asyncio.get_running_loop().set_default_executor(executor)
    try:
        async with AsyncExitStack() as stack:
            app[STORE] = store = await stack.enter_async_context(open_store(config.store))
            app[KEYRING] = Keyring(store, config.server)
            await app[KEYRING].check()
            await stack.enter_async_context(sweeping(store, config.memo))
            backend = await stack.enter_async_context(
                local_server(config.local, clips=config.server_clips)
            )
            app[LOCAL] = backend
            app[LEDGER] = Ledger(store, delta=config.limits.delta)
            for tenant, totals in (await app[LEDGER].totals()).items():
                app[METRICS].charged(tenant, totals)
            app[POLICY].attach(await paraphraser(config.privacy, backend))
            app[EXTRACTOR] = Extractor(
                backend,
                Prompts(**config.prompts),
                estimating_tokenizer(app[TABLE].vocabulary, config.local.tokens_per_cl100k),
                context=config.local.context_tokens,
                default_max_tokens=config.local.default_max_tokens,
                temperature=config.local.temperature,
            )
            app[PIPELINE] = Pipeline(
                config,
                policy=app[POLICY],
                store=store,
                memo=Memo(
                    store, size=int(config.memo.megabytes * 1e6), ttl=config.memo.ttl_seconds
                ),
                ledger=app[LEDGER],
                remote=remote,
                extractor=app[EXTRACTOR],
                metrics=app[METRICS],
            )
            yield
    finally:
        await remote.aclose()


def estimating_tokenizer(vocabulary: Vocabulary, ratio: float) -> Tokenizer:
    """cl100k_base as the measure of the local model's context."""
    return Tokenizer(
        encode=lambda text: vocabulary.encode(text).tolist(),
        decode=lambda tokens: vocabulary.encoding.decode(tokens, errors="ignore"),
        ratio=ratio,
    )
