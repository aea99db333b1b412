"""The black-box bound: what it must refute, what it must not, and that it is a bound."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from perturb import (
    EmbeddingTable,
    ParameterError,
    Perturber,
    get_mechanism,
    seeded_generator,
)
from perturb.errors import MissingPackage, SanitizerError
from perturb.refute import candidate_words, refute

RUNS = 20
Lines = Callable[[Sequence[str]], list[str]]


def ours(table: EmbeddingTable, rng: np.random.Generator, name: str, **parameters: Any) -> Lines:
    perturber = Perturber(get_mechanism(name, table, **parameters))
    return lambda lines: perturber.perturb("\n".join(lines), rng).text.split("\n")


def passing_unknown_words(table: EmbeddingTable, rng: np.random.Generator) -> Lines:
    """A proved mechanism inside a sanitizer that leaves words outside V as they are."""
    inner = ours(table, rng, "rantext_ldp", epsilon=3)
    known = set(table.vocabulary.words)
    return lambda lines: [
        drawn if line in known else line for line, drawn in zip(lines, inner(lines), strict=True)
    ]


def found(table: EmbeddingTable, seed: int, make: Callable[..., Lines], **kwargs: Any) -> float:
    rng = seeded_generator(seed)
    words = candidate_words(table.vocabulary, rng)
    return refute(make(table, rng, **kwargs), words, samples=20_000).epsilon_lower


@pytest.mark.parametrize("epsilon", [1.0, 3.0, 6.0])
def test_rantext_ldp_is_never_refuted(epsilon: float, bundled: EmbeddingTable) -> None:
    """20 runs at 99.9 % confidence: a false alarm has probability 2 % at most, and far less
    where the samples cannot reach ε."""
    for seed in range(RUNS):
        assert found(bundled, seed, ours, name="rantext_ldp", epsilon=epsilon) <= epsilon


def test_rantext_with_the_published_constants_is_refuted(bundled: EmbeddingTable) -> None:
    for seed in range(RUNS):
        bound = found(bundled, seed, ours, name="rantext", epsilon=3, noise="published")
        assert bound > 3


def test_a_sanitizer_that_passes_unknown_words_is_refuted(bundled: EmbeddingTable) -> None:
    for seed in range(RUNS):
        assert found(bundled, seed, passing_unknown_words) > 3


def test_the_bound_holds_and_is_near_the_truth() -> None:
    """Randomized response on two words, whose ε is known."""
    rng = np.random.default_rng(3)
    truth = 2.0
    kept = math.exp(truth) / (1 + math.exp(truth))

    def respond(lines: Sequence[str]) -> list[str]:
        flip = rng.random(len(lines)) > kept
        other = {"yes": "no", "no": "yes"}
        return [other[line] if f else line for line, f in zip(lines, flip, strict=True)]

    bounds = [refute(respond, ["yes", "no"], samples=20_000).epsilon_lower for _ in range(30)]
    assert max(bounds) <= truth  # one bound is wrong with probability 1e-3
    assert min(bounds) > 1.6


def test_constant_output_gives_no_bound() -> None:
    result = refute(lambda lines: ["x"] * len(lines), ["yes", "no"], samples=2000)
    assert result.epsilon_lower == 0.0
    assert "ε < 0.00" in result.statement


def test_identity_gives_the_largest_bound_the_samples_allow() -> None:
    result = refute(list, ["yes", "no", "perhaps"], samples=40_000)
    assert result.first_hits == result.trials
    assert result.second_hits == 0
    assert 5 < result.epsilon_lower < math.log(result.trials)
    assert result.samples <= 40_000


def test_events_chosen_and_measured_on_one_sample_would_be_wrong() -> None:
    """Why fresh samples: uniform noise over many outputs, where chosen events look telling."""
    rng = np.random.default_rng(4)

    def uniform(lines: Sequence[str]) -> list[str]:
        return [str(n) for n in rng.integers(0, 10_000, len(lines))]

    result = refute(uniform, ["yes", "no"], samples=8000)
    assert result.epsilon_lower == 0.0


def test_candidates_are_single_tokens_in_and_outside_the_vocabulary(
    bundled: EmbeddingTable,
) -> None:
    words = candidate_words(bundled.vocabulary, seeded_generator(1))
    known = set(bundled.vocabulary.words)
    assert len(words) == len(set(words)) == 24
    assert sum(word in known for word in words) == 12
    assert all(len(bundled.vocabulary.encode(word)) == 1 for word in words)
    assert words != candidate_words(bundled.vocabulary, seeded_generator(2))


def test_bad_input_is_refused_by_name() -> None:
    with pytest.raises(ParameterError, match="at least two different words"):
        refute(list, ["a", "a"])
    with pytest.raises(ParameterError, match="samples must be >= 100 for 2 candidates, got 99"):
        refute(list, ["a", "b"], samples=99)
    with pytest.raises(ParameterError, match="confidence must be > 0 and < 1, got 1"):
        refute(list, ["a", "b"], confidence=1.0)


def test_a_sanitizer_that_loses_lines_is_refused() -> None:
    with pytest.raises(SanitizerError, match="a line for each it reads"):
        refute(lambda lines: list(lines)[1:], ["a", "b"], samples=1000)


def test_a_missing_package_shows_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)

    def work(lines: Sequence[str]) -> list[str]:
        raise AssertionError("the work began")

    with pytest.raises(MissingPackage, match=r"pip install 'inferdpt\[audit\]'"):
        refute(work, ["a", "b"])
