"""The release of a document, and the codebook that is made of the corpus."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from benchmarks.harness.datasets import DataError, Sample
from benchmarks.run import run
from benchmarks.utility.quality import split_words
from benchmarks.whole.collections import choose_passages, find_cover, make_codebook
from benchmarks.whole.released import Released
from perturb import Perturber
from perturb.whole.codebook import load_codebook
from tests.benchmarks.whole.toy import SUBJECTS, make_context


def bags(texts):
    """A stand-in encoder: which words a text has."""
    rows = np.zeros((len(texts), 512), np.float32)
    for row, text in zip(rows, texts, strict=True):
        for word in split_words(text):
            row[zlib.crc32(word.encode()) % 512] += 1
    return rows


def test_more_of_the_document_leaves_with_a_larger_epsilon(tmp_path):
    subjects = [{"mechanism": "rantext", "epsilons": [1.0, 300.0]}]
    context = make_context(tmp_path, subjects=subjects, texts=5)
    context.encode = bags
    records = run(context, known={"released": Released()})
    low, high = [r.values["document"].value for r in records if r.case["dataset"] == "first"]
    assert low < 0.5 < high
    assert Released.read_epsilon(records, "rantext", 1.0) is None  # nothing is proved
    [section] = Released().render(records)
    assert section.count("| `rantext` |") == 2


def test_the_proved_epsilon_is_that_of_the_whole_text(tmp_path):
    subjects = [
        {"mechanism": "rantext_ldp", "epsilons": [2.0]},
        {"mechanism": "surrogate", "parameters": {"codebook": "corpus"}, "epsilons": [8.0]},
    ]
    context = make_context(tmp_path, subjects=subjects, texts=5)
    context.encode = bags
    records = run(context, known={"released": Released()})
    assert Released.read_epsilon(records, "surrogate corpus", 8.0) == 8
    perturber = Perturber(context.mechanism("rantext_ldp", 2.0))
    counts = [perturber.perturb(text).receipt.released for text in SUBJECTS.values()]
    assert Released.read_epsilon(records, "rantext_ldp", 2.0) == 2 * np.mean(counts)


def test_the_corpus_shares_no_text_with_the_sets(tmp_path):
    context = make_context(tmp_path)
    clean = choose_passages(context, 1000)
    assert len(clean) > 40
    assert clean == choose_passages(context, 1000)
    for sample in context.samples("first"):
        words = sample.document.casefold().split()
        for i in range(len(words) - 7):
            run_of_words = " ".join(words[i : i + 8])
            assert not [p for p in clean if run_of_words in " ".join(p.casefold().split())]


def test_a_corpus_that_holds_a_set_loses_those_passages(tmp_path):
    """Negative control of the test above."""
    import json
    import lzma

    context = make_context(tmp_path)
    before = choose_passages(context, 1000)
    with lzma.open(context.corpus, "at", encoding="utf-8") as file:
        file.write(json.dumps({"text": f"{SUBJECTS['river']} and nothing more. " * 3}) + "\n")
    assert sorted(choose_passages(context, 1000)) == sorted(before)


def test_a_codebook_is_made_once_and_again_for_other_passages(tmp_path):
    context = make_context(tmp_path)
    path = make_codebook(context, "corpus")
    assert len(load_codebook(path)) == 40
    made = path.stat().st_mtime_ns
    assert make_codebook(context, "corpus").stat().st_mtime_ns == made
    more = ["A passage that covers a document and nothing else."]
    covering = load_codebook(make_codebook(context, "covering", more))
    assert len(covering) == 41
    assert covering.find(more[0]) is not None


def test_without_a_corpus_there_is_no_codebook_of_it(tmp_path):
    context = make_context(tmp_path, subjects=[
        {"mechanism": "surrogate", "parameters": {"codebook": "corpus"}, "epsilons": [8.0]},
        {"mechanism": "surrogate", "epsilons": [8.0]},
    ])  # fmt: skip
    assert len(list(Released().cases(context))) == 4
    context.corpus = None
    assert {c["mechanism"] for c in Released().cases(context)} == {"surrogate"}
    with pytest.raises(DataError, match="needs DATA/corpus"):
        make_codebook(context, "corpus")


def sample(rest: str) -> Sample:
    return Sample("1", "It began", " and went on.", "It began and went on." + rest)


def test_a_cover_is_neither_prefix_nor_continuation():
    long = " ".join(f"word{i}" for i in range(70))
    assert find_cover(sample(f" {long}. And so on.")) == f"{long}."
    short = " ".join(f"word{i}" for i in range(15))
    assert find_cover(sample(f"  {short}")) == short
    assert find_cover(sample(" Only a few words.")) is None
    assert find_cover(Sample("1", "a", "b", f"elsewhere {long}")) is None
