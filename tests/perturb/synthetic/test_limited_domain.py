"""LimitedDomain: the sampler against its exact law, the law against (ε, δ), and broken ones."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from perturb import ParameterError, seeded_generator
from perturb.synthetic.limited_domain import LimitedDomain, find_margin
from perturb.testing.statistics import ALPHA, p_value
from tests.perturb.synthetic.laws import (
    END,
    Law,
    Weights,
    largest_excess,
    list_laws,
    list_neighbours,
    weigh,
)

DRAWS = 3000
Draw = Callable[[], Sequence[int]]
CASES = [
    ([3, 1, 0], LimitedDomain(Fraction(1, 2), 1)),
    ([4, 4, 1, 0], LimitedDomain(Fraction(1, 3), 2)),
    ([2, 5, 2, 2], LimitedDomain(Fraction(1), 2, 2, 0.2)),
    ([9, 0, 7, 1, 1], LimitedDomain(Fraction(1, 4), 3, 3, 0.05)),
    ([0, 0], LimitedDomain(Fraction(2), 5)),
    ([60, 0, 0], LimitedDomain(Fraction(1, 7), 2, 2, 1e-3)),
]


def exact(counts: Sequence[int], law: LimitedDomain) -> Law:
    domain = law.domain or len(counts)
    weights = weigh(counts, epsilon=float(law.epsilon), domain=domain, delta=law.delta)
    return list_laws(weights, law.picks)


def fit(draw: Draw, law: Law) -> float:
    """The p-value of DRAWS lists against their law; 0 for one that the law rules out."""
    seen = Counter(tuple(draw()) for _ in range(DRAWS))
    if seen.keys() - law.keys():
        return 0.0
    names = sorted(law, key=lambda name: -law[name])
    return p_value(
        np.array([seen[name] for name in names]), np.array([law[name] * DRAWS for name in names])
    )


@pytest.mark.parametrize(("counts", "law"), CASES, ids=str)
def test_sampler_matches_its_exact_law(counts: list[int], law: LimitedDomain) -> None:
    rng = seeded_generator(3)
    assert fit(lambda: law.draw(np.array(counts), rng), exact(counts, law)) > ALPHA


@pytest.mark.parametrize(("counts", "law"), CASES, ids=str)
def test_sorting_counts_with_gumbel_noise_has_the_same_law(
    counts: list[int], law: LimitedDomain
) -> None:
    """The paper's algorithm: noise once, then a sorted list up to the end."""
    rng = np.random.default_rng(4)
    epsilon = float(law.epsilon)
    domain = law.domain or len(counts)
    weights = weigh(counts, epsilon=epsilon, domain=domain, delta=law.delta)

    def draw() -> list[int]:
        noisy = {n: math.log(w) / epsilon + rng.gumbel(0, 1 / epsilon) for n, w in weights.items()}
        ranked = sorted(noisy, key=lambda name: -noisy[name])
        before_end = ranked[: ranked.index(END)] if END in noisy else ranked
        return [name for name in before_end if name is not END][: law.picks]

    assert fit(draw, exact(counts, law)) > ALPHA


def takes_the_first_of_the_nearest(counts: list[int], rng: np.random.Generator) -> list[int]:
    """Broken: no noise."""
    del rng
    return sorted(range(len(counts)), key=lambda place: -counts[place])[:2]


def forgets_the_end(counts: list[int], rng: np.random.Generator) -> list[int]:
    """Broken: draws from the K candidates alone."""
    return LimitedDomain(Fraction(1), 2).draw(np.array(counts[:2]), rng)


def draws_at_twice_the_rate(counts: list[int], rng: np.random.Generator) -> list[int]:
    """Broken: noise of half the scale."""
    return LimitedDomain(Fraction(2), 2, 2, 0.2).draw(np.array(counts), rng)


@pytest.mark.parametrize(
    "broken", [takes_the_first_of_the_nearest, forgets_the_end, draws_at_twice_the_rate]
)
def test_a_broken_sampler_is_caught(
    broken: Callable[[list[int], np.random.Generator], list[int]],
) -> None:
    counts, law = [5, 3, 2, 2], LimitedDomain(Fraction(1), 2, 2, 0.2)
    rng = seeded_generator(5)
    assert fit(lambda: broken(counts, rng), exact(counts, law)) < ALPHA


