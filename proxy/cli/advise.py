"""`inferdpt advise`: ask two models about texts in each mode, and say which mode to take."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from proxy.cli.help import PANELS, lay_out, page
from proxy.cli.options import AsJson, list_sanitizers, name_mechanisms, print_json
from proxy.cli.progress import show_progress

if TYPE_CHECKING:
    from perturb.audit.intervals import Interval
    from proxy.advice.comparison import Comparison, Figures
    from proxy.advice.conditions import Condition, Replies, Target
    from proxy.advice.texts import Task

__all__ = ["add_advise", "render"]

MOST = 24
OPENAI = "https://api.openai.com/"
# What the remote may read, each with all before it: who is asked for it, and what it is.
READS: dict[str, tuple[Target, str]] = {
    "nothing": ("proxy", "what the mechanisms release in place of the texts"),
    "replaced": (
        "gateway",
        "the texts with their sensitive parts replaced, as the gateway sends them",
    ),
    "raw": ("remote", "the texts as they are, for the comparison with its own answers"),
}
SERVED = "a URL of OpenAI's form, a pulled model or a GGUF file"
LEGEND = {
    "remote": "cosine: of the answers to those of the remote that reads the raw texts.",
    "document": "cosine: of the answers to the texts, without what they copy. Nearer is no proof "
    "of better:\nthe remote's own answers, with --remote-may-read raw, tell more.",
}
FIGURES = """\
- local: its difference to the local model alone with as many candidates.
same %: answers that equal that model's. right %: of the exact answers.
bleed %: words of an answer that come from the remote's side alone.
In brackets: 95 % intervals over the texts; those of - local hold all together."""


def add_advise(app: typer.Typer) -> None:
    """Add `advise` to the command line."""
    shown = page(
        "inferdpt advise --local smollm2-135m --remote https://api.openai.com/v1"
        " --remote-model gpt-4o",
        "inferdpt advise --local http://127.0.0.1:8000/v1 --remote http://127.0.0.1:9000/v1"
        " --data letters.txt --instruction 'Summarise this letter.'",
        "inferdpt advise --local smollm2-135m --remote http://127.0.0.1:9000/v1"
        " --data tasks.jsonl --remote-may-read replaced",
        notes=name_mechanisms(list_sanitizers),
    )
    app.command("advise", cls=shown, rich_help_panel=PANELS.setting_up)(_advise)


def _advise(
    local: Annotated[str, typer.Option(metavar="MODEL", help=f"Trust this model: {SERVED}.")],
    remote: Annotated[
        str, typer.Option(metavar="MODEL", help=f"Compare with this model: {SERVED}.")
    ],
    local_model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Ask this model there (default: the first listed)."),
    ] = None,
    remote_model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Ask this model there (default: the first listed)."),
    ] = None,
    api_key_env: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Take the remote's key from this variable (default for OpenAI: OPENAI_API_KEY).",
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Use texts of your own: JSON lines with document and instruction, or plain "
            "texts with blank lines between them.",
        ),
    ] = None,
    instruction: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Ask this of the texts in FILE without an instruction."),
    ] = None,
    remote_may_read: Annotated[
        Literal["replaced", "raw"] | None,
        typer.Option(
            help="Let the remote read the texts in FILE with their sensitive parts replaced, or "
            "also as they are (default: only what mechanisms release).",
        ),
    ] = None,
    mechanism: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=ε", help="Compare this mechanism; repeatable (default: surrogate=12)."
        ),
    ] = None,
    most: Annotated[int, typer.Option(metavar="N", help="Use at most this many texts.")] = MOST,
    as_json: AsJson = False,
) -> int:
    """Find out which mode is worth it with your models, and on your texts.

    Asks about each text in each mode, through the real proxy on this machine, and compares the
    answers: the local model alone, the local model with what the remote says under a mechanism,
    the gateway with selective, and the remote on the raw text, which is the goal. The 48 texts
    that ship with the project have made-up persons and may be read by any remote. Of your own
    texts the remote reads nothing but what mechanisms release, unless --remote-may-read allows
    more; the instructions are sent as they are. Prints a table, and one recommendation with its
    reason.
    """
    from proxy.advice.comparison import FEWEST, advise, compare, list_modes
    from proxy.errors import ConfigError

    if data is None and (instruction is not None or remote_may_read is not None):
        name = "--instruction" if instruction is not None else "--remote-may-read"
        raise typer.BadParameter("needs --data", param_hint=name)
    if most < FEWEST:
        raise typer.BadParameter(f"must be >= {FEWEST}, got {most}", param_hint="--most")
    reads = "raw" if data is None else remote_may_read or "nothing"
    points = [_read_point(each, reads) for each in mechanism or ("surrogate=12",)]
    tasks = _read_tasks(data, instruction, most)
    if len(tasks) < FEWEST:
        raise ConfigError(f"--data: {data}: must hold {FEWEST} texts or more, got {len(tasks)}")
    allowed = list(READS)[: list(READS).index(reads) + 1]
    modes = list_modes(points, [READS[each][0] for each in allowed])
    _announce(tasks, modes, data, allowed)
    replies = asyncio.run(
        _ask(
            tasks,
            modes,
            ("local", local, local_model, os.environ.get("INFERDPT_LOCAL_API_KEY", "none")),
            ("remote", remote, remote_model, _read_key(remote, api_key_env)),
        )
    )
    found = compare(tasks, modes, replies)
    advice = advise(found)
    use = _describe_use(next(mode for mode in modes if mode.name == advice.mode))
    if as_json:
        print_json(_to_json(found, advice.mode, advice.reason, use))
    else:
        print(f"{render(found)}\n\nTake “{advice.mode}”. {advice.reason}\nUse it with {use}.")
    return 0


def _read_point(text: str, reads: str) -> tuple[str, float]:
    """Return a mechanism and its ε. One that releases some words as they are is refused where the
    remote may read none."""
    from perturb import sanitizer_class
    from proxy.advice.conditions import read_point

    try:
        name, epsilon = read_point(text)
    except ValueError:
        raise typer.BadParameter("must be NAME=ε", param_hint="--mechanism") from None
    if name not in list_sanitizers():
        choices = ", ".join(list_sanitizers())
        raise typer.BadParameter(f"choose from {choices}", param_hint="--mechanism")
    kind = sanitizer_class(name)
    kind.check_parameters(epsilon=epsilon)
    if kind.verbatim and reads == "nothing":
        raise typer.BadParameter(
            f"{name} releases some words as they are, which needs --remote-may-read replaced",
            param_hint="--mechanism",
        )
    return name, epsilon


def _read_tasks(data: str | None, instruction: str | None, most: int) -> list[Task]:
    from proxy.advice.texts import KINDS, read_own, read_tasks

    if data is not None:
        return read_own(data, instruction, most)
    return read_tasks(KINDS, most // len(KINDS))


def _read_key(remote: str, variable: str | None) -> str:
    """Return the remote's key. OpenAI's goes to OpenAI alone; another one is named."""
    name = variable or ("OPENAI_API_KEY" if remote.startswith(OPENAI) else None)
    return os.environ.get(name, "none") if name else "none"


def _announce(
    tasks: Sequence[Task], modes: Sequence[Condition], data: str | None, allowed: Sequence[str]
) -> None:
    """Say on standard error what the remote will read, and how much is asked."""
    from proxy.advice.conditions import TOKENS

    texts = f"{len(tasks)} texts" + (
        " that ship with the project, with made-up persons" if data is None else f" of {data}"
    )
    through = [mode for mode in modes if mode.target == "proxy"]
    asked = sum(mode.options.get("candidates", 1) for mode in through)
    sent = sum(not mode.options.get("local_only") for mode in modes)
    lines = [f"{texts}. The remote reads", "  the instructions"]
    lines += [f"  {READS[each][1]}" for each in allowed]
    if more := [each for each in READS if each not in allowed]:
        lines.append(f"and no more (--remote-may-read {' or '.join(more)} allows it).")
    lines.append(
        f"{len(tasks) * asked} answers of the local model and {len(tasks) * sent} of the remote, "
        f"each of at most {TOKENS} tokens:"
    )
    print("\n".join(lines), file=sys.stderr, flush=True)


async def _ask(
    tasks: Sequence[Task],
    modes: Sequence[Condition],
    local: tuple[str, str, str | None, str],
    remote: tuple[str, str, str | None, str],
) -> Replies:
    from perturb import load_table
    from proxy.advice.conditions import ask_all, running_conditions, serve_model

    mechanisms = {m.options["mechanism"] for m in modes if "mechanism" in m.options}
    targets = {mode.target for mode in modes}
    async with (
        serve_model(*local) as own,
        serve_model(*remote) as other,
        running_conditions(load_table(), own, other, mechanisms, targets) as ask,
    ):
        with show_progress(leave=False) as progress:
            return await ask_all(tasks, modes, ask, partial(progress, "answers"))


def render(found: Comparison) -> str:
    """Return a table, a row for each mode, and what its columns are."""
    head = ["mode", "cosine", "- local", "same %", "right %", "bleed %"]
    rows = [[name, *_write_row(figures)] for name, figures in found.figures.items()]
    used = [i for i, column in enumerate(zip(*rows, strict=True)) if any(column)]
    table = lay_out([[row[i] for i in used] for row in (head, *rows)])
    return f"{table}\n\n{LEGEND[found.reference]}\n{FIGURES}"


def _write_row(figures: Figures) -> list[str]:
    return [
        _write_interval(figures.score),
        _write_interval(figures.gain, "+") if figures.gain else "",
        _write_share(figures.same),
        _write_share(figures.right),
        _write_share(figures.bleed),
    ]


def _write_interval(interval: Interval, sign: str = "") -> str:
    value, low, high = (
        f"{part:{sign}.2f}" for part in (interval.mean, interval.low, interval.high)
    )
    return value if low == high else f"{value} ({low} to {high})"


def _write_share(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f}"


def _describe_use(mode: Condition) -> str:
    """Return the settings that make a proxy work so."""
    if mode.options.get("local_only"):
        return "local_only: true in the inferdpt object of a request"
    if mode.target == "gateway":
        return "privacy.mechanism: selective and local.mode: none"
    places = {"mechanism": "privacy", "epsilon": "privacy"}
    settings = [
        f"{places.get(name, 'local')}.{name}: {_write_value(value)}"
        for name, value in mode.options.items()
    ]
    return f"{', '.join(settings[:-1])} and {settings[-1]}"


def _write_value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _to_json(found: Comparison, mode: str, reason: str, use: str) -> Mapping[str, Any]:
    from dataclasses import asdict

    return {
        "texts": found.texts,
        "reference": found.reference,
        "modes": {name: asdict(figures) for name, figures in found.figures.items()},
        "advice": {"mode": mode, "reason": reason, "use": use},
    }
