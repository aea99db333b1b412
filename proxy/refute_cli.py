"""`inferdpt refute` and `inferdpt account`: what a guarantee is worth, from outside and in sum."""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
from collections.abc import Callable, Sequence
from typing import Any

from tqdm import tqdm

from perturb import Perturber, load_table
from perturb.accounting import DELTA, best, compose, spend
from perturb.embeddings import BUNDLED_TABLE
from perturb.errors import SanitizerError
from perturb.refute import SAMPLES, Sanitize, candidate_words, refute
from perturb.rng import secure_generator, seeded_generator
from proxy.mechanism_args import add_mechanism, chosen_mechanism

__all__ = ["add_account", "add_refute"]

Add = Callable[..., argparse.ArgumentParser]
REFUTED = 1  # exit status when the samples contradict the claim
REFUTE_EXAMPLES = """\
A command reads a text a line and writes the sanitized text a line, fresh noise for each: one
that remembers lines and repeats itself is not what the bound is about. Exit status 1 says that
the samples contradict the claimed ε.

examples:
  inferdpt refute --mechanism rantext --epsilon 3 --set noise=published
  inferdpt refute --mechanism rantext_ldp --epsilon 6
  inferdpt refute --command 'python my_sanitizer.py' --claim 4
  inferdpt refute --command 'inferdpt perturb --lines --mechanism santext' --words words.txt
"""
ACCOUNT_EXAMPLES = """\
examples:
  inferdpt account --mechanism rantext_ldp --epsilon 6 --tokens 500
  inferdpt account --mechanism exponential --epsilon 1 --tokens 2000 --delta 1e-8 --json
"""


def add_refute(commands: Any, add: Add) -> None:
    """Add `inferdpt refute`."""
    parser = add(
        commands, "refute", "bound the ε of any sanitizer from below, by samples", REFUTE_EXAMPLES
    )
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--command", metavar="COMMAND", help="the sanitizer, as a program")
    add_mechanism(parser, beside=source)
    parser.add_argument("--claim", type=float, help="the ε to test (the nominal one of ours)")
    parser.add_argument(
        "--words",
        metavar="FILE",
        help="inputs to compare, one a line (single tokens in and outside the vocabulary)",
    )
    parser.add_argument("--samples", type=int, default=SAMPLES, help=f"lines in all ({SAMPLES})")
    parser.add_argument("--confidence", type=float, default=0.999, help="of the bound (0.999)")
    parser.add_argument("--timeout", type=float, default=3600.0, help="seconds a run may take")
    parser.add_argument("--seed", type=int, help="repeat the choice of words, and our noise")
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(run=_refute)


def add_account(commands: Any, add: Add) -> None:
    """Add `inferdpt account`."""
    parser = add(
        commands, "account", "ε of many tokens together, by every bound there is", ACCOUNT_EXAMPLES
    )
    add_mechanism(parser, default="rantext_ldp")
    parser.add_argument("--tokens", type=int, required=True, help="released tokens")
    parser.add_argument("--delta", type=float, default=DELTA, help=f"({DELTA:g})")
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(run=_account)


def _refute(args: argparse.Namespace) -> int:
    table = load_table(args.table or BUNDLED_TABLE)
    rng = secure_generator() if args.seed is None else seeded_generator(args.seed)
    if args.words:
        with open(args.words, encoding="utf-8") as file:
            words = [line.strip() for line in file if line.strip()]
    else:
        words = candidate_words(table.vocabulary, rng)
    claim = args.claim
    if args.command:
        sanitize = _program(args.command, args.timeout)
    else:
        mechanism = chosen_mechanism(args)
        sanitize = _lines(Perturber(mechanism), rng)
        if claim is None:
            guarantee = mechanism.guarantee
            claim = guarantee.epsilon if guarantee.kind == "metric" else mechanism.epsilon
    with tqdm(total=args.samples, desc="lines", unit="") as bar:
        found = refute(
            sanitize,
            words,
            samples=args.samples,
            confidence=args.confidence,
            progress=lambda lines: _advance(bar, lines),
        )
    refuted = claim is not None and found.epsilon_lower > claim
    if args.json:
        print(json.dumps({**found.to_dict(), "claim": claim, "refuted": refuted}, indent=2))
    else:
        print(found.statement)
        if claim is not None:
            print(f"claimed ε = {claim:g}: " + ("refuted" if refuted else "not refuted"))
    return REFUTED if refuted else 0


def _advance(bar: tqdm[Any], lines: int) -> None:
    bar.update(lines)


def _lines(perturber: Perturber, rng: Any) -> Sanitize:
    """Our own sanitizer over lines of one word each: in one draw where words are drawn
    independently, line by line where equal words of a text get one replacement."""
    if perturber.mechanism.spans("") is None:
        return lambda lines: perturber.perturb("\n".join(lines), rng).text.split("\n")
    return lambda lines: [perturber.perturb(line, rng).text for line in lines]


def _program(command: str, timeout: float) -> Sanitize:
    """A program over lines, run once for each batch of lines."""

    def sanitize(lines: Sequence[str]) -> list[str]:
        try:
            done = subprocess.run(  # noqa: S603  (the operator's own command)
                shlex.split(command),
                input="".join(f"{line}\n" for line in lines).encode(),
                stdout=subprocess.PIPE,
                timeout=timeout,
                check=True,
            )
        except subprocess.CalledProcessError as exc:
            raise SanitizerError(f"the command failed with status {exc.returncode}") from None
        except subprocess.TimeoutExpired:
            raise SanitizerError(f"the command took longer than {timeout:g} s") from None
        return done.stdout.decode("utf-8", "replace").removesuffix("\n").split("\n")

    return sanitize


def _account(args: argparse.Namespace) -> int:
    mechanism = chosen_mechanism(args)
    bounds = compose([spend(mechanism, args.tokens)], delta=args.delta)
    smallest = best(bounds)
    if args.json:
        out = {
            "statement": mechanism.guarantee.statement,
            "tokens": args.tokens,
            "bounds": [bound.to_dict() for bound in bounds],
            "best": smallest.to_dict(),
        }
        print(json.dumps(out, ensure_ascii=False, indent=2))
        return 0
    print(f"{mechanism.guarantee.statement}\n")
    print(f"{args.tokens} released tokens together, all replaced at once:")
    for bound in bounds:
        mark = "  <- smallest" if bound is smallest and len(bounds) > 1 else ""
        print(f"  {bound.name:26} ε = {bound.epsilon:10.2f}   δ = {bound.delta:g}{mark}")
    return 0
