"""Commands run or parsed without `main`, which turns their errors into an exit status."""

from __future__ import annotations

from functools import cache
from typing import Any

from proxy.cli.main import command_line

__all__ = ["parse", "run"]


def run(*argv: str) -> int:
    """Run a command; its errors are raised as they are."""
    return int(command_line().main(list(argv), prog_name="inferdpt", standalone_mode=False))


def parse(*argv: str) -> dict[str, Any]:
    """Parse a command line as `main` does and run nothing; return the command's options."""
    command: Any = _command_line()
    context = command.make_context("inferdpt", list(argv))
    while hasattr(command, "commands"):
        words = [*context._protected_args, *context.args]
        name, command, rest = command.resolve_command(context, words)
        context = command.make_context(name, rest, parent=context)
    return dict(context.params)


@cache
def _command_line() -> Any:
    """Build it once: to build it takes longer than to parse with it, which leaves it as it is."""
    return command_line()
