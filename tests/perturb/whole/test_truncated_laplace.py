"""truncated_laplace: exact bounds on the noised vector, and the passage that is next to it."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from perturb import ParameterError, seeded_generator
from perturb.testing.statistics import ALPHA, p_value
from perturb.whole.truncated_laplace import (
    Grid,
    TruncatedLaplace,
    TruncatedLaplaceParameters,
    measure_grid,
)
from tests.perturb.whole.contract import PassageContract
from tests.tables import bundled_table

TINY = Grid(0.5, np.array([-1, 0]), np.array([1, 1]))  # 6 clipped vectors; S = 3
HOSTILE = [np.nan, np.inf, -np.inf, 1e308, -1e308, 0.0, 3.0]


class TestContract(PassageContract):
    kind = TruncatedLaplace
    changes = ({"quantile": 0.9},)


@pytest.fixture
def make(codebook, encoder):
    def made(**parameters) -> TruncatedLaplace:
        chosen = TruncatedLaplaceParameters(**parameters)
        return TruncatedLaplace(codebook, encoder, chosen, bundled_table().vocabulary)

    return made


def log_ratio(scale: Fraction, one, other, seen) -> Fraction:
    """Return ln P(seen | one)/P(seen | other), exactly."""
    return (
        sum(
            (Fraction(abs(z - v) - abs(z - u)) for z, u, v in zip(seen, one, other, strict=True)),
            Fraction(0),
        )
        / scale
    )


def worst_ratio(grid: Grid, vectors, scale: Fraction) -> Fraction:
    """Return the largest log ratio over pairs of vectors and all releases around the grid."""
    clipped = {tuple(grid.clip(np.array(v)).tolist()) for v in vectors}
    around = itertools.product(range(-9, 10), repeat=len(grid.low))
    return max(
        log_ratio(scale, one, other, seen)
        for seen in around
        for one, other in itertools.permutations(clipped, 2)
    )


class Careless(Grid):
    """Broken: clips nothing."""

    def clip(self, vector):
        return np.rint(np.nan_to_num(vector) / self.step).astype(np.int64)


def test_no_two_vectors_are_told_apart_by_more_than_epsilon() -> None:
    epsilon = Fraction(7, 3)
    scale = TINY.sensitivity / epsilon
    hostile = list(itertools.product(HOSTILE, repeat=2))
    assert worst_ratio(TINY, hostile, scale) == epsilon
    careless = Careless(TINY.step, TINY.low, TINY.high)
    assert worst_ratio(careless, [(2.0, 2.0), (-2.0, -2.0)], scale) > epsilon


def test_grid_is_the_central_share_of_the_codebook(codebook) -> None:
    grid = measure_grid(codebook, 0.75)
    vectors = codebook.vectors * codebook.scales[:, None]
    for j, column in enumerate(vectors.T):
        inside = (grid.low[j] - 0.5) * grid.step <= column
        inside &= column <= (grid.high[j] + 0.5) * grid.step
        assert inside.mean() >= 0.75
    wider = measure_grid(codebook, 0.999)
    assert wider.sensitivity * wider.step >= grid.sensitivity * grid.step


def test_scale_is_the_sensitivity_over_epsilon_exactly(make) -> None:
    sanitizer = make(epsilon=0.1)
    assert sanitizer.scale * Fraction(0.1) == sanitizer.grid.sensitivity
    assert sanitizer.grid.sensitivity == int((sanitizer.grid.high - sanitizer.grid.low).sum())


def test_noise_of_a_text_follows_the_law(make, encoder) -> None:
    """Every coordinate of the noise, over its scale, has one law."""
    sanitizer = make(epsilon=300.0)
    (vector,) = encoder(["the river"])
    clipped = sanitizer.grid.clip(vector)
    rng = seeded_generator(9)
    noise = np.array([sanitizer.add_noise(clipped, rng) - clipped for _ in range(800)])
    scale = float(sanitizer.scale)
    edges = np.linspace(-4 * scale, 4 * scale, 25).round() + 0.5
    ratio = math.exp(-1 / scale)

    def below(n: float) -> float:
        n = math.floor(n)
        return ratio**-n / (1 + ratio) if n < 0 else 1 - ratio ** (n + 1) / (1 + ratio)

    law = np.diff([0.0, *(below(edge) for edge in edges), 1.0])
    for part in (noise, noise[:, :1], noise[:, -1:]):
        counts = np.bincount(np.searchsorted(edges, part.ravel()), minlength=len(law))
        assert p_value(counts, law * part.size) > ALPHA
    doubled = np.bincount(np.searchsorted(edges, 2 * noise.ravel()), minlength=len(law))
    assert p_value(doubled, law * noise.size) < ALPHA


def test_coordinates_get_noise_of_their_own(make) -> None:
    sanitizer = make(epsilon=1.0)
    rng = seeded_generator(2)
    noise = np.array([sanitizer.add_noise(sanitizer.grid.low, rng) for _ in range(500)])
    ranks = noise.argsort(axis=0).argsort(axis=0)
    correlation = np.corrcoef(ranks, rowvar=False)
    np.fill_diagonal(correlation, 0)
    assert np.abs(correlation).max() < 5.5 / math.sqrt(500)  # 28 pairs: α < 1e-6


def test_the_nearest_passage_leaves_where_noise_is_small(make) -> None:
    released = make(epsilon=1e6).perturb("The boat is in the river water.", seeded_generator(1))
    assert "river" in released.text
    assert released.receipt.epsilon_per_document == 1e6


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"quantile": 0}, "quantile must be > 0 and < 1, got 0"),
        ({"quantile": 1}, "quantile must be > 0 and < 1, got 1"),
        ({"quantile": "half"}, "quantile must be a number, got str"),
        ({"quantile": True}, "quantile must be a number, got bool"),
        ({"codebook": 3}, "codebook must be the path of a file, got int"),
        ({"epsilon": -1}, "epsilon must be > 0"),
        ({"passages": 2}, "truncated_laplace has no parameter 'passages'"),
    ],
)
def test_bad_parameters_are_refused_by_name(parameters, said) -> None:
    with pytest.raises(ParameterError, match=said):
        TruncatedLaplace.check_parameters(**parameters)


def test_vectors_clipped_to_one_point_are_refused(encoder, tmp_path) -> None:
    from perturb.whole.build import build_codebook
    from perturb.whole.codebook import load_codebook

    out = tmp_path / "same.codebook"
    same = [f"zq{i}" for i in range(6)]  # nothing known: all have the encoder's constant
    build_codebook(same, out, encoder, licence="CC0", source="tests")
    chosen = TruncatedLaplaceParameters(quantile=0.5)
    with pytest.raises(ParameterError, match="clips all vectors to one point"):
        TruncatedLaplace(load_codebook(out), encoder, chosen, bundled_table().vocabulary)


@pytest.mark.parametrize("epsilon", [5e-324, 1e-12])
def test_a_tiny_epsilon_has_a_release(epsilon, make) -> None:
    sanitizer = make(epsilon=epsilon)
    sanitizer.verify("", sanitizer.perturb(""))
