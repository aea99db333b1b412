"""The exact law of LimitedDomain, computed by enumeration in another way than it draws."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

Weights = dict[int | None, float]
Weigh = Callable[[Sequence[int]], Weights]
Law = dict[tuple[int, ...], float]
END = None


def weigh(
    counts: Sequence[int], *, epsilon: float, domain: int, delta: float, above: float = 1
) -> Weights:
    """Return e^(ε·votes) of the `domain` candidates with the most votes, and the end's weight."""
    ranked = sorted(range(len(counts)), key=lambda place: (-counts[place], place))
    weights: Weights = {place: math.exp(epsilon * counts[place]) for place in ranked[:domain]}
    if domain < len(counts):
        weights[END] = math.exp(epsilon * (counts[ranked[domain]] + above)) / delta
    return weights


def list_laws(weights: Weights, picks: int) -> Law:
    """Return the probability of each list of at most `picks` different candidates."""
    law: Law = {}

    def follow(left: Weights, so_far: tuple[int, ...], mass: float) -> None:
        if len(so_far) == picks or not left:
            law[so_far] = law.get(so_far, 0.0) + mass
            return
        total = sum(left.values())
        for name, weight in left.items():
            if name is END:
                law[so_far] = law.get(so_far, 0.0) + mass * weight / total
            else:
                rest = {other: w for other, w in left.items() if other != name}
                follow(rest, (*so_far, name), mass * weight / total)

    follow(weights, (), 1.0)
    return law


def excess(one: Law, other: Law, epsilon: float) -> float:
    """Return Σ max(0, P − e^ε·Q): the δ with which P is within ε of Q."""
    return sum(max(0.0, p - math.exp(epsilon) * other.get(name, 0.0)) for name, p in one.items())


def list_neighbours(candidates: int, most: int) -> Iterator[tuple[list[int], list[int]]]:
    """Yield every histogram with at most `most` votes a candidate, with one vote more anywhere."""
    for counts in itertools.product(range(most + 1), repeat=candidates):
        for place in range(candidates):
            more = list(counts)
            more[place] += 1
            yield list(counts), more


def largest_excess(
    weigh: Weigh, *, candidates: int, most: int, picks: int, epsilon: float
) -> float:
    """Return the largest δ among all pairs of neighbours, in both directions."""
    worst = 0.0
    for counts, more in list_neighbours(candidates, most):
        laws = [list_laws(weigh(each), picks) for each in (counts, more)]
        worst = max(worst, excess(*laws, epsilon), excess(*reversed(laws), epsilon))
    return worst
