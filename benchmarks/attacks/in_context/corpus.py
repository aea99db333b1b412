"""Read public text as words of V, for the attackers' n-gram model."""

from __future__ import annotations

import io
import json
import lzma
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from benchmarks.harness.context import Context
from benchmarks.harness.datasets import DataError, digest
from perturb.files import write_atomically

__all__ = ["read_corpus_words"]

WORDS = 10_000_000  # twice as many gain about a tenth of a bit per word


def read_corpus_words(context: Context, limit: int = WORDS) -> NDArray[np.uint16]:
    """Return the corpus's first words of V, at most `limit`, (n,): places in V, and m, the size of
    V, before the first word of every text.

    The result is kept in the run's folder, and reused for the same corpus and the same V.

    Raises:
        DataError: the corpus is not xz-compressed lines of `{"text"}`.
    """
    assert context.corpus is not None, "an experiment without its corpus has no cases"
    source = f"{digest([context.corpus])} {context.table.vocabulary.sha256} {limit}"
    kept = context.folder / "corpus_words.npz"
    if kept.exists():
        with np.load(kept, allow_pickle=False) as found:
            if str(found["source"]) == source:
                return np.asarray(found["words"])
    words = np.concatenate([*_read(context, context.corpus, limit)])[:limit].astype(np.uint16)
    buffer = io.BytesIO()
    np.savez(buffer, words=words, source=np.array(source))
    context.folder.mkdir(parents=True, exist_ok=True)
    write_atomically(kept, buffer.getvalue())
    return words


def _read(context: Context, corpus: Path, limit: int) -> Iterator[NDArray[np.int32]]:
    start = np.array([len(context.table)], dtype=np.int32)
    count = 0
    with (
        tqdm(total=limit, desc="corpus", unit="word", leave=False, disable=None) as bar,
        lzma.open(corpus, "rt", encoding="utf-8") as lines,
    ):
        try:
            for line in lines:
                piece = np.concatenate([start, context.words(json.loads(line)["text"])])
                yield piece
                bar.update(len(piece))
                count += len(piece)
                if count >= limit:
                    return
        except (lzma.LZMAError, ValueError, KeyError, TypeError) as exc:
            raise DataError(f"{corpus}: not lines of text, {type(exc).__name__}") from None
