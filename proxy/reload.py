"""Put another configuration in force while the proxy runs: `SIGHUP` and `inferdpt reload`.

A reload is all or nothing. The file is read, compared and built beside the running configuration,
and then replaces it between two requests. A request belongs to one application from its first
line to its last byte, so it sees one configuration only. A file that cannot be used, or that
changes what needs a restart, changes nothing.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from extraction.errors import ExtractionError
from perturb import PerturbError
from proxy.api.app_keys import ADMISSION, CONFIG, CURRENT, METRICS
from proxy.api.middleware import Runner
from proxy.app import build_runner, renew_app
from proxy.config.reloading import find_changes
from proxy.config.settings import Config, load_config
from proxy.errors import ApiError, ConfigError
from proxy.logs import set_level

__all__ = ["Origin", "Terminal", "follow", "note", "put_in_force", "read_again", "refusing"]

EXPLAINED = (ApiError, ConfigError, PerturbError, ExtractionError, OSError)
STANDARD_INPUT = 0  # its descriptor
logger = logging.getLogger("inferdpt.reload")


@dataclass(frozen=True)
class Origin:
    """Hold where the configuration comes from, beside the environment: a file, and the settings
    of the command line by section."""

    path: str
    overrides: Mapping[str, Any] = field(default_factory=dict)

    def read(self) -> Config:
        """Read it; raise `ConfigError`."""
        return load_config(self.path, self.overrides)


class Terminal:
    """The terminal that a process was started in, if there is one. The signal that asks for a
    reload also tells that it is closed.
    """

    def __init__(self) -> None:
        self._was = os.isatty(STANDARD_INPUT)

    @property
    def is_closed(self) -> bool:
        """Tell if it was closed since."""
        return self._was and not os.isatty(STANDARD_INPUT)


async def follow(asked: asyncio.Event, origin: Origin | None, runner: Runner) -> None:
    """Reload whenever `asked` is set, until cancelled."""
    while True:
        await asked.wait()
        asked.clear()
        with refusing():
            before = runner.app[CURRENT].app[CONFIG]
            config, changed = await asyncio.to_thread(read_again, origin, before)
            await put_in_force(config, runner)
            note(changed)


@contextmanager
def refusing() -> Iterator[None]:
    """Log what prevents a reload in the block, after which everything is as it was."""
    try:
        yield
    except Exception as exc:
        reason = str(exc) if isinstance(exc, EXPLAINED) else type(exc).__name__
        text = "the reload is refused, and the earlier configuration stays in force: %s"
        logger.error(text, reason)


def note(changed: tuple[str, ...]) -> None:
    """Log a reload that is done."""
    logger.info("the configuration is reloaded; changed: %s", ", ".join(changed) or "no setting")


def read_again(origin: Origin | None, before: Config) -> tuple[Config, tuple[str, ...]]:
    """Read the configuration again.

    Returns:
        The configuration, and the names of the settings that differ from those before. There may
        be none: files that it names may have changed.

    Raises:
        ConfigError: it cannot be read, breaks a rule, or changes what needs a restart.
    """
    if origin is None:
        raise ConfigError("the proxy was started without a configuration file")
    config = origin.read()
    changes = find_changes(before, config)
    if changes.fixed:
        raise ConfigError(f"{', '.join(changes.fixed)}: needs a restart; nothing was changed")
    return config, changes.live


async def put_in_force(config: Config, runner: Runner) -> None:
    """Serve what begins from now on under another configuration.

    Raises:
        PerturbError: a file that it names cannot be loaded; nothing has changed.
        ConfigError: it cannot be built; nothing has changed.
    """
    current = runner.app[CURRENT]
    app = await asyncio.to_thread(renew_app, current.app, config)
    fresh = build_runner(app)
    await fresh.setup()
    # From here on without a wait, so that nothing begins in between.
    app[ADMISSION].succeed(current.app[ADMISSION])
    app[METRICS].prices = config.telemetry.prices
    set_level(config.telemetry.log_level)
    current.app = app
    runner.use(fresh)
