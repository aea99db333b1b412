"""Put another configuration in force while the proxy runs: `SIGHUP` and `inferdpt reload`.

A reload is all or nothing. The file is read, compared and built beside the running configuration,
and then replaces it between two requests. A request belongs to one application from its first
line to its last byte, so it sees one configuration only. A file that cannot be used, or that
changes what needs a restart, changes nothing. `Changes` names the settings that change live.
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
from proxy.config.settings import Config, load_config
from proxy.errors import ApiError, ConfigError
from proxy.logs import set_level
from proxy.sanitizers import sanitizer_class

__all__ = [
    "CHANGEABLE",
    "Changes",
    "Origin",
    "Terminal",
    "find_changes",
    "follow",
    "note",
    "put_in_force",
    "read_again",
    "refusing",
]

# section -> settings; None is all but those of `FIXED`. Others need a restart.
CHANGEABLE: Mapping[str, tuple[str, ...] | None] = {
    "server": (
        "keys",
        "user_header",
        "operators",
        "cors_origins",
        "ping_seconds",
        "body_seconds",
        "ignore_unsupported_tools",
        "attachments",
    ),
    "limits": None,
    "privacy": None,
    "telemetry": ("prices", "log_level"),
}
FIXED: Mapping[str, tuple[str, ...]] = {
    "limits": ("shared", "delta"),  # of the rates and of the ledger
    "privacy": ("table", "vocabulary"),  # memory that workers share
}
# The local model is prepared, and its server told to clip logits, at the start.
OF_MODEL = ("mechanism", "epsilon", "parameters")


@dataclass(frozen=True)
class Changes:
    """Hold the names of the settings that differ, such as `limits.choices`.

    Attributes:
        live: those that change while the proxy runs.
        fixed: those that need a restart.
    """

    live: tuple[str, ...]
    fixed: tuple[str, ...]


def find_changes(before: Config, after: Config) -> Changes:
    """Compare two configurations."""
    live: list[str] = []
    fixed: list[str] = []
    for section in Config.model_fields:
        old, new = getattr(before, section), getattr(after, section)
        if old == new:
            continue
        if section == "prompts":
            live.append(section)
        elif section in CHANGEABLE:
            for name in type(old).model_fields:
                if getattr(old, name) != getattr(new, name):
                    known = _changes_live(section, name, before, after)
                    (live if known else fixed).append(f"{section}.{name}")
        else:
            fixed.append(section)
    return Changes(tuple(live), tuple(fixed))


def _changes_live(section: str, name: str, before: Config, after: Config) -> bool:
    if section == "privacy" and name in OF_MODEL:
        mechanisms = (before.privacy.mechanism, after.privacy.mechanism)
        return not any(sanitizer_class(each).needs_model for each in mechanisms)
    listed = CHANGEABLE[section]
    return name not in FIXED[section] if listed is None else name in listed


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