@pytest.mark.parametrize("picks", [1, 2])
@pytest.mark.parametrize("domain", [1, 2, 3])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.1), (1.0, 1e-3)])
def test_one_vote_more_or_less_is_within_epsilon_and_delta(
    picks: int, domain: int, epsilon: float, delta: float
) -> None:
    """Every histogram of three candidates with up to four votes each, and its neighbours."""
    law = partial(weigh, epsilon=epsilon, domain=domain, delta=delta)
    allowed = delta if domain < 3 else 0.0
    worst = largest_excess(law, candidates=3, most=4, picks=picks, epsilon=picks * epsilon)
    assert worst <= allowed + 1e-12


def test_a_pick_is_bounded_range() -> None:
    """Log ratios of one pick lie within ε of each other, but for the candidate that changes."""
    law = partial(weigh, epsilon=0.7, domain=2, delta=0.01)
    for counts, more in list_neighbours(4, 3):
        one, other = (list_laws(law(each), 1) for each in (counts, more))
        shared = [math.log(one[name] / other[name]) for name in one.keys() & other.keys()]
        assert max(shared) - min(shared) <= 0.7 + 1e-9


def has_no_margin(counts: Sequence[int]) -> Weights:
    """Broken: the end is as likely as a candidate with one vote more."""
    return weigh(counts, epsilon=1.0, domain=2, delta=1.0)


def forgets_one(counts: Sequence[int]) -> Weights:
    """Broken: the end stands at the (K+1)-th count."""
    return weigh(counts, epsilon=1.0, domain=2, delta=1e-3, above=0)


def breaks_ties_by_need(counts: Sequence[int]) -> Weights:
    """Broken: the domain holds every candidate that has a vote, with no end."""
    return {i: math.exp(count) for i, count in enumerate(counts) if count} or {0: 1.0}


@pytest.mark.parametrize("broken", [has_no_margin, forgets_one, breaks_ties_by_need])
def test_a_broken_law_is_caught(broken: Callable[[Sequence[int]], Weights]) -> None:
    assert largest_excess(broken, candidates=3, most=4, picks=1, epsilon=1.0) > 1e-3 + 1e-12


def test_law_is_the_one_that_is_drawn() -> None:
    """The weights that are drawn from are those whose law was checked."""
    law = LimitedDomain(Fraction(1, 2), 2, 2, 1e-3)
    for counts, _ in list_neighbours(4, 3):
        drawn = {name: math.exp(w) for name, w in law._weigh(np.array(counts)).items()}
        assert drawn == pytest.approx(weigh(counts, epsilon=0.5, domain=2, delta=1e-3), rel=1e-7)


@pytest.mark.parametrize("delta", [0.5, 0.1, 1e-6, 1e-12, 0.999])
def test_margin_is_rounded_up(delta: float) -> None:
    margin = find_margin(delta)
    assert 0 <= margin - Fraction(-math.log(delta)) <= Fraction(2, 10**9)


def test_picks_are_different_candidates_of_the_domain() -> None:
    rng = seeded_generator(6)
    law = LimitedDomain(Fraction(1), 3, 3, 0.5)
    for _ in range(200):
        picked = law.draw(np.array([1, 9, 8, 7, 0]), rng)
        assert len(set(picked)) == len(picked) <= 3
        assert set(picked) <= {1, 2, 3}


def test_no_candidates_give_no_picks() -> None:
    assert LimitedDomain(Fraction(1), 3).draw(np.array([], dtype=int), seeded_generator(1)) == []


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"epsilon": Fraction(0)}, "epsilon must be > 0, got 0"),
        ({"picks": 0}, "picks must be >= 1, got 0"),
        ({"domain": 0}, "domain must be >= 1, got 0"),
        ({"delta": 0.0}, "delta must be > 0 and < 1, got 0"),
        ({"delta": 1.0}, "delta must be > 0 and < 1, got 1"),
    ],
)
def test_bad_values_are_named(values: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        LimitedDomain(**{"epsilon": Fraction(1), "picks": 1, **values})  # type: ignore[arg-type]
