"""The contract of every registered mechanism."""

from __future__ import annotations

import json
import math
from dataclasses import FrozenInstanceError, fields
from typing import Any, Literal, get_origin, get_type_hints

import numpy as np
import pytest

from perturb import (
    EmbeddingTable,
    ParameterError,
    get_mechanism,
    mechanism_class,
    mechanism_names,
    secure_generator,
    seeded_generator,
)
from perturb.rantext import RanText
from tests.perturb.cases import (
    CASE_IDS,
    CASES,
    LEVELS,
    SMALL_DRAWS,
    Case,
    Tables,
    draws_of,
    exact_rows,
    expected_distinct,
    fit_p_value,
    lively_word,
    some_words,
    words_for,
)
from tests.perturb.chi_square import ALPHA, p_value


def test_contract_covers_every_registered_mechanism() -> None:
    assert {case.name for case in CASES} == set(mechanism_names())


@pytest.mark.parametrize(("case", "epsilon"), LEVELS)
def test_sampler_matches_channel_on_bundled_table(
    case: Case, epsilon: float, bundled: EmbeddingTable
) -> None:
    mechanism = case.build(bundled, epsilon)
    words = words_for(mechanism)
    assert fit_p_value(mechanism, words, draws_of(mechanism, words, case.draws, 11)) > ALPHA


@pytest.mark.parametrize(("case", "epsilon"), LEVELS)
@pytest.mark.parametrize("name", ["toy", "lattice"])
def test_sampler_matches_channel_on_small_table(
    case: Case, epsilon: float, name: str, tables: Tables
) -> None:
    mechanism = case.build(tables(name), epsilon)
    words = words_for(mechanism)
    assert fit_p_value(mechanism, words, draws_of(mechanism, words, SMALL_DRAWS, 12)) > ALPHA


@pytest.mark.parametrize("case", CASES, ids=CASE_IDS)
def test_sampler_matches_channel_on_two_words(case: Case, pair: EmbeddingTable) -> None:
    mechanism = case.build(pair, 1.0)
    words = np.array([0, 1])
    assert fit_p_value(mechanism, words, draws_of(mechanism, words, 20_000, 13)) > ALPHA


@pytest.mark.parametrize("epsilon", [3.0, 14.0])
def test_channel_of_rantext_is_its_plain_quadrature(
    epsilon: float, bundled: EmbeddingTable
) -> None:
    mechanism = get_mechanism("rantext", bundled, epsilon=epsilon)
    assert isinstance(mechanism, RanText)
    (row,), error = mechanism.channel(np.array([4321]))
    distances = bundled.distances(4321)
    plain = np.zeros(len(bundled))
    for r in bundled.radius / mechanism.z:
        weights = np.where(distances < r, np.exp(-epsilon / 2 * distances / r), 0.0)
        plain += weights / weights.sum() / len(bundled.radius)
    assert np.abs(row - plain).sum() / 2 <= error < 0.005


@pytest.mark.parametrize(("case", "epsilon"), LEVELS)
@pytest.mark.parametrize("name", ["toy", "lattice", "pair"])
def test_rows_are_distributions(case: Case, epsilon: float, name: str, tables: Tables) -> None:
    table = tables(name)
    words = some_words(table)
    rows, error = exact_rows(case.build(table, epsilon), words)
    assert rows.shape == (len(words), len(table))
    assert rows.dtype == np.float64
    assert (rows >= 0).all()
    assert rows.sum(axis=1) == pytest.approx(1.0, abs=1e-9)
    assert 0 <= error < case.row_error
    if case.peaked:
        assert rows[np.arange(len(words)), words] == pytest.approx(rows.max(axis=1))


@pytest.mark.parametrize(("case", "epsilon"), LEVELS)
@pytest.mark.parametrize("name", ["toy", "lattice", "pair"])
def test_keep_rate_bounds_the_diagonal(
    case: Case, epsilon: float, name: str, tables: Tables
) -> None:
    table = tables(name)
    mechanism = case.build(table, epsilon)
    words = some_words(table)
    kept = mechanism.keep_rate(words)
    assert kept.shape == words.shape
    assert kept.dtype == np.float64
    assert (kept <= 1 + 1e-12).all()
    rows, error = exact_rows(mechanism, words)
    assert (rows[np.arange(len(words)), words] <= kept + error).all()


@pytest.mark.parametrize(("case", "epsilon"), LEVELS)
def test_keep_rate_bounds_the_diagonal_on_bundled_table(
    case: Case, epsilon: float, bundled: EmbeddingTable
) -> None:
    mechanism = case.build(bundled, epsilon)
    words = words_for(mechanism)
    diagonal = exact_rows(mechanism, words)[0][np.arange(len(words)), words]
    kept = mechanism.keep_rate(words)
    assert (diagonal <= kept * (1 + 1e-3)).all()
    assert (kept <= 3 * diagonal + 0.01).all(), "a bound this loose guards nothing"


