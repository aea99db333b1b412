"""Show the settings in force and their origins: `inferdpt config show`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import SecretStr

from proxy.config.commented import as_yaml
from proxy.config.fields import Setting, entry_of, iterate_settings
from proxy.config.hints import without_user
from proxy.config.settings import Config, load_with_sources

__all__ = ["DEFAULT", "MASK", "Effective", "effective_settings", "show_config"]

DEFAULT = "default"
MASK = "**********"
SECRET_OPTION = re.compile(r"(?i)--\S*(key|token|password|secret)[^=]*")


class Effective(NamedTuple):
    """Describe a setting in force.

    Attributes:
        name: its dotted name, such as `server.port`.
        value: its value as YAML; secrets are masked.
        origin: the file and line, the variable or the command line that sets it, or `default`.
    """

    name: str
    value: str
    origin: str


def effective_settings(
    path: str | Path | None,
    overrides: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
) -> list[Effective]:
    """Return every setting in force, in the order of `config.yaml`.

    Arguments and errors are those of `load_config`.
    """
    config, sources = load_with_sources(path, overrides, environment)
    rows = []
    for setting in _list_settings(config):
        value = _read(config, setting.place)
        setters = [source for source in sources if source.sets(setting.place)]
        origin = setters[-1].origin(setting.place) if setters else DEFAULT
        if setting.place[-1] == "api_key" and value is None:
            section = _read(config, setting.place[:-1])
            if section.key is not None:
                value, origin = MASK, section.api_key_env
        rows.append(Effective(setting.name, as_yaml(_mask(setting, value)), origin))
    return rows


def show_config(path: str | Path | None, overrides: Mapping[str, Any] | None = None) -> str:
    """Return the settings in force as text: a line for each, with its origin as a comment.

    Arguments and errors are those of `load_config`.
    """
    rows = effective_settings(path, overrides)
    return "".join(f"{row.name}: {row.value}  # {row.origin}\n" for row in rows)


def _list_settings(config: Config) -> Iterator[Setting]:
    """Yield every setting; of a mapping of sections, those of its entries."""
    for setting in iterate_settings(Config):
        entries = _read(config, setting.place)
        if (model := entry_of(setting.field)) is None or not entries:
            yield setting
            continue
        for name in entries:
            yield from iterate_settings(model, (*setting.place, name))


def _read(config: Config, place: tuple[str, ...]) -> Any:
    found: Any = config
    for part in place:
        found = found[part] if isinstance(found, dict) else getattr(found, part)
    return found


def _mask(setting: Setting, value: Any) -> Any:
    """Return a value with its secrets masked."""
    if isinstance(value, SecretStr):
        return MASK
    if setting.place[-1] == "base_url":
        return without_user(value)
    if setting.name in ("local.vllm.env", "local.plugin.options"):
        return dict.fromkeys(value, MASK)
    if setting.name == "local.vllm.args":
        return list(_mask_arguments(value))
    return value


def _mask_arguments(arguments: tuple[str, ...]) -> Iterator[str]:
    """Yield arguments; mask those of options with the name of a secret."""
    secret = False
    for argument in arguments:
        option, equals, _ = argument.partition("=")
        named = SECRET_OPTION.fullmatch(option) is not None
        if secret and not argument.startswith("--"):
            yield MASK
        else:
            yield f"{option}={MASK}" if named and equals else argument
        secret = named and not equals
