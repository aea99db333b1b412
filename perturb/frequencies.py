"""How often each word of V occurs in a public corpus: bundled counts, and the prior they give.

`data/unigram.npy` holds one count for every ASCII word of cl100k_base, in rank order, so a V of
any size finds its own; `data/unigram.json` says what was counted. `scripts/count_words.py`
makes both.
"""

from __future__ import annotations

import hashlib
import io
import json
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from perturb.errors import VocabularyError
from perturb.vocabulary import Vocabulary

__all__ = [
    "BUNDLED_COUNTS",
    "all_words",
    "common_words",
    "counts_digest",
    "proper_words",
    "unigram_prior",
    "word_counts",
]

BUNDLED_COUNTS = Path(__file__).parent / "data" / "unigram"


def all_words(vocabulary: Vocabulary) -> tuple[str, ...]:
    """Every ASCII word of the encoding in rank order; V is the first of them."""
    return (*vocabulary.words, *(word for word in vocabulary.others if word.isascii()))


def word_counts(vocabulary: Vocabulary) -> NDArray[np.int64]:
    """How often each word of V occurs as a token of the corpus, with or without a leading
    space, int64 (m,).

    Raises:
        VocabularyError: the bundled counts are missing, damaged, or of another encoding.
    """
    counts, side = _load()
    if hashlib.sha256("\n".join(all_words(vocabulary)).encode()).hexdigest() != side["words"]:
        raise VocabularyError("the bundled word counts were made for another encoding")
    return counts[: len(vocabulary)].astype(np.int64)


def unigram_prior(vocabulary: Vocabulary) -> NDArray[np.float64]:
    """The words' shares of the corpus, one added to every count, float64 (m,), sum 1."""
    counts = word_counts(vocabulary) + 1.0
    return np.asarray(counts / counts.sum())


def proper_words(vocabulary: Vocabulary) -> frozenset[str]:
    """The words of cl100k_base that are nearly always written with a capital: it is counted
    twenty times or more, and twenty times as often as the same word in small letters."""
    words = all_words(vocabulary)
    counts = dict(zip(words, _load()[0].tolist(), strict=True))
    return frozenset(
        word
        for word in words
        if word.istitle() and counts[word] >= max(20, 20 * counts.get(word.lower(), 0))
    )


@lru_cache(maxsize=1)
def common_words(vocabulary: Vocabulary) -> frozenset[str]:
    """The words of cl100k_base in small letters that are counted twenty times or more."""
    words = all_words(vocabulary)
    counts = zip(words, _load()[0].tolist(), strict=True)
    return frozenset(word for word, count in counts if count >= 20 and word.islower())


def counts_digest() -> str:
    """SHA-256 of the counts: part of the identity of what depends on them."""
    return _load()[1]["sha256"]


@lru_cache(maxsize=1)
def _load() -> tuple[NDArray[np.uint32], dict[str, str]]:
    """The counts, uint32 (54361,), and their side file."""
    name = BUNDLED_COUNTS.name
    try:
        data = BUNDLED_COUNTS.with_suffix(".npy").read_bytes()
        side = json.loads(BUNDLED_COUNTS.with_suffix(".json").read_text("utf-8"))
        if side["sha256"] != hashlib.sha256(data).hexdigest():
            raise VocabularyError(f"{name}.npy is damaged: its SHA-256 differs")
        counts = np.load(io.BytesIO(data), allow_pickle=False)
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise VocabularyError(f"cannot read the word counts {name}.npy and {name}.json") from exc
    counts.flags.writeable = False
    return counts, side