@pytest.mark.parametrize("case", CASES, ids=CASE_IDS)
def test_draw_repeats_under_a_seed_and_only_then(case: Case, toy: EmbeddingTable) -> None:
    mechanism = case.build(toy, 3.0)
    words = np.arange(200)
    first = mechanism.draw(words, seeded_generator(5))
    again = mechanism.draw(words, seeded_generator(5))
    assert (first.words == again.words).all()
    assert first.statistics == again.statistics
    others = [
        mechanism.draw(words, rng).words
        for rng in (seeded_generator(6), secure_generator(), secure_generator())
    ]
    others.append(first.words)
    assert len({tuple(drawn.tolist()) for drawn in others}) == 4


@pytest.mark.parametrize("case", CASES, ids=CASE_IDS)
def test_equal_words_of_one_draw_get_fresh_noise(case: Case, toy: EmbeddingTable) -> None:
    word = lively_word(case, toy)
    drawn = case.build(toy, 1.0).draw(np.full(300, word), seeded_generator(1)).words
    usual = expected_distinct(case.limit(toy, word), 300) if case.limit else 300.0
    assert len(set(drawn.tolist())) > min(50.0, usual / 2)


@pytest.mark.parametrize("case", CASES, ids=CASE_IDS)
@pytest.mark.parametrize("n", [0, 1, 2, 65, 600, 5000])
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint16])
def test_draw_keeps_the_shape(case: Case, n: int, dtype: type, toy: EmbeddingTable) -> None:
    words = (np.arange(n) % len(toy)).astype(dtype)
    before = words.copy()
    draw = case.build(toy, 3.0).draw(words, seeded_generator(1))
    assert draw.words.shape == (n,)
    assert draw.words.dtype == np.int32
    assert ((draw.words >= 0) & (draw.words < len(toy))).all()
    assert (words == before).all()
    assert all(math.isfinite(value) for value in draw.statistics.values())


@pytest.mark.parametrize("case", [case for case in CASES if case.limit], ids=str)
@pytest.mark.parametrize("name", ["bundled", "toy", "lattice", "pair"])
def test_small_epsilon_is_near_its_limit(case: Case, name: str, tables: Tables) -> None:
    table = tables(name)
    mechanism = case.build(table, 1e-6)
    word = lively_word(case, table)
    limit = case.limit(table, word)
    (row,), _ = mechanism.channel(np.array([word]))
    assert np.allclose(row * len(table), limit * len(table), atol=1e-5)
    draws = mechanism.draw(np.full(2000, word), seeded_generator(1)).words
    counts = np.bincount(draws, minlength=len(table))
    assert not counts[limit == 0].any()
    assert p_value(counts, limit * 2000, smallest=100) > ALPHA


@pytest.mark.parametrize("case", CASES, ids=CASE_IDS)
@pytest.mark.parametrize("name", ["bundled", "toy", "lattice", "pair"])
def test_large_epsilon_keeps_near_words(case: Case, name: str, tables: Tables) -> None:
    table = tables(name)
    mechanism = case.build(table, case.largest_epsilon)
    words = np.arange(len(table))[:500]
    draws = mechanism.draw(words, seeded_generator(1)).words
    wide = table.vectors.astype(np.float64)
    kept = np.linalg.norm(wide[words] - wide[draws], axis=1).mean()
    usual = np.linalg.norm(wide[words] - wide[words[::-1]], axis=1).mean()
    assert kept < usual * 0.9


@pytest.mark.parametrize("case", CASES, ids=CASE_IDS)
@pytest.mark.parametrize("key", ["epsilon", "noise", "radius"])
def test_parameters_are_frozen(case: Case, key: str, toy: EmbeddingTable) -> None:
    parameters = case.build(toy, 3.0).parameters
    with pytest.raises(FrozenInstanceError):
        setattr(parameters, key, 1.0)
    assert parameters.epsilon == 3.0


@pytest.mark.parametrize("name", mechanism_names())
@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "epsilon must be > 0 and finite, got 0"),
        (-1.5, "epsilon must be > 0 and finite, got -1.5"),
        (math.nan, "epsilon must be > 0 and finite, got nan"),
        (math.inf, "epsilon must be > 0 and finite, got inf"),
        ("6", "epsilon must be a number, got str"),
        (None, "epsilon must be a number, got NoneType"),
        (True, "epsilon must be a number, got bool"),
        ([6.0], "epsilon must be a number, got list"),
    ],
)
def test_bad_epsilon_is_refused(name: str, value: Any, said: str, toy: EmbeddingTable) -> None:
    with pytest.raises(ParameterError) as caught:
        get_mechanism(name, toy, epsilon=value)
    assert str(caught.value) == said


@pytest.mark.parametrize("name", mechanism_names())
@pytest.mark.parametrize("value", [10**400, -(10**400)])
def test_integer_beyond_any_float_is_refused(name: str, value: int, toy: EmbeddingTable) -> None:
    with pytest.raises(ParameterError, match=r"^epsilon must be"):
        get_mechanism(name, toy, epsilon=value)


