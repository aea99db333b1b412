"""Run the proxy until a signal stops it: `inferdpt serve`."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import errno
import logging
import os
import signal

from aiohttp import web

from proxy.api.app_keys import KEYRING, LOCAL, POLICY
from proxy.app import build_app, build_runner
from proxy.checkup import warn
from proxy.config.hints import without_user
from proxy.config.settings import Config
from proxy.errors import ConfigError
from proxy.logs import configure_logging
from proxy.pipeline.receipt import format_epsilon
from proxy.requests.protocol import Options

__all__ = ["serve", "start_runner"]

logger = logging.getLogger("inferdpt.serve")
M_ARENA_MAX, ARENAS = -8, 2  # malloc.h
ADVICE = {
    errno.EADDRINUSE: "another program listens there, perhaps another proxy: stop it, or choose "
    "another port with --port or server.port (0 picks a free one)",
    errno.EACCES: "ports below 1024 are for the administrator: choose another with --port",
    errno.EADDRNOTAVAIL: "this machine does not have that address: see --host and server.host",
}


def serve(config: Config) -> None:
    """Serve until SIGINT or SIGTERM, then drain. Print one line once requests are accepted."""
    configure_logging()
    _share_arenas()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(config))


def _share_arenas() -> None:
    """Let all threads allocate from two arenas of glibc.

    Every arena keeps its freed memory, and one for each worker thread costs 20 MB under load.
    Other C libraries have no arenas.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, ARENAS)


def _return_memory() -> None:
    """Return what loading the tables has freed to the system: glibc would keep 20 MB of it."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


async def _serve(config: Config) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for sign in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(sign, stop.set)
    app = build_app(config)
    run = build_runner(app)
    starting = asyncio.create_task(start_runner(run, config))
    stopping = asyncio.create_task(stop.wait())
    tasks = [starting, stopping]
    try:
        # A supervised model may take minutes to load; a signal must end that, too.
        await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            _return_memory()
            sanitizer = app[POLICY].sanitizer(Options())
            remote = without_user(config.remote.base_url)
            print(
                f"inferdpt: base_url {starting.result()} | {sanitizer.name}, ε = "
                f"{format_epsilon(sanitizer)} | remote {remote} | "
                f"local {config.local.mode} | {await app[KEYRING].mode()}",
                flush=True,
            )
            tasks.append(asyncio.create_task(warn(config, app[LOCAL])))
            await stopping
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        await run.cleanup()


async def start_runner(run: web.AppRunner, config: Config) -> str:
    """Start a runner and return the base_url that clients use.

    Raises:
        ConfigError: the proxy cannot listen on the address.
    """
    await run.setup()
    host, port = config.server.host, config.server.port
    name = f"[{host}]" if ":" in host else host
    try:
        await web.TCPSite(run, host, port).start()
    except OSError as exc:
        number = exc.errno or 0
        advice = ADVICE.get(number, "see --host and --port, and server in config.yaml")
        # An unknown host name has a negative error number.
        reason = os.strerror(number) if number > 0 else exc.strerror or "no such address"
        raise ConfigError(f"cannot listen on {name}:{port} ({reason}): {advice}") from None
    return f"http://{name}:{run.addresses[0][1]}/v1"
