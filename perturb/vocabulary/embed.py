"""Raw embeddings of a list of words, from an OpenAI-compatible endpoint or a local encoder."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from perturb.errors import TableError
from perturb.files import Checkpoint
from perturb.install import install_command

__all__ = ["EmbedBatch", "embed_words", "endpoint_encoder", "local_encoder"]


class EmbedBatch(Protocol):
    """Embed a batch of words: (n words) → floats (n, d)."""

    def __call__(self, words: Sequence[str], /) -> NDArray[np.float32]: ...


def embed_words(
    embed: EmbedBatch,
    words: Sequence[str],
    *,
    source: str,
    partial: Path,
    batch: int = 512,
    progress: Callable[[str, int, int], None] = lambda stage, done, total: None,
) -> NDArray[np.float32]:
    """Embed all words in batches and return float32 (len(words), d).

    Every finished batch is kept in the folder `partial`, so that a run that failed or was killed
    resumes where it stopped. The caller removes the folder once the table is written. The folder
    of a run with another source, batch size or word list is refused.

    >>> from tempfile import TemporaryDirectory
    >>> def embed(words):
    ...     return np.array([[len(word), 1.0] for word in words])
    >>> with TemporaryDirectory() as folder:
    ...     embed_words(embed, ["sea", "ocean"], source="lengths", partial=Path(folder))
    array([[3., 1.],
           [5., 1.]], dtype=float32)

    Raises:
        CheckpointError: the folder belongs to another run.
        TableError: the encoder returned the wrong number of rows or a changing dimension.
    """
    if batch < 1:
        raise TableError(f"batch must be >= 1, got {batch}")
    run = {
        "source": source,
        "batch": batch,
        "words": hashlib.sha256("\n".join(words).encode()).hexdigest(),
    }
    checkpoint = Checkpoint(partial, run)
    parts: list[NDArray[np.float32]] = []
    for start in range(0, len(words), batch):
        chunk, part = words[start : start + batch], f"{start:06d}"
        if found := checkpoint.load(part):
            rows = found["rows"]
        else:
            rows = np.ascontiguousarray(embed(chunk), dtype=np.float32)
            if rows.ndim != 2 or len(rows) != len(chunk):
                raise TableError(f"the encoder returned shape {rows.shape} for {len(chunk)} words")
            checkpoint.save(part, rows=rows)
        if parts and rows.shape[1] != parts[0].shape[1]:
            raise TableError("the encoder changed its dimension between two batches")
        parts.append(rows)
        if not found or start + len(chunk) == len(words):
            progress("embeddings", start + len(chunk), len(words))
    return np.concatenate(parts)


def endpoint_encoder(base_url: str, model: str, api_key: str | None) -> EmbedBatch:
    """Return an encoder that calls `POST {base_url}/embeddings`.

    Raises (when called):
        TableError: the endpoint cannot be reached, refuses the request, or returns no embeddings.
    """
    from openai import OpenAI, OpenAIError

    client = OpenAI(base_url=base_url, api_key=api_key or "none", max_retries=5)

    def embed(words: Sequence[str]) -> NDArray[np.float32]:
        try:
            answer = client.embeddings.create(
                model=model, input=list(words), encoding_format="float"
            )
            rows = sorted(answer.data, key=lambda item: item.index)
            return np.array([item.embedding for item in rows], dtype=np.float32)
        except OpenAIError as exc:
            raise TableError(
                f"the embeddings endpoint failed ({type(exc).__name__}); run the same command "
                "again to resume from the last finished batch"
            ) from exc
        except (ValueError, TypeError, AttributeError) as exc:
            raise TableError("the endpoint's answer is not a list of embeddings") from exc

    return embed


def local_encoder(model: str) -> EmbedBatch:
    """Return the encoder of a sentence-transformers model, by hub name or folder (extra `train`).

    Raises:
        TableError: the package or the model is missing.
    """
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as exc:
        raise TableError(
            f"a local encoder needs sentence-transformers: {install_command('train')}"
        ) from exc
    try:
        encoder: Any = SentenceTransformer(model, device="cpu")
    except Exception as exc:  # hub, file and format errors come from four libraries
        raise TableError(f"cannot load the encoder {model!r} ({type(exc).__name__})") from exc

    def embed(words: Sequence[str]) -> NDArray[np.float32]:
        return np.asarray(
            encoder.encode(list(words), batch_size=256, convert_to_numpy=True), dtype=np.float32
        )

    return embed
