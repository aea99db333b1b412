"""`inferdpt privacy audit` and `certify`: the guarantee of a mechanism over its table."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

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
    print_json,
)
from proxy.cli.progress import show_progress

if TYPE_CHECKING:
    from perturb import Mechanism, Sanitizer
    from perturb.audit.certificate import Certificate
    from perturb.audit.figures import Audit
    from perturb.files import Checkpoint

__all__ = ["add_audit", "add_certify", "audit", "certify"]


def add_audit(app: typer.Typer) -> None:
    """Add `audit` to a group."""
    auditing = page(
        "inferdpt privacy audit --mechanism rantext --epsilon 6",
        "inferdpt privacy audit --mechanism rantext --epsilon 3 --set noise=published --json",
        "inferdpt privacy audit --mechanism rantext_ldp --epsilon 8 --figure audit.png",
        "inferdpt privacy audit --mechanism surrogate --epsilon 12",
        notes=name_mechanisms(list_sanitizers),
    )
    app.command("audit", cls=auditing)(audit)


def add_certify(app: typer.Typer) -> None:
    """Add `certify` to a group."""
    certifying = page(
        "inferdpt privacy certify --mechanism rantext_ldp --epsilon 8",
        "inferdpt privacy certify --mechanism exponential --epsilon 8 --out certificate.json",
        "inferdpt privacy certify --mechanism surrogate --epsilon 12",
        notes=name_mechanisms(_list_certifiable),
    )
    app.command("certify", cls=certifying)(certify)


def _list_certifiable() -> Sequence[str]:
    from perturb.audit.certificate import certifiable_names

    return certifiable_names()


def audit(
    mechanism: Annotated[str, mechanism_option(list_sanitizers, "Audit this mechanism.")],
    epsilon: Epsilon = 6.0,
    settings: Settings = None,
    table: Table = None,
    vocabulary: Variant = "clean",
    prior: Annotated[
        Literal["uniform", "unigram"], typer.Option(help="Assume this distribution of words.")
    ] = "unigram",
    as_json: AsJson = False,
    figure: Annotated[
        str | None, typer.Option(metavar="FILE", help="Draw a figure, e.g. audit.png.")
    ] = None,
) -> int:
    """Print the guarantee of a mechanism and the information it reveals.

    Word by word, the whole channel P(y | x) is computed, a block of rows at a time, and all
    figures are for one released token; madlib and mahalanobis are sampled. For whole documents,
    the figures follow from the law of the choice. An audit that was killed resumes where it
    stopped if it is started again with the same arguments.
    """
    from perturb import Mechanism
    from perturb.audit import report

    if figure:
        from proxy.cli.privacy.audit_figure import draw, require_matplotlib

        require_matplotlib()  # fail before the work
    chosen = load_sanitizer(mechanism, epsilon, settings, table, vocabulary).mechanism
    if not isinstance(chosen, Mechanism):
        _print_figures(chosen, figure, as_json=as_json)
        return 0
    checkpoint = _open_checkpoint(chosen, prior)
    with show_progress(leave=False) as progress:
        unit = "rows" if chosen.exact else "draws"
        found = report.audit(chosen, prior, partial(progress, unit), checkpoint=checkpoint)
    if figure:
        draw(found, figure)
    if as_json:
        print_json(found.to_dict())
    else:
        print(_format(found))
    if checkpoint:
        checkpoint.remove()
    return 0


def certify(
    mechanism: Annotated[str, mechanism_option(_list_certifiable, "Certify this mechanism.")],
    epsilon: Epsilon = 6.0,
    settings: Settings = None,
    table: Table = None,
    vocabulary: Variant = "clean",
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the certificate as JSON.")
    ] = None,
) -> int:
    """Prove a mechanism's ε over its table.

    The ratio P(y | x) / P(y | x') is bounded for all words x, x' and y of the table in exact
    arithmetic. A broken table, or a mechanism that exceeds its ε, is an error.
    """
    from perturb.audit import certificate

    chosen = load_sanitizer(mechanism, epsilon, settings, table, vocabulary).mechanism
    with show_progress(leave=False) as progress:
        proved = certificate.certify(chosen, partial(progress, "rows"))
    if out:
        certificate.save_certificate(proved, out)
        print(_summarize(proved))
        print(f"written to {out}")
    else:
        print_json(asdict(proved))
    return 0


def _open_checkpoint(mechanism: Mechanism, prior: str) -> Checkpoint | None:
    """Return the checkpoint of an audit, in a folder of its own among the state; None if it cannot
    be written. It holds sums over the public vocabulary, and nothing of any text."""
    from perturb.audit.figures import describe_mechanism
    from perturb.files import Checkpoint, hash_code, hash_run
    from proxy.storage.opening import state_folder

    run = {**describe_mechanism(mechanism), "prior": prior, "code": hash_code()}
    folder = state_folder(None) / "unfinished" / f"audit-{hash_run(run)[:16]}"
    if any(folder.glob("*.part")):
        print(f"an unfinished audit is resumed: {folder}", file=sys.stderr)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        said = f"{folder}: {exc.strerror}"
        print(f"the audit cannot be resumed if it stops: {said}", file=sys.stderr)
        return None
    return Checkpoint(folder, run)


def _print_figures(chosen: Sanitizer, figure: str | None, *, as_json: bool) -> None:
    """Print the figures of a sanitizer that does not work word by word."""
    figures = chosen.figures()
    if not figures:
        raise typer.BadParameter(
            f"{chosen.name} has no figures of its own: audit the mechanism inside it",
            param_hint="--mechanism",
        )
    if figure:
        raise typer.BadParameter(
            f"{chosen.name} has numbers only, no figure to draw", param_hint="--figure"
        )
    facts = {"mechanism": chosen.name, "statement": chosen.guarantee.statement, **figures}
    if as_json:
        print_json(facts)
        return
    width = max(map(len, figures))
    print(f"{facts['statement']}\n")
    for name, value in figures.items():
        shown = f"{value:,}" if isinstance(value, int) else f"{value:.6g}"
        print(f"{name.replace('_', ' '):{width}}  {shown}")


def _summarize(proved: Certificate) -> str:
    worst = proved.worst_pair
    other = worst["x'"]
    return (
        f"proved: ε = {proved.epsilon_proved} per {proved.unit} (nominal "
        f"{proved.epsilon_nominal:g}) over {proved.words:,} releases ({proved.vocabulary}); "
        f"largest ratio at y = {worst['y']!r}, x = {worst['x']!r}, x' = {other!r}"
    )


def _format(found: Audit) -> str:
    rows = found.rows()
    width = max(len(name) for name, _ in rows)
    lines = [f"{name:{width}}  {value}".rstrip() for name, value in rows]
    return "\n".join(
        [found.statement, "", *lines, "", *(f"note: {n}" for n in found.notes)]
    ).strip()
