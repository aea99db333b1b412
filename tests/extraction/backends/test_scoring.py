"""The log probabilities of prompts: from the bundled model's server, and as vLLM tells them."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from extraction.backends.base import Scores, Scoring
from extraction.backends.openai_server import OpenAIServer
from extraction.errors import CannotScore, LocalModelError, LocalModelRefused
from proxy.config.settings import Local
from proxy.local import local_server
from tests.servers import FakeServer, fake_server, status

TEXT = "The board met on Monday."
VOCABULARY = 8192  # of the bundled model
VLLM = {
    "tokens": ["The", " board", " met", "!"],
    "token_logprobs": [None, -2.5, -1.0, -0.5],
    "top_logprobs": [None, {" board": -2.5, " cat": -0.1}, {" met": -1.0}, {"!": -0.5}],
    "text_offset": [0, 3, 9, 13],
}


async def score(backend: OpenAIServer, prompt: str | list[int], **options: Any) -> Scores:
    return await backend.score(prompt, **{"top": 1, "generate": False, **options})


class TestTheBundledModel:
    @pytest.fixture
    async def backend(self) -> AsyncIterator[OpenAIServer]:
        async with local_server(Local()) as server:
            yield server

    async def test_each_token_has_its_probability_in_the_whole_distribution(
        self, backend: OpenAIServer
    ) -> None:
        """Against the distribution over all tokens in its place, which no bias touches."""
        found = await score(backend, TEXT, top=VOCABULARY)
        assert "".join(found.tokens) == TEXT == found.text
        assert found.logprobs[0] is found.top[0] is None
        told = await backend._post_beside("/tokenize", {"content": TEXT})
        ids = told["tokens"]
        assert len(ids) == len(found.tokens) > 4
        for i in range(1, len(ids)):
            body = {"prompt": ids[:i], "n_predict": 1, "n_probs": VOCABULARY, "temperature": 0}
            answer = await backend._post_beside("/completion", body)
            places = answer["completion_probabilities"][0]["top_logprobs"]
            all_of_them = {each["id"]: each["logprob"] for each in places}
            assert len(all_of_them) == VOCABULARY
            assert math.fsum(map(math.exp, all_of_them.values())) == pytest.approx(1, abs=1e-3)
            assert found.logprobs[i] == pytest.approx(all_of_them[ids[i]], abs=1e-2)

    async def test_ids_are_the_models_own(self, backend: OpenAIServer) -> None:
        ids = (await backend._post_beside("/tokenize", {"content": TEXT}))["tokens"]
        by_text, by_ids = await score(backend, TEXT), await score(backend, ids)
        assert (by_ids.text, by_ids.tokens) == (by_text.text, by_text.tokens)
        assert by_ids.logprobs[1:] == pytest.approx(by_text.logprobs[1:], abs=1e-2)
        assert by_ids.usage.prompt_tokens == len(ids)

    async def test_one_more_token_is_the_most_likely_one(self, backend: OpenAIServer) -> None:
        found = await score(backend, TEXT, top=3, generate=True)
        assert found.text == TEXT + found.tokens[-1]
        assert len(found.top[-1] or ()) == 3
        assert found.logprobs[-1] == max((found.top[-1] or {}).values())
        assert found.usage.completion_tokens == 1

    @pytest.mark.parametrize("prompt", [[1, 99_999_999], [1, 2**40], [1, -1]])
    async def test_ids_of_no_token_are_refused(
        self, backend: OpenAIServer, prompt: list[int]
    ) -> None:
        with pytest.raises((CannotScore, LocalModelRefused)):
            await score(backend, prompt)
        assert (await score(backend, "It lives.")).text == "It lives."

    async def test_a_prompt_beyond_the_context_is_refused(self, backend: OpenAIServer) -> None:
        with pytest.raises(LocalModelRefused) as raised:
            await score(backend, [469] * 2000)
        assert raised.value.too_long


def vllm(**change: Any) -> Any:
    """A server that answers as vLLM does."""

    async def behave(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
        choice = {
            "index": 0,
            "text": "The board met!",
            "logprobs": VLLM,
            "finish_reason": "length",
        }
        usage = {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}
        return web.json_response({"choices": [{**choice, **change}], "usage": usage})

    return behave


@pytest.mark.parametrize("prompt", ["The board met", [5, 6, 7]])
async def test_vllm_is_asked_once(prompt: Any) -> None:
    async with fake_server(behaviour=vllm()) as server:
        backend = OpenAIServer(server.base_url)
        assert isinstance(backend, Scoring)
        found = await score(backend, prompt, top=2, generate=True)
        await backend.aclose()
        assert server.bodies == [
            {
                "model": "fake",
                "prompt": prompt,
                "echo": True,
                "logprobs": 2,
                "max_tokens": 1,
                "temperature": 0,
            }
        ]
    assert found.tokens == tuple(VLLM["tokens"])
    assert found.logprobs == (None, -2.5, -1.0, -0.5)
    assert found.top == (None, *VLLM["top_logprobs"][1:])
    assert (found.usage.prompt_tokens, found.usage.completion_tokens) == (3, 1)


@pytest.mark.parametrize(
    "change",
    [
        {"text": "!"},  # the answer alone
        {"logprobs": None},
        {"logprobs": {"content": [{"token": "!", "logprob": -0.5}]}},  # of a chat
        {"logprobs": {**VLLM, "tokens": ["!"]}},
        {"logprobs": {**VLLM, "top_logprobs": None}},
        {"logprobs": {**VLLM, "token_logprobs": [None, "x", -1.0, -0.5]}},
        {"logprobs": {**VLLM, "tokens": [], "token_logprobs": [], "top_logprobs": []}},
    ],
)
async def test_a_server_that_ignores_echo_is_found_out(change: dict[str, Any]) -> None:
    async with fake_server(behaviour=vllm(**change)) as server:
        backend = OpenAIServer(server.base_url)
        with pytest.raises(CannotScore):
            await score(backend, "The board met")
        await backend.aclose()


async def test_ids_that_are_not_echoed_are_found_out() -> None:
    async with fake_server(behaviour=vllm()) as server:
        backend = OpenAIServer(server.base_url)
        with pytest.raises(CannotScore):
            await score(backend, [1, 2, 3, 4, 5])
        await backend.aclose()


async def test_a_llama_server_that_ignores_the_bias_is_found_out() -> None:
    """The negative control of the steps: then the figure is another token's."""

    async def behave(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
        if request.path == "/tokenize":
            return web.json_response({"tokens": [1, 2, 3]})
        if request.path == "/detokenize":
            return web.json_response({"content": "a"})
        place = {"id": 7, "token": "x", "logprob": -1.0, "top_logprobs": []}
        return web.json_response({"completion_probabilities": [place]})

    async with fake_server(behaviour=behave, owner="llamacpp") as server:
        backend = OpenAIServer(server.base_url)
        with pytest.raises(CannotScore):
            await score(backend, "abc")
        await backend.aclose()


@pytest.mark.parametrize("code", [400, 404, 500])
async def test_a_failure_is_no_score(code: int) -> None:
    async with fake_server(behaviour=status(code, "PRIVATE")) as server:
        backend = OpenAIServer(server.base_url)
        with pytest.raises(LocalModelError) as raised:
            await score(backend, "abc")
        assert "PRIVATE" not in str(raised.value)
        await backend.aclose()
