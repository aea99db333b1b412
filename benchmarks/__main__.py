"""Measure utility and privacy, and report the results.

    python -m benchmarks list
    python -m benchmarks run --suite quick --data ../shared/data --out results
    python -m benchmarks run --suite my.yaml --data DATA --out results --only bayes channel
    python -m benchmarks report results
    python -m benchmarks compare docs/results results
    python -m benchmarks fidelity --data ../shared/data
    python -m benchmarks tasks --local smollm2-135m --remote https://api.example.com/v1

A stopped run resumes where it was. An attack that exceeds a proved bound makes the run fail.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from benchmarks.experiments import list_experiments
from benchmarks.harness.context import Context
from benchmarks.harness.datasets import DataError
from benchmarks.harness.suite import list_suites, load_suite
from benchmarks.metrics.encoders import load_sentence_encoder
from benchmarks.report.compare import compare
from benchmarks.run import describe, run
from extraction.errors import LocalModelError
from extraction.extractor import Extraction
from perturb import PerturbError, load_table
from perturb.whole.encoder import BUNDLED, load_static
from proxy.advice.conditions import read_point
from proxy.advice.texts import KINDS
from proxy.cli.progress import show_progress
from proxy.errors import ConfigError

if TYPE_CHECKING:
    from benchmarks.fidelity.measure import Fidelity
    from proxy.advice.conditions import Replies
    from proxy.advice.texts import Task

__all__ = ["main"]

CORPUS = Path("corpus/train.jsonl.xz")
AUTHORS = Path("authors/synthpai.jsonl")
SETS = Path("open_ended")
FIDELITY = """Send texts and the sessions of coding agents through the gateway.

Texts go whole and streamed to a remote that echoes. Counted is what leaves that should not, what
is changed that need not be, and what does not come back. Agents repair files full of private data
with a remote that edits what it sees. Counted is whether the edits apply and the tests pass.
Answers compares those of a real model to the raw texts with those that are brought back.

    python -m benchmarks fidelity
    python -m benchmarks fidelity --only agents
    python -m benchmarks fidelity --only answers --remote http://localhost:8000/v1 --model NAME
    python -m benchmarks fidelity --parameters 'policy: [regex, detector]' --data ../shared/data
"""
TASKS = """Answer the tasks that people have, and compare who answers.

