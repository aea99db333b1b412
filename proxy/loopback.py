"""Run the real proxy on loopback, with a state of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from perturb import EmbeddingTable
from proxy.app import build_app, build_runner
from proxy.config.settings import load_config
from proxy.serve import start_runner

__all__ = ["run_proxy"]


@asynccontextmanager
async def run_proxy(
    table: EmbeddingTable | None,
    settings: Mapping[str, Any],
    *,
    secret: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> AsyncIterator[str]:
    """Run a proxy; yield its address with `/v1`.

    Args:
        table: of its mechanisms; None for the configured one.
        settings: of its configuration, without `store`.
        secret: the store's, in hexadecimal: equal secrets give equal draws. None for another one
            each time. $INFERDPT_SECRET, if set, counts instead.
        environment: the variables that may hold further settings; None for those of the process.

    Raises:
        ConfigError, PerturbError: a setting is not valid, or a package is missing.
    """
    with TemporaryDirectory() as folder:
        if secret is not None:
            _write_secret(Path(folder, "secret"), secret)
        own = {"store": {"folder": folder}, "server": {**settings.get("server", {}), "port": 0}}
        config = load_config(None, {**settings, **own}, environment)
        run = build_runner(build_app(config, table=table))
        try:
            yield await start_runner(run, config)
        finally:
            await run.cleanup()


def _write_secret(file: Path, secret: str) -> None:
    file.touch(0o600)
    file.write_text(secret)
