"""Entry points: the extensions of other distributions, found by group and name.

A distribution is imported only when one of its extensions is requested by name, so a broken one
affects nobody else.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from perturb.errors import PluginError

__all__ = ["Plugin", "find_plugin", "plugin_names"]

logger = logging.getLogger("inferdpt.plugins")


@dataclass(frozen=True)
class Plugin:
    """An entry point of an installed distribution."""

    entry: EntryPoint

    @property
    def version(self) -> str:
        """Return the distribution and its version, such as "acme-privacy 1.2"."""
        dist = self.entry.dist
        return f"{dist.name} {dist.version}" if dist else "an unknown distribution"

    def load(self) -> Any:
        """Import the object that the entry point names.

        Raises:
            PluginError: it cannot be imported.
        """
        try:
            return self.entry.load()
        except (Exception, SystemExit) as exc:  # a foreign module may raise anything
            raise self.error(f"cannot be loaded: {type(exc).__name__}: {exc}") from exc

    def names(self, known: object) -> bool:
        """Tell whether the entry point names an object that is already imported."""
        module = sys.modules.get(self.entry.module)
        return module is not None and getattr(module, self.entry.attr, None) is known

    def error(self, rule: str) -> PluginError:
        """Return an error that names the distribution and the entry point."""
        return PluginError(f"{self} {rule}")

    def __str__(self) -> str:
        entry = self.entry
        return f"{self.version} (entry point {entry.name} = {entry.value} in {entry.group})"


def find_plugin(group: str, name: str) -> Plugin | None:
    """Return the entry point of that name; None where no distribution has it.

    Raises:
        PluginError: two distributions have it.
    """
    found = _plugins(group).get(name, ())
    if len(found) > 1:
        raise PluginError(
            f"{name!r} is registered twice: by {' and by '.join(sorted(map(str, found)))}"
        )
    return found[0] if found else None


def plugin_names(group: str, taken: Mapping[str, object]) -> tuple[str, ...]:
    """Return the names of a group's entry points, sorted; none of them is loaded.

    Args:
        group: such as "inferdpt.policies".
        taken: the names that are built in, each with its object. An entry point with such a name
            is never used, and a warning says so.
    """
    for name in sorted(_plugins(group).keys() & taken.keys()):
        for plugin in _plugins(group)[name]:
            if not plugin.names(taken[name]):
                _warn(plugin)
    return tuple(sorted(_plugins(group).keys() - taken.keys()))


@cache
def _plugins(group: str) -> dict[str, tuple[Plugin, ...]]:
    """Return the entry points of a group by name."""
    found: dict[str, tuple[Plugin, ...]] = {}
    for entry in entry_points(group=group):
        found[entry.name] = (*found.get(entry.name, ()), Plugin(entry))
    return found


@cache
def _warn(plugin: Plugin) -> None:
    logger.warning("%s is not used: the name is built in", plugin)
