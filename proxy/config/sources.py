"""Read the sources of settings: the file, the environment and the command line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import yaml
from pydantic import BaseModel

from perturb.text.suggest import closest
from proxy.config.fields import PREFIX, Place, iterate_settings
from proxy.errors import ConfigError

if TYPE_CHECKING:
    from pydantic_settings import BaseSettings

__all__ = ["COMMAND_LINE", "Source", "check_variables", "read_environment", "read_file"]

COMMAND_LINE = "the command line"
NULL = "null"
# Variables of the program that are not settings.
OTHERS = ("INFERDPT_LOCAL_API_KEY", "INFERDPT_SECRET", "INFERDPT_STATE_DIR")
# Kubernetes describes services to every container by variables: one named `inferdpt…` begins like
# a setting.
KUBERNETES = re.compile(r"_SERVICE_(HOST|PORT)(_|$)|_PORT_\d+_(TCP|UDP|SCTP)(_|$)")
KUBERNETES_ADDRESS = re.compile(r"(tcp|udp|sctp)://")


@dataclass(frozen=True)
class Source:
    """Hold the settings of one source.

    Attributes:
        name: its name in errors.
        data: its settings, nested by section.
        origins: the places of its keys (a line, a variable), if it has any.
    """

    name: str
    data: Mapping[Any, Any]
    origins: Mapping[Place, str] = field(default_factory=dict)

    def sets(self, place: Place) -> bool:
        """Return whether it sets something at a place or within it."""
        found: Any = self.data
        for part in place:
            if not isinstance(found, Mapping) or part not in found:
                return False
            found = found[part]
        return True

    def origin(self, place: Place) -> str:
        """Return the origin of a place, of the innermost section around it, or of its content."""
        around = [
            self.origins[place[:e]] for e in range(1, len(place) + 1) if place[:e] in self.origins
        ]
        within = [name for at, name in self.origins.items() if place and at[: len(place)] == place]
        return around[-1] if around else " and ".join(within) or self.name


def read_file(path: str | Path) -> Source:
    """Read a YAML file.

    Raises:
        ConfigError: it cannot be read, or is not a YAML mapping.
    """
    content = b""
    try:
        content = Path(path).read_bytes()
        text = content.decode("utf-8")
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        lines = dict(_lines(node))
        data = loader.construct_document(node) or {} if node else {}
    except OSError as exc:
        raise ConfigError(f"{path}: cannot be read ({exc.strerror})") from exc
    except (yaml.YAMLError, UnicodeDecodeError) as exc:
        raise ConfigError(_invalid_yaml(str(path), content, exc)) from None
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: must hold a mapping of sections")
    return Source(str(path), data, {place: f"{path}:{line}" for place, line in lines.items()})


def read_environment(root: type[BaseModel], environment: Mapping[str, str]) -> Source:
    """Read the variables that are settings: `INFERDPT_SERVER__PORT` is `server.port`.

    Numbers, texts, true, false and null are written as they are, lists and mappings as YAML
    (`[alice, bob]`). An empty variable sets nothing.
    """
    known = {setting.variable: setting for setting in iterate_settings(root)}
    given = {name: environment[name] for name in known if environment.get(name)}
    data = _settings_source(root, given) if given else {}
    origins: dict[Place, str] = {known[name].place: name for name in given}
    return Source("the environment", data, origins)


def check_variables(
    root: type[BaseModel], environment: Mapping[str, str], others: tuple[str | None, ...] = ()
) -> None:
    """Check that every variable that looks like a setting is one.

    Args:
        others: further variables that the program reads, such as those that hold keys.

    Raises:
        ConfigError: one is not; the message suggests the intended one.
    """
    known = {setting.variable for setting in iterate_settings(root)}
    for name, value in sorted(environment.items()):
        if not name.startswith(PREFIX) or name in known or name in (*OTHERS, *others):
            continue
        if KUBERNETES.search(name) or KUBERNETES_ADDRESS.match(value):
            continue
        meant = _suggest(name, known)
        section = name.removeprefix(PREFIX).partition("_")[0].lower()
        if meant is None and "__" not in name and section not in root.model_fields:
            continue
        hint = f"; did you mean {meant}?" if meant else "; they are named INFERDPT_SECTION__KEY"
        raise ConfigError(f"the environment: {name}: unknown setting{hint}")


def _suggest(name: str, known: set[str]) -> str | None:
    """Return the variable with nearly the same name, compared without the common prefix."""
    shortened = {variable.removeprefix(PREFIX): variable for variable in (*known, *OTHERS)}
    found = closest(name.removeprefix(PREFIX).upper(), shortened, 0.8)
    return shortened[found] if found else None


def _settings_source(root: type[BaseModel], given: Mapping[str, str]) -> dict[str, Any]:
    """Read variables with pydantic-settings."""
    from pydantic_settings import EnvSettingsSource
    from pydantic_settings.sources.types import EnvNoneType

    class Variables(EnvSettingsSource):
        def _load_env_vars(self) -> Mapping[str, str | None]:
            return {
                name.lower(): EnvNoneType(value) if value == NULL else value
                for name, value in given.items()
            }

        def decode_complex_value(self, field_name: str, field: Any, value: Any) -> Any:
            try:
                return yaml.safe_load(value)
            except yaml.YAMLError:
                return value  # validation refuses it by name

    # The source needs only the fields of the class.
    kind = cast("type[BaseSettings]", root)
    return Variables(kind, env_prefix=PREFIX, env_nested_delimiter="__", env_parse_none_str=NULL)()


def _invalid_yaml(path: str, data: bytes, error: yaml.YAMLError | UnicodeDecodeError) -> str:
    """Return the message for a file that cannot be parsed."""
    if isinstance(error, UnicodeDecodeError):
        line = data.count(b"\n", 0, error.start) + 1
        return f"{path}:{line}: is not valid YAML (not UTF-8)"
    if isinstance(error, yaml.reader.ReaderError):
        line = data.decode("utf-8")[: error.position].count("\n") + 1
        return f"{path}:{line}: is not valid YAML ({error.reason})"
    mark = getattr(error, "problem_mark", None)
    where = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else path
    problem = getattr(error, "problem", None)
    return f"{where}: is not valid YAML" + (f" ({problem})" if problem else "")


def _lines(node: yaml.Node | None, place: Place = ()) -> Iterator[tuple[Place, int]]:
    """Yield the line of each key, counted from 1."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            inner = (*place, str(key.value))
            yield inner, key.start_mark.line + 1
            yield from _lines(value, inner)
    elif isinstance(node, yaml.SequenceNode):
        for i, value in enumerate(node.value):
            yield (*place, i), value.start_mark.line + 1
            yield from _lines(value, (*place, i))
