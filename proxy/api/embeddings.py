"""`POST /v1/embeddings`: vectors of raw text, from the local server alone."""

from __future__ import annotations

import base64
from array import array
from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from extraction.backends.openai_server import Embeddings
from extraction.codec import dump
from perturb.work import offload
from proxy.errors import ApiError, not_found
from proxy.requests.protocol import DROP, LOCAL, PIPELINE, Strict, Texts

__all__ = ["EmbeddingsRequest", "choose_model", "write_embeddings"]

PIECE = 16  # vectors written at once


class EmbeddingsRequest(Strict):
    """Hold the body of `POST /v1/embeddings`, which is never sent to the remote."""

    model: Annotated[str, PIPELINE]
    input: Annotated[Texts, LOCAL]
    encoding_format: Annotated[Literal["float", "base64"] | None, PIPELINE] = None
    dimensions: Annotated[int | None, LOCAL] = Field(None, ge=1)
    user: Annotated[str | None, DROP] = None


def choose_model(configured: str | None, requested: str | None = None) -> str:
    """Return the local server's embedding model.

    Raises:
        ApiError: 404, there is none, or a client requests another one. Vectors of different
            models cannot be compared, so no model replaces another.
    """
    if configured is None:
        raise not_found(
            "Embeddings are not served: the operator configured no local embedding model "
            "(local.embeddings_model), and nothing is sent to the remote for them."
        )
    if requested not in (None, configured):
        raise ApiError(
            404,
            f"Embeddings are made by the local model '{configured}' only.",
            code="model_not_found",
            param="model",
        )
    return configured


async def write_embeddings(request: EmbeddingsRequest, found: Embeddings) -> AsyncIterator[bytes]:
    """Write the answer piece by piece, each made in a thread.

    A whole answer could take seconds and a hundred megabytes. Base64 encodes little-endian 32-bit
    floats.
    """
    packed = request.encoding_format == "base64"
    yield b'{"object":"list","data":['
    for first in range(0, len(found.vectors), PIECE):
        yield await offload(False, _dump_items, found.vectors, first, packed)
    usage = {"prompt_tokens": found.tokens, "total_tokens": found.tokens}
    yield b"]," + dump({"model": request.model, "usage": usage})[1:]


def _dump_items(vectors: Sequence[array[float]], first: int, packed: bool) -> bytes:
    """Return the items of the next vectors, with the comma before them."""
    spell = _pack if packed else _spell
    items = [
        f'{{"object":"embedding","index":{i},"embedding":{spell(vector)}}}'
        for i, vector in enumerate(vectors[first : first + PIECE], first)
    ]
    return (("," if first else "") + ",".join(items)).encode("ascii")


def _pack(vector: array[float]) -> str:
    packed = base64.b64encode(np.asarray(vector, dtype="<f4").tobytes())
    return f'"{packed.decode("ascii")}"'


def _spell(vector: array[float]) -> str:
    """Spell each number with the fewest digits that distinguish it from other 32-bit floats."""
    return f"[{','.join(np.asarray(vector, dtype='f4').astype(str).tolist())}]"