Texts written for it are continued, summarised, replied to and explained, questions about them
are answered, and fields are written as JSON: by the local model alone, by the remote on the raw
text (the ideal), by the remote through the gateway, and by the local model with the remote's words
under each mechanism and way of extraction. A figure has its 95 % interval over the texts.
Bleed is the share of an answer's content words that come from the remote's side alone.

    python -m benchmarks tasks --local smollm2-135m --remote https://api.example.com/v1
    python -m benchmarks tasks --local http://localhost:8000/v1 --remote qwen2.5-1.5b \\
      --mechanisms surrogate=0 surrogate=12 --only summary reply --out tasks
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status: 1 for a breached bound, 2 for bad input."""
    args = _build_parser().parse_args(arguments)
    try:
        return int(args.command(args))
    except (ConfigError, DataError, LocalModelError, PerturbError) as exc:
        print(f"benchmarks: {exc}", file=sys.stderr)
        return 2


def _run_list(args: argparse.Namespace) -> int:
    found = list_experiments()
    width = max(map(len, found))
    print(f"suites: {', '.join(list_suites())}, or a YAML file\n")
    for name, experiment in found.items():
        print(f"{name:{width}}  {experiment.about}")
    return 0


def _run_suite(args: argparse.Namespace) -> int:
    changes = {"experiments": args.only} if args.only else {}
    corpus, authors = args.data / CORPUS, args.data / AUTHORS
    context = Context(
        load_suite(args.suite, changes),
        args.data / SETS,
        corpus if corpus.exists() else None,
        args.out,
        authors=authors if authors.exists() else None,
    )
    records = run(context)
    breaches = [
        f"{describe(record.experiment, record.case)}: {breach}"
        for record in records
        for breach in record.breaches
    ]
    for breach in breaches:
        print(f"BREACH {breach}", file=sys.stderr)
    print(f"{len(records)} measurements in {args.out / 'records.jsonl'}")
    return 1 if breaches else 0


def _run_report(args: argparse.Namespace) -> int:
    from benchmarks.report.page import write_report

    print(f"written to {write_report(args.folder, args.to or args.folder)}")
    return 0


def _run_compare(args: argparse.Namespace) -> int:
    found = compare(args.first, args.second)
    for line in found.apart:
        print(line)
    print(
        f"{found.figures} figures in common, {found.equal} equal; "
        f"{len(found.apart)} with disjoint 95 % intervals"
    )
    return 0


def _run_fidelity(args: argparse.Namespace) -> int:
    from benchmarks.fidelity.figure import draw
    from benchmarks.fidelity.measure import read_parameters, render

    settings = {text or "default": read_parameters(text) for text in args.parameters or [""]}
    if args.only == "answers":
        asyncio.run(_compare_answers(args, settings))
        return 0
    found = {name: asyncio.run(_measure_fidelity(args, given)) for name, given in settings.items()}
    print(render(found))
    if args.out:
        figures = {
            name: {"refused": each.refused}
            | {share: [of.hits, of.total, *of.interval] for share, of in each.shares.items()}
            for name, each in found.items()
        }
        args.out.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n")
    if args.figure:
        draw(found, args.figure)
    return 0


async def _measure_fidelity(args: argparse.Namespace, parameters: dict[str, Any]) -> Fidelity:
    from benchmarks.fidelity.folders import make_folders
    from benchmarks.fidelity.measure import Fidelity, measure, read_cases
    from benchmarks.fidelity.sessions import measure_agents

    found, table = Fidelity(), load_table()
    if args.only != "agents":
        found = await measure(table, parameters, read_cases(args.data, args.most))
    if args.only != "texts":
        await measure_agents(table, parameters, make_folders()[: args.most], found)
    return found


async def _compare_answers(
    args: argparse.Namespace, settings: Mapping[str, dict[str, Any]]
) -> None:
    from benchmarks.fidelity import answers
    from benchmarks.fidelity.measure import read_cases

    if args.remote is None:
        raise DataError("answers need --remote: a GGUF file, or an OpenAI-compatible URL")
    prompts = answers.choose_prompts(read_cases(args.data), args.most)
    async with AsyncExitStack() as stack:
        raw = await stack.enter_async_context(answers.serve_model(args.remote, args.model))
        tools = {
            name: await stack.enter_async_context(answers.ask_gateway(load_table(), given, raw))
            for name, given in settings.items()
        }
        if args.presidio:
            tools["presidio"] = answers.ask_presidio(args.presidio, raw)
        print(answers.render(await answers.compare(prompts, raw, tools)))


def _run_tasks(args: argparse.Namespace) -> int:
    from benchmarks.tasks.measure import measure, render
    from proxy.advice.texts import read_tasks

    if args.most is not None and args.most < 2:
        raise DataError(f"--most must be >= 2, got {args.most}")
    encode = load_static() if args.encoder == BUNDLED else load_sentence_encoder(args.encoder)
    tasks = read_tasks(tuple(args.only), args.most)
    replies = asyncio.run(_answer_tasks(args, tasks))
    found = measure(tasks, replies, encode)
    print(render(found))
    if args.out:
        figures = {
            kind: {name: asdict(figures) for name, figures in each.items()}
            for kind, each in found.items()
        }
        (args.out / "figures.json").write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    return 0


async def _answer_tasks(args: argparse.Namespace, tasks: Sequence[Task]) -> Replies:
    from benchmarks.tasks.kept import Kept
    from proxy.advice.conditions import (
        ask_all,
        list_conditions,
        running_conditions,
        serve_model,
    )

    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
    conditions = list_conditions(args.mechanisms, args.extraction, args.candidates)
    keys = [os.environ.get(name, "none") for name in ("INFERDPT_LOCAL_API_KEY", "OPENAI_API_KEY")]
    async with (
        serve_model("local", args.local, args.local_model, keys[0]) as local,
        serve_model("remote", args.remote, args.remote_model, keys[1]) as remote,
        running_conditions(load_table(), local, remote, {n for n, _ in args.mechanisms}) as ask,
    ):
        kept = Kept(args.out / "answers.jsonl" if args.out else None, local.model, remote.model)
        with show_progress() as progress:
            return await ask_all(tasks, conditions, kept.wrap(ask), partial(progress, "answers"))


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    listing = commands.add_parser("list", help="list the suites and the experiments")
    listing.set_defaults(command=_run_list)
    running = commands.add_parser("run", help="run the measurements that are still missing")
    running.add_argument("--suite", default="quick", help="quick, full or a YAML file (quick)")
    running.add_argument(
        "--data", type=Path, required=True, help="the folder with open_ended/, corpus/, authors/"
    )
    running.add_argument("--out", type=Path, required=True, help="the run's folder")
    running.add_argument("--only", nargs="+", metavar="NAME", help="experiments (all)")
    running.set_defaults(command=_run_suite)
    report = commands.add_parser("report", help="write Markdown and figures from a run's folder")
    report.add_argument("folder", type=Path)
    report.add_argument("--to", type=Path, help="the folder to write to (the same folder)")
    report.set_defaults(command=_run_report)
    comparing = commands.add_parser("compare", help="check that one run reproduces another")
    comparing.add_argument("first", type=Path)
    comparing.add_argument("second", type=Path)
    comparing.set_defaults(command=_run_compare)
    fidelity = commands.add_parser(
        "fidelity",
        help="what the gateway lets leave that it should not, and what it spoils",
        description=FIDELITY,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    fidelity.add_argument(
        "--parameters",
        action="append",
        metavar="YAML",
        help="of `selective`, a column each, e.g. 'policy: [regex, detector]' (the default's)",
    )
    fidelity.add_argument("--data", type=Path, help="a folder with pii/pupa_dev.jsonl (none)")
    fidelity.add_argument(
        "--only",
        choices=("texts", "agents", "answers"),
        help="what is sent (texts and agents), or a real model's answers",
    )
    fidelity.add_argument(
        "--remote", help="for answers: a GGUF file, or the URL of an OpenAI-compatible server"
    )
    fidelity.add_argument("--model", default="m", help="the name of the URL's model (m)")
    fidelity.add_argument(
        "--presidio", metavar="SPACY", help="for answers: also Presidio, with this model of spaCy"
    )
    fidelity.add_argument(
        "--most", type=int, help="texts of each set, and folders of an agent (all)"
    )
    fidelity.add_argument("--out", type=Path, help="a JSON file for the figures")
    fidelity.add_argument("--figure", type=Path, help="a PNG file: what leaves, what is spoilt")
    fidelity.set_defaults(command=_run_fidelity)
    tasks = commands.add_parser(
        "tasks",
        help="what the remote is worth in the tasks that people have",
        description=TASKS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    served = "the name of a pulled model, a GGUF file, or an OpenAI-compatible URL"
    tasks.add_argument("--local", required=True, help=f"the trusted model: {served}")
    tasks.add_argument("--local-model", metavar="NAME", help="at a URL (the first listed)")
    tasks.add_argument("--remote", required=True, help=f"the other model: {served}")
    tasks.add_argument("--remote-model", metavar="NAME", help="at a URL (the first listed)")
    tasks.add_argument(
        "--mechanisms",
        nargs="+",
        type=read_point,
        default=[("surrogate", 0), ("surrogate", 12), ("rantext_ldp", 10)],
        metavar="NAME=ε",
        help="mechanisms and their ε (surrogate=0 surrogate=12 rantext_ldp=10)",
    )
    tasks.add_argument(
        "--extraction",
        nargs="+",
        choices=get_args(Extraction),
        default=["relevant", "demonstrate"],
        help="uses of the remote's answer (relevant demonstrate)",
    )
    tasks.add_argument(
        "--candidates",
        nargs="+",
        type=int,
        default=(1, 2),
        metavar="N",
        help="answers of which the proxy returns the best, the first without the remote (1 2)",
    )
    tasks.add_argument(
        "--only", nargs="+", choices=KINDS, default=KINDS, help="kinds of tasks (all)"
    )
    tasks.add_argument("--most", type=int, help="tasks of each kind, 2 or more (all)")
    tasks.add_argument(
        "--encoder",
        default=BUNDLED,
        help="of the cosine: bundled, minilm or a sentence-transformers model (bundled)",
    )
    tasks.add_argument(
        "--out", type=Path, help="a folder for the answers, which another run goes on from"
    )
    tasks.set_defaults(command=_run_tasks)
    return parser


if __name__ == "__main__":
    sys.exit(main())
