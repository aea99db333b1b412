"""`/v1/embeddings`: by the local server or not at all."""

from __future__ import annotations

import asyncio
import gc
import json
import time
from typing import Any

import aiohttp
import openai
import pytest
from aiohttp import web

from proxy.access.auth import Grant
from proxy.api.app_keys import KEYRING
from proxy.api.embeddings import EmbeddingsRequest
from proxy.requests.protocol import find_treatments
from tests.proxy.conftest import MODEL, Proxy
from tests.servers import Behaviour, FakeServer, status

TEXT = "The board met on Monday with Canarybird."
NAME = "minilm"
VECTOR = [0.5, -0.25, 0.1]


async def vectors(server: FakeServer, request: Any, body: dict[str, Any]) -> Any:
    """A local server with an embedding model: the first figure is the text's place."""
    assert request.path == "/v1/embeddings"
    data = [
        {"object": "embedding", "index": i, "embedding": [float(i), *VECTOR[1:]]}
        for i in range(len(body["input"]))
    ]
    usage = {"prompt_tokens": 7, "total_tokens": 7}
    return web.json_response({"object": "list", "model": "x", "data": data[::-1], "usage": usage})


def of_width(width: int) -> Behaviour:
    """A local server whose vectors have so many numbers; it does next to no work itself."""
    vector = json.dumps([0.123456789012345678] * width)

    async def behave(server: FakeServer, request: Any, body: dict[str, Any]) -> Any:
        items = [f'{{"index": {i}, "embedding": {vector}}}' for i in range(len(body["input"]))]
        text = f'{{"data": [{", ".join(items)}]}}'
        return web.Response(text=text, content_type="application/json")

    return behave


async def longest_pause(proxy: Proxy, texts: int, encoding_format: str) -> tuple[float, Any]:
    """Return how long the event loop stood still while texts were embedded, in this process' own
    time (the machine may have others to serve), and the vectors."""
    pauses: list[float] = []

    async def tick() -> None:
        while True:
            begun = time.process_time()
            await asyncio.sleep(0.001)
            pauses.append(time.process_time() - begun)

    gc.freeze()  # a collection of what earlier tests left takes long, too
    watch = asyncio.create_task(tick())
    try:
        async with aiohttp.ClientSession() as session:
            body = {"model": NAME, "input": ["x"] * texts, "encoding_format": encoding_format}
            async with session.post(f"{proxy.base_url}/embeddings", json=body) as response:
                assert response.status == 200
                answer = await response.read()
    finally:
        watch.cancel()
        gc.unfreeze()
    return max(pauses), json.loads(answer)["data"]


class TestWithoutAModel:
    async def test_the_answer_is_404_and_says_why(self, proxy: Proxy) -> None:
        with pytest.raises(openai.NotFoundError) as info:
            await proxy.client().embeddings.create(model=MODEL, input=TEXT)
        assert info.value.code == "not_found"
        assert "local.embeddings_model" in info.value.message
        assert proxy.remote.received == []
        assert proxy.local.received == []


