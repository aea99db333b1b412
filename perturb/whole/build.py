"""Make codebooks: passages are cleaned, embedded, ordered, measured and written."""

from __future__ import annotations

import hashlib
import json
import shutil
import zlib
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.errors import CodebookError
from perturb.files import write_atomically
from perturb.vocabulary.embed import embed_words
from perturb.whole.codebook import BLOCK, MAGIC, hash_header, hash_passage
from perturb.whole.encoder import Encoder

__all__ = ["HELD_OUT", "build_codebook", "measure_profile", "quantize"]

HELD_OUT = 200  # passages that stand for private texts when the profile is measured
LONGEST = 2000  # characters of a passage
ALIGNED = 64  # bytes that the first section begins at a multiple of
PROFILE = 2048  # ranks of which the mean similarity is kept
Progress = Callable[[str, int, int], None]


def build_codebook(
    passages: Iterable[str],
    out: Path,
    encoder: Encoder,
    *,
    licence: str,
    source: str,
    progress: Progress = lambda stage, done, total: None,
) -> str:
    """Write a codebook and return its SHA-256.

    Every finished batch of vectors is kept beside the file, so that a run that failed or was
    killed resumes where it stopped.

    Args:
        passages: public texts; white space is made single blanks, repeats are left out.
        out: of the file.
        encoder: gives the vectors.
        licence: of the passages.
        source: where they come from, in a sentence.
        progress: is called with the stage, how many are done, and of how many.

    Raises:
        CodebookError: there are fewer than two passages, or one is too long.
        CheckpointError: an unfinished run had other passages.
        TableError: the encoder fails.
    """
    texts = _ordered(passages)
    partial = out.with_name(out.name + ".partial")
    vectors = embed_words(
        encoder, texts, source=json.dumps(encoder.identity), partial=partial, progress=progress
    )
    rows, scales = quantize(vectors)
    packed = [
        zlib.compress("\n".join(texts[start : start + BLOCK]).encode(), 9)
        for start in range(0, len(texts), BLOCK)
    ]
    sections: dict[str, NDArray[Any]] = {
        "digests": np.array([hash_passage(text) for text in texts], dtype=np.uint64),
        "blocks": np.cumsum([0, *map(len, packed)], dtype=np.uint64),
        "scales": scales,
        "vectors": rows,
        "packed": np.frombuffer(b"".join(packed), dtype=np.uint8),
    }
    facts = {
        "passages": len(texts),
        "dimension": rows.shape[1],
        "encoder": encoder.identity,
        "profile": [round(x, 6) for x in measure_profile(vectors, progress).tolist()],
        "licence": licence,
        "provenance": source,
        "created": datetime.now(UTC).date().isoformat(),
    }
    digest = _write(out, facts, sections)
    shutil.rmtree(partial, ignore_errors=True)
    return digest


def quantize(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return rows as int8 (n, d) and the scales, float32 (n,), that make their lengths 1; a row
    of zeros has scale 0."""
    largest = np.maximum(np.abs(vectors).max(axis=1, keepdims=True), 1e-12)
    rows = np.rint(vectors * (127 / largest)).astype(np.int8)
    lengths = np.linalg.norm(rows.astype(np.float32), axis=1)
    scales = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return rows, scales


def measure_profile(vectors: NDArray[np.float32], progress: Progress) -> NDArray[np.float64]:
    """Return the mean cosine of passages to their k-th nearest among the others, by k.

    The last value is the mean over all ranks that are left, so that the sum over N − 1 ranks is
    the sum of all cosines.

    Args:
        vectors: rows of length 1, float32 (n, d).
        progress: as above.
    """
    n = len(vectors)
    queries = np.linspace(0, n - 1, min(n, HELD_OUT)).astype(int)
    kept = max(1, min(PROFILE, n - 2))
    total, rest = np.zeros(kept), 0.0
    for done, query in enumerate(queries, 1):
        cosines = (vectors @ vectors[query]).astype(np.float64)
        cosines[query] = -np.inf
        first = -np.sort(-np.partition(cosines, n - kept)[n - kept :])
        total += first
        rest += (cosines[np.isfinite(cosines)].sum() - first.sum()) / max(1, n - 1 - kept)
        progress("profile", done, len(queries))
    return np.append(total, rest) / len(queries)


def _ordered(passages: Iterable[str]) -> Sequence[str]:
    """Return the distinct passages, in the order of their SHA-256.

    Raises:
        CodebookError: there are fewer than two, or one is too long.
    """
    cleaned = (" ".join(passage.split()) for passage in passages)
    texts = {text.encode("utf-8", "replace").decode() for text in cleaned if text}
    if len(texts) < 2:
        raise CodebookError(f"a codebook must have 2 passages or more, got {len(texts)}")
    longest = max(map(len, texts))
    if longest > LONGEST:
        raise CodebookError(
            f"a passage must have <= {LONGEST} characters, the longest has {longest}"
        )
    return sorted(texts, key=lambda text: hashlib.sha256(text.encode()).digest())


def _write(out: Path, facts: dict[str, Any], sections: dict[str, NDArray[Any]]) -> str:
    """Write header and sections, complete or not at all; return the SHA-256."""
    places, start = {}, 0
    for name, array in sections.items():
        places[name] = {"start": start, "bytes": array.nbytes, "dtype": array.dtype.str}
        start += array.nbytes
    header = {**facts, "sections": places}
    digest = hash_header(header)
    contents = [np.ascontiguousarray(array).data for array in sections.values()]
    for content in contents:
        digest.update(content)
    line = json.dumps({**header, "sha256": digest.hexdigest()}).encode()
    line += b" " * (-(len(MAGIC) + len(line) + 1) % ALIGNED) + b"\n"
    out.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(out, MAGIC + line, *contents)
    return str(digest.hexdigest())
