"""Context-free attacks: against worked examples, brute force, and their bounds."""

from __future__ import annotations

import secrets
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks.attacks.averaging import RELEASES, Averaging, guess_forms
from benchmarks.attacks.bayes import Bayes
from benchmarks.attacks.exposure import (
    CANDIDATES,
    Exposure,
    compute_exposures,
    find_secret_words,
    rank_secrets,
    score_numbers,
    score_phrases,
)
from benchmarks.attacks.inversion import Inversion, find_inverted
from benchmarks.attacks.likelihood import choose_forms, likelihood, load_channel, log_likelihood
from benchmarks.utility.list_sizes import ListSizes
from perturb import EmbeddingTable, Perturber, get_mechanism, seeded_generator
from perturb.audit.channel import Forms
from perturb.audit.report import audit, prior_of
from perturb.mechanisms.base import WordByWord
from perturb.mechanisms.rantext_bounds import list_sizes
from proxy.storage.digests import Digests
from tests.benchmarks.small_context import SET, small_context, small_table

PROVED = ("rantext_ldp", "exponential", "santext", "tem")


@pytest.fixture(scope="module")
def table() -> EmbeddingTable:
    return small_table()


@pytest.fixture(scope="module")
def tiny() -> EmbeddingTable:
    return small_table(60)


# -- the shared pass --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["rantext_ldp", "rantext"])
def test_likelihood_is_the_channel(name: str, tiny: EmbeddingTable):
    mechanism = get_mechanism(name, tiny, epsilon=3.0)
    rows, error = mechanism.channel(np.arange(60))
    np.testing.assert_allclose(likelihood(mechanism, np.array([5, 2])), rows.T[[5, 2]], rtol=1e-6)
    mixed = np.log(rows.T[[5]] * (1 - error) + error / 60)
    np.testing.assert_allclose(log_likelihood(mechanism, np.array([5])), mixed, rtol=1e-5)


def test_an_impossible_word_stays_impossible_where_the_channel_is_exact(tiny: EmbeddingTable):
    mechanism = get_mechanism("custext", tiny, epsilon=3.0)
    assert np.isneginf(log_likelihood(mechanism, np.array([5]))).sum() == 40  # lists of 20


def test_audit_on_shared_sums_is_the_audit(tiny: EmbeddingTable):
    for name in ("rantext", "selective"):
        mechanism = get_mechanism(name, tiny, epsilon=3.0)
        assert audit(mechanism, sums=load_channel(mechanism).sums) == audit(mechanism)


# -- inversion --------------------------------------------------------------------------------


def test_inversion_of_a_worked_example():
    """Forms: 0 and 2 are one word in two cases. Released 1 for 0: its nearest are 1, 2, 3."""
    near: Any = SimpleNamespace(neighbours=np.array([[0, 2, 3], [1, 2, 3], [2, 0, 3], [3, 1, 0]]))
    group = np.array([0, 1, 0, 2])
    raw, released = np.array([0, 0, 1, 3]), np.array([1, 2, 3, 0])
    assert find_inverted(near, group, raw, released, 1).tolist() == [False, True, False, False]
    assert find_inverted(near, group, raw, released, 2).tolist() == [True, True, True, False]
    assert find_inverted(near, group, raw, released, 3).tolist() == [True, True, True, True]


def test_inversion_counts_the_words_of_a_set(tmp_path: Path, table: EmbeddingTable):
    context = small_context(tmp_path, table, "rantext_ldp", epsilons=[18.0])
    found = Inversion().measure(
        {"mechanism": "rantext_ldp", "epsilon": 18.0, "dataset": SET}, context
    )
    words = np.concatenate([context.words(s.prefix) for s in context.samples(SET)])
    rows = get_mechanism("rantext_ldp", table, epsilon=18.0).channel(words)[0]
    group = context.forms.group
    right = group[table.neighbours[:, 0]] == group[words][:, None]
    expected = (rows * right).sum() / len(words)
    top = found.values["top_1"]
    assert top.n == len(words) > 200
    assert abs(top.value - expected) < 5 / np.sqrt(len(words))  # ten standard deviations
    assert found.values["top_10"].value > top.value
    counts = np.sort(np.bincount(group[words]))[::-1]
    assert found.values["top_10_blind"] == pytest.approx(counts[:10].sum() / len(words))


# -- Bayes ------------------------------------------------------------------------------------


def test_choose_forms_of_a_worked_example():
    """Two words of one form at 0.3 each beat one at 0.4."""
    forms = Forms(("It", "cat", "it"))
    scores = np.log(np.array([[0.3, 0.4, 0.3], [0.1, 0.8, 0.1]])) - 700
    assert choose_forms(scores, forms).tolist() == [forms.group[0], forms.group[1]]


