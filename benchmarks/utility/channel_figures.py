"""Measure the leakage of an exact channel: adjacency, keep rate, Bayes vulnerability."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.attacks.likelihood import load_channel
from benchmarks.harness.context import Context
from benchmarks.harness.experiment import Experiment, Outcome
from benchmarks.harness.markdown import (
    format_figure,
    format_number,
    format_percent,
    format_point,
    format_table,
)
from benchmarks.harness.records import Case, Estimate, Record
from perturb.audit.report import Figure, audit

__all__ = ["ChannelFigures"]

FIGURES = ("kept", "kept_forms", "bayes", "bayes_forms", "information", "cosine")


class ChannelFigures(Experiment):
    """Audit every mechanism at every ε with `perturb.audit.report`."""

    name = "channel"
    about = "adjacency, keep rate, Bayes vulnerability and smallest ε, from the exact channel"

    def cases(self, context: Context) -> Iterable[Case]:
        for subject, epsilon in context.suite.points():
            yield {"mechanism": subject.label, "epsilon": epsilon}

    def measure(self, case: Case, context: Context) -> Outcome:
        mechanism = context.mechanism(case["mechanism"], case["epsilon"])
        found = audit(mechanism, sums=load_channel(mechanism).sums if mechanism.exact else None)
        values: dict[str, Any] = {name: _estimate(getattr(found, name)) for name in FIGURES}
        full = found.to_dict()
        for name in ("kind", "epsilon_proved", "statement", "sizes", "prior_best_forms"):
            values[name] = full[name]
        values["smallest_epsilon"] = full["epsilon"]
        values["delta"] = full["delta"]
        breaches = []
        if found.kind == "ldp" and found.epsilon.low > found.epsilon_proved * (1 + 1e-9):
            breaches.append(
                f"{case['mechanism']} at {case['epsilon']:g} needs ε >= {found.epsilon.low:.6g}, "
                f"above the proved {found.epsilon_proved:.6g}"
            )
        return Outcome(values, tuple(breaches))

    def render(self, records: Sequence[Record], figure: str | None = None) -> Iterable[str]:
        rows = [
            [
                *format_point(r.case),
                format_number(r.values["epsilon_proved"]),
                format_number(r.values["smallest_epsilon"]["value"]),
                format_percent(r.values["kept_forms"]),
                format_percent(r.values["bayes_forms"]),
                format_figure(r.values["information"], 2),
                format_figure(r.values["cosine"], 2),
            ]
            for r in records
        ]
        if rows:
            head = ["mechanism", "ε", "proved", "smallest ε", "kept, %", "guessed, %", "bits"]
            yield (
                "### The exact channel\n\n"
                "Figures for one released word; the raw word is drawn by its frequency in the "
                "bundled counts. Intervals are numerical errors. `inferdpt privacy audit` prints "
                "each in full; [mechanisms.md](mechanisms.md) explains the columns.\n\n"
                + format_table([*head, "cosine"], rows)
            )

    @classmethod
    def read_proved(cls, record: Record) -> float:
        """Return the ε that is proved per token; ∞ if nothing is."""
        proved = record.values["epsilon_proved"]
        return math.inf if proved == "infinity" else float(proved)


def _estimate(figure: Figure) -> Estimate:
    return Estimate(figure.value, figure.low, figure.high, 1)
