"""Run a verification: of a proxy of its own in gateway mode, or of any gateway by its address."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

from proxy.app import build_app, build_runner
from proxy.config.settings import Config, load_config
from proxy.serve import start_runner
from proxy.verify.probe import Advance, Findings, probe
from proxy.verify.upstream import Upstream

__all__ = ["verify"]

MODEL = "verify"


async def verify(
    *,
    config: str | None = None,
    base_url: str | None = None,
    port: int = 0,
    model: str = MODEL,
    api_key: str = "none",
    announce: Callable[[str], None] = lambda _: None,
    advance: Advance = lambda done, total: None,
) -> Findings:
    """Plant values at every position and look for them in what the upstream receives.

    Args:
        config: a file whose section `privacy` and setting `remote.api` the proxy under test uses;
            None for the defaults of the mechanism selective and OpenAI's API. Nothing is kept, and
            nothing leaves this machine.
        base_url: the address of a gateway that is running already, in place of a proxy.
        port: the port of the throwaway upstream; 0 picks a free one.
        model, api_key: in the requests to the gateway.
        announce: called with the address of the upstream.
        advance: called with the number of requests that are done, and of all.

    Raises:
        ConfigError: the file is invalid, or its mechanism cannot serve without a local model.
        OSError: the port is taken.
    """
    upstream = Upstream()
    test = partial(probe, upstream=upstream, model=model, api_key=api_key, advance=advance)
    try:
        await upstream.start(port)
        announce(upstream.base_url)
        if base_url is not None:
            url = base_url.rstrip("/")
            return await test(url)
        async with _serve(config, upstream.base_url, model) as url:
            return await test(url)
    finally:
        await upstream.stop()


@asynccontextmanager
async def _serve(path: str | None, upstream: str, model: str) -> AsyncIterator[str]:
    """Serve a proxy in gateway mode with a store of its own."""
    privacy: dict[str, Any] = {"mechanism": "selective"}
    remote: dict[str, Any] = {"base_url": upstream, "models": {model: model}, "retries": 0}
    if path is not None:
        given = load_config(path)
        privacy = given.privacy.model_dump()
        remote |= {"api": given.remote.api, "api_key": "none"}
    with TemporaryDirectory() as folder:
        settings: dict[str, Any] = {
            "privacy": privacy,
            "local": {"mode": "none"},
            "remote": remote,
            "server": {"port": 0},
            "store": {"folder": folder},
        }
        config: Config = load_config(None, settings, {})
        runner = build_runner(build_app(config))
        try:
            yield await start_runner(runner, config)
        finally:
            await runner.cleanup()
