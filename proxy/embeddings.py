"""`POST /v1/embeddings`: raw text to vectors, by the local server and by nobody else."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from extraction.openai_server import Embeddings
from proxy.errors import ApiError, not_found
from proxy.protocol import DROP, LOCAL, PIPELINE, Strict

__all__ = ["EmbeddingsRequest", "embeddings_body", "embeddings_model"]

INPUTS = 2048  # as OpenAI has it


class EmbeddingsRequest(Strict):
    """`POST /v1/embeddings`. Nothing of it is ever sent to the remote."""

    model: Annotated[str, PIPELINE]
    input: Annotated[str | list[str] | list[int] | list[list[int]], LOCAL]
    encoding_format: Annotated[Literal["float", "base64"] | None, PIPELINE] = None
    dimensions: Annotated[int | None, LOCAL] = Field(None, ge=1)
    user: Annotated[str | None, DROP] = None


def embeddings_model(configured: str | None, asked: str | None = None) -> str:
    """The local server's embedding model.

    Raises:
        ApiError: 404, there is none, or a client asks for another one: vectors of different
            models cannot be compared, so none stands in for another.
    """
    if configured is None:
        raise not_found(
            "Embeddings are not served: the operator configured no local embedding model "
            "(local.embeddings_model), and nothing is sent to the remote for them."
        )
    if asked not in (None, configured):
        raise ApiError(
            404,
            f"Embeddings are made by the local model '{configured}' only.",
            code="model_not_found",
            param="model",
        )
    return configured


def embeddings_body(request: EmbeddingsRequest, found: Embeddings) -> dict[str, Any]:
    """The answer; base64 is that of little-endian 32-bit floats."""
    return {
        "object": "list",
        "model": request.model,
        "data": [
            {
                "object": "embedding",
                "index": i,
                "embedding": _packed(v) if request.encoding_format == "base64" else list(v),
            }
            for i, v in enumerate(found.vectors)
        ],
        "usage": {"prompt_tokens": found.tokens, "total_tokens": found.tokens},
    }


def _packed(vector: Sequence[float]) -> str:
    return base64.b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode("ascii")
