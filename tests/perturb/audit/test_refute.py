"""The black-box bound: what it must refute, what it must not, and that it is a bound."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
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
from perturb.audit.intervals import clopper_pearson
from perturb.audit.refute import candidate_words, refute
from perturb.errors import MissingPackage, SanitizerError
from perturb.install import install_command

RUNS = 10
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


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", [1.0, 3.0, 6.0])
def test_rantext_ldp_is_never_refuted(epsilon: float, bundled: EmbeddingTable) -> None:
    """Ten runs at 99.9 % confidence: a false alarm has probability 1 % at most, and far less
    where the samples cannot reach ε."""
    for seed in range(RUNS):
        assert found(bundled, seed, ours, name="rantext_ldp", epsilon=epsilon) <= epsilon


@pytest.mark.statistical
def test_rantext_with_the_published_constants_is_refuted(bundled: EmbeddingTable) -> None:
    for seed in range(RUNS):
        bound = found(bundled, seed, ours, name="rantext", epsilon=3, noise="published")
        assert bound > 3


@pytest.mark.statistical
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


class Leaking:
    """Words of V, uniform whatever the input; at the rate `q` what `told` makes of the input
    instead. Remembers what it wrote."""

    def __init__(
        self, table: EmbeddingTable, seed: int, q: float, told: Callable[[str], str] = str
    ) -> None:
        self.rng, self.q, self.told = np.random.default_rng(seed), q, told
        self.words = np.array(table.vocabulary.words)
        self.candidates = candidate_words(table.vocabulary, seeded_generator(seed))
        self.written: list[tuple[Sequence[str], list[str]]] = []

    def __call__(self, lines: Sequence[str]) -> list[str]:
        drawn = self.words[self.rng.integers(0, len(self.words), len(lines))].tolist()
        leaks = self.rng.random(len(lines)) < self.q
        out = [
            self.told(line) if leak else word
            for line, leak, word in zip(lines, leaks, drawn, strict=True)
        ]
        self.written.append((lines, out))
        return out

    def provable(self, confidence: float) -> float:
        """The largest bound that one who knows the event proves from the same fresh trials, at
        the whole error."""
        bounds = [0.0]
        for lines, out in self.written[2:]:  # after two halves of exploration
            n, event = len(lines) // 2, self.told(lines[0])
            assert set(lines[n:]) == {lines[-1]} != {lines[0]}
            low, _ = clopper_pearson(out[:n].count(event), n, 1 - confidence)
            _, high = clopper_pearson(out[n:].count(event), n, 1 - confidence)
            bounds.append(math.log(low / high) if low > 0 else 0.0)
        return max(bounds)


@pytest.mark.statistical
@pytest.mark.parametrize("q", [0.005, 0.01, 0.02])
def test_a_rare_echo_is_refuted(q: float, bundled: EmbeddingTable) -> None:
    """Seeded runs. Once the echo is found, what is proved depends on the trials alone: less than
    the half of it that splitting the error takes, whatever they are."""
    for seed in range(5):
        leaking = Leaking(bundled, seed, q)
        found = refute(leaking, leaking.candidates)
        assert found.event_size == 1
        assert found.epsilon_lower >= 0.8 * leaking.provable(found.confidence) > 0.5


@pytest.mark.statistical
@pytest.mark.parametrize(
    "told", [lambda word: f"<{word.upper()}>", lambda word: word[::-1] + "!"], ids=["in", "code"]
)
def test_a_rare_leak_in_another_form_is_refuted(
    told: Callable[[str], str], bundled: EmbeddingTable
) -> None:
    for seed in range(3):
        leaking = Leaking(bundled, seed, 0.02, told)
        found = refute(leaking, leaking.candidates)
        assert found.epsilon_lower >= 0.8 * leaking.provable(found.confidence) > 1


def test_an_echo_among_other_words_is_refuted() -> None:
    """No line comes twice: only an event that no sample names can tell."""
    rng = np.random.default_rng(5)

    def wrap(lines: Sequence[str]) -> list[str]:
        return [f"{rng.random()} {line} {rng.random()}" for line in lines]

    found = refute(wrap, ["alpha", "beta"], samples=4000)
    assert found.epsilon_lower > 4
    assert found.event_size == found.first_hits == found.trials


RATE, CHECKS = 0.2, 300  # of bounds that may be wrong, and how many are looked at
FAILURES = 105  # more than so many, by chance: probability below 1e-8 for 300 at 20 %


@pytest.mark.parametrize("truth", [0.0, 0.5, 2.0])
def test_the_bound_is_wrong_no_more_often_than_it_says(truth: float) -> None:
    """Randomized response on three words, at a confidence low enough to count failures."""
    rng = np.random.default_rng(11)
    words = np.array(["one", "two", "three"])
    kept = (math.exp(truth) - 1) / (math.exp(truth) + 2)

    def respond(lines: Sequence[str]) -> list[str]:
        drawn = words[rng.integers(0, 3, len(lines))]
        return np.where(rng.random(len(lines)) < kept, lines, drawn).tolist()

    bounds = [
        refute(respond, words.tolist(), samples=600, confidence=1 - RATE).epsilon_lower
        for _ in range(CHECKS)
    ]
    assert sum(bound > truth for bound in bounds) <= FAILURES


def test_a_bound_on_the_samples_that_chose_the_event_is_wrong_more_often() -> None:
    """The control: a sanitizer that writes the explored lines again makes the fresh samples the
    old ones, and the count of failures shows it."""
    rng = np.random.default_rng(12)
    wrong = 0
    for _ in range(40):
        drawn: dict[str, list[str]] = {}

        def respond(lines: Sequence[str], drawn: dict[str, list[str]]) -> list[str]:
            out, place = [], dict.fromkeys(lines, 0)
            for line in lines:
                old = drawn.setdefault(line, [])
                if place[line] == len(old):
                    old.append(str(rng.integers(0, 400)))
                out.append(old[place[line]])
                place[line] += 1
            return out

        found = refute(partial(respond, drawn=drawn), ["one", "two"], samples=2000)
        wrong += found.epsilon_lower > 0
    assert wrong > 30


def test_constant_output_gives_no_bound() -> None:
    result = refute(lambda lines: ["x"] * len(lines), ["yes", "no"], samples=2000)
    assert result.epsilon_lower == 0.0
    assert "ε < 0:" in result.statement


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
    with pytest.raises(SanitizerError, match="one line for each line it reads"):
        refute(lambda lines: list(lines)[1:], ["a", "b"], samples=1000)


def test_a_missing_package_shows_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)

    def work(lines: Sequence[str]) -> list[str]:
        raise AssertionError("the work began")

    with pytest.raises(MissingPackage, match=re.escape(install_command("audit"))):
        refute(work, ["a", "b"])
