"""Votes: each private text chooses the candidate that is nearest to it.

The proof counts one vote for each text. So a vote must depend on its text and the candidates
alone: every text is encoded and compared by itself, because in a batch, padding or rounding
could make it depend on the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from perturb.whole.encoder import Encoder

__all__ = ["count_votes", "encode_texts"]


def encode_texts(
    texts: Sequence[str], encoder: Encoder, advance: Callable[[], None] = lambda: None
) -> list[NDArray[np.float32]]:
    """Return the vector of each text, float32 (d,), encoded by itself.

    Args:
        advance: is called after each text.
    """
    vectors = []
    for text in texts:
        vectors.append(encoder([text])[0])
        advance()
    return vectors


def count_votes(
    texts: Sequence[NDArray[np.float32]], candidates: NDArray[np.float32]
) -> NDArray[np.int64]:
    """Return how many texts are nearest to each candidate, int64 (N,).

    Args:
        texts: vectors of length 1, float32 (d,) each. Of equally near candidates the first gets
            the vote; a vector that is not finite votes for the first candidate.
        candidates: vectors of length 1, float32 (N, d).
    """
    counts = np.zeros(len(candidates), dtype=np.int64)
    for vector in texts:
        counts[int(np.argmax(np.nan_to_num(candidates @ vector)))] += 1
    return counts
