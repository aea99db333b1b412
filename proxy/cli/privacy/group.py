"""`inferdpt privacy`: sanitize a text, make synthetic ones, and examine guarantees."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Literal

import typer

from proxy.cli.help import group_page, page
from proxy.cli.options import (
    AsJson,
    Epsilon,
    Settings,
    Table,
    Variant,
    describe_mechanisms,
    list_sanitizers,
    load_sanitizer,
    mechanism_option,
    name_mechanisms,
    print_json,
    read_text,
)
from proxy.cli.privacy.audit import add_audit, add_certify
from proxy.cli.privacy.clip_bounds import add_clip_bounds
from proxy.cli.privacy.difference import print_comparison
from proxy.cli.privacy.refute import add_refute
from proxy.cli.privacy.synthesize import add_synthesize

__all__ = ["account", "perturb", "privacy_group"]

DELTA = 1e-6  # perturb.audit.accounting.DELTA; a test holds them equal


def privacy_group() -> typer.Typer:
    """Build the group of commands."""
    app = typer.Typer(
        cls=group_page(
            "inferdpt privacy perturb letter.txt --mechanism rantext_ldp --epsilon 8",
            "inferdpt privacy audit --mechanism rantext --epsilon 6",
            "inferdpt privacy account --mechanism rantext_ldp --epsilon 6 --tokens 500",
        ),
        help="Sanitize texts, make synthetic ones, and examine guarantees.",
        no_args_is_help=True,
    )
    perturbing = page(
        'echo "The meeting is on Monday." | inferdpt privacy perturb - --mechanism rantext',
        "inferdpt privacy perturb mail.txt --mechanism selective --receipt > released.txt",
        "inferdpt privacy perturb letter.txt --mechanism selective --diff",
        "inferdpt privacy perturb letter.txt --mechanism rantext_ldp --epsilon 8 --json",
        "inferdpt privacy perturb letter.txt --mechanism surrogate --epsilon 12",
        "inferdpt privacy perturb mail.txt --mechanism selective"
        " --set 'patterns={CASE: \"CX-[0-9]+\"}'",
        "inferdpt privacy perturb mail.txt --mechanism selective"
        " --set 'actions={\"*\": surrogate, AGE: value}'",
        notes=describe_mechanisms,
    )
    app.command("perturb", cls=perturbing)(perturb)
    add_audit(app)
    add_certify(app)
    add_refute(app)
    accounting = page(
        "inferdpt privacy account --mechanism rantext_ldp --epsilon 6 --tokens 500",
        "inferdpt privacy account --mechanism exponential --epsilon 1 --tokens 2000"
        " --delta 1e-8 --json",
        notes=name_mechanisms(list_sanitizers),
    )
    app.command("account", cls=accounting)(account)
    add_clip_bounds(app)
    add_synthesize(app)
    return app


def perturb(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Text; - is standard input.")] = "-",
    mechanism: Annotated[
        str, mechanism_option(list_sanitizers, "Sanitize with this mechanism.")
    ] = "rantext",
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
    lines: Annotated[bool, typer.Option("--lines", help="Read every line as a text.")] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Show the raw text beside its release.")
    ] = False,
    with_receipt: Annotated[
        bool, typer.Option("--receipt", help="Print the receipt, too, as JSON on standard error.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the text and the receipt as one JSON object.")
    ] = False,
) -> int:
    """Sanitize a text, and print what is released.

    Only the released text goes to standard output, with a line break at its end where the given
    text has one.
    """
    from perturb import DocumentOptions

    if diff and (lines or as_json):
        raise typer.BadParameter("give one of them", param_hint=["--diff", "--lines", "--json"])
    if with_receipt and (lines or as_json):
        raise typer.BadParameter("give one of them", param_hint=["--receipt", "--lines", "--json"])

    options = DocumentOptions(oov=oov, number=number, layout=layout)
    sanitizer = load_sanitizer(mechanism, epsilon, settings, table, vocabulary, options)
    if lines:
        for line in read_text(file).removesuffix("\n").split("\n"):
            print(" ".join(sanitizer.perturb(line).text.splitlines()))
        return 0
    raw = read_text(file)
    done = sanitizer.perturb(raw)
    receipt = done.receipt.to_dict()
    if as_json:
        print_json({"text": done.text, "receipt": receipt})
        return 0
    if diff:
        print_comparison(done.compare(raw))
    else:
        unfinished = raw.endswith("\n") and not done.text.endswith("\n")
        sys.stdout.write(done.text + "\n" * unfinished)
    if with_receipt:
        sys.stdout.flush()
        print(json.dumps(receipt, ensure_ascii=False, indent=2), file=sys.stderr)
    return 0


def account(
    tokens: Annotated[int, typer.Option(metavar="N", help="Count this many released tokens.")],
    mechanism: Annotated[
        str, mechanism_option(list_sanitizers, "Account for this mechanism.")
    ] = "rantext_ldp",
    epsilon: Epsilon = 6.0,
    settings: Settings = None,
    table: Table = None,
    vocabulary: Variant = "clean",
    delta: Annotated[
        float, typer.Option(metavar="δ", help="Allow this δ where a bound has one.")
    ] = DELTA,
    as_json: AsJson = False,
) -> int:
    """Bound the ε of many tokens together, by every available bound."""
    from perturb.audit.accounting import best, compose, spend
    from perturb.release import format_upper

    chosen = load_sanitizer(mechanism, epsilon, settings, table, vocabulary).mechanism
    bounds = compose([spend(chosen, tokens)], delta=delta)
    smallest = best(bounds)
    if as_json:
        print_json(
            {
                "statement": chosen.guarantee.statement,
                "unit": chosen.guarantee.unit,
                "tokens": tokens,
                "bounds": [bound.to_dict() for bound in bounds],
                "best": smallest.to_dict(),
            }
        )
        return 0
    print(f"{chosen.guarantee.statement}\n")
    unit = chosen.guarantee.unit
    print(f"ε is per {unit}; {tokens} released {unit}s together, all replaced at once:")
    for bound in bounds:
        mark = "  <- smallest" if bound is smallest and len(bounds) > 1 else ""
        shown = f"ε = {format_upper(bound.epsilon):>10}   δ = {format_upper(bound.delta)}"
        print(f"  {bound.name:26} {shown}{mark}")
    return 0
