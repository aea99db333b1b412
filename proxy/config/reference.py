"""Describe the settings for editors and for the documentation.

`python -m proxy.config.reference` prints the table of `docs/settings.md`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from proxy.config.commented import as_yaml
from proxy.config.fields import Setting, section_of
from proxy.config.settings import Config
from proxy.config.upstreams.local import SHIPPED

__all__ = ["config_schema", "settings_page"]

HEAD = """\
# Settings

Every setting of `config.yaml`, with its default. An environment variable is named after the
sections and the key: `server.port` is `INFERDPT_SERVER__PORT`, `limits.budget.day` is
`INFERDPT_LIMITS__BUDGET__DAY`. This page is made from the code by
`python -m proxy.config.reference`.
"""


def config_schema() -> dict[str, Any]:
    """Return the JSON Schema of the configuration file, for editors."""
    schema = Config.model_json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "InferDPT Proxy configuration",
    }


def settings_page() -> str:
    """Return a page of documentation: a table of settings for each section."""
    return HEAD + "".join(_tables(Config, ()))


def _tables(model: type[BaseModel], place: tuple[str, ...]) -> Iterator[str]:
    """Yield the table of a section, then those of the sections in it."""
    fields = [Setting((*place, name), field) for name, field in model.model_fields.items()]
    own = [setting for setting in fields if section_of(setting.field) is None]
    if place:
        yield "\n| Setting | Default | Range | Meaning |\n| --- | --- | --- | --- |\n"
        yield from map(_row, own)
    for setting in fields:
        section = section_of(setting.field)
        if section is not None:
            yield f"\n## {setting.name}\n\n{setting.description}\n"
            yield from _tables(section, setting.place)
        elif not place:
            yield f"\n## {setting.name}\n\n{setting.description}\n"


def _row(setting: Setting) -> str:
    default = "the shipped list" if setting.default == list(SHIPPED) else as_yaml(setting.default)
    cells = (f"`{setting.place[-1]}`", f"`{default}`", setting.rule, setting.description)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


if __name__ == "__main__":
    print(settings_page(), end="")
