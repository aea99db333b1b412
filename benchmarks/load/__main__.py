"""Compare the proxy under load with other gateways and with the bare upstream, in one run.

nginx answers as the remote and as the local model, wrk sends requests. Both are Debian packages:
`apt-get install -y nginx wrk`. LiteLLM and vllm-router are installed once, into environments of
their own. Times depend on the machine. Compare the ratios, which are taken within one run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from tqdm import tqdm

from benchmarks.first_token import Row, measure_first_token, read_first_token
from benchmarks.load.conversations import TurnRow, measure_conversations, read_conversations
from benchmarks.load.measure import Measurement
from benchmarks.load.plan import full_plan, quick_plan
from benchmarks.load.processes import LoadError
from benchmarks.load.record import Record, read_record
from benchmarks.load.report.page import render_details, render_page
from benchmarks.load.run import run
from benchmarks.load.soak import read_soak, soak
from benchmarks.load.streams import StreamRow, measure_streams, read_streams
from benchmarks.load.targets import Proxy
from benchmarks.load.upstream import find_program
from benchmarks.samplers import SamplerRow, measure_samplers, read_samplers
from proxy.cli.help import group_page, markup_mode

__all__ = [
    "app",
    "compare",
    "main",
    "run_conversations",
    "run_first_token",
    "run_samplers",
    "run_soak",
    "run_streams",
    "write_page",
]

RECORD = Path("docs/results/load.json")
SOAK = Path("docs/results/soak.json")
FIRST_TOKEN = Path("docs/results/first_token.json")
SAMPLERS = Path("docs/results/samplers.json")
CONVERSATIONS = Path("docs/results/conversations.json")
STREAMS = Path("docs/results/streams.json")
PAGE = Path("docs/performance.md")
COLUMNS = (
    f"{'target':32} {'conn':>4} {'words':>5} {'req/s':>9} {'p50 ms':>9} {'p99 ms':>9} "
    f"{'late':>5} {'bad':>4} {'CPU ms':>8} {'RSS MB':>7} {'ready s':>7}"
)

EXAMPLES = (
    "python -m benchmarks.load --quick              # about a minute: short chats",
    "python -m benchmarks.load --quick --only ldp   # the targets with `ldp` in their names",
    "python -m benchmarks.load --rounds 3 --profile # everything, three times",
    "python -m benchmarks.load soak                 # memory over 200,000 requests",
    "python -m benchmarks.load first-token          # some minutes: the time to the first token",
    "python -m benchmarks.load samplers             # each sanitizer on an article",
    "python -m benchmarks.load conversations         # an agent's turns through the gateway",
    "python -m benchmarks.load streams              # answers of 2,000 chunks",
    "python -m benchmarks.load page                 # docs/performance.md from the records",
)

app = typer.Typer(
    cls=group_page(*EXAMPLES), add_completion=False, rich_markup_mode=markup_mode(), help=__doc__
)


@app.callback(invoke_without_command=True)
def compare(
    context: typer.Context,
    quick: Annotated[
        bool, typer.Option("--quick", help="Short chats only, without a record.")
    ] = False,
    only: Annotated[
        list[str] | None, typer.Option(help="Targets whose names contain this. Repeatable.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(help="Seconds of each case.", min=1.0, max=600.0)
    ] = None,
    rounds: Annotated[int, typer.Option(help="Make the comparison so often.", min=1)] = 1,
    workers: Annotated[int, typer.Option(help="Also our proxy in so many processes.", min=1)] = 2,
    profile: Annotated[
        bool, typer.Option("--profile", help="Sample the proxy with py-spy, too.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="The record.", show_default=f"{RECORD}, none with --quick")
    ] = None,
) -> None:
    """Measure every target and print a line for each case."""
    if context.invoked_subcommand is not None:
        return
    for program in ("nginx", "wrk"):
        find_program(program)
    plan = quick_plan() if quick else full_plan(workers)
    plan = plan.only(only) if only else plan
    plan = replace(plan, seconds=seconds or plan.seconds)
    path = out or (None if quick else RECORD)
    print(COLUMNS)
    record = run(plan, rounds=rounds, profile=profile, report=_print_row, save=_saver(path))
    for name, text in record.profiles.items():
        print(f"\n{name}: {text}")
    if path is not None:
        print(f"written to {path}")


@app.command("soak")
def run_soak(
    requests: Annotated[int, typer.Option(help="Answers to wait for.", min=1)] = 200_000,
    connections: Annotated[int, typer.Option(help="Requests at once.", min=1)] = 16,
    mechanism: Annotated[str, typer.Option(help="The sanitizer.")] = "rantext_ldp",
    store: Annotated[str, typer.Option(help="sqlite or postgresql.")] = "sqlite",
    workers: Annotated[int, typer.Option(help="Processes of the proxy.", min=1)] = 1,
    out: Annotated[Path, typer.Option(help="The record.")] = SOAK,
) -> None:
    """Send many requests to the proxy, and report its memory over time."""
    found = soak(Proxy(mechanism, store, workers), requests, connections)
    found.write(out)
    print(f"{found.target}: {found.requests:,} requests in {found.seconds:.0f} s")
    print(f"{found.late} late, {found.bad} bad")
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        print(f"memory after {share:4.0%}: {found.at(share):6.1f} MB")
    print(f"growth in the second half: {found.growth():+.2f} MB for 100,000 requests")
    print(f"written to {out}")


@app.command("first-token")
def run_first_token(
    rounds: Annotated[int, typer.Option(help="Answers in each case.", min=1)] = 3,
    out: Annotated[Path, typer.Option(help="The record.")] = FIRST_TOKEN,
) -> None:
    """Measure the time to the first token, with and without reading the prompt ahead."""
    print(f"{'document':>8} {'remote s':>8} {'read ahead':>10} {'first token s':>13}   rounds")
    measure_first_token(rounds, _print_first).write(out)
    print(f"written to {out}")


@app.command("samplers")
def run_samplers(
    rounds: Annotated[int, typer.Option(help="Make the measurement so often.", min=1)] = 3,
    out: Annotated[Path, typer.Option(help="The record.")] = SAMPLERS,
) -> None:
    """Measure each sanitizer on an article, as a multiple of the time that tiktoken takes."""
    print(f"{'sanitizer':14} {'release ms':>10} {'checked ms':>10} {'x tiktoken':>10} {'long':>5}")
    measure_samplers(rounds, _print_sampler).write(out)
    print(f"written to {out}")


@app.command("conversations")
def run_conversations(
    rounds: Annotated[int, typer.Option(help="Conversations of 100 turns.", min=1)] = 3,
    out: Annotated[Path, typer.Option(help="The record.")] = CONVERSATIONS,
) -> None:
    """Measure the turns of an agent, which sends its whole conversation each time."""
    print(f"{'turn':>4} {'kB':>6} {'CPU ms':>8} {'again ms':>8} {'new part alone ms':>17}")
    measure_conversations(rounds, _print_turn).write(out)
    print(f"written to {out}")


@app.command("streams")
def run_streams(
    rounds: Annotated[int, typer.Option(help="Make the measurement so often.", min=1)] = 3,
    out: Annotated[Path, typer.Option(help="The record.")] = STREAMS,
) -> None:
    """Measure streamed answers, through the gateway and straight from the remote."""
    print(f"{'streams':>7} {'CPU us a chunk':>14} {'straight':>8}")
    measure_streams(rounds, _print_stream).write(out)
    print(f"written to {out}")


@app.command("page")
def write_page(
    record: Annotated[Path, typer.Option(help="What the comparison wrote.")] = RECORD,
    soaked: Annotated[Path, typer.Option("--soak", help="What the soak wrote.")] = SOAK,
    first: Annotated[
        Path, typer.Option("--first-token", help="What first-token wrote.")
    ] = FIRST_TOKEN,
    samplers: Annotated[Path, typer.Option(help="What samplers wrote.")] = SAMPLERS,
    conversations: Annotated[Path, typer.Option(help="What conversations wrote.")] = CONVERSATIONS,
    streams: Annotated[Path, typer.Option(help="What streams wrote.")] = STREAMS,
    out: Annotated[Path, typer.Option(help="The page; the details stand beside it.")] = PAGE,
) -> None:
    """Write the pages of the documentation from the records."""
    try:
        measured = read_record(record)
        page = render_page(
            measured,
            read_soak(soaked),
            read_first_token(first),
            read_samplers(samplers),
            read_conversations(conversations),
            read_streams(streams),
        )
    except ValueError as exc:
        raise LoadError(str(exc)) from exc
    out.write_text(page, "utf-8")
    details = out.with_stem(f"{out.stem}-details")
    details.write_text(render_details(measured), "utf-8")
    print(f"written to {out} and {details}")


def _saver(path: Path | None) -> Callable[[Record], None]:
    return lambda record: record.write(path) if path is not None else None


def _print_first(row: Row) -> None:
    ahead = "yes" if row.warmed else "no"
    times = " ".join(f"{seconds:.2f}" for seconds in row.seconds)
    print(
        f"{row.document_tokens:8,} {row.remote_seconds:8g} {ahead:>10} {row.median:13.2f}   "
        f"{times}"
    )


def _print_sampler(row: SamplerRow) -> None:
    times = f"{row.perturb_ms:10.2f} {row.checked_ms:10.2f} {row.times:10.1f}"
    tqdm.write(f"{row.name:14} {times} {row.growth:5.2f}")


def _print_turn(row: TurnRow) -> None:
    tqdm.write(
        f"{row.turn:4} {row.kilobytes:6.0f} {row.turn_ms:8.0f} {row.again_ms:8.0f} "
        f"{row.alone_ms:17.0f}"
    )


def _print_stream(row: StreamRow) -> None:
    tqdm.write(f"{row.at_once:7} {row.chunk_us:14.0f} {row.direct_us:8.0f}")


def _print_row(row: Measurement) -> None:
    kind = f"{row.target}{' (stream)' if row.stream else ''}{' (hit)' if row.repeat else ''}"
    times = (row.p50_ms, row.p99_ms, row.cpu_ms)
    p50, p99, cpu = (f"{value:.3f}" if value is not None else "-" for value in times)
    tqdm.write(
        f"{kind:32} {row.connections:4} {row.words:5} {row.requests_per_second:9,.1f} "
        f"{p50:>9} {p99:>9} {row.late:5} {row.wrong + row.failed:4} "
        f"{cpu:>8} {row.rss_mb:7.0f} {row.ready_seconds:7.2f}"
    )
    if row.example:
        tqdm.write(f"  a wrong answer: {row.example}", file=sys.stderr)


def main() -> None:
    """Run the command; print errors of the measurement without a traceback."""
    try:
        app()
    except LoadError as exc:
        print(f"benchmarks.load: {exc}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
