"""`inferdpt clip-bounds`: DP-Prompt's clip bounds from public text."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any

from extraction.clip import Decoding
from extraction.clip_bounds import RULES, measure_bounds
from extraction.paraphrase_transformers import load_model
from proxy.tools import read_text

__all__ = ["add_clip_bounds", "clip_bounds"]

TEMPERATURES = (0.75, 1.0, 1.25, 1.5, 1.75)  # those of Utpala et al. 2023
EXAMPLES = """\
examples:
  inferdpt clip-bounds --model google/flan-t5-base --text public.txt
  inferdpt clip-bounds --model ./model --text a.txt b.txt --rule mean_std --json

The text must be public: bounds measured on private text would say something of it.
"""


def add_clip_bounds(commands: Any, add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command to the `inferdpt` parser."""
    parser = add(
        commands, "clip-bounds", "measure DP-Prompt's clip bounds on public text", EXAMPLES
    )
    parser.add_argument("--model", required=True, help="a transformers model: folder or hub name")
    parser.add_argument(
        "--text",
        required=True,
        nargs="+",
        metavar="FILE",
        help="public text, - for standard input",
    )
    parser.add_argument(
        "--rule",
        default="minmax",
        choices=RULES,
        help="minmax: least and greatest logit; mean_std: mean and mean + 4 std (minmax)",
    )
    parser.add_argument("--json", action="store_true", help="the figures as JSON")
    parser.set_defaults(run=clip_bounds)


def clip_bounds(args: argparse.Namespace) -> int:
    """Measure and print. Returns the exit status."""
    texts = [read_text(path) for path in args.text]
    print("use public text only: the bounds depend on it", file=sys.stderr)
    measured = measure_bounds(*load_model(args.model), texts)
    low, high = measured.bounds(args.rule)
    epsilons = {
        f"{temperature:g}": Decoding(temperature=temperature, bounds=(low, high)).epsilon
        for temperature in TEMPERATURES
    }
    if args.json:
        print(
            json.dumps(
                {
                    "model": args.model,
                    "rule": args.rule,
                    "clip": [low, high],
                    "logits": measured.count,
                    "mean": measured.mean,
                    "std": measured.std,
                    "min": measured.least,
                    "max": measured.greatest,
                    "epsilon_per_token_at_temperature": epsilons,
                },
                indent=2,
            )
        )
        return 0
    print(f"clip: [{low:.6g}, {high:.6g}]   # {args.rule} of {measured.count} logits")
    for temperature, epsilon in epsilons.items():
        print(f"  T = {temperature:<5} ε = {epsilon:.4g} per generated token")
    return 0
