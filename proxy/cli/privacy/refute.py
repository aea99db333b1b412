"""`inferdpt privacy refute`: bound the ε of any sanitizer from below, by samples."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from proxy.cli.help import page
from proxy.cli.options import (
    AsJson,
    Epsilon,
    Settings,
    Table,
    Variant,
    list_sanitizers,
    load_sanitizer,
    mechanism_option,
    name_mechanisms,
)
from proxy.cli.progress import Advance, show_progress

if TYPE_CHECKING:
    from perturb import Sanitizer
    from perturb.audit.refute import Sanitize

__all__ = ["add_refute", "refute"]

REFUTED = 1  # exit status when the samples contradict the claim
SAMPLES = 100_000  # perturb.audit.refute.SAMPLES; a test holds them equal


def add_refute(app: typer.Typer) -> None:
    """Add `refute` to a group."""
    refuting = page(
        "inferdpt privacy refute --mechanism rantext --epsilon 3 --set noise=published",
        "inferdpt privacy refute --mechanism rantext_ldp --epsilon 6",
        "inferdpt privacy refute --mechanism surrogate --epsilon 3 --samples 20000",
        "inferdpt privacy refute --command 'python my_sanitizer.py' --claim 4",
        "inferdpt privacy refute --words words.txt"
        " --command 'inferdpt privacy perturb --lines --mechanism santext'",
        notes=name_mechanisms(list_sanitizers),
    )
    app.command("refute", cls=refuting)(refute)


def refute(
    command: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="Test this program.")
    ] = None,
    mechanism: Annotated[
        str | None, mechanism_option(list_sanitizers, "Test this mechanism.")
    ] = None,
    epsilon: Epsilon = 6.0,
    settings: Settings = None,
    table: Table = None,
    vocabulary: Variant = "clean",
    claim: Annotated[
        float | None, typer.Option(metavar="ε", help="Test this ε (default: the nominal one).")
    ] = None,
    words: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Compare these inputs, one a line (default: single tokens in and outside V).",
        ),
    ] = None,
    samples: Annotated[
        int, typer.Option(metavar="N", help="Sanitize this many lines in all.")
    ] = SAMPLES,
    confidence: Annotated[float, typer.Option(help="Hold the bound at this level.")] = 0.999,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", help="Stop a run of the program after this time.")
    ] = 3600.0,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="Repeat the choice of words, and a mechanism's noise."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Bound the ε of any sanitizer from below, by samples.

    A program reads one text a line and writes one sanitized text a line, with fresh noise for
    each: the bound does not hold for a program that remembers lines. Exit status 1 means that the
    samples contradict the claimed ε.
    """
    from perturb import load_table
    from perturb.audit.refute import candidate_words
    from perturb.audit.refute import refute as bound_from_below
    from perturb.rng import secure_generator, seeded_generator

    if (command is None) == (mechanism is None):
        raise typer.BadParameter("give one of the two", param_hint=["--command", "--mechanism"])
    loaded = load_table(table, vocabulary)
    rng = secure_generator() if seed is None else seeded_generator(seed)
    if words:
        with open(words, encoding="utf-8") as file:
            inputs = [line.strip() for line in file if line.strip()]
    else:
        inputs = candidate_words(loaded.vocabulary, rng)
    if mechanism is None:
        sanitize = _wrap_program(command or "", timeout)
    else:
        chosen = load_sanitizer(mechanism, epsilon, settings, table, vocabulary)
        sanitize = _wrap_sanitizer(chosen, rng)
        if claim is None:
            guarantee = chosen.guarantee
            claim = guarantee.epsilon if guarantee.kind == "metric" else guarantee.nominal
    with show_progress() as progress:
        found = bound_from_below(
            sanitize,
            inputs,
            samples=samples,
            confidence=confidence,
            progress=_count(samples, progress),
        )
    refuted = claim is not None and found.epsilon_lower > claim
    if as_json:
        print(json.dumps({**found.to_dict(), "claim": claim, "refuted": refuted}, indent=2))
    else:
        print(found.statement)
        if claim is not None:
            print(f"claimed ε = {claim:g}: " + ("refuted" if refuted else "not refuted"))
    return REFUTED if refuted else 0


def _count(samples: int, progress: Advance) -> Callable[[int], None]:
    """Return a function that adds lines to those that are done."""
    done = 0

    def advance(lines: int) -> None:
        nonlocal done
        done += lines
        progress("lines", done, samples)

    return advance


def _wrap_sanitizer(sanitizer: Sanitizer, rng: Any) -> Sanitize:
    """Make a sanitizer of lines, one word each.

    All lines are one draw if words are drawn independently. They are sanitized one by one if
    equal words of a text get one replacement, or the text is released as a whole.
    """
    if sanitizer.divisible:
        return lambda lines: sanitizer.perturb("\n".join(lines), rng).text.split("\n")
    return lambda lines: [sanitizer.perturb(line, rng).text for line in lines]


def _wrap_program(command: str, timeout: float) -> Sanitize:
    """Make a sanitizer that runs a program once for each batch of lines.

    Raises:
        SanitizerError: the program fails or takes too long.
    """
    from perturb.errors import SanitizerError

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
