"""Utility against the strongest attack: equal nominal ε of two mechanisms means nothing."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.experiment import success
from benchmarks.records import Estimate, Record

__all__ = ["Point", "curves", "matched", "pooled", "select", "strongest"]

# Experiment → its figure: attacks that guess the raw word of each released one, up to case.
ATTACKS = {"inversion": "top_1", "bayes": "success", "contextual": "success"}


@dataclass(frozen=True)
class Point:
    """One mechanism at one ε, over all sets.

    Attributes:
        epsilon: nominal; proved: what is proved per token, ∞ where nothing is.
        attack, attacker: the strongest attack's success on words, and which that is.
        document: similarity of the document and the perturbed one.
        answer: similarity of the pipeline's answers to the references; None if not measured.
    """

    epsilon: float
    proved: float
    attack: Estimate
    attacker: str
    document: Estimate
    answer: Estimate | None


def select(records: Iterable[Record], experiment: str, **case: object) -> list[Record]:
    """The records of an experiment whose case has these values."""
    return [
        record
        for record in records
        if record.experiment == experiment and case.items() <= record.case.items()
    ]


def pooled(estimates: Sequence[Estimate], *, rate: bool) -> Estimate:
    """One figure over several sets: hits of all trials together for a `rate`, else the mean
    weighted by texts, the sets' errors taken as independent."""
    total = sum(e.n for e in estimates)
    if rate:
        return success(sum(round(e.value * e.n) for e in estimates), total)
    value = sum(e.n * e.value for e in estimates) / total
    below = math.sqrt(sum((e.n / total * (e.value - e.low)) ** 2 for e in estimates))
    above = math.sqrt(sum((e.n / total * (e.high - e.value)) ** 2 for e in estimates))
    return Estimate(value, value - below, value + above, total)


def strongest(records: Sequence[Record], label: str, epsilon: float) -> tuple[str, Estimate]:
    """The attack that guessed most words of a mechanism at an ε, over all sets, and how many."""
    found: dict[str, list[Estimate]] = {}
    for name, key in ATTACKS.items():
        for record in select(records, name, mechanism=label, epsilon=epsilon):
            attacker = record.case.get("model", name)
            found.setdefault(attacker, []).append(record.values[key])
    every = {name: pooled(estimates, rate=True) for name, estimates in found.items()}
    return max(every.items(), key=lambda item: item[1].value)


def curves(records: Sequence[Record]) -> dict[str, list[Point]]:
    """The points of every mechanism whose attacks and documents are measured, by ε."""
    out: dict[str, list[Point]] = {}
    for record in select(records, "channel"):
        label, epsilon = record.case["mechanism"], record.case["epsilon"]
        documents = select(records, "similarity", mechanism=label, epsilon=epsilon)
        attacked = select(records, "bayes", mechanism=label, epsilon=epsilon)
        if not documents or not attacked:
            continue
        answers = select(records, "utility", mechanism=label, epsilon=epsilon, arm="pipeline")
        attacker, attack = strongest(records, label, epsilon)
        proved = record.values["epsilon_proved"]
        point = Point(
            epsilon,
            math.inf if proved == "infinity" else proved,
            attack,
            attacker,
            pooled([_cosine(d) for d in documents], rate=False),
            pooled([a.values["similarity"] for a in answers], rate=False) if answers else None,
        )
        out.setdefault(label, []).append(point)
    return {label: sorted(points, key=lambda p: p.epsilon) for label, points in out.items()}


def _cosine(record: Record) -> Estimate:
    """By the suite's own encoder, the first of those that were asked."""
    found: Estimate = next(v for n, v in record.values.items() if n.startswith("cosine"))
    return found


def matched(points: Sequence[Point], level: float) -> tuple[float, float] | None:
    """(utility, ε) of a curve where the strongest attack has the success `level`, on straight
    lines between its points; None where the curve does not come by."""
    ordered = sorted(points, key=lambda p: p.attack.value)
    for a, b in itertools.pairwise(ordered):
        low, high = a.attack.value, b.attack.value
        if low <= level <= high and low < high:
            share = (level - low) / (high - low)
            utility = a.document.value + share * (b.document.value - a.document.value)
            return utility, a.epsilon + share * (b.epsilon - a.epsilon)
    return None
