"""Define the options that commands share, and load the mechanism or configuration they name.

No heavy module is imported before a command runs, so help and shell completion stay fast.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from perturb import DocumentOptions, Mechanism, Sanitizer
    from proxy.config.settings import Config

__all__ = [
    "AsJson",
    "ConfigFile",
    "Epsilon",
    "Settings",
    "Table",
    "Variant",
    "describe_mechanisms",
    "find_config_file",
    "list_mechanisms",
    "list_sanitizers",
    "list_served",
    "load_configuration",
    "load_mechanism",
    "load_sanitizer",
    "mechanism_option",
    "name_mechanisms",
    "parse_parameters",
    "print_json",
    "read_text",
]

ConfigFile = Annotated[
    str | None,
    typer.Option(
        "--config", metavar="FILE", help="Read this file (default: config.yaml here, if any)."
    ),
]
Epsilon = Annotated[float, typer.Option("--epsilon", metavar="ε", help="Set the nominal ε.")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Set a parameter of the mechanism, the value in YAML; may be repeated.",
    ),
]
Table = Annotated[
    str | None,
    typer.Option("--table", metavar="PATH", help="Use this embedding table (default: bundled)."),
]
Variant = Annotated[
    Literal["clean", "paper", "words"],
    typer.Option(
        "--vocabulary",
        help="Choose V: clean leaves out obscenities and slurs, paper is V as published, words "
        "has whole words.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def mechanism_option(names: Callable[[], Sequence[str]], help: str, *, check: bool = True) -> Any:
    """Return the option --mechanism.

    Args:
        names: returns the mechanisms to choose from; shell completion offers them.
        help: its help text.
        check: whether to refuse every other name while the command line is parsed.
    """

    def complete(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    def refuse_unknown(name: str | None) -> str | None:
        if check and name is not None and name not in names():
            choices = ", ".join(names())
            raise typer.BadParameter(f"invalid choice: {name!r} (choose from {choices})")
        return name

    return typer.Option(
        "--mechanism",
        metavar="NAME",
        help=help,
        callback=refuse_unknown,
        autocompletion=complete,
    )


def list_mechanisms() -> Sequence[str]:
    """Return the names of the mechanisms that work word by word."""
    from perturb import mechanism_names

    return mechanism_names()


def list_sanitizers() -> Sequence[str]:
    """Return the names of the sanitizers that need no local model."""
    from perturb.registry import sanitizer_classes

    return [name for name, kind in sanitizer_classes().items() if not kind.needs_model]


def list_served() -> Sequence[str]:
    """Return the names of the mechanisms that the proxy can serve."""
    from proxy.sanitizers import sanitizer_names

    return sanitizer_names()


def name_mechanisms(names: Callable[[], Sequence[str]] = list_mechanisms) -> Callable[[], str]:
    """Return a note for a help page: the mechanisms to choose from."""
    return lambda: fill(f"Mechanisms: {', '.join(names())}", 78, subsequent_indent="  ")


def describe_mechanisms() -> str:
    """Return a note for a help page: every sanitizer and its parameters with their defaults."""
    from dataclasses import fields

    from perturb import sanitizer_class

    lines = ["Mechanisms, and their parameters for --set:"]
    for name in list_sanitizers():
        cls = sanitizer_class(name)
        lines.append(f"  {name:17} {cls.summary}")
        own = [field for field in fields(cls.parameter_type) if field.name != "epsilon"]
        if own:
            defaults = ", ".join(f"{field.name}={field.default!r}" for field in own)
            lines.append(f"{'':20}{defaults}")
    return "\n".join(lines)


def load_mechanism(
    name: str, epsilon: float, settings: Sequence[str] | None, table: str | None, vocabulary: Any
) -> Mechanism:
    """Build the word-by-word mechanism that the options name.

    Raises:
        PerturbError: a parameter breaks its rule, or the table cannot be loaded.
    """
    from perturb import get_mechanism, load_table

    loaded = load_table(table, vocabulary)
    return get_mechanism(name, loaded, epsilon=epsilon, **parse_parameters(settings or ()))


def load_sanitizer(
    name: str,
    epsilon: float,
    settings: Sequence[str] | None,
    table: str | None,
    vocabulary: Any,
    options: DocumentOptions | None = None,
) -> Sanitizer:
    """Build the sanitizer that the options name.

    Raises:
        PerturbError: a parameter breaks its rule, or a table or codebook cannot be loaded.
    """
    from perturb import DocumentOptions, Resources, load_table, sanitizer_class

    cls = sanitizer_class(name)
    parameters = cls.check_parameters(epsilon=epsilon, **parse_parameters(settings or ()))
    loaded = load_table(table, vocabulary)
    return cls.build(parameters, Resources(table=loaded, options=options or DocumentOptions()))


def parse_parameters(settings: Sequence[str]) -> dict[str, Any]:
    """Return the parameters in `NAME=VALUE` options; raise `ParameterError` for another form."""
    import yaml

    from perturb import ParameterError

    out = {}
    for setting in settings:
        name, found, value = setting.partition("=")
        try:
            out[name.strip()] = yaml.safe_load(value)
        except yaml.YAMLError:
            found = ""
        if not found:
            raise ParameterError("--set takes NAME=VALUE, the value in YAML")
    return out


def find_config_file(path: str | None) -> str | None:
    """Return the configuration file: the named one, else config.yaml here, else None."""
    default = "config.yaml" if Path("config.yaml").is_file() else None
    return path or default


def load_configuration(path: str | None) -> Config:
    """Load the configuration.

    Raises:
        ConfigError: the file cannot be read, or a value breaks its rule.
    """
    from proxy.config.settings import load_config

    return load_config(find_config_file(path))


def read_text(path: str) -> str:
    """Read a file, or standard input for `-`, with its line breaks as they are; bytes that are
    not UTF-8 become U+FFFD."""
    data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    return data.decode("utf-8", "replace")


def print_json(value: Any) -> None:
    """Print a value as indented JSON."""
    print(json.dumps(value, ensure_ascii=False, indent=2))
