"""`inferdpt corpus run`: sanitize a corpus."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from proxy.cli.help import group_page, page
from proxy.cli.options import (
    AsJson,
    ConfigFile,
    Epsilon,
    Settings,
    Table,
    Variant,
    describe_mechanisms,
    list_sanitizers,
    load_configuration,
    mechanism_option,
    parse_parameters,
    print_json,
)
from proxy.cli.progress import show_progress

if TYPE_CHECKING:
    from proxy.config.settings import Config
    from proxy.corpus.engines import Engine, WorkerSpec

__all__ = ["corpus_group", "run"]

ROWS = 500
EXAMPLES = (
    "inferdpt corpus run notes.jsonl --out safe --mechanism rantext_ldp --id note --owner patient",
    "inferdpt corpus run s3://bucket/letters/ --out safe --mechanism selective --text body",
    "inferdpt corpus run notes.parquet --out safe --owner author --budget 5000 --dry-run",
    "inferdpt corpus run notes.jsonl --out safe --engine ray --workers 16",
)


def corpus_group() -> typer.Typer:
    """Build the group of commands."""
    app = typer.Typer(
        cls=group_page(EXAMPLES[0]), help="Sanitize many documents.", no_args_is_help=True
    )
    app.command("run", cls=page(*EXAMPLES, notes=describe_mechanisms))(run)
    return app


def run(
    source: Annotated[
        str,
        typer.Argument(
            metavar="IN",
            help="JSONL, Parquet, CSV, a folder of them or of .txt, a data set saved by Hugging "
            "Face's datasets; a path or a URL.",
        ),
    ],
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Write there; an interrupted run is resumed.")
    ],
    text: Annotated[str, typer.Option(metavar="COLUMN", help="Sanitize this column.")] = "text",
    id: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Take ids from it (default: file and place)."),
    ] = None,
    owner: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Charge documents to the owner in it (default: one for all)."
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Leave it out; may be repeated. Others are kept as they are.",
        ),
    ] = None,
    mechanism: Annotated[
        str, mechanism_option(list_sanitizers, "Sanitize with this mechanism.")
    ] = "rantext_ldp",
    epsilon: Epsilon = 6.0,
    settings: Settings = None,
    table: Table = None,
    vocabulary: Variant = "clean",
    oov: Annotated[
        Literal["map", "drop"], typer.Option(help="Map or drop words outside V.")
    ] = "map",
    number: Annotated[
        Literal["random", "drop"], typer.Option(help="Redraw or drop numbers.")
    ] = "random",
    layout: Annotated[
        Literal["keep", "drop"], typer.Option(help="Keep or drop line breaks and indents.")
    ] = "keep",
    budget: Annotated[
        float | None,
        typer.Option(metavar="ε", min=0, help="Refuse documents beyond this ε of their owner."),
    ] = None,
    engine: Annotated[
        Literal["pool", "ray"], typer.Option(help="Run in processes of this machine, or on Ray.")
    ] = "pool",
    workers: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Use so many processes (default: one a core)."),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Use this Ray cluster (default: this machine)."),
    ] = None,
    rows: Annotated[
        int, typer.Option(metavar="N", min=1, help="Sanitize so many documents at a time.")
    ] = ROWS,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Write and charge nothing: say what it would cost.")
    ] = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> int:
    """Sanitize every document of a corpus, and charge its owners.

    The exit status is 1 if documents failed or were refused: FOLDER/failed_records names them.
    """
    from perturb import DocumentOptions
    from perturb.errors import MissingPackage
    from perturb.install import install_command

    try:
        from proxy.corpus.estimate import format_estimate
        from proxy.corpus.inputs.records import Columns
        from proxy.corpus.inputs.source import find_source
        from proxy.corpus.report import format_report
        from proxy.corpus.stage import Recipe
    except ImportError:
        raise MissingPackage(
            f"corpora need pyarrow and fsspec: {install_command('corpus')}"
        ) from None

    if address is not None and engine != "ray":
        raise typer.BadParameter("needs --engine ray", param_hint="--address")
    loaded = load_configuration(config)
    recipe = Recipe(
        mechanism,
        epsilon,
        parse_parameters(settings or ()),
        table,
        vocabulary,
        DocumentOptions(oov=oov, number=number, layout=layout),
        loaded.limits.document_tokens,
    )
    found = find_source(source, Columns(text, id, owner, tuple(drop or ())), rows)
    count = workers or os.cpu_count() or 1

    def build(key: bytes) -> WorkerSpec:
        from proxy.corpus.engines import WorkerSpec

        return WorkerSpec(found, recipe, key)

    def choose(blocks: int) -> Engine:
        from proxy.corpus.engines import in_process, pooled
        from proxy.corpus.on_ray import on_ray

        if engine == "ray":
            return on_ray(count, address)
        return pooled(min(count, blocks)) if min(count, blocks) > 1 else in_process

    if dry_run:
        estimate = asyncio.run(_estimate(loaded, build, count, budget))
        _print(estimate, as_json, format_estimate(estimate))
        return 0
    report = asyncio.run(_run(loaded, build, choose, out, budget))
    _print(report, as_json, format_report(report))
    return 0 if report["outcomes"].keys() <= {"released"} else 1


async def _run(
    config: Config,
    build: Callable[[bytes], WorkerSpec],
    choose: Callable[[int], Engine],
    out: Path,
    budget: float | None,
) -> dict[str, Any]:
    from proxy.corpus.ids import open_ids
    from proxy.corpus.ledger import Accounts
    from proxy.corpus.output import IDS, open_output
    from proxy.corpus.report import write_report
    from proxy.corpus.run import describe_run, run_blocks
    from proxy.records.chain import Recorder
    from proxy.storage.digests import Digests, find_channel
    from proxy.storage.ledger import Ledger
    from proxy.storage.opening import open_store

    async with open_store(config.store) as store:
        await Recorder(store, Ledger(store, delta=config.limits.delta)).check()
        job = build(Digests(store).of("corpus"))
        sanitizer = job.recipe.build()
        described = describe_run(job, find_channel(sanitizer), budget)
        accounts = Accounts(store, delta=config.limits.delta, budget=budget)
        with open_output(out, job.source.format, described) as output, show_progress() as advance:
            blocks = list(job.source.blocks())
            engine = choose(len(blocks))
            with open_ids(out / IDS, job.key) as ids:
                # Places are unique.
                known = None if job.source.columns.id is None else ids
                await run_blocks(job, engine, blocks, output, accounts, advance, known)
            return await write_report(output, blocks, accounts, sanitizer.guarantee, budget)


async def _estimate(
    config: Config, build: Callable[[bytes], WorkerSpec], workers: int, budget: float | None
) -> dict[str, Any]:
    from proxy.corpus.estimate import estimate_run
    from proxy.storage.digests import Digests
    from proxy.storage.opening import open_store

    async with open_store(config.store) as store:
        job = build(Digests(store).of("corpus"))
        with show_progress() as advance:
            return estimate_run(job, list(job.source.blocks()), workers, budget, advance)


def _print(report: dict[str, Any], as_json: bool, lines: Iterator[str]) -> None:
    if as_json:
        print_json(report)
    else:
        print("\n".join(lines))
