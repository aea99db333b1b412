"""`inferdpt privacy clip-bounds`: DP-Prompt's clip bounds from public text."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Literal

import typer

from proxy.cli.help import page
from proxy.cli.options import AsJson, read_text

__all__ = ["add_clip_bounds", "clip_bounds"]

TEMPERATURES = (0.75, 1.0, 1.25, 1.5, 1.75)  # those of Utpala et al. 2023


def add_clip_bounds(app: typer.Typer) -> None:
    """Add `clip-bounds` to a group."""
    measuring = page(
        "inferdpt privacy clip-bounds --model google/flan-t5-base public.txt",
        "inferdpt privacy clip-bounds --model ./model --rule mean_std --json a.txt b.txt",
    )
    app.command("clip-bounds", cls=measuring)(clip_bounds)


def clip_bounds(
    model: Annotated[
        str, typer.Option(metavar="NAME", help="Use this transformers model: folder or hub name.")
    ],
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE", help="Public text; - is standard input."),
    ] = None,
    text: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="Read this public text, too.")
    ] = None,
    rule: Annotated[
        Literal["minmax", "mean_std"],
        typer.Option(help="Take the least and greatest logit, or the mean and mean + 4 std."),
    ] = "minmax",
    as_json: AsJson = False,
) -> int:
    """Measure DP-Prompt's clip bounds on public text.

    The text must be public: bounds measured on private text would reveal something about it.
    """
    from extraction.dp_prompt.clip import Decoding
    from extraction.dp_prompt.clip_bounds import measure_bounds
    from extraction.dp_prompt.paraphrase_transformers import load_model
    from perturb.release import format_upper

    paths = [*(text or ()), *(files or ())]
    if not paths:
        raise typer.BadParameter("name at least one public text", param_hint="FILE")
    texts = [read_text(path) for path in paths]
    print("use public text only: the bounds depend on it", file=sys.stderr)
    measured = measure_bounds(*load_model(model), texts)
    low, high = measured.bounds(rule)
    epsilons = {
        f"{temperature:g}": Decoding(temperature=temperature, bounds=(low, high)).epsilon
        for temperature in TEMPERATURES
    }
    if as_json:
        figures = {
            "model": model,
            "rule": rule,
            "clip": [low, high],
            "logits": measured.count,
            "mean": measured.mean,
            "std": measured.std,
            "min": measured.least,
            "max": measured.greatest,
            "epsilon_per_token_at_temperature": epsilons,
        }
        print(json.dumps(figures, indent=2))
        return 0
    print(f"clip: [{low:.6g}, {high:.6g}]   # {rule} of {measured.count} logits")
    for temperature, epsilon in epsilons.items():
        print(f"  T = {temperature:<5} ε = {format_upper(epsilon, 4)} per generated token")
    return 0
