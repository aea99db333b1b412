"""Compare utility at equal success of the strongest attack, since nominal ε cannot be compared."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.attacks.bayes import Bayes
from benchmarks.attacks.in_context.contextual import Contextual
from benchmarks.attacks.inversion import Inversion
from benchmarks.attacks.word_attack import WordAttack
from benchmarks.harness.experiment import success
from benchmarks.harness.records import Estimate, Record
from benchmarks.utility.answers import Utility
from benchmarks.utility.channel_figures import ChannelFigures
from benchmarks.utility.documents import Similarity

__all__ = ["Point", "find_strongest", "interpolate", "make_curves", "pool"]

ATTACKS: tuple[type[WordAttack], ...] = (Inversion, Bayes, Contextual)


@dataclass(frozen=True)
class Point:
    """Hold the figures of one mechanism at one ε, over all sets.

    Attributes:
        epsilon: the nominal ε.
        proved: the ε that is proved per token; ∞ if nothing is.
        attack: the strongest attack's success on words.
        attacker: the strongest attack's name.
        document: similarity of the document and the perturbed one.
        answer: similarity of the pipeline's answers to the references; None if not measured.
    """

    epsilon: float
    proved: float
    attack: Estimate
    attacker: str
    document: Estimate
    answer: Estimate | None


def pool(estimates: Sequence[Estimate], *, rate: bool) -> Estimate:
    """Pool the figures of several sets into one.

    A `rate` counts the hits of all trials together. Anything else is the mean weighted by texts,
    with the sets' errors taken as independent.
    """
    total = sum(e.n for e in estimates)
    if rate:
        return success(sum(round(e.value * e.n) for e in estimates), total)
    value = sum(e.n * e.value for e in estimates) / total
    below = math.sqrt(sum((e.n / total * (e.value - e.low)) ** 2 for e in estimates))
    above = math.sqrt(sum((e.n / total * (e.high - e.value)) ** 2 for e in estimates))
    return Estimate(value, value - below, value + above, total)


def find_strongest(records: Sequence[Record], label: str, epsilon: float) -> tuple[str, Estimate]:
    """Return the attack that guessed most words of a mechanism at an ε, over all sets, and its
    success."""
    found: dict[str, list[Estimate]] = {}
    for attack in ATTACKS:
        for record in attack.select(records, mechanism=label, epsilon=epsilon):
            attacker, estimate = attack.read_success(record)
            found.setdefault(attacker, []).append(estimate)
    every = {name: pool(estimates, rate=True) for name, estimates in found.items()}
    return max(every.items(), key=lambda item: item[1].value)


def make_curves(records: Sequence[Record]) -> dict[str, list[Point]]:
    """Return the points of every mechanism whose attacks and documents are measured, by ε."""
    out: dict[str, list[Point]] = {}
    for record in ChannelFigures.select(records):
        label, epsilon = record.case["mechanism"], record.case["epsilon"]
        documents = Similarity.select(records, mechanism=label, epsilon=epsilon)
        attacked = Bayes.select(records, mechanism=label, epsilon=epsilon)
        if not documents or not attacked:
            continue
        answers = Utility.read_similarities(records, mechanism=label, epsilon=epsilon)
        attacker, attack = find_strongest(records, label, epsilon)
        point = Point(
            epsilon,
            ChannelFigures.read_proved(record),
            attack,
            attacker,
            pool([Similarity.read_cosine(d) for d in documents], rate=False),
            pool(answers, rate=False) if answers else None,
        )
        out.setdefault(label, []).append(point)
    return {label: sorted(points, key=lambda p: p.epsilon) for label, points in out.items()}


def interpolate(points: Sequence[Point], level: float) -> tuple[float, float] | None:
    """Return (utility, ε) of a curve where the strongest attack has the success `level`,
    interpolated linearly between its points; None if the curve does not pass that level."""
    ordered = sorted(points, key=lambda p: p.attack.value)
    for a, b in itertools.pairwise(ordered):
        low, high = a.attack.value, b.attack.value
        if low <= level <= high and low < high:
            share = (level - low) / (high - low)
            utility = a.document.value + share * (b.document.value - a.document.value)
            return utility, a.epsilon + share * (b.epsilon - a.epsilon)
    return None
