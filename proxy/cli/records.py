"""`inferdpt records`: export the audit record, and check that it is whole."""

from __future__ import annotations

import asyncio
import csv
import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from proxy.cli.help import group_page, page
from proxy.cli.options import ConfigFile, load_configuration
from proxy.cli.progress import show_progress

if TYPE_CHECKING:
    from proxy.config.settings import Config
    from proxy.records.check import Verdict

__all__ = ["check", "export", "note_heads", "read_heads", "records_group"]

EXPORT_NOTE = """\
One line for each request: ids, names, counts and times, and never text. A line without a status is
of a request that still runs, or whose proxy was killed."""
CHECK_NOTE = """\
Each row holds a hash of itself and of the row before it, under the secret of the store. The
charges in the rows must add up to the accounts of the ledger, and a tenant of whom the store holds
anything must have rows. Keep the file of --heads where nobody who can write to the database can
change it: only it shows that the last rows and their charges were removed together, or a tenant
with everything of it, or that the database is another. Exits with 1 if the record is not whole."""


def records_group() -> typer.Typer:
    """Build the group of commands."""
    app = typer.Typer(
        cls=group_page("inferdpt records export --since 2030-01-01", "inferdpt records check"),
        help="Export the audit record, or check that it is whole.",
        no_args_is_help=True,
    )
    exporting = page(
        "inferdpt records export > records.jsonl",
        "inferdpt records export --tenant alice --since 2030-01-01 --until 2030-02-01",
        "inferdpt records export --format csv > records.csv",
        notes=lambda: EXPORT_NOTE,
    )
    checking = page(
        "inferdpt records check",
        "inferdpt records check --heads /mnt/elsewhere/heads.json",
        notes=lambda: CHECK_NOTE,
    )
    app.command("export", cls=exporting)(export)
    app.command("check", cls=checking)(check)
    return app


def export(
    form: Annotated[
        Literal["jsonl", "csv"], typer.Option("--format", help="Print JSON lines, or CSV.")
    ] = "jsonl",
    since: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Only requests from then on: 2030-01-31[T08:00] (UTC)."),
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only requests before then.")
    ] = None,
    tenant: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only this tenant's requests.")
    ] = None,
    config: ConfigFile = None,
) -> int:
    """Print the audit record, one line for each request."""
    first = -math.inf if since is None else _parse_time(since, "--since")
    last = math.inf if until is None else _parse_time(until, "--until")
    settings = load_configuration(config)
    try:
        asyncio.run(_export(settings, form, tenant, first, last))
    except BrokenPipeError:  # the reader has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def check(
    heads: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Check that the last rows of the check before are still there, and note those "
            "of this one in FILE.",
        ),
    ] = None,
    config: ConfigFile = None,
) -> int:
    """Check that no row of the audit record was changed, removed or put in."""
    verdicts = asyncio.run(_check(load_configuration(config), heads))
    for verdict in verdicts:
        print(_describe(verdict))
    whole = not any(verdict.fault for verdict in verdicts)
    print("the record is whole" if whole else "THE RECORD IS NOT WHOLE")
    if whole and heads is not None:
        note_heads(heads, verdicts)
    return 0 if whole else 1


async def _export(
    config: Config, form: str, tenant: str | None, since: float, until: float
) -> None:
    from proxy.records.chain import count_rows
    from proxy.records.lines import COLUMNS, read_lines, spell_cell
    from proxy.storage.opening import open_store

    table = csv.DictWriter(sys.stdout, COLUMNS)
    async with open_store(config.store) as store:
        total, done = await store.scan(count_rows), 0
        if form == "csv":
            table.writeheader()
        with _show_progress(sys.stderr.isatty() and not sys.stdout.isatty()) as advance:
            async for line in read_lines(store, tenant=tenant, since=since, until=until):
                if form == "csv":
                    table.writerow({name: spell_cell(value) for name, value in line.items()})
                else:
                    print(json.dumps(line, ensure_ascii=False))
                done += len(line["rows"])
                advance(done, total)


async def _check(config: Config, heads: Path | None) -> list[Verdict]:
    from proxy.records.check import check_records
    from proxy.storage.opening import open_store

    noted = {} if heads is None else read_heads(heads)
    async with open_store(config.store) as store:
        with _show_progress(sys.stderr.isatty()) as advance:
            return await check_records(store, noted, advance)


def _describe(verdict: Verdict) -> str:
    name = verdict.tenant or "(the store)"
    if verdict.fault is not None:
        return f"{name}: {verdict.fault}"
    number, digest = verdict.head
    if not number:
        return f"{name}: charged before the record began"
    rows = f"row {number}" if number == verdict.first else f"rows {verdict.first} to {number}"
    since = datetime.fromtimestamp(verdict.began, UTC).isoformat(" ", "seconds")
    open_ = f"; {verdict.unfinished} requests without an end" if verdict.unfinished else ""
    lost = f"; {verdict.lost} ends were lost while the store failed" if verdict.lost else ""
    return f"{name}: {rows} since {since}, the last is {digest[:16]}{open_}{lost}"


def read_heads(path: Path) -> dict[str, tuple[int, str]]:
    """Read the file of `--heads`; it need not exist yet. Raises `ConfigError`."""
    from proxy.errors import ConfigError

    if not path.exists():
        return {}
    try:
        found = json.loads(path.read_text("utf-8"))
        return {str(name): (int(number), str(digest)) for name, (number, digest) in found.items()}
    except (ValueError, TypeError, AttributeError):
        raise ConfigError(f"{path}: is not a file that `records check --heads` wrote") from None


def note_heads(path: Path, verdicts: Sequence[Verdict]) -> None:
    """Write the file of `--heads` anew."""
    heads = {verdict.tenant: verdict.head for verdict in verdicts if verdict.head[0]}
    new = path.with_name(path.name + ".new")
    new.write_text(json.dumps(heads, indent=2) + "\n", "utf-8")
    new.replace(path)


def _parse_time(value: str, option: str) -> float:
    """Return a date or a time in seconds since 1970; without a zone it is in UTC."""
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise typer.BadParameter(
            "must be a date or a time, as 2030-01-31 or 2030-01-31T08:00", param_hint=option
        ) from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


@contextmanager
def _show_progress(shown: bool) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that shows how many rows are done, and of how many."""
    if not shown:
        yield lambda done, total: None
        return
    with show_progress(leave=False) as progress:
        yield partial(progress, "rows")