@pytest.mark.parametrize("name", ["rantext_ldp", "rantext", "custext"])
def test_bayes_guess_is_the_best_there_is(name: str, tiny: EmbeddingTable):
    mechanism = get_mechanism(name, tiny, epsilon=4.0)
    prior = prior_of(mechanism, "unigram")
    rows = mechanism.channel(np.arange(60))[0]
    words = tiny.vocabulary.words
    forms = Forms(words)
    sums = load_channel(mechanism).sums
    total = 0.0
    for y in range(60):
        joint: dict[str, float] = {}
        for x, word in enumerate(words):
            form = word.casefold()
            joint[form] = joint.get(form, 0.0) + prior[x] * rows[x, y]
        best = max(joint, key=lambda form: joint[form])
        assert best == words[np.flatnonzero(forms.group == sums.joint_forms_at[y])[0]].casefold()
        total += joint[best]
    assert sums.joint_forms.sum() == pytest.approx(total)
    guesses = guess_forms(mechanism, forms, np.arange(60)[:, None])
    assert (guesses == sums.joint_forms_at).all()


def test_bayes_beats_inversion_and_reports_the_audits_vulnerability(
    tmp_path: Path, table: EmbeddingTable
):
    context = small_context(tmp_path, table, "rantext_ldp")
    case = {"mechanism": "rantext_ldp", "epsilon": 6.0, "dataset": SET}
    found = Bayes().measure(case, context)
    inversion = Inversion().measure(case, context)
    assert found.values["success"].value > inversion.values["top_1"].value
    known = audit(context.mechanism("rantext_ldp", 6.0))
    assert found.values["vulnerability"].value == pytest.approx(known.bayes_forms.value)


# -- averaging --------------------------------------------------------------------------------


def test_averaging_multiplies_likelihoods(tiny: EmbeddingTable):
    mechanism = get_mechanism("santext", tiny, epsilon=2.0)
    forms = Forms(tiny.vocabulary.words)
    rows = mechanism.channel(np.arange(60))[0]
    released = np.array([[3, 7, 7], [1, 1, 1]])
    for guess, seen in zip(guess_forms(mechanism, forms, released), released, strict=True):
        joint = prior_of(mechanism, "unigram") * rows[:, seen].prod(axis=1)
        assert guess == np.bincount(forms.group, joint).argmax()


def test_fresh_releases_give_a_text_away_and_the_memo_does_not(
    tmp_path: Path, table: EmbeddingTable
):
    context = small_context(tmp_path, table, "rantext_ldp", texts=20)
    found = Averaging().measure({"mechanism": "rantext_ldp", "epsilon": 6.0}, context)
    fresh = [found.values[f"fresh_{t}"].value for t in RELEASES]
    assert fresh == sorted(fresh)
    assert fresh[-1] > 0.9
    assert found.values["memo_releases"] == 1
    assert found.values["memo_50"].value < 0.9
    assert found.breaches == ()


@pytest.mark.parametrize("texts", [20, pytest.param(400, marks=pytest.mark.statistical)])
def test_a_memo_that_forgets_is_a_breach(
    tmp_path: Path, table: EmbeddingTable, monkeypatch: pytest.MonkeyPatch, texts: int
):
    name = Digests.of

    def forget(digests: Digests, *parts: str) -> bytes:
        """Name everything anew each time, but for the record, without which nothing starts."""
        return name(digests, *parts) if parts[0] == "record" else secrets.token_bytes(32)

    monkeypatch.setattr(Digests, "of", forget)
    context = small_context(tmp_path, table, "rantext_ldp", texts=texts)
    found = Averaging().measure({"mechanism": "rantext_ldp", "epsilon": 3.0}, context)
    assert found.values["memo_releases"] == RELEASES[-1]
    assert any("different prompts" in breach for breach in found.breaches)
    if texts == 400:  # fewer words could be guessed by luck
        assert any(breach.startswith("memo_50") for breach in found.breaches)


# -- exposure ---------------------------------------------------------------------------------


def test_exposure_of_worked_examples():
    assert compute_exposures(np.array([1, 2, 8]), 8).tolist() == [3.0, 2.0, 0.0]
    scores = np.array([[2.0, 3.0, 1.0, 2.0], [5.0, 1.0, 1.0, 1.0], [0.0, 1.0, 1.0, 1.0]])
    found = {tuple(rank_secrets(scores, seeded_generator(seed))) for seed in range(50)}
    assert found == {(2, 1, 4), (3, 1, 4)}


