"""Linkage: against slow readings of the likelihoods, and what must be caught."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.attacks.bounds import largest_success
from benchmarks.run import run
from benchmarks.whole.linkage import (
    ChoiceLinkage,
    WordLinkage,
    list_candidates,
    read_skeleton,
)
from benchmarks.whole.which_document import (
    WhichDocument,
    bound_successes,
    measure_linkage,
    name_kinds,
    play,
)
from perturb import DocumentOptions, Perturber, seeded_generator
from perturb.audit.intervals import clopper_pearson
from perturb.whole.surrogate import Surrogate
from tests.benchmarks.planted import keeps
from tests.benchmarks.whole.toy import (
    PASSAGES,
    SUBJECTS,
    make_codebook,
    make_context,
    make_surrogate,
)

ALPHA = 1e-6
MECHANISM = keeps(30, 0.0, 1.0)
TEXTS = [f"{text} {word}" for text in SUBJECTS.values() for word in ("today", "again", "slowly")]
EPSILONS = [0.5, 2.0, 6.0, 12.0]


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    return make_codebook(tmp_path_factory.mktemp("codebook"))


def channel(linkage: ChoiceLinkage) -> np.ndarray:
    """P(c | x), read from the law, float64 (N, candidates)."""
    high, low = linkage.law.weights
    rows = np.full((len(linkage.near), linkage.law.candidates), low / linkage.law.total)
    for row, near in zip(rows, linkage.near, strict=True):
        row[near] = high / linkage.law.total
    return rows


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_exact_success_is_that_of_the_whole_channel(book, epsilon):
    linkage = ChoiceLinkage(make_surrogate(book, epsilon), TEXTS)
    rows = channel(linkage)
    assert rows.sum(axis=1) == pytest.approx(1)
    assert linkage.success == pytest.approx(rows.max(axis=0).sum() / len(TEXTS))
    for a, b in ((0, 1), (0, 5), (3, 14)):
        slow = np.maximum(rows[a], rows[b]).sum() / 2
        assert linkage.pair_success(a, b) == pytest.approx(slow)
    for place in (0, 7, len(book) - 1):
        assert linkage.scores(place) == pytest.approx(np.log(rows[:, place]))


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_exact_success_is_above_its_bound(book, epsilon):
    linkage = ChoiceLinkage(make_surrogate(book, epsilon), TEXTS)
    n = len(TEXTS)
    bound = math.exp(epsilon) / (math.exp(epsilon) + n - 1)
    assert largest_success(epsilon, 1 / n) == pytest.approx(bound)
    assert linkage.success <= bound
    assert linkage.pair_success(0, 5) <= math.exp(epsilon) / (1 + math.exp(epsilon))


@pytest.mark.parametrize("epsilon", [2.0, 6.0])
def test_real_releases_are_named_as_often_as_computed(book, epsilon):
    linkage = ChoiceLinkage(make_surrogate(book, epsilon), TEXTS)
    rng = seeded_generator(5)
    named = np.concatenate([play(linkage, len(TEXTS), rng)[0] for _ in range(100)])
    low, high = clopper_pearson(int(named.sum()), len(named), ALPHA)
    assert low <= linkage.success <= high
    found = measure_linkage(linkage, epsilon, rng)
    assert found.breaches == ()
    assert found.values["exact"] == linkage.success


class Leaking(Surrogate):
    """Always releases the passage that is nearest to the text."""

    def _choose(self, vector: Any, part: Any, law: Any, rng: Any) -> int:
        return int(np.argmax(self.codebook.similarities(vector, part)))


def test_a_choice_that_leaks_is_a_breach(tmp_path):
    """Negative control: the nearest passage always leaves, so every text is named."""
    texts = [f"{passage} A word more." for passage in PASSAGES]
    book = make_codebook(tmp_path)
    sound = ChoiceLinkage(make_surrogate(book, 0.5), texts)
    leaking = ChoiceLinkage(make_surrogate(book, 0.5, Leaking), texts)
    assert measure_linkage(sound, 0.5, seeded_generator(1)).breaches == ()
    breaches = measure_linkage(leaking, 0.5, seeded_generator(1)).breaches
    assert len(breaches) == 2
    assert breaches[0].startswith("success: ")
    assert breaches[1].startswith("pair: ")


def test_equally_likely_documents_share_a_success():
    class Blind:
        """Says nothing about the document."""

        def release(self, place: int, rng: Any) -> int:
            return 0

        def scores(self, release: int) -> np.ndarray:
            return np.zeros(4)

        resolve = scores

    rng = seeded_generator(2)
    named, told = zip(*(play(Blind(), 4, rng) for _ in range(1000)), strict=True)
    for found, chance in ((named, 1 / 4), (told, 1 / 2)):
        low, high = clopper_pearson(int(np.sum(found)), 4000, ALPHA)
        assert low <= chance <= high


def spell(mechanism, words, between=" "):
    """Texts of these words of V, one for each row."""
    names = mechanism.table.vocabulary.words
    return [between.join(names[word] for word in row) for row in words]


def test_words_are_scored_by_the_whole_channel():
    mechanism = keeps(6, 0.4, 3.0)
    words = np.array([[0, 1, 2], [3, 4, 5], [0, 4, 2]], dtype=np.int32)
    linkage = WordLinkage(Perturber(mechanism), spell(mechanism, words))
    [release] = spell(mechanism, [[0, 4, 1]])
    slow = [
        sum(math.log(mechanism.rows[x, y]) for x, y in zip(t, (0, 4, 1), strict=True))
        for t in words
    ]
    assert linkage.scores(release) == pytest.approx(slow, rel=1e-5)


@pytest.mark.parametrize(("claimed", "count"), [(math.log(301), 0), (0.01, 1)])
def test_words_that_keep_more_than_they_claim_are_a_breach(claimed, count):
    """Kept with .9 + .1/30: ε = ln(27.1/.1 …) is claimed, or next to nothing."""
    mechanism = keeps(30, 0.9, claimed)
    rng = seeded_generator(3)
    words = np.array([rng.permutation(30)[:5] for _ in range(60)], dtype=np.int32)
    linkage = WordLinkage(Perturber(mechanism), spell(mechanism, words))
    assert name_kinds(linkage) == 1 / 60
    found = measure_linkage(linkage, 5 * claimed, rng)
    assert len(found.breaches) == 2 * count


@pytest.mark.parametrize(
    ("layout", "number", "kinds"),
    [
        ("keep", "random", [0, 1, 2, 3, 0]),
        ("keep", "drop", [0, 1, 2, 3, 0]),  # the blanks around a number stay
        ("drop", "random", [0, 0, 1, 2, 0]),
        ("drop", "drop", [0, 0, 0, 1, 0]),
    ],
)
def test_what_is_named_where_words_say_nothing_by_hand(layout, number, kinds):
    """Five texts under a mechanism that draws every word uniformly, with ε = 0 proved. Only the
    comma, the number and the length differ: an attacker names one text of each kind, and the bound
    among texts of one kind is met exactly."""
    mechanism = keeps(6, 0.0, 1.0)
    a, b, c = mechanism.table.vocabulary.words[:3]
    texts = [f"{a} {b}.", f"{a}, {b}.", f"{a} 12 {b}.", f"{a} {b} {c}.", f"{c} {a}."]
    options = DocumentOptions(layout=layout, number=number)
    linkage = WordLinkage(Perturber(mechanism, options), texts)
    assert linkage.kinds.tolist() == kinds
    different = len(set(kinds))
    assert name_kinds(linkage) == different / 5
    rng = seeded_generator(4)
    for place, kind in enumerate(kinds):
        scores = linkage.scores(linkage.release(place, rng))
        same = np.array(kinds) == kind
        assert np.isneginf(scores[~same]).all()
        assert np.ptp(scores[same]) == pytest.approx(0, abs=1e-4)
    bounds = bound_successes(linkage, 0.0)
    alike = sum(kinds.count(k) - 1 for k in kinds) / 20
    assert bounds["success"] == pytest.approx(different / 5)
    assert bounds["pair"] == pytest.approx(1 - alike / 2)
    named = np.concatenate([play(linkage, 5, rng)[0] for _ in range(400)])
    low, high = clopper_pearson(int(named.sum()), len(named), ALPHA)
    assert low <= different / 5 <= high


@given(
    st.text(st.sampled_from("a bZé0129,.-\n\t'\"(é…🙂_"), max_size=40),
    st.sampled_from(["keep", "drop"]),
    st.sampled_from(["random", "drop"]),
)
def test_every_release_of_a_text_has_one_skeleton(text, layout, number):
    """So it is outside ε, and the attacker reads all of it."""
    options = DocumentOptions(layout=layout, number=number)
    sanitizer = Perturber(MECHANISM, options)
    releases = [sanitizer.perturb(text, seeded_generator(seed)) for seed in range(4)]
    [skeleton] = {read_skeleton(made.text) for made in releases}
    assert skeleton.count("w") == len(releases[0].words)


def test_every_sanitizer_is_measured_on_the_same_documents(tmp_path):
    subjects = [
        {"mechanism": "rantext_ldp", "epsilons": [6.0]},
        {"mechanism": "surrogate", "parameters": {"codebook": "corpus"}, "epsilons": [2.0, 8.0]},
        {"mechanism": "surrogate", "parameters": {"passages": 2}, "epsilons": [8.0]},
    ]
    context = make_context(tmp_path, subjects=subjects)
    candidates = list_candidates(context)
    assert len(candidates) == len({c.words.tobytes() for c in candidates}) == 5
    assert all(context.words(c.text).tolist() == c.words.tolist() for c in candidates)
    records = run(context, known={"which_document": WhichDocument()})
    assert [r.case["mechanism"] for r in records] == ["rantext_ldp"] * 4 + ["surrogate corpus"] * 2
    assert [r.case.get("layout") for r in records] == ["keep", "keep", "drop", "drop", None, None]
    assert [r.case.get("number") for r in records][:4] == ["random", "drop"] * 2
    assert [r.values["epsilon"] for r in records[4:]] == [2.0, 8.0]
    most = records[0].values["epsilon"]
    assert most >= 48.0  # the eight words of V, and those that are mapped to V
    assert not [breach for r in records for breach in r.breaches]
    assert all(1 / 5 <= r.values["skeleton"] <= 1 for r in records[:4])
    named = WhichDocument.read_named(records, "surrogate corpus", 8.0)
    assert named is not None
    assert named.value == records[5].values["exact"]
    assert WhichDocument.read_named(records, "rantext_ldp", 6.0) == records[0].values["success"]
    assert WhichDocument.read_named(records[1:], "rantext_ldp", 6.0) is None
    assert WhichDocument.read_named(records, "rantext_ldp", 7.0) is None
    [section] = WhichDocument().render(records)
    assert "one of 5 public texts of 8 words" in section
    assert section.count("`surrogate corpus`") == 2
    assert section.count("| keep |") == section.count("| random |") == 2
