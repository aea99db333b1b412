"""A codebook by the local server's embedding model: raw text goes to that server alone."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import openai
import pytest
from aiohttp import web

from perturb import EmbeddingTable
from perturb.whole.build import build_codebook
from perturb.whole.codebook import load_codebook
from perturb.whole.encoder import load_static
from proxy.errors import ConfigError
from tests.absence import find_leaks
from tests.embedding_server import NAME, asked_for, embedding, of_dimension
from tests.limits import LIMIT
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.servers import FakeServer, answer, fake_server, status

RIVERS = [f"The river rose in year {i}, and the boats were tied to the bridge." for i in range(20)]
COURTS = [f"The judge heard case {i}, and the court changed the sentence." for i in range(20)]
LETTER = "Dear Ms Qvarnström, the river flooded the boats at the Zorbleck bridge on 3 May."
PRIVATE = ("Qvarnström", "Zorbleck")


class Named:
    """The bundled encoder under the name of a server's model."""

    def __init__(self, **identity: str) -> None:
        self.identity = {"encoder": "server", "model": NAME, **identity}

    def __call__(self, texts: Any) -> Any:
        return load_static()(texts)


def make_codebook(folder: Path, **identity: str) -> str:
    path = folder / "server.codebook"
    made = Named(**identity)
    build_codebook(RIVERS + COURTS, path, made, licence="CC0", source="made for the tests")
    return str(path)


@pytest.fixture
def codebook(tmp_path: Path) -> str:
    return make_codebook(tmp_path)


def settings(codebook: str, model: str | None = NAME, **parameters: Any) -> dict[str, Any]:
    return {
        "privacy": {
            "mechanism": "surrogate",
            "epsilon": 20,
            "parameters": {"codebook": codebook, **parameters},
        },
        "local": {"embeddings_model": model},
    }


async def ask(proxy: Proxy, text: str = LETTER, **more: Any) -> Any:
    turns: Any = [{"role": "user", "content": text}]
    return await proxy.client().chat.completions.create(model=MODEL, messages=turns, **more)


@pytest.mark.usefixtures("seeded_draws")
@pytest.mark.parametrize("parameters", [{}, {"sections": 2}])
async def test_the_local_server_embeds_and_a_near_passage_leaves(
    parameters: dict[str, Any], codebook: str, table: EmbeddingTable
) -> None:
    async with running_proxy(table, settings(codebook, **parameters)) as proxy:
        proxy.local.behaviour = embedding
        done = await ask(proxy)
        (message,) = proxy.sent()
        assert set(message["content"].split("\n\n")) <= set(RIVERS)
        assert " ".join(asked_for(proxy.local)) == LETTER
        assert {b["model"] for b in proxy.local.bodies if "input" in b} == {NAME}
        assert find_leaks(PRIVATE, json.dumps(proxy.remote.bodies)) == []
        receipt = done.model_extra["inferdpt"]
        assert receipt["statement"].startswith("this text as a whole: ε = 20")
        stream = await ask(proxy, f"{LETTER} Again.", stream=True)
        assert [chunk async for chunk in stream]


async def test_the_baseline_works_with_it_too(codebook: str, table: EmbeddingTable) -> None:
    chosen = settings(codebook)
    chosen["privacy"]["mechanism"] = "truncated_laplace"
    async with running_proxy(table, chosen) as proxy:
        proxy.local.behaviour = embedding
        await ask(proxy)
        (message,) = proxy.sent()
        assert load_codebook(codebook).find(message["content"]) is not None


def failing(code: int) -> Any:
    async def behave(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
        if request.path == "/v1/embeddings":
            return await status(code)(server, request, body)
        return await answer(server, request, body)

    return behave


@pytest.mark.parametrize("behaviour", [failing(500), failing(404), answer, of_dimension(7)])
async def test_a_server_without_such_vectors_is_503_and_nothing_leaves(
    behaviour: Any, codebook: str, table: EmbeddingTable
) -> None:
    async with running_proxy(table, settings(codebook)) as proxy:
        proxy.local.behaviour = behaviour
        with pytest.raises(openai.InternalServerError) as info:
            await ask(proxy)
        assert (info.value.status_code, info.value.code) == (503, "local_model_unavailable")
        assert proxy.remote.received == []
        assert find_leaks(PRIVATE, *proxy.log) == []


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (None, "set local.embeddings_model to it"),
        ("another-embedder", "was made with the encoder .*some-embedder.*, not"),
    ],
)
async def test_another_model_is_refused_at_start(
    model: str | None, message: str, codebook: str, table: EmbeddingTable
) -> None:
    with pytest.raises(ConfigError, match=message):
        async with running_proxy(table, settings(codebook, model)):
            pass


async def test_sentences_that_a_server_may_compute_together_are_refused(
    codebook: str, table: EmbeddingTable
) -> None:
    chosen = settings(codebook)
    chosen["privacy"]["mechanism"] = "deep_candidate"
    with pytest.raises(ConfigError, match="encoder runs in this process"):
        async with running_proxy(table, chosen):
            pass


async def test_a_codebook_cannot_name_a_server(tmp_path: Path, table: EmbeddingTable) -> None:
    async with fake_server(behaviour=embedding) as other:
        named = make_codebook(tmp_path, base_url=other.base_url)
        with pytest.raises(ConfigError, match="was made with the encoder"):
            async with running_proxy(table, settings(named)):
                pass
        assert other.received == []


async def test_others_are_served_while_the_server_embeds(
    codebook: str, table: EmbeddingTable
) -> None:
    """More requests wait for vectors than there are threads."""

    async def hang(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
        if request.path == "/v1/embeddings":
            await server.release.wait()
        return await embedding(server, request, body)

    async with running_proxy(table, settings(codebook)) as proxy:
        proxy.local.behaviour = hang
        waiting = [asyncio.create_task(ask(proxy, f"{LETTER} {i}")) for i in range(40)]
        while len(asked_for(proxy.local)) < 40:
            await asyncio.sleep(0.01)
        other = {"inferdpt": {"local_only": True}}
        done = await asyncio.wait_for(ask(proxy, extra_body=other), LIMIT)
        assert done.choices[0].message.content
        assert proxy.remote.received == []
        proxy.local.release.set()
        await asyncio.gather(*waiting)
        assert len(proxy.remote.bodies) == 40