def test_ties_are_ranked_evenly():
    found = rank_secrets(np.zeros((40_000, 4)), seeded_generator(1))
    counts = np.bincount(found, minlength=5)[1:]
    assert np.abs(counts - 10_000).max() < 5 * np.sqrt(40_000 * 3 / 16)  # 1 in 10^6


def test_a_redrawn_number_is_exposed_by_chance_alone(table: EmbeddingTable):
    perturber = Perturber(get_mechanism("rantext_ldp", table, epsilon=18.0))
    rng = seeded_generator(3)
    scores, whole = score_numbers(perturber, rng)
    bits = compute_exposures(rank_secrets(scores, rng), CANDIDATES)
    assert abs(bits.mean() - np.log2(np.e)) < 5 * np.log2(np.e) / np.sqrt(len(bits))
    assert not whole.any()


def test_numbers_that_leave_as_they_are_are_a_breach(
    tmp_path: Path, table: EmbeddingTable, monkeypatch: pytest.MonkeyPatch
):
    def kept(self: WordByWord, tokens: Any, classes: Any, rng: Any) -> Any:
        encoding = self.vocabulary.encoding
        return [s for t in tokens if (s := encoding.decode([int(t)])).isdigit()]

    monkeypatch.setattr(WordByWord, "_draw_numbers", kept)
    context = small_context(tmp_path, table, "rantext_ldp")
    found = Exposure().measure({"mechanism": "rantext_ldp", "epsilon": 3.0}, context)
    assert found.values["number"].value == np.log2(CANDIDATES)
    assert found.values["number_whole"].value == 1.0
    assert any(breach.startswith("number") for breach in found.breaches)


def test_what_selective_does_not_mark_is_exposed_whole(tmp_path: Path, table: EmbeddingTable):
    """By default it marks what is of persons: a phrase is not, a number is by its label."""
    context = small_context(tmp_path, table, "rantext_ldp", epsilons=[6.0])
    cases = list(Exposure().cases(context))
    assert {"mechanism": "selective", "epsilon": 6.0} in cases
    found = Exposure().measure({"mechanism": "selective", "epsilon": 6.0}, context)
    assert found.values["phrase"].value > np.log2(CANDIDATES) - 0.3
    assert found.values["phrase_whole"].value > 0.9  # names may be among them
    assert found.values["number_whole"].value < 0.1
    assert found.breaches == ()


def test_a_phrase_is_the_more_exposed_the_larger_epsilon(table: EmbeddingTable):
    bits = []
    for epsilon in (0.01, 6.0, 18.0):
        perturber = Perturber(get_mechanism("rantext_ldp", table, epsilon=epsilon))
        rng = seeded_generator(4)
        scores, _ = score_phrases(perturber, rng)
        bits.append(compute_exposures(rank_secrets(scores, rng), CANDIDATES).mean())
    assert abs(bits[0] - np.log2(np.e)) < 1  # five standard deviations are 0.65
    assert bits[0] + 1 < bits[1] < bits[2]


def test_secret_words_are_one_token_each(table: EmbeddingTable):
    vocabulary = table.vocabulary
    for place in find_secret_words(table)[:50]:
        [token] = vocabulary.encode(" " + vocabulary.words[place])
        assert vocabulary.index[token] == place


# -- all of them ------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [pytest.param(0.5, marks=pytest.mark.statistical), 4.0])
def test_no_attack_passes_a_proved_bound(tmp_path: Path, table: EmbeddingTable, epsilon: float):
    context = small_context(tmp_path, table, *PROVED, epsilons=[epsilon])
    bounded = 0
    for experiment in (Inversion(), Bayes(), Exposure()):
        for case in experiment.cases(context):
            found = experiment.measure(case, context)
            assert found.breaches == ()
            bounded += found.values.get("top_1_once_bound", 1.0) < 0.4
    assert bounded >= 2  # the limits are no formality


def test_list_sizes_are_shares_of_v(tmp_path: Path, table: EmbeddingTable):
    context = small_context(tmp_path, table, "rantext", "rantext_ldp", epsilons=[3.0, 14.0])
    cases = list(ListSizes().cases(context))
    assert [case["mechanism"] for case in cases] == ["rantext"] * 2
    values = ListSizes().measure(cases[0], context).values
    shares = np.array(values["shares"])
    assert (np.diff(shares) >= 0).all()
    assert shares[0] > 0
    assert shares[-1] <= 1
    [median] = list_sizes(context.mechanism("rantext", 3.0), np.array([0.5]))
    assert shares[values["levels"].index(0.5)] * len(table) == pytest.approx(median, abs=0.01)
