"""The encoder that asks a server: real HTTP, one host, and an error for every other answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest
from aiohttp import web

from extraction.backends.openai_server import OpenAIServer
from extraction.errors import LocalModelError, LocalModelTimeout, LocalModelUnavailable
from extraction.server_encoder import PART, ServerEncoder, cut_text
from perturb.whole.encoder import load_static
from tests.embedding_server import NAME, asked_for, embedding, of_dimension
from tests.extraction.local_servers import backend, plain, unused_port
from tests.limits import LIMIT
from tests.servers import FakeServer, fake_server, status

RIVER = "The river rose in the night and the boats were tied to the bridge."
COURT = "The judge heard the witness, and the court of appeal changed the sentence."
DIMENSION = load_static().vectors.shape[1]


@pytest.fixture
async def server() -> AsyncIterator[FakeServer]:
    async with fake_server(behaviour=embedding) as running:
        yield running


async def encode(server: FakeServer | str, texts: list[str], **more: Any) -> np.ndarray:
    settings = {"timeout": more.pop("timeout", LIMIT)}
    async with backend(server, **settings) as made:
        encoder = ServerEncoder(NAME, lambda: made)
        return await asyncio.wait_for(encoder.encode(texts, **more), LIMIT)


async def test_each_text_gets_the_servers_vector_of_length_one(server: FakeServer) -> None:
    rows = await encode(server, [RIVER, COURT], dimension=DIMENSION)
    assert (rows.dtype, rows.shape) == (np.float32, (2, DIMENSION))
    np.testing.assert_allclose(rows, load_static()([RIVER, COURT]), atol=1e-5)
    [body] = server.bodies
    assert (body["model"], body["input"]) == (NAME, [RIVER, COURT])


async def test_the_name_of_the_model_is_its_identity(server: FakeServer) -> None:
    made = ServerEncoder(NAME, lambda: OpenAIServer(server.base_url))
    assert made.identity == {"encoder": "server", "model": NAME}


async def test_a_blank_text_is_zeros_and_is_not_sent(server: FakeServer) -> None:
    rows = await encode(server, ["", RIVER, " \n"], dimension=DIMENSION)
    assert asked_for(server) == [RIVER]
    assert not rows[[0, 2]].any()
    assert np.linalg.norm(rows[1]) == pytest.approx(1, abs=1e-5)
    assert (await encode(server, [" "], dimension=5)).tolist() == [[0.0] * 5]
    assert (await encode(server, [], dimension=5)).shape == (0, 5)


async def test_a_long_text_is_cut_and_its_vectors_averaged(server: FakeServer) -> None:
    text = f"{RIVER} " * 40 + f"{COURT} " * 40
    rows = await encode(server, [COURT, text], dimension=DIMENSION)
    parts = cut_text(text)
    assert len(parts) > 2
    assert "".join(parts) == text
    assert asked_for(server) == [COURT, *parts]
    mean = load_static()(parts).sum(axis=0)
    np.testing.assert_allclose(rows[1], mean / np.linalg.norm(mean), atol=1e-5)


@pytest.mark.parametrize(
    "text", ["a" * 20_000, "李" * 3000, "0" * 9000, "🙂" * 900, "\ud800 " * 900]
)
def test_parts_are_short_whatever_the_text(text: str) -> None:
    parts = cut_text(text)
    assert all(parts)
    assert max(map(len, parts)) <= 16 * PART


@pytest.mark.parametrize("dimension", [3, DIMENSION - 1])
async def test_vectors_of_another_dimension_are_refused(
    dimension: int, server: FakeServer
) -> None:
    server.behaviour = of_dimension(dimension)
    with pytest.raises(
        LocalModelUnavailable, match=f"have {dimension} dimensions, those of the codebook"
    ):
        await encode(server, [RIVER], dimension=DIMENSION)


@pytest.mark.parametrize(
    "behaviour",
    [
        plain(""),
        plain("[]"),
        plain('{"data": []}'),
        plain('{"data": [{"index": 0, "embedding": []}]}'),
        plain('{"data": [{"index": 0, "embedding": ["x"]}]}'),
        plain('{"data": [{"index": 0, "embedding": [1e999, 0]}]}'),
        plain('{"data": [{"index": 1, "embedding": [1.0, 0.0]}]}'),
        status(500),
        status(400),
        status(404),
    ],
)
@pytest.mark.parametrize("dimension", [DIMENSION, None])
async def test_any_other_answer_is_an_error_of_the_local_model(
    behaviour: Any, dimension: int | None, server: FakeServer
) -> None:
    server.behaviour = behaviour
    with pytest.raises(LocalModelError) as raised:
        await encode(server, [RIVER], dimension=dimension)
    assert "river" not in str(raised.value)


async def test_a_server_that_is_gone_or_hangs_is_an_error(server: FakeServer) -> None:
    with pytest.raises(LocalModelUnavailable):
        await encode(f"http://127.0.0.1:{unused_port()}/v1", [RIVER], dimension=DIMENSION)

    async def hang(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
        await server.release.wait()
        return web.Response()

    server.behaviour = hang
    with pytest.raises(LocalModelTimeout):
        await encode(server, [RIVER], dimension=DIMENSION, timeout=0.2)


async def test_nothing_is_sent_to_any_other_host(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a redirect nor the environment's proxies lead elsewhere."""
    async with fake_server(behaviour=embedding) as other:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, other.base_url.removesuffix("/v1"))
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        rows = await encode(server, [RIVER], dimension=DIMENSION)
        assert rows.any()

        async def redirect(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
            raise web.HTTPTemporaryRedirect(f"{other.base_url}/embeddings")

        server.behaviour = redirect
        with pytest.raises(LocalModelError):
            await encode(server, [RIVER], dimension=DIMENSION)
        assert other.received == []
