"""Build the application: every object once, reached by its key, closed when the server stops."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

from aiohttp import web

from extraction.extractor import Extractor, Tokenizer
from extraction.judge import build_judge
from perturb import EmbeddingTable, Vocabulary, load_table
from perturb.vocabulary.vocabulary import encode_text
from perturb.work import Findings
from proxy.access.admission import Admission, open_rates
from proxy.access.auth import Keyring
from proxy.api.app_keys import (
    ADMISSION,
    BACKGROUND,
    CONFIG,
    CURRENT,
    DEMONSTRATIONS,
    EXTRACTOR,
    FINDINGS,
    HOUSEKEEPING,
    KEYRING,
    LARGE_WORK,
    LEDGER,
    LOCAL,
    MEMORY,
    METRICS,
    PIPELINE,
    POLICY,
    RATES,
    RECORDER,
    REMOTES,
    STARTED,
    STORE,
    TABLE,
    Current,
)
from proxy.api.handlers import routes
from proxy.api.middleware import Runner, observe, set_headers
from proxy.background import Background
from proxy.batches.routes import batch_routes
from proxy.batches.run import BATCHES, FILES, RUNNER, running_batches
from proxy.config.settings import Config
from proxy.console.routes import add_console
from proxy.demonstrations import read_demonstrations
from proxy.gateway.gateway import GatewayMode
from proxy.local import local_backend, local_model
from proxy.metrics import Metrics
from proxy.pipeline.extraction_mode import ExtractionMode
from proxy.pipeline.memory import build_memory
from proxy.pipeline.pipeline import Mode, Pipeline
from proxy.pipeline.policy import RequestPolicy
from proxy.pipeline.public import PublicText
from proxy.records.chain import recording
from proxy.remote.remotes import Remotes
from proxy.requests.messages import Housekeeping
from proxy.storage.ledger import Ledger
from proxy.storage.opening import open_store
from proxy.storage.store import SWEEP_SECONDS
from proxy.tracing import open_tracing

__all__ = ["build_app", "build_runner", "build_tokenizer", "renew_app"]

# What all configurations of a process share.
LASTING: tuple[web.AppKey[Any], ...] = (
    *(CURRENT, STARTED, METRICS, BACKGROUND, TABLE, REMOTES, STORE, RATES, LEDGER, RECORDER),
    *(LOCAL, FILES, BATCHES, RUNNER, LARGE_WORK),
)


def build_app(
    config: Config, *, table: EmbeddingTable | None = None, metrics: Metrics | None = None
) -> web.Application:
    """Build the application for a configuration.

    Args:
        config: the operator's.
        table: overrides the configured one.
        metrics: those of worker processes, which count together.

    Raises:
        PerturbError: the table or the tokenizer cannot be loaded.
        ConfigError: the demonstrations cannot be read.
    """
    app = _make_app(config)
    app[CURRENT] = Current(app)
    app[STARTED] = time.monotonic()
    app[METRICS] = metrics or Metrics()
    app[BACKGROUND] = Background(app[METRICS])
    app[METRICS].prices = config.telemetry.prices
    privacy = config.privacy
    app[TABLE] = table or load_table(privacy.table, privacy.vocabulary)
    app[REMOTES] = Remotes(config.every_remote)
    _configure(app)
    app.cleanup_ctx.append(_resources)
    return app


def renew_app(running: web.Application, config: Config) -> web.Application:
    """Build the application for a configuration that differs only in what changes while the proxy
    runs, see `proxy.reload`.

    It uses the resources of the running application, for which nothing changes.

    Raises:
        PerturbError: a file that the configuration names cannot be loaded.
        ConfigError: the demonstrations cannot be read, or the mechanism cannot be built.
    """
    app = _make_app(config)
    for key in LASTING:
        if key in running:
            app[key] = running[key]
    _configure(app)
    app[KEYRING] = Keyring(app[STORE], config.server, locked=running[KEYRING].locked)
    app[POLICY].attach(running[POLICY].model)
    app[MEMORY] = running[MEMORY].under(config.limits)
    app[PIPELINE] = _build_pipeline(app)
    return app


def _make_app(config: Config) -> web.Application:
    """Make an application with its routes."""
    app = web.Application(middlewares=[observe], client_max_size=config.limits.body_bytes)
    app[CONFIG] = config
    app.add_routes(routes)
    if config.server.console:
        add_console(app)
    if config.batches.enabled:
        app.add_routes(batch_routes)
    app.on_response_prepare.append(set_headers)
    return app


def _configure(app: web.Application) -> None:
    """Add what is made from the configuration alone."""
    config = app[CONFIG]
    app[FINDINGS] = Findings()
    app[ADMISSION] = Admission(config, app[METRICS])
    alone = config.local.mode == "none"  # housekeeping is for a local model
    app[HOUSEKEEPING] = Housekeeping(() if alone else config.local.housekeeping)
    app[DEMONSTRATIONS] = read_demonstrations(
        config.privacy.demonstrations,
        app[TABLE].vocabulary,
        at_most=config.limits.document_tokens,
    )
    app[POLICY] = RequestPolicy(config, app[TABLE], lambda: app.get(LOCAL))


def build_runner(app: web.Application) -> Runner:
    """Build a runner with this project's rules.

    A client that goes away cancels its handler, a stop waits for running requests, and only the
    project itself logs.
    """
    server = app[CONFIG].server
    return Runner(
        app,
        handler_cancellation=True,
        access_log=None,
        shutdown_timeout=server.drain_seconds,
        keepalive_timeout=server.idle_seconds,
    )


async def _resources(app: web.Application) -> AsyncIterator[None]:
    """Open the pipeline and its resources; close them when the server stops."""
    config = app[CONFIG]
    remotes = app[REMOTES]
    # Two small pools for all CPU work, since each thread keeps buffers of its own: short requests
    # never wait until large ones are through.
    executor = ThreadPoolExecutor(max_workers=os.cpu_count(), thread_name_prefix="inferdpt")
    asyncio.get_running_loop().set_default_executor(executor)
    app[LARGE_WORK] = large = ThreadPoolExecutor(os.cpu_count(), "inferdpt-large")
    try:
        await remotes.discover()
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(_tracing(config, app[METRICS]))
            app[STORE] = store = await stack.enter_async_context(open_store(config.store))
            app[KEYRING] = Keyring(store, config.server)
            app[RATES] = await stack.enter_async_context(open_rates(config, store))
            await app[KEYRING].check()
            sweep = partial(store.sweep, config.memo.ttl_seconds, config.memo.rows)
            await stack.enter_async_context(
                app[BACKGROUND].repeating("sweep", SWEEP_SECONDS, sweep)
            )
            app[LEDGER] = Ledger(store, delta=config.limits.delta)
            app[RECORDER] = await stack.enter_async_context(
                recording(store, app[LEDGER], config.store.records_days, app[BACKGROUND])
            )
            for tenant, totals in (await app[LEDGER].totals()).items():
                app[METRICS].set_account(tenant, totals)
            app[MEMORY] = build_memory(config, store, app[LEDGER], app[METRICS])
            if config.local.mode != "none":
                backend = await stack.enter_async_context(
                    local_backend(config.local, clips=config.server_clips)
                )
                app[LOCAL] = backend
                app[POLICY].attach(await local_model(config.privacy, backend))
            app[PIPELINE] = _build_pipeline(app)
            await stack.enter_async_context(running_batches(app))
            yield
    finally:
        large.shutdown(wait=False)
        await remotes.aclose()


@asynccontextmanager
async def _tracing(config: Config, metrics: Metrics) -> AsyncIterator[None]:
    """Trace during the block, if the operator wants traces."""
    if config.telemetry.traces is None:
        yield
        return
    metrics.tracing = tracing = open_tracing(config.telemetry.traces)
    try:
        yield
    finally:
        await asyncio.to_thread(tracing.close)


def _build_pipeline(app: web.Application) -> Pipeline:
    memory, metrics = app[MEMORY], app[METRICS]
    if app[CONFIG].local.mode == "none":
        public = _build_public(app)
        mode: Mode[Any] = GatewayMode(app[CONFIG], public=public, memory=memory, metrics=metrics)
    else:
        mode = _build_extraction_mode(app)
    return Pipeline(
        app[CONFIG].limits,
        mode,
        policy=app[POLICY],
        settler=memory.settler,
        remotes=app[REMOTES],
        metrics=metrics,
    )


def _build_extraction_mode(app: web.Application) -> ExtractionMode:
    config = app[CONFIG]
    app[EXTRACTOR] = Extractor(
        app[LOCAL],
        config.templates,
        build_tokenizer(app[TABLE].vocabulary, config.local.tokens_per_cl100k),
        context=config.local.context_tokens,
        default_max_tokens=config.local.default_max_tokens,
        temperature=config.local.temperature,
    )
    return ExtractionMode(
        config,
        public=_build_public(app),
        demonstrations=app[DEMONSTRATIONS],
        memory=app[MEMORY],
        extractor=app[EXTRACTOR],
        judge=build_judge(),
        metrics=app[METRICS],
    )


def _build_public(app: web.Application) -> PublicText:
    config = app[CONFIG]
    return PublicText(
        config.privacy,
        app[POLICY].marking,
        app[TABLE].vocabulary,
        at_most=config.limits.document_tokens,
    )


def build_tokenizer(vocabulary: Vocabulary, ratio: float) -> Tokenizer:
    """Build a tokenizer that measures the local model's context in cl100k tokens."""
    return Tokenizer(
        encode=lambda text: encode_text(text, vocabulary.encoding).tolist(),
        decode=lambda tokens: vocabulary.encoding.decode(tokens, errors="ignore"),
        ratio=ratio,
    )
