"""`inferdpt config`: write a configuration file, show the settings in force, describe them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from proxy.cli.help import group_page, page
from proxy.cli.options import print_json
from proxy.cli.settings import with_settings

__all__ = ["config_group", "init", "schema"]


def config_group() -> typer.Typer:
    """Build the group of commands."""
    app = typer.Typer(
        cls=group_page("inferdpt config init", "inferdpt config show --config config.yaml"),
        help="Write a configuration file, and show the settings in force.",
        no_args_is_help=True,
    )
    writing = page("inferdpt config init", "inferdpt config init - | less")
    showing = page(
        "inferdpt config show",
        "INFERDPT_SERVER__PORT=9000 inferdpt config show --epsilon 8",
    )
    app.command("init", cls=writing)(init)
    app.command("show", cls=showing)(with_settings(_show))
    app.command("schema", cls=page("inferdpt config schema > config.schema.json"))(schema)
    return app


def init(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="File to write; - is standard output.")
    ] = "config.yaml",
) -> int:
    """Write a file with every setting, its default and a comment.

    An existing file is left unchanged, and the command fails.
    """
    from proxy.config.commented import commented_config

    text = commented_config()
    if file == "-":
        print(text, end="")
        return 0
    with open(file, "x", encoding="utf-8") as out:
        out.write(text)
    print(f"written to {file}")
    return 0


def _show(path: str | None, overrides: dict[str, Any]) -> int:
    """Print the settings in force and their origins; secrets are masked.

    The environment overrides the file, and the options override both.
    """
    from proxy.config.show import show_config

    print(show_config(path, overrides), end="")
    return 0


def schema() -> int:
    """Print the JSON Schema of the configuration file, for editors."""
    from proxy.config.reference import config_schema

    print_json(config_schema())
    return 0
