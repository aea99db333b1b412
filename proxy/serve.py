"""`inferdpt serve`: run the proxy until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import signal

from aiohttp import web

from proxy.app import build_app, runner
from proxy.config import Config
from proxy.keys import POLICY
from proxy.logs import configure_logging
from proxy.protocol import Options
from proxy.receipt import epsilon_header

__all__ = ["listening", "serve"]


def serve(config: Config) -> None:
    """Serve until SIGINT or SIGTERM, then drain. Prints one line when it accepts requests."""
    configure_logging()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(config))


async def _serve(config: Config) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for sign in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(sign, stop.set)
    app = build_app(config)
    run = runner(app)
    starting = asyncio.create_task(listening(run, config))
    stopping = asyncio.create_task(stop.wait())
    try:
        # A supervised model may take minutes to load: a signal must end that, too.
        await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            sanitizer = app[POLICY].sanitizer(Options())
            print(
                f"inferdpt: base_url {starting.result()} | {sanitizer.name}, ε = "
                f"{epsilon_header(sanitizer.guarantee)} | remote {config.remote.base_url} | "
                f"local {config.local.mode}",
                flush=True,
            )
            await stopping
    finally:
        for task in (starting, stopping):
            task.cancel()
        await asyncio.wait({starting, stopping})
        await run.cleanup()


async def listening(run: web.AppRunner, config: Config) -> str:
    """Start a runner; return the base_url clients use."""
    await run.setup()
    host = config.server.host
    await web.TCPSite(run, host, config.server.port).start()
    port = run.addresses[0][1]
    return f"http://[{host}]:{port}/v1" if ":" in host else f"http://{host}:{port}/v1"
