"""The encoder of codebooks that asks the local server's embedding model.

Raw text goes to the server that the operator configured and to no other. A codebook names only
the model that it was made with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from extraction.backends.openai_server import OpenAIServer
from extraction.errors import LocalModelUnavailable
from perturb.vocabulary.vocabulary import encode_text, load_encoding
from perturb.whole.encoder import SERVER, make_vectors
from perturb.work import offload

__all__ = ["ServerEncoder", "cut_text"]

PART = 384  # cl100k tokens: many embedding models read 512 tokens of their own


class ServerEncoder:
    """Encode texts by a server's embedding model. It is a `perturb.whole.encoder.AsyncEncoder`.

    A long text is cut into parts that a small model can read; its vector is the mean of theirs.

    Args:
        model: the name to request.
        find_server: returns the server when it is needed, since it may start later.
    """

    def __init__(self, model: str, find_server: Callable[[], OpenAIServer]) -> None:
        self.identity = {"encoder": SERVER, "model": model}
        self._model = model
        self._find_server = find_server

    async def encode(
        self, texts: Sequence[str], dimension: int | None = None
    ) -> NDArray[np.float32]:
        """Return a row of length 1 for each of n texts, float32 (n, d); zeros for a blank one.

        Args:
            texts: of any length.
            dimension: d, if it is known.

        Raises:
            LocalModelError: the server does not answer, not in the form of embeddings, or with
                vectors of another dimension.
        """
        parts = await offload(False, lambda: [cut_text(text) for text in texts])
        asked = [part for own in parts for part in own]
        vectors = (await self._find_server().embed(asked, self._model)).vectors if asked else ()
        sizes = {len(vector) for vector in vectors} | ({dimension} if dimension else set())
        if len(sizes) != 1 or 0 in sizes:
            raise LocalModelUnavailable(_describe_sizes({*map(len, vectors)}, dimension))
        return await offload(False, _average, vectors, list(map(len, parts)), sizes.pop())


def cut_text(text: str) -> list[str]:
    """Cut a text into parts of at most 384 cl100k tokens; a blank text has none.

    >>> cut_text("A short text."), cut_text(" ")
    (['A short text.'], [])
    >>> [len(part.split()) for part in cut_text("river " * 1000)]
    [384, 384, 232]
    """
    if not text.strip():
        return []
    ids = encode_text(text).tolist()
    if len(ids) <= PART:
        return [text]
    decode = load_encoding().decode
    parts = (decode(ids[start : start + PART]) for start in range(0, len(ids), PART))
    return [part for part in parts if part.strip()]


def _average(
    vectors: Sequence[Sequence[float]], counts: Sequence[int], dimension: int
) -> NDArray[np.float32]:
    """Return the mean direction of each text's vectors, float32 (n, d)."""
    rows = make_vectors(np.array(vectors, dtype=np.float64).reshape(-1, dimension))
    ends = np.cumsum(counts)
    sums = [rows[end - count : end].sum(axis=0) for end, count in zip(ends, counts, strict=True)]
    return make_vectors(np.array(sums).reshape(-1, dimension))


def _describe_sizes(sizes: set[int], dimension: int | None) -> str:
    said = " and ".join(map(str, sorted(sizes)))
    wanted = f", those of the codebook {dimension}" if dimension else ""
    return f"the local server's vectors have {said} dimensions{wanted}"
