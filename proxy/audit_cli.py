"""`inferdpt audit` and `inferdpt certify`: what a mechanism guarantees over its table."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from tqdm import tqdm

from perturb.audit import PRIORS, Audit, audit
from perturb.certificate import CERTIFIABLE, Certificate, certify, save_certificate
from proxy.mechanism_args import add_mechanism, chosen_mechanism

__all__ = ["add_audit", "add_certify"]

Add = Callable[..., argparse.ArgumentParser]
AUDIT_EXAMPLES = """\
The whole channel P(y | x) is computed, a block of rows at a time; madlib and mahalanobis are
sampled. All figures are for one released token.

examples:
  inferdpt audit --mechanism rantext --epsilon 6
  inferdpt audit --mechanism rantext --epsilon 3 --set noise=published --json
  inferdpt audit --mechanism rantext_ldp --epsilon 8 --figure audit.png
"""
CERTIFY_EXAMPLES = """\
The ratio P(y | x) / P(y | x') is bounded for all words x, x' and y of the table in exact
arithmetic. A broken table, or a mechanism that does not keep its ε, ends in an error.

examples:
  inferdpt certify --mechanism rantext_ldp --epsilon 8
  inferdpt certify --mechanism exponential --epsilon 8 --out certificate.json
"""


def add_audit(commands: Any, add: Add) -> None:
    """Add `inferdpt audit`."""
    parser = add(
        commands, "audit", "print what a mechanism guarantees and gives away", AUDIT_EXAMPLES
    )
    add_mechanism(parser)
    parser.add_argument(
        "--prior", default="unigram", choices=PRIORS, help="how likely each word is (unigram)"
    )
    parser.add_argument("--json", action="store_true", help="everything as JSON")
    parser.add_argument("--figure", metavar="FILE", help="draw a figure, e.g. audit.png")
    parser.set_defaults(run=_audit)


def add_certify(commands: Any, add: Add) -> None:
    """Add `inferdpt certify`."""
    parser = add(commands, "certify", "prove a mechanism's ε over its table", CERTIFY_EXAMPLES)
    add_mechanism(parser, names=CERTIFIABLE)
    parser.add_argument("--out", metavar="FILE", help="write the certificate as JSON")
    parser.set_defaults(run=_certify)


def _audit(args: argparse.Namespace) -> int:
    if args.figure:
        from proxy.audit_figure import draw, require_matplotlib

        require_matplotlib()  # before the work, not after it
    mechanism = chosen_mechanism(args)
    with _bar("rows" if mechanism.exact else "draws") as bar:
        found = audit(mechanism, args.prior, lambda done, total: _advance(bar, done, total))
    if args.figure:
        draw(found, args.figure)
    print(json.dumps(found.to_dict(), ensure_ascii=False, indent=2) if args.json else _text(found))
    return 0


def _certify(args: argparse.Namespace) -> int:
    mechanism = chosen_mechanism(args)
    with _bar("rows") as bar:
        proved = certify(mechanism, lambda done, total: _advance(bar, done, total))
    if args.out:
        save_certificate(proved, args.out)
        print(_summary(proved))
        print(f"written to {args.out}")
    else:
        print(json.dumps(asdict(proved), ensure_ascii=False, indent=2))
    return 0


def _summary(proved: Certificate) -> str:
    worst = proved.worst_pair
    other = worst["x'"]
    return (
        f"proved: ε = {proved.epsilon_proved} (nominal {proved.epsilon_nominal:g}) over "
        f"{proved.words:,} words; largest ratio at y = {worst['y']!r}, x = {worst['x']!r}, "
        f"x' = {other!r}"
    )


def _bar(unit: str) -> tqdm[Any]:
    return tqdm(total=0, desc=unit, unit="", leave=False)


def _advance(bar: tqdm[Any], done: int, total: int) -> None:
    bar.total = total
    bar.update(done - bar.n)


def _text(found: Audit) -> str:
    settings = ", ".join(f"{key} = {_short(value)}" for key, value in found.parameters.items())
    proved = "∞" if math.isinf(found.epsilon_proved) else f"{found.epsilon_proved:.6g}"
    rows: list[tuple[str, object]] = [
        ("mechanism", f"{found.mechanism} ({settings})"),
        ("words", f"{found.words:,}, prior {found.prior}"),
        ("method", found.method),
        ("", ""),
        ("ε asked for", f"{found.epsilon_nominal:g}"),
        ("ε proved", proved),
        ("smallest ε", found.epsilon),
    ]
    if found.worst:
        worst = found.worst
        rows.append(("  needed for", f"{worst.x!r} against {worst.other!r}, seeing {worst.y!r}"))
    rows += [("δ at ε asked for", found.delta)]
    if found.delta.low < found.delta.high:
        rows.append(("  from below by", f"{found.pairs:,} pairs of words"))
    if found.slope is not None:
        rows.append(
            ("ε per unit distance", f">= {found.slope:.4g} over {found.pairs:,} pairs of words")
        )
    rows += [
        ("", ""),
        ("word kept", found.kept),
        ("  in any case", found.kept_forms),
        ("word guessed", f"{found.bayes}   (without looking {found.prior_best:.4g})"),
        ("  up to case", f"{found.bayes_forms}   (without looking {found.prior_best_forms:.4g})"),
        ("information", f"{found.information} bits of {found.entropy_x:.4g}"),
    ]
    if found.entropy_channel:
        rows.append(("entropy of the release", f"{found.entropy_channel} bits"))
    if found.posterior:
        sure = found.posterior
        known = "" if sure.low == sure.high else f" ({sure.low:.2g} to {sure.high:.2g})"
        rows.append(("largest posterior", f"{sure.value:.4g}{known}"))
    rows.append(("mean cosine", found.cosine))
    if found.sizes:
        sizes = ", ".join(f"{key} {value:,}" for key, value in found.sizes.items())
        rows.append(("words in the list", sizes))
    width = max(len(name) for name, _ in rows)
    lines = [f"{name:{width}}  {value}".rstrip() for name, value in rows]
    return "\n".join(
        [found.statement, "", *lines, "", *(f"note: {n}" for n in found.notes)]
    ).strip()


def _short(value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 24 else f"{text[:12]}…"
