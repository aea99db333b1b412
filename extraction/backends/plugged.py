"""Load local models of other distributions by their entry points, group `inferdpt.backends`.

An entry point names a class, or a function, that returns a backend
(`extraction.backends.base.Backend`) when it is called with the operator's options.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from extraction.backends.base import Backend
from perturb.errors import PluginError
from perturb.plugins import find_plugin, plugin_names

__all__ = ["GROUP", "load_backend"]

GROUP = "inferdpt.backends"
METHODS = ("complete", "stream", "context_tokens", "special_tokens", "ready", "aclose")


def load_backend(name: str, options: Mapping[str, Any]) -> Backend:
    """Build the named backend; this may take as long as loading a model.

    Args:
        name: of the entry point.
        options: keyword arguments for its class or function.

    Raises:
        PluginError: no plug-in has that name, it cannot be loaded or built, or the result is
            not a backend.
    """
    plugin = find_plugin(GROUP, name)
    if plugin is None:
        known = ", ".join(plugin_names(GROUP, {})) or "none"
        raise PluginError(f"no plug-in in {GROUP} has the name {name!r}; there are {known}")
    make = plugin.load()
    try:
        made = make(**options)
    except Exception as exc:  # a foreign constructor may raise anything
        raise plugin.error(f"cannot be built: {type(exc).__name__}: {exc}") from exc
    lacking = [method for method in METHODS if not callable(getattr(made, method, None))]
    if lacking:
        raise plugin.error(f"must make a backend; it lacks {', '.join(lacking)}")
    return cast(Backend, made)
