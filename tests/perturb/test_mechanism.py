"""The contract of every registered mechanism, and samplers that must break it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, field, fields
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from perturb import (
    EmbeddingTable,
    Mechanism,
    ParameterError,
    get_mechanism,
    mechanism_class,
    mechanism_names,
    secure_generator,
    seeded_generator,
)
from perturb.mechanism import Parameters
from perturb.rantext import RanText
from perturb.rantext_ldp import UNIT, RanTextLDP
from tests.perturb.chi_square import ALPHA, sampler_p_value

Tables = Callable[[str], EmbeddingTable]
WORDS_TESTED = 32
BUNDLED_DRAWS = 500  # of every word: RANTEXT costs 50 µs a draw there
SMALL_DRAWS = 1500


@dataclass(frozen=True)
class Case:
    """One mechanism with one set of parameters, and how much it is sampled."""

    name: str
    epsilons: tuple[float, ...]
    draws: int  # of every word
    parameters: dict[str, Any] = field(default_factory=dict)
    largest_epsilon: float = 1000.0

    def __str__(self) -> str:
        return "-".join([self.name, *map(str, self.parameters.values())])

    def build(self, table: EmbeddingTable, epsilon: float) -> Mechanism:
        return get_mechanism(self.name, table, epsilon=epsilon, **self.parameters)


CASES = [
    Case("rantext", (3.0, 14.0), BUNDLED_DRAWS),
    Case("rantext", (2.5,), BUNDLED_DRAWS, {"noise": "published"}),
    *(
        Case("rantext_ldp", (3.0, 8.0), 2000, {"shape": shape}, largest_epsilon=18.0)
        for shape in ("power", "random_k", "knn")
    ),
]
LEVELS = [
    pytest.param(case, epsilon, id=f"{case}-{epsilon:g}")
    for case in CASES
    for epsilon in case.epsilons
]
CASE_IDS = [str(case) for case in CASES]


def sample_words(table: EmbeddingTable) -> NDArray[np.int64]:
    """Common and rare words alike, the first and the last of V among them."""
    words = np.random.default_rng(7).choice(len(table), WORDS_TESTED - 2, replace=False)
    return np.concatenate([words, [0, len(table) - 1]])


def some_words(table: EmbeddingTable) -> NDArray[np.int64]:
    """A few of the words of `sample_words`, or all of a tiny V."""
    return sample_words(table)[-12:] if len(table) > WORDS_TESTED else np.arange(len(table))


@cache
def rantext_row(table: EmbeddingTable, word: int, epsilon: float, z: float) -> NDArray[Any]:
    """RANTEXT's row over the table's radius quantiles, in single precision: fast enough for
    many words; `test_fast_row_of_rantext_is_its_channel` holds it against `channel`."""
    distances = table.distances(word).astype(np.float32)
    order = np.argsort(distances)
    distances = distances[order]
    row = np.zeros(len(distances))
    radii = (table.radius / z).astype(np.float32)
    for r, inside in zip(radii, np.searchsorted(distances, radii), strict=True):
        weights = np.exp(distances[:inside] * np.float32(-epsilon / 2 / r))
        row[:inside] += weights / weights.sum()
    out = np.empty_like(row)
    out[order] = row / len(radii)
    return out


def channel_rows(mechanism: Mechanism, words: NDArray[Any]) -> NDArray[np.float64]:
    if isinstance(mechanism, RanText) and len(mechanism.table) > 1000:
        table, z = mechanism.table, mechanism.z
        return np.array([rantext_row(table, int(w), mechanism.epsilon, z) for w in words])
    return np.array([exact_row(mechanism, word)[0] for word in words])


def exact_row(mechanism: Mechanism, word: int) -> tuple[NDArray[np.float64], float]:
    """`mechanism.channel(word)`, computed once for all tests."""
    return _exact_row(type(mechanism), mechanism.table, mechanism.parameters, int(word))


@cache
def _exact_row(
    cls: type[Mechanism], table: EmbeddingTable, parameters: Parameters, word: int
) -> tuple[NDArray[np.float64], float]:
    (row,), error = cls(table, parameters).channel(np.array([word]))
    return row, error


def draws_of(mechanism: Any, words: NDArray[Any], n: int, seed: int) -> NDArray[Any]:
    drawn = mechanism.draw(np.repeat(words, n), seeded_generator(seed)).words
    return np.asarray(drawn).reshape(len(words), n)


def test_contract_covers_every_registered_mechanism() -> None:
    assert {case.name for case in CASES} == set(mechanism_names())


@pytest.mark.parametrize(("case", "epsilon"), LEVELS)
def test_sampler_matches_channel_on_bundled_table(
    case: Case, epsilon: float, bundled: EmbeddingTable
) -> None:
    mechanism, words = case.build(bundled, epsilon), sample_words(bundled)
    drawn = draws_of(mechanism, words, case.draws, 11)
    assert sampler_p_value(drawn, channel_rows(mechanism, words)) > ALPHA


@pytest.mark.parametrize(("case", "epsilon"), LEVELS)
@pytest.mark.parametrize("name", ["toy", "lattice"])
def test_sampler_matches_channel_on_small_table(
    case: Case, epsilon: float, name: str, tables: Tables
) -> None:
    table = tables(name)
    mechanism, words = case.build(table, epsilon), sample_words(table)
    drawn = draws_of(mechanism, words, SMALL_DRAWS, 12)
    assert sampler_p_value(drawn, channel_rows(mechanism, words)) > ALPHA


@pytest.mark.parametrize("case", CASES, ids=CASE_IDS)
def test_sampler_matches_channel_on_two_words(case: Case, pair: EmbeddingTable) -> None:
    mechanism = case.build(pair, 1.0)
    words = np.array([0, 1])
    drawn = draws_of(mechanism, words, 20_000, 13)
    assert sampler_p_value(drawn, channel_rows(mechanism, words)) > ALPHA


@pytest.mark.parametrize("epsilon", [3.0, 14.0])
def test_fast_row_of_rantext_is_its_channel(epsilon: float, bundled: EmbeddingTable) -> None:
    mechanism = get_mechanism("rantext", bundled, epsilon=epsilon)
    assert isinstance(mechanism, RanText)
    (row,), error = mechanism.channel(np.array([4321]))
    fast = rantext_row(bundled, 4321, epsilon, mechanism.z)
    assert np.abs(row - fast).sum() / 2 < 1e-5
    assert 0 <= error < 0.005


@pytest.mark.parametrize(("case", "epsilon"), LEVELS)
@pytest.mark.parametrize("name", ["toy", "lattice", "pair"])
def test_rows_are_distributions(case: Case, epsilon: float, name: str, tables: Tables) -> None:
    table = tables(name)
    mechanism = case.build(table, epsilon)
    for word in some_words(table):
        row, error = exact_row(mechanism, word)
        assert row.shape == (len(table),)
        assert row.dtype == np.float64
        assert (row >= 0).all()
        assert math.isclose(row.sum(), 1.0, abs_tol=1e-9)
        assert 0 <= error < 0.02
        assert row.argmax() == word or row[word] == pytest.approx(row.max())


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
    for word, bound in zip(words.tolist(), kept, strict=True):
        row, error = exact_row(mechanism, word)
        assert row[word] <= bound + error


@pytest.mark.parametrize(("case", "epsilon"), LEVELS)
def test_keep_rate_bounds_the_diagonal_on_bundled_table(
    case: Case, epsilon: float, bundled: EmbeddingTable
) -> None:
    mechanism, words = case.build(bundled, epsilon), sample_words(bundled)[::4]
    diagonal = channel_rows(mechanism, words)[np.arange(len(words)), words]
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
    drawn = case.build(toy, 1.0).draw(np.full(300, 17), seeded_generator(1)).words
    assert len(set(drawn.tolist())) > 50


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


@pytest.mark.parametrize("case", CASES, ids=CASE_IDS)
@pytest.mark.parametrize("name", ["bundled", "toy", "lattice", "pair"])
def test_small_epsilon_is_near_uniform(case: Case, name: str, tables: Tables) -> None:
    table = tables(name)
    mechanism = case.build(table, 1e-6)
    (row,), _ = mechanism.channel(np.array([1]))
    assert np.allclose(row * len(table), 1.0, atol=1e-5)
    draws = mechanism.draw(np.full(2000, 1), seeded_generator(1)).words
    counts = np.bincount(draws * 2 // len(table), minlength=2)
    assert abs(counts[0] - 1000) < 250  # 11 standard deviations


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
@pytest.mark.parametrize("key", ["epsilon", "noise", "shape"])
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


@pytest.mark.parametrize("name", mechanism_names())
@pytest.mark.parametrize("epsilon", [5e-324, 1e-60, 1e-20])
def test_tiniest_epsilon_is_refused_or_near_uniform(
    name: str, epsilon: float, bundled: EmbeddingTable
) -> None:
    try:
        mechanism = get_mechanism(name, bundled, epsilon=epsilon)
    except ParameterError:
        return
    drawn = mechanism.draw(np.full(300, 1), seeded_generator(1)).words
    assert len(set(drawn.tolist())) > 250


@pytest.mark.parametrize("name", mechanism_names())
@pytest.mark.parametrize("epsilon", [1e30, 1e39, 1.7e308])
def test_largest_epsilon_is_refused_or_keeps_the_word(
    name: str, epsilon: float, bundled: EmbeddingTable
) -> None:
    try:
        mechanism = get_mechanism(name, bundled, epsilon=epsilon)
    except ParameterError:
        return
    drawn = mechanism.draw(np.full(300, 4321), seeded_generator(1)).words
    assert (bundled.distances(4321)[drawn] < 0.01).all()


@pytest.mark.parametrize("name", mechanism_names())
def test_unknown_parameter_is_refused_by_name(name: str, toy: EmbeddingTable) -> None:
    with pytest.raises(ParameterError, match=f"{name} has no parameter 'epsilom'; it has epsilon"):
        get_mechanism(name, toy, epsilom=3.0)


@pytest.mark.parametrize("name", mechanism_names())
def test_choices_refuse_other_values_by_name(name: str, toy: EmbeddingTable) -> None:
    for choice in fields(mechanism_class(name).parameter_type):
        if choice.name == "epsilon":
            continue
        for value in ("", "Power", 3, None, ["knn"]):
            with pytest.raises(ParameterError, match=f"^{choice.name} must be '"):
                get_mechanism(name, toy, **{choice.name: value})


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
    }
    assert json.dumps(one) != json.dumps(other)
    assert case.build(bundled, 3).identity() == one


@pytest.mark.parametrize("case", CASES, ids=CASE_IDS)
def test_guarantee_names_what_is_proved(case: Case, bundled: EmbeddingTable) -> None:
    guarantee = case.build(bundled, 3.0).guarantee
    assert guarantee.nominal == 3.0
    if guarantee.kind == "ldp":
        assert guarantee.epsilon == 3.0
        assert "with respect to replacing that token" in guarantee.statement
    else:
        assert math.isinf(guarantee.epsilon)
        assert "not an LDP bound" in guarantee.statement


@pytest.mark.parametrize("name", mechanism_names())
def test_class_says_what_it_is(name: str) -> None:
    cls = mechanism_class(name)
    assert cls.name == name
    assert cls.summary
    assert "(" not in cls.summary


# Negative controls: the same test, with the same number of draws, must refuse each of these.


class Broken:
    """A sampler made from a sound mechanism by one mistake, tested at an ε where it matters."""

    tested_at = 8.0

    def __init__(self, sound: Mechanism) -> None:
        self.sound = sound
        self.table, self.epsilon = sound.table, sound.epsilon

    def draw(self, words: NDArray[Any], rng: np.random.Generator) -> Any:
        drawn = self.release(words, rng)
        return type("Drawn", (), {"words": drawn})

    def release(self, words: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        raise NotImplementedError


class PassesThrough(Broken):
    """Returns x itself one time in a hundred, on top of the channel."""

    tested_at = 3.0

    def release(self, words: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        drawn = self.sound.draw(words, rng).words
        return np.where(rng.random(len(words)) < 0.01, words, drawn)


class RankOffByOne(Broken):
    """Returns the word one rank farther out than the one drawn."""

    def release(self, words: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        drawn = self.sound.draw(words, rng).words.copy()
        for word in np.unique(words):
            mine = words == word
            order = np.argsort(self.table.distances(int(word)), kind="stable")
            rank = np.empty(len(order), dtype=np.int64)
            rank[order] = np.arange(len(order))
            drawn[mine] = order[(rank[drawn[mine]] + 1) % len(order)]
        return drawn


class NeverReturnsInput(Broken):
    """Draws again wherever x would be released."""

    def release(self, words: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        drawn = self.sound.draw(words, rng).words
        while (same := drawn == words).any():
            drawn[same] = self.sound.draw(words[same], rng).words
        return drawn


class EpsilonOff(Broken):
    """Draws at an ε one fifth too small."""

    def release(self, words: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        cls = type(self.sound)
        parameters = type(self.sound.parameters)(epsilon=self.epsilon * 0.8)
        return cls(self.table, parameters).draw(words, rng).words


class PlainRanText(Broken):
    """RANTEXT written plainly, with a place for each mistake."""

    tested_at = 14.0

    def radii(self, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
        assert isinstance(self.sound, RanText)
        scales = self.table.spans / self.sound.z
        return np.sqrt((rng.laplace(size=(n, len(scales))) ** 2) @ scales**2)

    def utility(self, d: NDArray[Any], r: NDArray[Any]) -> NDArray[Any]:
        return (r - d) / r

    def release(self, words: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        drawn = np.empty(len(words), dtype=np.int64)
        radii = self.radii(len(words), rng)[:, None]
        for word in np.unique(words):
            mine = np.flatnonzero(words == word)
            d = self.table.distances(int(word))
            for part in np.array_split(mine, -(-len(mine) // 500)):
                r = radii[part]
                weights = np.where(d < r, np.exp(self.epsilon / 2 * self.utility(d, r)), 0)
                cumulative = np.cumsum(weights, axis=1)
                target = rng.random((len(part), 1)) * cumulative[:, -1:]
                drawn[part] = (cumulative <= target).sum(axis=1)
        return drawn


class NoiseTooLarge(Broken):
    """RANTEXT whose noise is scaled a fifth too wide."""

    noise = 1.2

    def release(self, words: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        assert isinstance(self.sound, RanText)
        other = RanText(self.table, self.sound.parameters)
        other.__dict__["z"] = self.sound.z / self.noise
        return other.draw(words, rng).words


class NoiseTooSmall(NoiseTooLarge):
    noise = 1 / 1.2


class UtilityWithoutRadius(PlainRanText):
    def utility(self, d: NDArray[Any], r: NDArray[Any]) -> NDArray[Any]:
        return r - d


class NoUtility(PlainRanText):
    def utility(self, d: NDArray[Any], r: NDArray[Any]) -> NDArray[Any]:
        return np.zeros_like(r - d)


class OneRadiusForAll(PlainRanText):
    def radii(self, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
        return np.repeat(super().radii(1, rng), n)


class GaussianNoise(PlainRanText):
    """Gaussian noise of the Laplace noise's variance."""

    def radii(self, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
        assert isinstance(self.sound, RanText)
        scales = self.table.spans / self.sound.z
        noise = rng.standard_normal((n, len(scales))) * math.sqrt(2)
        return np.sqrt(noise**2 @ scales**2)


class RoundedWeights(Broken):
    """rantext_ldp with its cumulative weights in half precision: the tail is lost."""

    def release(self, words: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        assert isinstance(self.sound, RanTextLDP)
        weights = self.sound._weights.astype(np.float64) / UNIT
        weights = np.append(weights, np.ones(len(self.table) - len(weights)))
        cumulative = np.zeros(len(weights), dtype=np.float16)
        total = np.float16(0)
        for i, weight in enumerate(weights.astype(np.float16)):
            total = np.float16(total + weight)
            cumulative[i] = total
        rank = np.searchsorted(
            cumulative.astype(np.float64), rng.random(len(words)) * float(total), side="right"
        )
        drawn = np.empty(len(words), dtype=np.int64)
        for word in np.unique(words):
            mine = words == word
            listed = self.table.neighbours[word].astype(np.int64)
            order = np.append(listed, np.setdiff1d(np.arange(len(self.table)), listed))
            drawn[mine] = order[rank[mine]]
        return drawn


class TailTakesListedWords(Broken):
    """rantext_ldp whose far draws pick among all words instead of those outside the list."""

    tested_at = 6.5  # nearly every listed word weighs more than the tail, which still has 3 %

    def release(self, words: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        drawn = self.sound.draw(words, rng).words
        far = (self.table.neighbours[words] != drawn[:, None]).all(axis=1)
        drawn[far] = rng.integers(0, len(self.table), far.sum())
        return drawn


RANTEXT_CONTROLS: list[type[Broken]] = [
    PassesThrough,
    RankOffByOne,
    NeverReturnsInput,
    NoiseTooLarge,
    NoiseTooSmall,
    UtilityWithoutRadius,
    NoUtility,
    OneRadiusForAll,
    GaussianNoise,
]
LDP_CONTROLS: list[type[Broken]] = [
    PassesThrough,
    RankOffByOne,
    NeverReturnsInput,
    EpsilonOff,
    RoundedWeights,
    TailTakesListedWords,
]


def control_p_value(name: str, control: type[Broken], table: EmbeddingTable, draws: int) -> float:
    words = sample_words(table)
    sampler = control(get_mechanism(name, table, epsilon=control.tested_at))
    drawn = draws_of(sampler, words, draws, 14)
    return sampler_p_value(drawn, channel_rows(sampler.sound, words))


@pytest.mark.parametrize("control", RANTEXT_CONTROLS)
def test_broken_rantext_is_caught(control: type[Broken], toy: EmbeddingTable) -> None:
    assert control_p_value("rantext", control, toy, SMALL_DRAWS) < ALPHA


@pytest.mark.parametrize("control", LDP_CONTROLS)
def test_broken_rantext_ldp_is_caught(control: type[Broken], toy: EmbeddingTable) -> None:
    assert control_p_value("rantext_ldp", control, toy, SMALL_DRAWS) < ALPHA


@pytest.mark.parametrize("control", [PassesThrough, NeverReturnsInput, NoiseTooLarge])
def test_broken_rantext_is_caught_on_bundled_table(
    control: type[Broken], bundled: EmbeddingTable
) -> None:
    class AtTested(control):  # type: ignore[valid-type, misc]
        tested_at = 3.0 if control is PassesThrough else 14.0  # rows already computed

    assert control_p_value("rantext", AtTested, bundled, BUNDLED_DRAWS) < ALPHA


@pytest.mark.parametrize("control", LDP_CONTROLS[:-1])
def test_broken_rantext_ldp_is_caught_on_bundled_table(
    control: type[Broken], bundled: EmbeddingTable
) -> None:
    assert control_p_value("rantext_ldp", control, bundled, 2000) < ALPHA


def test_plainly_written_rantext_passes(toy: EmbeddingTable) -> None:
    assert control_p_value("rantext", PlainRanText, toy, SMALL_DRAWS) > ALPHA
