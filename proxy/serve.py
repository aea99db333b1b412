"""Run the proxy until a signal stops it: `inferdpt serve`."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import errno
import gc
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from perturb.work import limit_work
from proxy.access.auth import Client
from proxy.api.app_keys import BACKGROUND, CONFIG, KEYRING, LOCAL, PIPELINE, POLICY
from proxy.api.middleware import CONSOLE_PATH, Runner
from proxy.app import build_app, build_runner
from proxy.checkup import warn
from proxy.config.hints import without_user
from proxy.config.settings import Config, Server
from proxy.errors import ConfigError
from proxy.logs import configure_logging, log_loop_errors, set_level
from proxy.metrics_export import exporting
from proxy.pipeline.plan import format_epsilon
from proxy.reload import Origin, Terminal, follow
from proxy.requests.protocol import Options
from proxy.running import registered
from proxy.storage.opening import find_folder

__all__ = [
    "explain_refusal",
    "prepare_threads",
    "ready_line",
    "run_until",
    "serve",
    "start_runner",
    "warned",
    "while_running",
    "write_host",
]

M_ARENA_MAX, ARENAS = -8, 2  # malloc.h
SWITCH_SECONDS = 0.001
FIRST_TEXT = (
    "Dear Jonas Holzapfel, please call Tom on +49 30 23125 441, or write to tom@kestrel.example, "
    "about the invoice of Kestrel Ltd, 12 Baker Street, London, of 12 May 2024."
)
ADVICE = {
    errno.EADDRINUSE: "another program listens there, perhaps another proxy: stop it, or choose "
    "another port with --port or server.port (0 picks a free one)",
    errno.EACCES: "ports below 1024 are for the administrator: choose another with --port",
    errno.EADDRNOTAVAIL: "this machine does not have that address: see --host and server.host",
}


def serve(config: Config, origin: Origin | None = None) -> None:
    """Serve until SIGINT or SIGTERM, then drain. Print one line once requests are accepted.

    Args:
        origin: of the configuration, which is read again at a SIGHUP; None if there is no file.
    """
    configure_logging()
    set_level(config.telemetry.log_level)
    prepare_threads()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(config, origin))


def prepare_threads() -> None:
    """Let all threads allocate from two arenas of glibc, and the event loop wait less long for
    those that compute: Python's own 5 ms, at each of its steps, are noticed beside large requests.

    Every arena keeps its freed memory, and one for each worker thread costs 20 MB under load.
    Other C libraries have no arenas.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, ARENAS)


async def _load_lists(app: web.Application) -> None:
    """Load the lists of names and words that a first text needs, if parts of it are marked.

    Every collection of garbage would go over them again, which takes 30 ms, if they were loaded
    after `_settle_memory`.
    """
    if app[POLICY].marking is not None:
        sanitizer = app[POLICY].sanitizer(Options())
        seconds = app[CONFIG].limits.work_seconds
        with app[BACKGROUND].survive("first text"), limit_work(seconds):
            await app[PIPELINE].preview(FIRST_TEXT, sanitizer, Client(""))


def _settle_memory() -> None:
    """Return what loading the tables has freed to the system: glibc would keep 20 MB of it. What
    is left stays, so that the garbage collector need not look at it again."""
    gc.freeze()
    gc.enable()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


async def _serve(config: Config, origin: Origin | None) -> None:
    stop, asked = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    for sign in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(sign, stop.set)
    terminal = Terminal()
    loop.add_signal_handler(signal.SIGHUP, lambda: (stop if terminal.is_closed else asked).set())
    app = build_app(config)

    async def run() -> None:
        async with (
            exporting(config.telemetry.metrics, app[BACKGROUND]),
            while_running(app, lambda runner: start_runner(runner, config)) as (url, runner),
            app[BACKGROUND].running("reload", follow(asked, origin, runner)),
        ):
            with registered(find_folder(config.store), None if origin is None else origin.path):
                print(await ready_line(config, app, url), flush=True)
                async with warned(config, app):
                    await stop.wait()

    # A supervised model may take minutes to load; a signal must end that, too.
    await run_until(stop, run())


async def run_until(stop: asyncio.Event, work: Coroutine[Any, Any, None]) -> None:
    """Run `work`; cancel it when `stop` is set, and wait until it has cleaned up."""
    log_loop_errors(asyncio.get_running_loop())
    running, stopping = asyncio.create_task(work), asyncio.create_task(stop.wait())
    await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
    for task in (running, stopping):
        task.cancel()
    await asyncio.wait({running, stopping})
    if not running.cancelled():
        running.result()


@asynccontextmanager
async def while_running(
    app: web.Application, start: Callable[[web.AppRunner], Awaitable[str]]
) -> AsyncIterator[tuple[str, Runner]]:
    """Run an application during the block, then drain it.

    Args:
        start: makes a runner listen and returns the base_url, which the block gets with the
            runner.
    """
    runner = build_runner(app)
    try:
        url = await start(runner)
        await _load_lists(app)
        _settle_memory()
        yield url, runner
    finally:
        await runner.cleanup()


@asynccontextmanager
async def warned(config: Config, app: web.Application) -> AsyncIterator[None]:
    """Log what would fail the first request, beside the block."""
    warning = asyncio.create_task(warn(config, app.get(LOCAL)))
    try:
        yield
    finally:
        warning.cancel()
        await asyncio.wait([warning])


async def ready_line(config: Config, app: web.Application, url: str) -> str:
    """Return the line that tells that requests are accepted."""
    sanitizer = app[POLICY].sanitizer(Options())
    workers, remotes = config.server.workers, config.every_remote.values()
    return (
        f"inferdpt: base_url {url} | {sanitizer.name}, ε = {format_epsilon(sanitizer)} | "
        f"remote {', '.join(without_user(remote.base_url) for remote in remotes)} | "
        f"local {config.local.description} | "
        f"{await app[KEYRING].mode()}"
        + (f" | {workers} workers" if workers > 1 else "")
        + (f" | console {url.removesuffix('/v1')}{CONSOLE_PATH}" if config.server.console else "")
    )


async def start_runner(run: web.AppRunner, config: Config) -> str:
    """Start a runner and return the base_url that clients use.

    Raises:
        ConfigError: the proxy cannot listen on the address.
    """
    await run.setup()
    server = config.server
    try:
        await web.TCPSite(run, server.host, server.port).start()
    except OSError as exc:
        raise explain_refusal(server, exc) from None
    return f"http://{write_host(server)}:{run.addresses[0][1]}/v1"


def write_host(server: Server) -> str:
    """Return the host as URLs have it."""
    return f"[{server.host}]" if ":" in server.host else server.host


def explain_refusal(server: Server, exc: OSError) -> ConfigError:
    """Return the error for an address that the proxy cannot listen on."""
    number = exc.errno or 0
    advice = ADVICE.get(number, "see --host and --port, and server in config.yaml")
    # An unknown host name has a negative error number.
    reason = os.strerror(number) if number > 0 else exc.strerror or "no such address"
    return ConfigError(f"cannot listen on {write_host(server)}:{server.port} ({reason}): {advice}")
