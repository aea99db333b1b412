"""Measure what sanitizing a corpus costs and how the store grows, and simulate many workers.

    python -m benchmarks.scale texts.jsonl.xz
    python -m benchmarks.scale page

Passages of 100 words are cut from the texts (the key `text` of each line). The record goes to
docs/results/scale.json, and `page` makes docs/scale.md of it. It takes a quarter of an hour.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.corpus import write_passages
from benchmarks.machine import describe_host
from benchmarks.scale.costs import build_job, measure_costs, measure_pool
from benchmarks.scale.growth import measure_corpus, measure_requests
from benchmarks.scale.page import render_page
from benchmarks.scale.record import Record, RecordError, read_record

__all__ = ["main"]

RECORD = Path("docs/results/scale.json")
PAGE = Path("docs/scale.md")
MECHANISMS = ("rantext_ldp", "rantext", "selective")
WORKERS = (1, 2)
SIZES = (100, 500, 2000)  # documents of a block; 500 is the command's default


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, or write the page; return the exit status."""
    args = _build_parser().parse_args(argv)
    try:
        if args.texts == Path("page"):
            args.page.write_text(render_page(read_record(args.record)), "utf-8")
            print(f"written to {args.page}")
            return 0
        record = Record(describe_host(), args.documents)
        for said in _measure(record, args):
            print(said, flush=True)
            record.write(args.record)
    except RecordError as exc:
        print(f"benchmarks.scale: {exc}", file=sys.stderr)
        return 2
    return 0


def _measure(record: Record, args: argparse.Namespace) -> Iterator[str]:
    """Fill the record, and yield a line after each measurement."""
    with tempfile.TemporaryDirectory(prefix="inferdpt-scale-") as made:
        folder = Path(made)
        source = folder / "passages.jsonl"
        record.documents = write_passages(args.texts, source, args.documents)
        for mechanism in args.mechanisms:
            job = build_job(source, mechanism, args.rows)
            costs = measure_costs(job, folder / mechanism)
            record.costs.append(costs)
            yield f"{mechanism}: {sum(costs.worker) / len(costs.worker):.3g} s a block"
            for workers in WORKERS:
                run = measure_pool(job, folder / f"{mechanism}-{workers}", workers)
                record.runs.append(run)
                yield f"{mechanism}, {workers} workers: {run.rate:.0f} documents/s"
        for rows in (size for size in args.sizes if 2 * size <= record.documents):
            job = build_job(source, args.mechanisms[0], rows)
            record.sizes.append(measure_costs(job, folder / f"size-{rows}"))
            yield f"blocks of {rows}: {record.sizes[-1].driver:.3g} s of the driver"
        lines = source.read_text("utf-8").splitlines()
        texts = [json.loads(line)["text"] for line in lines[: args.requests]]
        record.growth.append(measure_requests(texts, args.mechanisms[0]))
        yield f"the store, by {len(texts)} requests"
        tokens = record.growth[0].tokens[-1] // len(texts)
        record.growth.append(measure_corpus(args.blocks, 20, tokens))
        yield f"the store, by {args.blocks} blocks"


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scale",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("texts", type=Path, help="compressed JSONL, or `page` to write the page")
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--rows", type=int, default=500, help="documents of a block (500)")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--requests", type=int, default=4000, help="to grow the store by (4000)")
    parser.add_argument("--blocks", type=int, default=800, help="to grow the store by (800)")
    parser.add_argument("--mechanisms", nargs="+", default=MECHANISMS)
    parser.add_argument("--record", type=Path, default=RECORD)
    parser.add_argument("--page", type=Path, default=PAGE)
    return parser


if __name__ == "__main__":
    sys.exit(main())
