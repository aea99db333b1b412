"""`inferdpt privacy synthesize`: public examples that stand for private texts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proxy.cli.help import page
from proxy.cli.options import AsJson, ConfigFile, load_configuration, print_json
from proxy.cli.progress import show_progress

if TYPE_CHECKING:
    from perturb.synthetic.writers import Writer
    from perturb.whole.encoder import Encoder

__all__ = ["add_synthesize", "synthesize"]

PANEL = "The budget"
EXAMPLES = (
    "inferdpt privacy synthesize tickets.jsonl --out demos.jsonl --epsilon 4",
    "inferdpt privacy synthesize tickets.jsonl --out demos.jsonl --label queue"
    " --labels billing,delivery,other",
    "inferdpt privacy synthesize tickets.jsonl --out demos.jsonl --remote gpt-4o"
    ' --about "letters to the help desk of a bank" --population 32',
)


def add_synthesize(app: typer.Typer) -> None:
    """Add `synthesize` to a group."""
    app.command("synthesize", cls=page(*EXAMPLES))(synthesize)


def synthesize(
    private: Annotated[Path, typer.Argument(metavar="PRIVATE", help="Private texts, JSONL.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="Write the examples there, JSONL.")],
    text: Annotated[str, typer.Option(metavar="KEY", help="Read texts from this key.")] = "text",
    label: Annotated[
        str | None, typer.Option(metavar="KEY", help="Read labels from this key (default: none).")
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Name every label that there may be; they are public."),
    ] = None,
    codebook: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Choose passages of it (default: the bundled one)."),
    ] = None,
    smoothing: Annotated[
        float, typer.Option(metavar="α", help="Keep this share of the last round's law.")
    ] = 0.3,
    remote: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Let this model of the remote write instead."),
    ] = None,
    about: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Tell the remote the kind of text, in public words."),
    ] = None,
    epsilon: Annotated[
        float,
        typer.Option(
            metavar="ε", help="Set ε for adding or removing one text.", rich_help_panel=PANEL
        ),
    ] = 4.0,
    delta: Annotated[
        float, typer.Option(metavar="δ", help="Set δ for the same.", rich_help_panel=PANEL)
    ] = 1e-6,
    examples: Annotated[
        int, typer.Option(metavar="N", help="Make so many of a label.", rich_help_panel=PANEL)
    ] = 6,
    rounds: Annotated[
        int, typer.Option(metavar="N", help="Let the texts vote so often.", rich_help_panel=PANEL)
    ] = 3,
    population: Annotated[
        int,
        typer.Option(metavar="N", help="Vote among so many candidates.", rich_help_panel=PANEL),
    ] = 64,
    domain: Annotated[
        int | None,
        typer.Option(
            metavar="K",
            help="Pick among the K with the most votes (default: among all).",
            rich_help_panel=PANEL,
        ),
    ] = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> int:
    """Make public examples that stand for many private texts.

    Every private text votes for the candidate nearest to it; some with many votes are picked, with
    noise; candidates like them follow, and the texts vote again. The last picks are written. All
    of it is (ε, δ)-differentially private for adding or removing one text. Another run is another
    release, and the costs of runs add up.

    Candidates are passages of a codebook, which needs no model, or are written by the remote,
    which sees only --about, labels, and what was picked.

    The proxy sends the examples in front of documents with `privacy.demonstrations: FILE`.
    """
    from perturb.release import format_upper
    from perturb.rng import secure_generator
    from perturb.synthetic.synthesis import SynthesisPlan
    from perturb.synthetic.synthesis import synthesize as make
    from proxy.synthetic import check_output, read_private, write_examples

    if (label is None) != (labels is None):
        raise typer.BadParameter("give both or none", param_hint=["--label", "--labels"])
    if (remote is None) != (about is None):
        raise typer.BadParameter("give both or none", param_hint=["--remote", "--about"])
    if remote is not None and codebook is not None:
        raise typer.BadParameter("give one of the two", param_hint=["--remote", "--codebook"])
    names = list(dict.fromkeys(name.strip() for name in (labels or "").split(",") if name.strip()))
    if labels is not None and not names:
        raise typer.BadParameter("must name at least one label", param_hint="--labels")
    check_output(out)
    plan = SynthesisPlan(
        epsilon=epsilon,
        delta=delta,
        rounds=rounds,
        picks=examples,
        population=population,
        domain=domain,
    )
    texts = read_private(private, text, label, names)
    with show_progress() as advance:
        if remote is None or about is None:
            opened = _open_codebook(codebook, smoothing)
        else:
            requests = len(texts) * (population + (rounds - 1) * (population - examples))
            opened = _open_remote(
                remote, about, config, lambda done: advance("requests", done, requests)
            )
        with opened as source:
            made = make(texts, plan, source.encoder, source.choose, secure_generator(), advance)
    facts = plan.describe() | {"encoder": source.encoder.identity, **source.facts}
    report = write_examples(out, made, facts | ({"labels": names} if names else {}))
    if as_json:
        print_json(report)
        return 0
    print(f"{out}: {len(made)} examples")
    print(report["statement"])
    print(
        f"{plan.rounds} rounds of {plan.picks} picks among {plan.population} candidates, each at "
        f"ε = {format_upper(report['epsilon_of_a_pick'])} ({report['bound']})"
    )
    return 0


@dataclass(frozen=True)
class _Source:
    """Hold where candidates come from: the encoder, a label's writer, and what the report says."""

    encoder: Encoder
    choose: Callable[[str | None], Writer]
    facts: dict[str, str]


@contextmanager
def _open_codebook(path: str | None, smoothing: float) -> Iterator[_Source]:
    """Yield the source that chooses passages of a codebook."""
    from perturb.rng import secure_generator
    from perturb.synthetic.writers import PassageWriter
    from perturb.whole.codebook import load_codebook
    from perturb.whole.encoder import load_encoder

    book = load_codebook(path)
    encoder = load_encoder(book.facts["encoder"]["encoder"])
    if encoder.identity != book.facts["encoder"]:
        raise typer.BadParameter("was made with another encoder", param_hint="--codebook")

    def choose(label: str | None) -> Writer:
        del label  # all labels have the same passages
        return PassageWriter(book, encoder, smoothing, secure_generator())

    yield _Source(encoder, choose, {"codebook": book.sha256})


@contextmanager
def _open_remote(
    model: str, about: str, config: str | None, count: Callable[[int], None]
) -> Iterator[_Source]:
    """Yield the source that lets the configuration's remote write.

    Args:
        count: is called with how many requests are done.
    """
    from itertools import count as count_up

    from perturb.whole.encoder import load_encoder
    from proxy.errors import ApiError
    from proxy.remote.remotes import Remotes
    from proxy.synthetic import RemoteWriter

    loaded = load_configuration(config)
    numbers = count_up(1)
    with asyncio.Runner() as runner:
        remotes = Remotes(loaded.every_remote)
        try:
            try:
                route = runner.run(remotes.find(model))
            except ApiError:
                raise typer.BadParameter(
                    "is no model of the configuration's remotes", param_hint="--remote"
                ) from None

            def choose(label: str | None) -> Writer:
                return RemoteWriter(route, about, label, runner, lambda: count(next(numbers)))

            yield _Source(load_encoder(), choose, {"remote": model})
        finally:
            runner.run(remotes.aclose())
