"""What a mechanism's exact channel gives away: adjacency, keep rate, Bayes vulnerability."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchmarks.attacks.likelihood import channel_of
from benchmarks.context import Context
from benchmarks.experiment import Experiment, Found
from benchmarks.records import Case, Estimate
from perturb.audit import Figure, audit

__all__ = ["ChannelFigures"]

FIGURES = ("kept", "kept_forms", "bayes", "bayes_forms", "information", "cosine")


class ChannelFigures(Experiment):
    """`perturb.audit` of every mechanism at every ε."""

    name = "channel"
    about = "adjacency, keep rate, Bayes vulnerability and smallest ε, from the exact channel"

    def cases(self, context: Context) -> Iterable[Case]:
        for subject, epsilon in context.suite.points():
            yield {"mechanism": subject.label, "epsilon": epsilon}

    def measure(self, case: Case, context: Context) -> Found:
        mechanism = context.mechanism(case["mechanism"], case["epsilon"])
        found = audit(mechanism, sums=channel_of(mechanism).sums if mechanism.exact else None)
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
        return Found(values, tuple(breaches))


def _estimate(figure: Figure) -> Estimate:
    return Estimate(figure.value, figure.low, figure.high, 1)