class TestWithAModel:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"local": {"embeddings_model": NAME}}

    async def test_many_texts_are_embedded_a_batch_at_a_time(self, proxy: Proxy) -> None:
        """An answer with the vectors of all of them would stop everybody else."""
        proxy.local.behaviour = vectors
        texts = [f"text {i}" for i in range(130)]
        done = await proxy.client().embeddings.create(model=NAME, input=texts)
        batches = [body["input"] for body in proxy.local.bodies]
        assert [len(batch) for batch in batches] == [64, 64, 2]
        assert [text for batch in batches for text in batch] == texts
        assert [item.embedding[0] for item in done.data] == [*range(64), *range(64), 0, 1]
        assert done.usage.prompt_tokens == 21

    @pytest.mark.parametrize("encoding_format", ["float", "base64"])
    async def test_a_large_answer_leaves_room_for_others(
        self, proxy: Proxy, encoding_format: Any
    ) -> None:
        proxy.local.behaviour = of_width(1024)
        pause, data = await longest_pause(proxy, 2048, encoding_format)
        assert [item["index"] for item in data] == list(range(2048))
        # On a slow machine: a batch takes its time, however many batches there are.
        assert pause < 0.2 or pause < 2.5 * (await longest_pause(proxy, 512, encoding_format))[0]

    @pytest.mark.parametrize(("asked", "calls"), [({}, 1), ({"dimensions": 4096}, 0)])
    async def test_more_numbers_than_an_answer_holds_are_413(
        self, proxy: Proxy, asked: dict[str, Any], calls: int
    ) -> None:
        proxy.local.behaviour = of_width(4096)
        with pytest.raises(openai.APIStatusError) as info:
            await proxy.client().embeddings.create(model=NAME, input=["x"] * 1025, **asked)
        assert (info.value.status_code, info.value.param) == (413, "input")
        assert "1025 vectors of 4096 numbers" in info.value.message
        assert str(2**22) in info.value.message
        assert len(proxy.local.bodies) == calls

    async def test_the_local_server_answers_and_the_remote_hears_nothing(
        self, proxy: Proxy
    ) -> None:
        proxy.local.behaviour = vectors
        done = await proxy.client().embeddings.create(model=NAME, input=TEXT, dimensions=3)
        assert [item.embedding for item in done.data] == [
            [0.0, -0.25, pytest.approx(0.1)]  # the SDK asks for base64: 32-bit floats
        ]
        assert (done.model, done.usage.prompt_tokens, done.usage.total_tokens) == (NAME, 7, 7)
        assert proxy.local.bodies[-1] == {
            "model": NAME,
            "input": [TEXT],
            "encoding_format": "float",
            "dimensions": 3,
        }
        assert proxy.remote.received == []
        assert "Canarybird" not in "\n".join(proxy.log)

    async def test_many_texts_come_back_in_their_order(self, proxy: Proxy) -> None:
        proxy.local.behaviour = vectors
        texts = [f"text {i}" for i in range(5)]
        done = await proxy.client().embeddings.create(
            model=NAME, input=texts, encoding_format="float", user="u"
        )
        assert [(item.index, item.embedding[0]) for item in done.data] == [
            (i, float(i)) for i in range(5)
        ]
        assert proxy.local.bodies[-1].keys() == {"model", "input", "encoding_format"}
        assert proxy.local.bodies[-1]["input"] == texts

    async def test_floats_and_base64_are_the_same_vectors(self, proxy: Proxy) -> None:
        proxy.local.behaviour = vectors
        client = proxy.client()
        plain = await client.embeddings.create(model=NAME, input=TEXT, encoding_format="float")
        packed = await client.embeddings.create(model=NAME, input=TEXT, encoding_format="base64")
        assert plain.data[0].embedding == [0.0, *VECTOR[1:]]
        assert isinstance(packed.data[0].embedding, str)
        default = await client.embeddings.create(model=NAME, input=TEXT)
        assert default.data[0].embedding == pytest.approx(plain.data[0].embedding)

    @pytest.mark.parametrize("ids", [[791, 4062, 14198, 39935], [[791, 4062], [14198, 39935]]])
    async def test_token_ids_are_decoded(self, proxy: Proxy, ids: Any) -> None:
        proxy.local.behaviour = vectors
        done = await proxy.client().embeddings.create(model=NAME, input=ids)
        assert len(done.data) == (2 if isinstance(ids[0], list) else 1)
        assert "".join(proxy.local.bodies[-1]["input"]) == "The quick brown fox"

    async def test_another_model_is_404(self, proxy: Proxy) -> None:
        with pytest.raises(openai.NotFoundError) as info:
            await proxy.client().embeddings.create(model=MODEL, input=TEXT)
        assert (info.value.code, info.value.param) == ("model_not_found", "model")
        assert proxy.local.received == []

    async def test_a_key_needs_the_model_in_its_grant(self, proxy: Proxy) -> None:
        proxy.local.behaviour = vectors
        for models, granted in (((MODEL,), False), ((MODEL, NAME), True), (None, True)):
            _, key = await proxy.app[KEYRING].create("alice", Grant(models=models))
            asked = proxy.client(api_key=key).embeddings.create(model=NAME, input=TEXT)
            if granted:
                await asked
                continue
            with pytest.raises(openai.NotFoundError) as info:
                await asked
            assert (info.value.code, info.value.param) == ("model_not_found", "model")
            assert proxy.local.received == []

    @pytest.mark.parametrize(
        ("change", "code", "param"),
        [
            ({"bogus": 1}, "unknown_parameter", "bogus"),
            ({"input": []}, None, "input"),
            ({"input": [10**9]}, "invalid_value", "input"),
            ({"dimensions": 0}, "invalid_value", "dimensions"),
            ({"encoding_format": "hex"}, "invalid_value", "encoding_format"),
        ],
    )
    async def test_bad_fields_are_named(
        self, proxy: Proxy, change: dict[str, Any], code: str | None, param: str | None
    ) -> None:
        body = {"model": NAME, "input": TEXT, **change}
        with pytest.raises(openai.BadRequestError) as info:
            await proxy.client().post("/embeddings", cast_to=object, body=body)
        assert (info.value.code, info.value.param) == (code, param)
        assert "Canarybird" not in info.value.response.text

    async def test_too_many_texts_are_413(self, proxy: Proxy) -> None:
        with pytest.raises(openai.APIStatusError) as info:
            await proxy.client().embeddings.create(model=NAME, input=["x"] * 2049)
        assert (info.value.status_code, info.value.param) == (413, "input")

    @pytest.mark.parametrize(
        ("behaviour", "code"), [(500, 503), (400, 400), ({}, 503), ({"data": []}, 503)]
    )
    async def test_what_the_local_server_does_wrong_is_mapped(
        self, proxy: Proxy, behaviour: Any, code: int
    ) -> None:
        given = behaviour if isinstance(behaviour, int) else 200
        proxy.local.behaviour = status(given, None if given != 200 else behaviour or {"x": 1})
        with pytest.raises(openai.APIStatusError) as info:
            await proxy.client().embeddings.create(model=NAME, input=TEXT)
        assert info.value.status_code == code
        shown = info.value.response.text + "\n".join(proxy.log)
        assert "upstream-secret" not in shown
        assert "Canarybird" not in shown
        assert proxy.remote.received == []


def test_every_field_has_one_treatment() -> None:
    assert set(find_treatments(EmbeddingsRequest)) == set(EmbeddingsRequest.model_fields)
    assert "remote" not in json.dumps(list(find_treatments(EmbeddingsRequest).values()))
