"""The audit against definitions written out in loops, hand-computed cases and false claims."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from perturb import EmbeddingTable, Mechanism, ParameterError, get_mechanism
from perturb.audit.channel import Forms, compare_pairs, public_sample, read_channel
from perturb.audit.intervals import bernstein, clopper_pearson
from perturb.audit.report import Audit, Figure, audit
from perturb.mechanisms.rantext_ldp import RanTextLDP, RanTextLDPParameters
from perturb.mechanisms.santext import SanText
from perturb.vocabulary.frequencies import unigram_prior
from tests.perturb.marking import WORDS

CASES = (
    ("exponential", {}),
    ("santext", {}),
    ("santext_plus", {}),
    ("custext", {"size": 7}),
    ("tem", {"beta": 0.3}),
    ("rantext_ldp", {}),
    ("rantext_ldp", {"shape": "knn"}),
)


def all_rows(mechanism: Mechanism) -> NDArray[np.float64]:
    return mechanism.channel(np.arange(len(mechanism.table)))[0]


def by_definition(mechanism: Mechanism, pi: list[float]) -> dict[str, Any]:
    """Every figure, by the formulas and nothing else."""
    rows = all_rows(mechanism).tolist()
    table, m = mechanism.table, len(rows)
    words = [word.casefold() for word in table.vocabulary.words]
    phi = table.vectors.astype(np.float64)
    every = range(m)
    output = [sum(pi[x] * rows[x][y] for x in every) for y in every]
    alike = [[z for z in every if words[z] == words[x]] for x in every]
    ratio, delta, slope = 0.0, 0.0, 0.0
    for x in every:
        for other in every:
            change = 0.0
            for a, b in zip(rows[x], rows[other], strict=True):
                if a > 0:
                    change = max(change, math.log(a / b) if b > 0 else math.inf)
            ratio = max(ratio, change)
            d = math.dist(phi[x], phi[other])
            if d > 0:
                slope = max(slope, change / d)
            factor = math.exp(mechanism.epsilon)
            pairs = zip(rows[x], rows[other], strict=True)
            delta = max(delta, sum(max(0.0, a - factor * b) for a, b in pairs))
    lengths = [math.hypot(*row) for row in phi]
    return {
        "epsilon": ratio,
        "delta": delta,
        "slope": slope,
        "kept": sum(pi[x] * rows[x][x] for x in every),
        "kept_forms": sum(pi[x] * rows[x][z] for x in every for z in alike[x]),
        "bayes": sum(max(pi[x] * rows[x][y] for x in every) for y in every),
        "bayes_forms": sum(
            max(sum(pi[z] * rows[z][y] for z in alike[x]) for x in every) for y in every
        ),
        "information": sum(
            pi[x] * rows[x][y] * math.log2(rows[x][y] / output[y])
            for x in every
            for y in every
            if rows[x][y] > 0
        ),
        "posterior": max(
            pi[x] * rows[x][y] / output[y] for x in every for y in every if output[y] > 0
        ),
        "cosine": sum(
            pi[x] * rows[x][y] * float(phi[x] @ phi[y]) / lengths[x] / lengths[y]
            for x in every
            for y in every
        ),
    }


@pytest.mark.parametrize("prior", ["uniform", "unigram"])
@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_audit_is_what_the_definitions_say(
    name: str, parameters: dict[str, Any], prior: str, small: EmbeddingTable
) -> None:
    mechanism = get_mechanism(name, small, epsilon=2.0, **parameters)
    pi = unigram_prior(small.vocabulary) if prior == "unigram" else np.full(60, 1 / 60)
    expected = by_definition(mechanism, pi.tolist())
    found = audit(mechanism, prior)
    assert found.pairs == 60 * 59, "a table this small is compared in full"
    assert found.epsilon.value == pytest.approx(expected["epsilon"], rel=1e-9)
    assert found.epsilon.low <= found.epsilon.value <= found.epsilon.high
    low, high = found.delta.low, found.delta.high
    assert low == pytest.approx(expected["delta"], abs=1e-12)
    assert low <= high <= 1
    if found.kind == "metric":
        assert found.slope == pytest.approx(expected["slope"], rel=1e-9)
        assert found.slope <= mechanism.epsilon
    for key in (
        "kept",
        "kept_forms",
        "bayes",
        "bayes_forms",
        "information",
        "posterior",
        "cosine",
    ):
        figure = getattr(found, key)
        assert figure.value == pytest.approx(expected[key], abs=2e-6), key
        assert figure.low <= figure.value <= figure.high
    assert found.entropy_channel is not None
    assert found.entropy_channel.value == pytest.approx(
        -float((pi[:, None] * all_rows(mechanism) * safe_log(all_rows(mechanism))).sum())
    )


def safe_log(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.log2(rows, out=np.zeros_like(rows), where=rows > 0)


def test_two_words_by_hand(pair: EmbeddingTable) -> None:
    """santext over two words at distance d: kept with p = 1/(1 + e^{−εd/2}), else the other."""
    d = math.dist(*pair.vectors.astype(np.float64))
    p = 1 / (1 + math.exp(-1.5 * d))
    found = audit(get_mechanism("santext", pair, epsilon=3.0), "uniform")
    assert found.kept.value == pytest.approx(p)
    assert found.bayes.value == pytest.approx(p)
    assert found.prior_best == 0.5
    assert found.epsilon.value == pytest.approx(1.5 * d)
    assert found.slope == pytest.approx(1.5)
    assert found.information.value == pytest.approx(
        1 + p * math.log2(p) + (1 - p) * math.log2(1 - p)
    )
    assert found.posterior is not None
    assert found.posterior.value == pytest.approx(p)
    assert found.sizes == {"min": 2, "5 %": 2, "median": 2, "95 %": 2, "max": 2}
    assert found.worst is not None
    assert found.worst.y in (found.worst.x, found.worst.other)


def test_custext_reveals_its_lists(toy: EmbeddingTable) -> None:
    found = audit(get_mechanism("custext", toy, epsilon=2.0), "uniform")
    assert math.isinf(found.epsilon.low)
    assert found.delta == Figure(1.0, 1.0, 1.0)
    assert found.sizes["max"] == 20
    assert "for no finite ε" in found.statement


@pytest.mark.parametrize("shape", ["power", "random_k", "knn"])
def test_rantext_ldp_needs_exactly_its_epsilon(shape: str, toy: EmbeddingTable) -> None:
    found = audit(get_mechanism("rantext_ldp", toy, epsilon=5.0, shape=shape), "uniform")
    assert abs(found.epsilon.value - 5.0) < 1e-6
    assert found.delta == Figure(0.0, 0.0, 0.0)
    assert "5-LDP with respect to replacing that token" in found.statement


class KeepsSome(RanTextLDP):
    """Claims ε-LDP, and keeps one token in ten on top."""

    def channel(self, words: Any) -> tuple[NDArray[np.float64], float]:
        rows, error = super().channel(words)
        rows *= 0.9
        rows[np.arange(len(words)), words] += 0.1
        return rows, error


class TooSteep(SanText):
    """Claims ε·d, and forgets that the sum of the weights costs as much again."""

    def profile(self, distances: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.exp(distances * -2 * self.epsilon)


def test_false_ldp_claim_is_seen(toy: EmbeddingTable) -> None:
    mechanism = KeepsSome(toy, RanTextLDPParameters(epsilon=3.0))
    found = audit(mechanism, "uniform")
    rows = all_rows(mechanism)
    assert found.epsilon.low > 3.5
    assert found.epsilon.value == pytest.approx(np.log(rows.max(axis=0) / rows.min(axis=0)).max())
    assert found.statement.startswith("the claim of ε = 3 does not hold")
    assert found.delta.low > 0.05


def test_false_metric_claim_is_seen(small: EmbeddingTable) -> None:
    mechanism = TooSteep(small, SanText.parameter_type(epsilon=2.0))
    found = audit(mechanism, "uniform")
    assert found.slope is not None
    assert found.slope > 2.0
    assert found.statement.startswith("the claim of ε")


def test_equal_vectors_with_different_rows_break_every_slope(lattice: EmbeddingTable) -> None:
    words = public_sample(lattice)
    rows = get_mechanism("santext", lattice, epsilon=2.0).channel(words)[0]
    assert compare_pairs(lattice, words, rows, 2.0).slope <= 2.0 + 1e-9
    twin = next(
        (i, j)
        for i in range(len(words))
        for j in range(i)
        if (lattice.vectors[words[i]] == lattice.vectors[words[j]]).all()
    )
    rows[twin[0]] = np.roll(rows[twin[0]], 1)
    assert math.isinf(compare_pairs(lattice, words, rows, 2.0).slope)


def test_forms_cover_every_word_once_and_are_not_cut(bundled: EmbeddingTable) -> None:
    words = bundled.vocabulary.words
    forms = Forms(words)
    seen = []
    for block, starts in forms.blocks():
        seen += block.tolist()
        assert starts[0] == 0
        kinds = [words[i].casefold() for i in block]
        runs = [set(kinds[a:b]) for a, b in zip(starts, [*starts[1:], len(kinds)], strict=True)]
        assert all(len(run) == 1 for run in runs)
        assert len(set().union(*runs)) == len(runs)
    assert sorted(seen) == list(range(len(words)))
    assert len(forms.starts) == len({word.casefold() for word in words})


def test_progress_ends_at_all_words(toy: EmbeddingTable) -> None:
    calls: list[tuple[int, int]] = []
    mechanism = get_mechanism("santext", toy, epsilon=2.0)
    read_channel(
        mechanism, np.full(600, 1 / 600), Forms(toy.vocabulary.words), lambda *a: calls.append(a)
    )
    assert calls[-1] == (600, 600)
    assert len(calls) > 1


@pytest.mark.parametrize("name", ["rantext", "custext", "rantext_ldp", "madlib"])
def test_audit_is_strict_json(name: str, small: EmbeddingTable) -> None:
    found = audit(get_mechanism(name, small, epsilon=3.0), "uniform")
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert "kept_by_word" not in data
    assert data["epsilon_nominal"] == 3.0
    assert isinstance(data["statement"], str)
    if name == "rantext":
        assert data["epsilon"]["high"] == data["epsilon_proved"] == "infinity"


@pytest.mark.parametrize("prior", ["", "Uniform", "zipf"])
@pytest.mark.parametrize("name", ["santext", "madlib"])
def test_unknown_prior_is_refused(name: str, prior: Any, small: EmbeddingTable) -> None:
    with pytest.raises(ParameterError, match="prior must be one of uniform, unigram"):
        audit(get_mechanism(name, small, epsilon=3.0), prior)


def test_selective_is_audited_as_its_inner_mechanism(small: EmbeddingTable) -> None:
    inner = audit(get_mechanism("rantext_ldp", small, epsilon=3.0), "uniform")
    found = audit(get_mechanism("selective", small, epsilon=3.0, **WORDS), "uniform")
    assert (found.epsilon, found.bayes_forms) == (inner.epsilon, inner.bayes_forms)
    assert found.mechanism == "selective"
    assert found.statement != inner.statement
    assert "drawn anew" in found.notes[-1]


# Sampled mechanisms


@pytest.fixture(scope="module")
def sampled(small: EmbeddingTable) -> tuple[Audit, dict[str, Any]]:
    """madlib over 60 words, its audit and its figures from a fine Monte Carlo channel."""
    mechanism = get_mechanism("madlib", small, epsilon=8.0)
    truth = by_definition(mechanism, unigram_prior(small.vocabulary).tolist())
    return audit(mechanism, "unigram"), truth


@pytest.mark.parametrize("key", ["kept", "kept_forms", "cosine", "bayes", "bayes_forms"])
def test_sampled_interval_holds_the_truth(key: str, sampled: tuple[Audit, dict[str, Any]]) -> None:
    found, truth = sampled
    figure = getattr(found, key)
    assert figure.low - 0.004 <= truth[key] <= figure.high + 0.004  # the truth is sampled too
    assert figure.low <= figure.value <= figure.high
    assert figure.high - figure.low < 0.2


def test_sampled_information_is_an_upper_bound(sampled: tuple[Audit, dict[str, Any]]) -> None:
    found, truth = sampled
    assert truth["information"] * 0.98 < found.information.high < found.entropy_x
    assert found.information.low == 0.0


def test_sampled_attack_beats_the_prior_and_not_the_stronger_attacker(
    sampled: tuple[Audit, dict[str, Any]],
) -> None:
    found, _ = sampled
    assert found.prior_best < found.bayes.low < found.bayes.high < 1
    assert found.epsilon == Figure(found.epsilon_proved, 0.0, found.epsilon_proved)
    assert found.worst is None


def test_density_of_the_noise_matches_its_draws(small: EmbeddingTable) -> None:
    """E[f(z|x')/f(z|x)] = 1 for z drawn from x, whatever x': the density is that of the noise."""
    for name in ("madlib", "mahalanobis"):
        mechanism: Any = get_mechanism(name, small, epsilon=2.0)
        noise = mechanism.noise(200_000, np.random.default_rng(3))
        logs = mechanism.log_density(small.vectors[5] + noise)
        ratios = np.exp(logs - logs[:, 5:6])
        error = ratios.std(axis=0) / math.sqrt(len(noise))
        assert (np.abs(ratios.mean(axis=0) - 1) <= 6 * error + 1e-9).all()
        wrong = np.exp(1.3 * (logs - logs[:, 5:6]))
        assert (np.abs(wrong.mean(axis=0) - 1) > 6 * error).any()


def test_intervals_by_known_values() -> None:
    assert clopper_pearson(0, 10, 0.05) == (0.0, pytest.approx(1 - 0.025**0.1))
    assert clopper_pearson(10, 10, 0.05) == (pytest.approx(0.025**0.1), 1.0)
    values = np.random.default_rng(1).random(10_000)
    low, high = bernstein(values, 1.0, 1e-3)
    assert low < 0.5 < high < low + 0.04


@pytest.mark.parametrize(
    ("figure", "shown"),
    [
        (Figure(0.25, 0.25, 0.25), "0.25"),
        (Figure(12.5, 12.5, math.inf), ">= 12.5"),
        (Figure(math.inf, math.inf, math.inf), "∞"),
        (Figure(0.3, 0.0, 0.3), "<= 0.3"),
        (Figure(0.0, 0.0, 0.3), "<= 0.3"),
        (Figure(0.3, 0.3, 1.0), "0.3 to 1"),
        (Figure(0.3, 0.29, 0.32), "0.3 ± 0.02"),
    ],
)
def test_figure_shows_what_is_known(figure: Figure, shown: str) -> None:
    assert str(figure) == shown


def test_selective_is_not_said_to_protect_the_text(toy: EmbeddingTable) -> None:
    found = audit(get_mechanism("selective", toy, epsilon=3, **WORDS), "uniform")
    assert (found.kind, found.epsilon_proved) == ("none", math.inf)
    assert found.epsilon.value == pytest.approx(3.0)  # of a word that is marked


@pytest.mark.parametrize("name", ["rantext", "santext", "tem", "custext"])
@pytest.mark.parametrize("epsilon", [690.0, 2000.0, 1e6])
def test_huge_epsilon_is_audited(name: str, epsilon: float, small: EmbeddingTable) -> None:
    found = audit(get_mechanism(name, small, epsilon=epsilon), "uniform")
    assert 0 <= found.delta.low <= found.delta.high <= 1
    if not math.isinf(found.epsilon.high) and found.epsilon.high <= epsilon:
        assert found.delta.high == 0
