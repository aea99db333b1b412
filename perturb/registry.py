"""The registry of sanitizers by name, built-in ones and plug-ins.

`register` adds a class. An installed distribution adds one with an entry point in the group
`inferdpt.sanitizers`, which has the name of the sanitizer and the class as its value. A plug-in is
loaded only when it is requested by name, so a broken one affects nobody else.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import TypeVar

from perturb.errors import ParameterError, PluginError
from perturb.plugins import Plugin, find_plugin, plugin_names
from perturb.sanitizer import Sanitizer

__all__ = [
    "GROUP",
    "built_in_names",
    "register",
    "sanitizer_class",
    "sanitizer_classes",
    "sanitizer_names",
]

GROUP = "inferdpt.sanitizers"
_REGISTRY: dict[str, type[Sanitizer]] = {}
Kind = TypeVar("Kind", bound=type[Sanitizer])


def register(cls: Kind) -> Kind:
    """Register a sanitizer by its name, as a class decorator.

    A class that is defined again at the same place, as when its module is reloaded, replaces the
    earlier one.

    >>> from perturb import Mechanism
    >>> @register
    ... class Mine(Mechanism):
    ...     name = "rantext"
    Traceback (most recent call last):
    perturb.errors.ParameterError: mechanism 'rantext' is perturb.mechanisms.rantext.RanText \
already; perturb.registry.Mine must have a name of its own

    Raises:
        ParameterError: another class has the name.
    """
    holder = _REGISTRY.get(cls.name, cls)
    if _qualify_name(holder) != _qualify_name(cls):
        raise ParameterError(
            f"mechanism {cls.name!r} is {_qualify_name(holder)} already; "
            f"{_qualify_name(cls)} must have a name of its own"
        )
    _REGISTRY[cls.name] = cls
    return cls


def built_in_names() -> tuple[str, ...]:
    """Return the names registered in this process, sorted, without plug-ins.

    >>> import perturb
    >>> "rantext_ldp" in built_in_names()
    True
    """
    return tuple(sorted(_REGISTRY))


def sanitizer_names() -> tuple[str, ...]:
    """Return every name, plug-ins included, sorted. No plug-in is loaded.

    >>> import perturb
    >>> set(built_in_names()) <= set(sanitizer_names())
    True
    """
    return tuple(sorted({*_REGISTRY, *plugin_names(GROUP, _REGISTRY)}))


def sanitizer_class(name: str) -> type[Sanitizer]:
    """Return the class of that name. A plug-in cannot take the name of a built-in sanitizer.

    >>> import perturb
    >>> sanitizer_class("rantext_ldp").summary
    'random rank among the nearest words; ε-LDP per token, proved'

    Raises:
        ParameterError: no sanitizer has that name.
        PluginError: the plug-in of that name cannot be used.
    """
    if name in _REGISTRY:
        return _REGISTRY[name]
    plugin = find_plugin(GROUP, name)
    if plugin is not None:
        return _load_class(plugin)
    raise ParameterError(f"mechanism must be one of {', '.join(sanitizer_names())}")


def sanitizer_classes() -> dict[str, type[Sanitizer]]:
    """Return every class that can be loaded, by its name, in order of the names. Plug-ins are
    loaded. The error of a broken one is raised when it is requested by name.

    >>> import perturb
    >>> sanitizer_classes()["rantext"].needs_model
    False
    """
    found = {}
    for name in sanitizer_names():
        with suppress(PluginError):
            found[name] = sanitizer_class(name)
    return found


@cache
def _load_class(plugin: Plugin) -> type[Sanitizer]:
    """Load the class that an entry point names.

    Raises:
        PluginError: it cannot be loaded, is not a sanitizer, or has another name.
    """
    cls = plugin.load()
    if not (isinstance(cls, type) and issubclass(cls, Sanitizer)):
        raise plugin.error("must be a subclass of perturb.Sanitizer")
    if getattr(cls, "name", None) != plugin.entry.name:
        raise plugin.error(
            f"must have the name of its entry point, {plugin.entry.name!r}, "
            f"got {getattr(cls, 'name', None)!r}"
        )
    return cls


def _qualify_name(cls: type[Sanitizer]) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