@pytest.mark.parametrize("case", CASES, ids=CASE_IDS)
@pytest.mark.parametrize("epsilon", [5e-324, 1e-60, 1e-20, 1e-9])
def test_tiniest_epsilon_is_refused_or_near_its_limit(
    case: Case, epsilon: float, bundled: EmbeddingTable
) -> None:
    try:
        mechanism = case.build(bundled, epsilon)
    except ParameterError:
        return
    word = lively_word(case, bundled)
    drawn = mechanism.draw(np.full(300, word), seeded_generator(1)).words
    usual = expected_distinct(case.limit(bundled, word), 300) if case.limit else 150.0
    assert len(set(drawn.tolist())) > 0.84 * usual


@pytest.mark.parametrize("case", CASES, ids=CASE_IDS)
@pytest.mark.parametrize("epsilon", [1e6, 1e30, 1e39, 1.7e308])
def test_largest_epsilon_is_refused_or_keeps_the_word(
    case: Case, epsilon: float, bundled: EmbeddingTable
) -> None:
    try:
        mechanism = case.build(bundled, epsilon)
    except ParameterError:
        return
    word = lively_word(case, bundled)
    drawn = mechanism.draw(np.full(300, word), seeded_generator(1)).words
    assert (bundled.distances(word)[drawn] < 0.01).mean() > 0.98  # tem: one in 1000 goes beyond γ


@pytest.mark.parametrize("name", mechanism_names())
def test_unknown_parameter_is_refused_by_name(name: str, toy: EmbeddingTable) -> None:
    with pytest.raises(ParameterError, match=f"{name} has no parameter 'epsilom'; it has epsilon"):
        get_mechanism(name, toy, epsilom=3.0)


@pytest.mark.parametrize("name", mechanism_names())
def test_choices_refuse_other_values_by_name(name: str, toy: EmbeddingTable) -> None:
    for choice, kind in get_type_hints(mechanism_class(name).parameter_type).items():
        if get_origin(kind) is not Literal:
            continue
        for value in ("", "Power", 3, None, ["knn"]):
            with pytest.raises(ParameterError, match=f"^{choice} must be '"):
                get_mechanism(name, toy, **{choice: value})


@pytest.mark.parametrize("name", mechanism_names())
def test_numbers_refuse_what_is_no_number_by_name(name: str, toy: EmbeddingTable) -> None:
    for number, kind in get_type_hints(mechanism_class(name).parameter_type).items():
        if kind not in (int, float, float | None):
            continue
        for value in ("1", True, [1], math.nan, math.inf, -1, -math.inf):
            with pytest.raises(ParameterError, match=f"^{number} must be "):
                get_mechanism(name, toy, **{number: value})


@pytest.mark.parametrize("name", ["", "RANTEXT", "santext-", "rantext "])
def test_unknown_mechanism_is_refused_with_the_known_ones(name: str, toy: EmbeddingTable) -> None:
    with pytest.raises(ParameterError) as caught:
        get_mechanism(name, toy)
    assert all(known in str(caught.value) for known in mechanism_names())


@pytest.mark.parametrize("case", CASES, ids=CASE_IDS)
def test_identity_is_json_and_tells_parameters_apart(case: Case, bundled: EmbeddingTable) -> None:
    one, other = case.build(bundled, 3.0).identity(), case.build(bundled, 4.0).identity()
    assert one == {
        "mechanism": case.name,
        "table": bundled.sha256,
        "epsilon": 3.0,
        **{f.name: one[f.name] for f in fields(mechanism_class(case.name).parameter_type)},
        **{key: one[key] for key in case.more},
    }
    assert None not in one.values()
    assert json.dumps(one) != json.dumps(other)
    assert case.build(bundled, 3).identity() == one


@pytest.mark.parametrize("case", CASES, ids=CASE_IDS)
def test_guarantee_names_what_is_proved(case: Case, bundled: EmbeddingTable) -> None:
    guarantee = case.build(bundled, 3.0).guarantee
    assert guarantee.nominal == 3.0
    if guarantee.kind == "ldp":
        assert guarantee.epsilon == 3.0
        assert "with respect to replacing that token" in guarantee.statement
    elif guarantee.kind == "metric":
        assert 0 < guarantee.epsilon < math.inf
        assert "metric private with respect to replacing that token" in guarantee.statement
        assert f"at most {guarantee.epsilon:.4g} over this table" in guarantee.statement
    else:
        assert math.isinf(guarantee.epsilon)
        assert "not an LDP bound" in guarantee.statement


@pytest.mark.parametrize("name", mechanism_names())
def test_class_says_what_it_is(name: str) -> None:
    cls = mechanism_class(name)
    assert cls.name == name
    assert cls.summary
    assert "(" not in cls.summary
