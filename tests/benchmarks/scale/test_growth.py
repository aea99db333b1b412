"""The size of a store: every request and block is in it, and lines are fitted exactly."""

from __future__ import annotations

import pytest

from benchmarks.scale.growth import GROUPS, POINTS, fit_line, measure_corpus, measure_requests

TEXTS = [
    f"The meeting of group {i} is on Monday, said Anna at number {i * 37}." for i in range(24)
]


def test_a_line_is_fitted() -> None:
    exact = fit_line([1, 2, 3, 4], [15, 25, 35, 45])
    assert (exact.slope, exact.residual) == (pytest.approx(10), pytest.approx(0, abs=1e-9))
    apart = fit_line([0, 1, 2], [0, 3, 0])
    assert apart.slope == pytest.approx(0)
    apart = fit_line([0, 1, 2], [0, 1, 8])
    assert (apart.slope, apart.residual) == (pytest.approx(4), pytest.approx(2 / 8))
    assert fit_line([5, 5], [1, 2]).slope == 0


def test_a_proxys_store_grows_by_requests() -> None:
    found = measure_requests(TEXTS, "rantext_ldp")
    assert found.count == [3 * (i + 1) for i in range(POINTS)]
    assert found.tokens == sorted(found.tokens)
    assert found.tokens[0] > 0
    assert found.rows["releases"] == found.count
    assert found.rows["disclosures"] == found.count
    assert found.rows["records"][-1] > found.count[-1]
    assert set(found.rows) == {*GROUPS["ledger"], *GROUPS["memo"], *GROUPS["records"]}
    assert all(size[-1] >= size[0] > 0 for size in found.size.values())


def test_a_corpus_grows_the_store_by_owners_and_releases() -> None:
    found = measure_corpus(16, 50, 100)
    assert found.count == [2 * (i + 1) for i in range(POINTS)]
    assert found.rows["charges"] == found.rows["owners"] == [50 * count for count in found.count]
    assert found.tokens[-1] == 16 * 50 * 100
    assert 50 < found.of_rows("owners").slope < 500  # bytes: a key, five figures, an index
