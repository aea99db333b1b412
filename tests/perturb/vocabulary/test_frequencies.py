"""The bundled word counts: whose they are, that they are whole, that the script makes them."""

from __future__ import annotations

import hashlib
import json
import lzma
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tiktoken

from perturb import Vocabulary, VocabularyError
from perturb.vocabulary import frequencies
from perturb.vocabulary.frequencies import (
    BUNDLED_COUNTS,
    common_words,
    counts_digest,
    proper_words,
    unigram_prior,
    word_counts,
)

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "scripts" / "count_words.py"
CORPUS = ROOT.parent / "shared" / "data" / "corpus" / "train.jsonl.xz"


def test_counts_are_of_this_vocabulary(vocabulary: Vocabulary) -> None:
    counts = word_counts(vocabulary)
    assert counts.shape == (len(vocabulary),)
    assert counts.dtype == np.int64
    assert (counts >= 0).all()
    most = [vocabulary.words[i] for i in np.argsort(-counts)[:6]]
    assert set(most) == {"the", "of", "and", "in", "to", "a"}


def test_smaller_vocabulary_has_the_first_counts(encoding: tiktoken.Encoding) -> None:
    small, large = Vocabulary(encoding, 2), Vocabulary(encoding, 54_361, "paper")
    assert word_counts(small).tolist() == word_counts(large)[:2].tolist()
    assert len(word_counts(large)) == 54_361


@pytest.mark.parametrize("size", [100, 11_000])
def test_variants_share_the_counts_of_their_words(size: int, encoding: tiktoken.Encoding) -> None:
    clean, whole = Vocabulary(encoding, size), Vocabulary(encoding, 54_361, "paper")
    counts = dict(zip(whole.words, word_counts(whole).tolist(), strict=True))
    assert word_counts(clean).tolist() == [counts[word] for word in clean.words]


def test_prior_is_positive_and_sums_to_one(vocabulary: Vocabulary) -> None:
    prior, counts = unigram_prior(vocabulary), word_counts(vocabulary)
    assert prior.dtype == np.float64
    assert prior.sum() == pytest.approx(1.0, abs=1e-12)
    assert prior.min() > 0
    assert (counts == 0).any(), "add-one smoothing has something to do"
    assert prior == pytest.approx((counts + 1) / (counts.sum() + len(counts)))


def test_proper_words_are_hardly_ever_written_small(vocabulary: Vocabulary) -> None:
    proper = proper_words(vocabulary)
    assert {"David", "France", "Estonia"} <= proper
    assert not {"The", "However", "Mark", "NASA", "france"} & proper


def test_common_words_are_often_written_small(vocabulary: Vocabulary) -> None:
    common = common_words(vocabulary)
    assert {"like", "will", "the"} <= common
    assert not {"Like", "kowalewski", "estonia", "THE"} & common


def test_side_file_says_what_was_counted(vocabulary: Vocabulary) -> None:
    side = json.loads(BUNDLED_COUNTS.with_suffix(".json").read_text())
    data = BUNDLED_COUNTS.with_suffix(".npy").read_bytes()
    assert side["sha256"] == hashlib.sha256(data).hexdigest() == counts_digest()
    assert set(side) >= {"source", "licence", "created", "corpus_sha256", "records", "counted"}
    assert len(data) < 256 << 10
    large = Vocabulary(vocabulary.encoding, 54_361, "paper")
    assert side["counted"] == word_counts(large).sum()


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The counts, copied to where a test may damage them."""
    for ending in (".npy", ".json"):
        data = BUNDLED_COUNTS.with_suffix(ending).read_bytes()
        (tmp_path / f"unigram{ending}").write_bytes(data)
    monkeypatch.setattr(frequencies, "BUNDLED_COUNTS", tmp_path / "unigram")
    frequencies._load.cache_clear()
    yield tmp_path / "unigram"
    frequencies._load.cache_clear()


def test_one_changed_byte_is_refused(copied: Path, vocabulary: Vocabulary) -> None:
    data = bytearray(copied.with_suffix(".npy").read_bytes())
    data[-1] ^= 1
    copied.with_suffix(".npy").write_bytes(data)
    with pytest.raises(VocabularyError, match=r"unigram.npy is damaged: its SHA-256 differs"):
        word_counts(vocabulary)


@pytest.mark.parametrize("ending", [".npy", ".json"])
@pytest.mark.parametrize("content", [None, b"", b"{}", b"[]"])
def test_missing_or_foreign_file_is_refused(
    copied: Path, ending: str, content: bytes | None, vocabulary: Vocabulary
) -> None:
    path = copied.with_suffix(ending)
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(VocabularyError):
        word_counts(vocabulary)


def test_counts_of_other_words_are_refused(copied: Path, vocabulary: Vocabulary) -> None:
    path = copied.with_suffix(".json")
    path.write_text(json.dumps({**json.loads(path.read_text()), "words": "0" * 64}))
    with pytest.raises(VocabularyError, match="another encoding"):
        word_counts(vocabulary)


@pytest.mark.parametrize("packed", [False, True])
def test_script_counts_words_with_and_without_a_space(
    packed: bool, tmp_path: Path, vocabulary: Vocabulary
) -> None:
    lines = "".join(
        json.dumps({"text": text}) + "\n" for text in ("the cat and the dog", "the 12 cats!", "")
    ).encode()
    corpus = tmp_path / ("texts.jsonl.xz" if packed else "texts.jsonl")
    corpus.write_bytes(lzma.compress(lines) if packed else lines)
    subprocess.run(
        [
            sys.executable,
            SCRIPT,
            corpus,
            "--source=a",
            "--licence=b",
            f"--out={tmp_path / 'counts'}",
        ],
        check=True,
        capture_output=True,
        timeout=120,
    )
    counts = np.load(tmp_path / "counts.npy")
    assert counts.shape == (54_361,)
    assert counts.dtype == np.uint32
    words = vocabulary.ascii_words
    seen = {words[i]: int(counts[i]) for i in np.flatnonzero(counts)}
    assert seen == {"the": 3, "cat": 1, "and": 1, "dog": 1, "cats": 1}
    side = json.loads((tmp_path / "counts.json").read_text())
    assert side["records"] == 3
    assert side["counted"] == 7


@pytest.mark.skipif(not CORPUS.exists(), reason="the corpus is not here")
def test_bundled_counts_are_of_that_corpus() -> None:
    side = json.loads(BUNDLED_COUNTS.with_suffix(".json").read_text())
    assert side["corpus_sha256"] == hashlib.sha256(CORPUS.read_bytes()).hexdigest()
