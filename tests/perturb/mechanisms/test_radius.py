"""RANTEXT's noise length: the tabulated law against its definition, and the bound on its error."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special, stats

from perturb import EmbeddingTable, seeded_generator
from perturb.mechanisms import radius
from perturb.mechanisms.radius import (
    CELLS,
    COIN_BITS,
    LARGEST_ERROR,
    DefinedRadius,
    TabulatedRadius,
    build_alias,
    radius_law,
)
from perturb.testing.statistics import ALPHA

EQUAL = np.full(64, 0.25)


def exact_density(w: np.ndarray, square: float, d: int) -> np.ndarray:
    """The density of square·(E_1² + … + E_d²) at w, by a slow quadrature of the characteristic
    function, which the Faddeeva function gives."""
    t = np.linspace(0, 25, 40_001)[1:] / square
    root = np.sqrt(-1j * t * square)
    phi = (math.sqrt(math.pi) / (2 * root) * special.wofz(0.5j / root)) ** d
    step = t[1] - t[0]
    sums = [(np.cos(t * x) * phi.real + np.sin(t * x) * phi.imag).sum() + 0.5 for x in w]
    return np.array(sums) * step / math.pi


def test_density_is_the_true_one_within_its_error() -> None:
    law = TabulatedRadius(EQUAL)
    width = law._width
    chosen = np.arange(100, CELLS // 2, 61)
    places = (chosen[:, None] + [0.0, 0.5, 1.0]) * width
    points = exact_density(places.ravel(), EQUAL[0] ** 2, len(EQUAL)).reshape(places.shape)
    true = points @ [1 / 6, 4 / 6, 1 / 6]  # Simpson's rule
    drawn = law._shares[chosen] * 2.0**-63 / width
    assert np.abs(drawn - true).sum() * width * 61 / 2 <= law.error
    # the comparison sees a density that is off by a thousandth
    assert np.abs(drawn * 1.001 - true).sum() * width * 61 / 2 > law.error


def test_characteristic_function_of_a_square() -> None:
    u = np.array([0.0, 1e-4, 0.3, 2.0, 40.0])
    value, slope = radius._exponential_square(u)
    root = np.sqrt(-1j * u[1:])
    expected = math.sqrt(math.pi) / (2 * root) * special.wofz(0.5j / root)
    assert np.abs(value[1:] - expected).max() < 1e-14
    assert value[0] == pytest.approx(1, abs=1e-14)
    assert slope[0] == pytest.approx(2j, abs=1e-13)  # E[E²] = 2


@pytest.mark.parametrize("vocabulary", ["bundled", "words"])
def test_error_is_stated_and_small(vocabulary: str, tables) -> None:
    law = radius_law(tables(vocabulary))
    assert isinstance(law, TabulatedRadius)
    assert 0 < law.error <= LARGEST_ERROR


def test_few_dimensions_are_drawn_as_they_are_defined(toy: EmbeddingTable) -> None:
    law = radius_law(toy)
    assert isinstance(law, DefinedRadius)
    assert law.error == 0
    one_dominates = np.append(np.full(100, 1e-3), 1.0)
    with pytest.raises(ValueError, match="radius"):
        TabulatedRadius(one_dominates)


@pytest.mark.parametrize("spans", [EQUAL, np.linspace(0, 0.4, 200)], ids=["equal", "mixed"])
def test_draws_follow_the_definition(spans: np.ndarray) -> None:
    law = TabulatedRadius(spans)
    drawn = law.draw(200_000, seeded_generator(1))
    fresh = DefinedRadius(spans).draw(200_000, seeded_generator(2))
    assert stats.ks_2samp(drawn, fresh).pvalue > ALPHA
    assert stats.ks_2samp(drawn * 1.002, fresh).pvalue < ALPHA


@pytest.mark.parametrize("mistake", ["alias", "place"])
def test_a_broken_table_is_caught(mistake: str) -> None:
    law, sound = TabulatedRadius(EQUAL), DefinedRadius(EQUAL).draw(200_000, seeded_generator(3))
    if mistake == "alias":
        law._alias = np.arange(CELLS)
    else:
        law._width *= 1.02
    drawn = law.draw(200_000, seeded_generator(4))
    assert stats.ks_2samp(drawn, sound).pvalue < ALPHA


def test_place_in_a_cell_has_a_linear_density() -> None:
    law = TabulatedRadius(EQUAL)
    law._near[:] = 0.8  # from 0.8 to 0.2
    drawn = law.draw(100_000, seeded_generator(5)) ** 2 / law._width % 1
    assert stats.kstest(drawn, lambda x: 1.6 * x - 0.6 * x**2).pvalue > ALPHA
    assert stats.kstest(drawn, "uniform").pvalue < ALPHA


def test_alias_table_holds_every_share_exactly() -> None:
    rng = np.random.default_rng(6)
    for shares in (rng.random(CELLS), rng.pareto(0.7, CELLS), np.eye(1, CELLS, 5)[0] + 1e-9):
        wanted = radius._round_shares(shares)
        assert sum(wanted.tolist()) == CELLS << COIN_BITS
        kept, alias = build_alias(wanted)
        found = kept.tolist()
        for i, other in enumerate(alias.tolist()):
            assert found[i] >= 0
            assert 0 <= kept[i] <= 1 << COIN_BITS
            found[other] += (1 << COIN_BITS) - int(kept[i])
        assert found == wanted.tolist()


def test_tail_bounds_the_draws_too() -> None:
    law = TabulatedRadius(EQUAL)
    drawn = law.draw(200_000, seeded_generator(7))
    for s in np.quantile(drawn, [0.1, 0.9, 0.999]):
        seen = float((drawn > s).mean())
        assert law.log_tail(float(s)) >= math.log(seen) - 6 / math.sqrt(seen * len(drawn))
    law = TabulatedRadius(EQUAL)
    law._shares = np.roll(law._shares, CELLS // 2)  # draws far out, whatever S does
    far = float(np.quantile(drawn, 0.9999)) + 1
    assert law.log_tail(far) > math.log(0.9)
    assert law.log_tail(1e3) < -20
