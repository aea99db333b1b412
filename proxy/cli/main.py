"""Run the `inferdpt` command: its groups, its errors and its exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from copy import copy
from typing import Annotated, Any

import typer
from typer.core import MarkupMode, TyperGroup
from typer.main import get_command

from proxy.cli.advise import add_advise
from proxy.cli.codebook import codebook_group
from proxy.cli.config import config_group
from proxy.cli.help import PANELS, group_page, markup_mode
from proxy.cli.keys import keys_group
from proxy.cli.models import models_group
from proxy.cli.privacy.corpus import corpus_group
from proxy.cli.privacy.group import privacy_group
from proxy.cli.records import records_group
from proxy.cli.server import add_server
from proxy.cli.store import add_ledger, store_group
from proxy.cli.table import table_group
from proxy.cli.verify import add_verify

__all__ = ["command_line", "main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    Raises:
        SystemExit: the command line is invalid (2), or requests help or the version (0).
    """
    if argv is None:  # a process of ours
        # Requests compute at the same time, each a little. Threads for one product of a matrix
        # would wait for each other in a loop: with two, a passage is chosen 30 times as slowly.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy is loaded
    ran: list[int] = []
    command = command_line(lambda status, **_: ran.append(status), markup=markup_mode())
    try:
        command.main(None if argv is None else list(argv), prog_name="inferdpt")
    except SystemExit:
        if not ran:
            raise
    except _list_reported() as exc:  # only on an error, since it imports everything
        print(f"inferdpt: {exc}", file=sys.stderr)
        return 2
    except OSError as exc:
        said = ": ".join(str(part) for part in (exc.filename, exc.strerror or exc) if part)
        print(f"inferdpt: {said}", file=sys.stderr)
        return 2
    return ran[0]


def command_line(
    finish: Callable[..., Any] | None = None, *, markup: MarkupMode = None
) -> TyperGroup:
    """Build the command line.

    Args:
        finish: called with the exit status of the command that ran.
        markup: the style of help; None is plain text.
    """
    app = typer.Typer(
        cls=group_page(
            "inferdpt demo",
            "inferdpt serve --remote-model gpt-4o",
            "inferdpt privacy perturb letter.txt --mechanism rantext_ldp --epsilon 8",
        ),
        context_settings={"help_option_names": ["-h", "--help"]},
        no_args_is_help=True,
        result_callback=finish,
        rich_markup_mode=markup,
    )
    app.callback()(_root)
    add_server(app)
    add_verify(app)
    add_advise(app)
    add_ledger(app)
    app.add_typer(config_group(), name="config", rich_help_panel=PANELS.setting_up)
    app.add_typer(models_group(), name="models", rich_help_panel=PANELS.setting_up)
    app.add_typer(store_group(), name="store", rich_help_panel=PANELS.running)
    app.add_typer(keys_group(), name="keys", rich_help_panel=PANELS.clients)
    app.add_typer(records_group(), name="records", rich_help_panel=PANELS.clients)
    app.add_typer(privacy_group(), name="privacy", rich_help_panel=PANELS.texts)
    app.add_typer(corpus_group(), name="corpus", rich_help_panel=PANELS.texts)
    app.add_typer(table_group(), name="table", rich_help_panel=PANELS.tables)
    app.add_typer(codebook_group(), name="codebook", rich_help_panel=PANELS.tables)
    built = get_command(app)
    assert isinstance(built, TyperGroup)
    _keep_old_names(built)
    return built


def _print_version(requested: bool) -> None:
    if not requested:
        return
    from importlib.metadata import PackageNotFoundError, version

    try:
        print(f"inferdpt {version('inferdpt')}")
    except PackageNotFoundError:
        print("inferdpt (not installed)")
    raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Print the version.",
            is_eager=True,
            callback=_print_version,
        ),
    ] = False,
) -> None:
    """Ask an untrusted LLM without showing it your document."""
    del version


def _keep_old_names(root: TyperGroup) -> None:
    """Keep the earlier names of commands in groups as hidden aliases."""
    privacy = root.commands["privacy"]
    assert isinstance(privacy, TyperGroup)
    for name, command in {**privacy.commands, "embeddings": root.commands["table"]}.items():
        old = copy(command)
        old.hidden = True
        root.add_command(old, name)


def _list_reported() -> tuple[type[Exception], ...]:
    """Return the errors that are reported by their message alone."""
    from extraction.errors import ExtractionError
    from perturb import PerturbError
    from proxy.errors import ApiError, ConfigError

    return ApiError, ConfigError, PerturbError, ExtractionError


if __name__ == "__main__":
    sys.exit(main())
