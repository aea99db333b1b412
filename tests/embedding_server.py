"""Behaviours of a local server with an embedding model: the bundled encoder behind HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from aiohttp import web

from perturb.whole.encoder import load_static
from tests.servers import Behaviour, FakeServer, answer

NAME = "some-embedder"


def embed(texts: Sequence[str], dimension: int | None = None) -> web.Response:
    """Answer in OpenAI's form, out of order and with vectors that are not of length 1."""
    rows = 3 * load_static()(texts)[:, :dimension]
    data = [
        {"object": "embedding", "index": i, "embedding": row.tolist()}
        for i, row in enumerate(rows.astype(np.float64))
    ]
    return web.json_response({"object": "list", "model": NAME, "data": data[::-1]})


async def embedding(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
    """Serve embeddings and chat completions."""
    if request.path == "/v1/embeddings":
        return embed(body["input"])
    return await answer(server, request, body)


def of_dimension(dimension: int) -> Behaviour:
    async def behave(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
        if request.path == "/v1/embeddings":
            return embed(body["input"], dimension)
        return await answer(server, request, body)

    return behave


def asked_for(server: FakeServer) -> list[str]:
    """Return the texts that a server was asked to embed."""
    return [text for body in server.bodies for text in body.get("input", [])]
