"""Word frequencies in a public corpus: bundled counts, and the unigram prior they give.

`data/unigram.npy` holds one count for every ASCII word of cl100k_base, in rank order, so that it
serves a V of any size and variant. `data/unigram.json` describes the corpus.
`scripts/count_words.py` makes both.
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
from perturb.vocabulary.vocabulary import Vocabulary

__all__ = [
    "BUNDLED_COUNTS",
    "common_words",
    "counts_digest",
    "plain_words",
    "proper_words",
    "unigram_prior",
    "word_counts",
]

BUNDLED_COUNTS = Path(__file__).parents[1] / "data" / "unigram"


def word_counts(vocabulary: Vocabulary) -> NDArray[np.int64]:
    """Return how often each word of V occurs in the corpus, int64 (m,): as a token, with or
    without a leading space, or, in the vocabulary `words`, as a whole word in any capitals.

    >>> from perturb.vocabulary.vocabulary import load_encoding
    >>> vocabulary = Vocabulary(load_encoding())
    >>> counts = dict(zip(vocabulary.words, word_counts(vocabulary).tolist()))
    >>> counts["the"] > counts["river"] > 0
    True

    Raises:
        VocabularyError: the bundled counts are missing, damaged, or of another encoding.
    """
    if vocabulary.own_counts is not None:
        return vocabulary.own_counts
    counts, side = _load()
    if hashlib.sha256("\n".join(vocabulary.ascii_words).encode()).hexdigest() != side["words"]:
        raise VocabularyError("the bundled word counts were made for another encoding")
    return counts[vocabulary.ranks].astype(np.int64)


def unigram_prior(vocabulary: Vocabulary) -> NDArray[np.float64]:
    """Return the words' shares of the corpus, with one added to every count, float64 (m,), sum 1.

    >>> from perturb.vocabulary.vocabulary import load_encoding
    >>> vocabulary = Vocabulary(load_encoding())
    >>> prior = unigram_prior(vocabulary)
    >>> vocabulary.words[int(prior.argmax())], round(float(prior.sum()), 6)
    ('the', 1.0)
    """
    counts = word_counts(vocabulary) + 1.0
    return np.asarray(counts / counts.sum())


@lru_cache(maxsize=1)
def proper_words(vocabulary: Vocabulary) -> frozenset[str]:
    """Return the words of cl100k_base that are nearly always capitalised: counted at least twenty
    times with a capital, and twenty times as often as in lower case.

    >>> from perturb.vocabulary.vocabulary import load_encoding
    >>> sorted({"London", "The", "March"} & proper_words(Vocabulary(load_encoding())))
    ['London']
    """
    words = vocabulary.ascii_words
    counts = dict(zip(words, _load()[0].tolist(), strict=True))
    return frozenset(
        word
        for word in words
        if word.istitle() and counts[word] >= max(20, 20 * counts.get(word.lower(), 0))
    )


@lru_cache(maxsize=1)
def common_words(vocabulary: Vocabulary) -> frozenset[str]:
    """Return the words of cl100k_base that are ordinary in lower case: counted at least twenty
    times, and either more than five hundred times or clearly more often than with a capital.

    >>> from perturb.vocabulary.vocabulary import load_encoding
    >>> sorted({"river", "smith", "anna", "tom"} & common_words(Vocabulary(load_encoding())))
    ['river']
    """
    words = vocabulary.ascii_words
    counts = dict(zip(words, _load()[0].tolist(), strict=True))
    return frozenset(
        word
        for word, count in counts.items()
        if word.islower()
        and (count > 500 or (count >= 20 and count > 1.25 * counts.get(word.title(), 0)))
    )


@lru_cache(maxsize=1)
def plain_words(vocabulary: Vocabulary) -> frozenset[str]:
    """Return the common words that are counted at least one and a half times as often without a
    capital as with one.

    >>> from perturb.vocabulary.vocabulary import load_encoding
    >>> sorted({"next", "summary", "smith", "anna"} & plain_words(Vocabulary(load_encoding())))
    ['next', 'summary']
    """
    words = vocabulary.ascii_words
    counts = dict(zip(words, _load()[0].tolist(), strict=True))
    common = common_words(vocabulary)
    return frozenset(word for word in common if counts[word] >= 1.5 * counts.get(word.title(), 0))


def counts_digest() -> str:
    """Return the SHA-256 of the counts, which is part of the identity of everything derived from
    them.

    >>> len(counts_digest())
    64
    """
    return _load()[1]["sha256"]


@lru_cache(maxsize=1)
def _load() -> tuple[NDArray[np.uint32], dict[str, str]]:
    """Return the counts, uint32 (54361,), and their side file."""
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
