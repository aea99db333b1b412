"""Write the configuration file that states and explains every setting: `inferdpt config init`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

import yaml
from pydantic import BaseModel

from proxy.config.fields import Setting, plain, section_of
from proxy.config.settings import Config
from proxy.config.upstreams.local import NOTES

__all__ = ["as_yaml", "commented_config"]

WIDTH = 96
INDENT = "  "
HEAD = """\
InferDPT Proxy: every setting with its default.
`inferdpt serve` reads this file from the current folder; `--config FILE` names another.
The environment overrides the file (INFERDPT_SERVER__PORT sets server.port), and the command line \
overrides both. A list or a mapping is replaced whole.
Unknown keys are errors. `inferdpt doctor` validates the file and reaches every part.
"""


def commented_config() -> str:
    """Return the file: YAML with every setting at its default, under its description."""
    head = [line for text in HEAD.splitlines() for line in _comment(text, "")]
    return "\n".join([*head, *_section(Config, (), set())]) + "\n"


def as_yaml(value: Any) -> str:
    """Return a setting's value as YAML on one line; secrets are masked."""
    dumped = yaml.safe_dump(
        plain(value), default_flow_style=True, width=10**9, allow_unicode=True, sort_keys=False
    )
    return dumped.removesuffix("...\n").strip()


def _section(
    model: type[BaseModel], place: tuple[str, ...], explained: set[type[BaseModel]]
) -> Iterator[str]:
    """Yield the lines of a section; one whose settings were explained before takes one line."""
    indent = INDENT * len(place)
    explained.add(model)
    for name, field in model.model_fields.items():
        setting = Setting((*place, name), field)
        section = section_of(field)
        if not place:
            yield ""
        yield from _comment(_explain(setting), indent)
        if section is not None and section not in explained:
            yield f"{indent}{name}:"
            yield from _section(section, setting.place, explained)
        elif name == "housekeeping":
            yield f"{indent}{name}:"
            yield from (f"{indent}{INDENT}- {_quote(p)}  # {n}" for p, n in NOTES.items())
        else:
            yield f"{indent}{name}: {as_yaml(setting.default)}"


def _explain(setting: Setting) -> str:
    """Return a setting's description, with its range or its choices."""
    shown = setting.rule and setting.field.annotation is not bool
    return f"{setting.description} [{setting.rule}]" if shown else setting.description


def _comment(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=f"{indent}# ",
        subsequent_indent=f"{indent}# ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _quote(text: str) -> str:
    """Return a text in single quotes, in which YAML keeps backslashes."""
    return "'" + text.replace("'", "''") + "'"
