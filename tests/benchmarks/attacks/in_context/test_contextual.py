"""The contextual attack as a measurement: what it reports, and what it catches."""

from __future__ import annotations

import json
import lzma
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.attacks.in_context.contextual import Contextual
from benchmarks.attacks.in_context.corpus import read_corpus_words
from benchmarks.attacks.in_context.skeleton import fill_gaps, find_gaps
from benchmarks.harness.context import Context
from benchmarks.harness.datasets import DataError
from perturb import DocumentOptions, Guarantee, Mechanism, Perturber, TokenClass, seeded_generator
from perturb.mechanisms.rantext_ldp import RanTextLDP
from tests.benchmarks.attacks.small import TEXTS, SmallContext, small_context


class Overclaimed(RanTextLDP):
    """Says half of the ε it spends."""

    @property
    def guarantee(self) -> Guarantee:
        return replace(super().guarantee, epsilon=self.epsilon / 2)


class Planted(SmallContext):
    def _mechanism(self, label: str, epsilon: float) -> Mechanism:
        sound = super()._mechanism(label, epsilon)
        return Overclaimed(sound.table, sound.parameters)


def measure(context: Context):
    experiment = Contextual()
    [case] = experiment.cases(context)
    assert case["model"] == "bigram"
    return experiment.measure(case, context)


def test_the_attacker_gains_from_context_and_stays_below_the_bound(tmp_path):
    """The corpus holds the attacked texts themselves, so context is worth much."""
    found = measure(small_context(tmp_path, texts=60))
    values = found.values
    assert not found.breaches
    assert 4.0 < values["odds"] < 6.0 + 1e-4
    assert values["gain"].low > 0
    assert values["success"].value > values["context_free"].value
    assert values["success"].value > values["others"].value > values["prior"].value
    assert values["success"].low < values["success"].value < values["success"].high


def test_a_mechanism_that_claims_too_much_is_caught(tmp_path):
    context = small_context(tmp_path)
    planted = Planted(context.suite, context.data, context.corpus, context.folder)
    [breach] = measure(planted).breaches
    assert "above the proved e^3" in breach


def test_a_measurement_repeats(tmp_path):
    context = small_context(tmp_path)
    assert measure(context) == measure(context)


def test_without_a_corpus_there_is_nothing_to_measure(tmp_path):
    context = small_context(tmp_path)
    without = Context(context.suite, context.data, None, context.folder)
    assert list(Contextual().cases(without)) == []


# -- the corpus -----------------------------------------------------------------------------


def test_the_corpus_is_its_texts_words_with_a_mark_before_each(tmp_path):
    context = small_context(tmp_path)
    m = len(context.table)
    expected = [w for text in TEXTS for w in (m, *context.words(text).tolist())]
    assert read_corpus_words(context).tolist() == expected
    assert read_corpus_words(context, 50).tolist() == expected[:50]


def test_the_corpus_is_read_once_and_again_when_it_changes(tmp_path):
    context = small_context(tmp_path)
    before = read_corpus_words(context)
    kept = context.folder / "corpus_words.npz"
    stamp = kept.stat().st_mtime_ns
    assert np.array_equal(read_corpus_words(context), before)
    assert kept.stat().st_mtime_ns == stamp
    with lzma.open(context.corpus, "wt") as file:
        file.write(json.dumps({"text": "on the"}) + "\n")
    assert len(read_corpus_words(context)) == 3


def test_a_corpus_in_another_form_is_refused_without_its_text(tmp_path):
    context = small_context(tmp_path)
    with lzma.open(context.corpus, "wt") as file:
        file.write('{"words": "secret"}\n')
    with pytest.raises(DataError, match="not lines of text, KeyError") as caught:
        read_corpus_words(context)
    assert "secret" not in str(caught.value)


# -- the skeleton ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [*TEXTS, "", "42 Zyx", "(the) end", "un\n\nbelievable 3.5x, so 'quoted'words", " the  of"],
)
def test_the_skeleton_with_released_words_is_the_released_text(tmp_path, text):
    context = small_context(tmp_path)
    vocabulary = context.table.vocabulary
    options = DocumentOptions(oov="drop", number="drop")
    perturber = Perturber(context.mechanism("rantext_ldp", 6.0), options)
    released = perturber.perturb(text, seeded_generator(1))
    gaps = find_gaps(vocabulary, text)
    assert len(gaps) == len(context.words(text))
    filled = fill_gaps(gaps, released.words)
    rest = vocabulary.classes[vocabulary.encode(released.text.removeprefix(filled))]
    assert released.text.startswith(filled)
    assert set(rest.tolist()) <= {TokenClass.LAYOUT}
