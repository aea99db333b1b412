"""DP-Prompt by a server: it must prove that it clips before it sees a document."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from aiohttp import web

from extraction.backends.openai_server import OpenAIServer
from extraction.dp_prompt.clip import Decoding
from extraction.dp_prompt.paraphrase import build_prompt
from extraction.dp_prompt.paraphrase_server import ServerParaphraser
from extraction.errors import (
    ClippingNotProved,
    LocalModelError,
    LocalModelRefused,
    LocalModelUnavailable,
)
from perturb import DocumentTooLong
from tests.extraction.fake_vllm import clipping_vllm, no_logprobs, plain_vllm, zeros_vllm
from tests.servers import FakeServer, fake_server, status

TEXT = "Maria Schmidt earns 81,000 euros and lives in the green house near the old harbour bridge."
CLIP = (-10.0, 10.0)
DECODING = Decoding(temperature=10.0, bounds=CLIP)


async def paraphrase(server: FakeServer, decoding: Decoding = DECODING, cap: int = 8) -> Any:
    backend = OpenAIServer(server.base_url)
    try:
        return await ServerParaphraser(backend).generate(build_prompt(TEXT), decoding, cap)
    finally:
        await backend.aclose()


async def test_a_server_that_clips_is_asked_for_nothing_but_clipping():
    async with fake_server(behaviour=clipping_vllm) as server:
        made = await paraphrase(server)
    assert made.tokens == 8
    probe, body = server.bodies
    assert "Maria" not in json.dumps(probe)
    *clip, mark = body["vllm_xargs"]["inferdpt_clip"]
    assert clip == [-10.0, 10.0, 10.0]
    assert 0.5 < mark < 1
    assert mark != probe["vllm_xargs"]["inferdpt_clip"][3]
    neutral = {"top_p": 1.0, "top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0, "max_tokens": 8}
    assert neutral.items() <= body.items()
    assert not {"stop", "logit_bias", "seed", "min_tokens"} & set(body)


@pytest.mark.parametrize("behaviour", [plain_vllm, zeros_vllm, no_logprobs])
async def test_a_server_that_does_not_clip_never_sees_a_document(behaviour):
    async with fake_server(behaviour=behaviour) as server:
        with pytest.raises(ClippingNotProved, match="ClipLogits"):
            await paraphrase(server)
    assert server.bodies
    assert "Maria" not in json.dumps(server.bodies)


async def test_a_server_that_stops_clipping_is_caught_and_asked_again():
    """As after a restart without the processor: the answer is not used."""
    async with fake_server(behaviour=clipping_vllm) as server:
        backend = OpenAIServer(server.base_url)
        paraphraser = ServerParaphraser(backend)
        await paraphraser.generate(build_prompt(TEXT), DECODING, 8)
        server.behaviour = plain_vllm
        asked = len(server.bodies)
        for _ in range(2):
            with pytest.raises(ClippingNotProved):
                await paraphraser.generate(build_prompt(TEXT), DECODING, 8)
        assert len(server.bodies) == asked + 2  # once with the document, then the probe alone
        assert "Maria" not in json.dumps(server.bodies[-1])
        server.behaviour = clipping_vllm
        assert (await paraphraser.generate(build_prompt(TEXT), DECODING, 8)).tokens == 8
        await backend.aclose()


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"completion": 9}, LocalModelError),  # more than the cap
        ({"completion": 7}, ClippingNotProved),  # a token that nothing was told of
        ({"prompt": 4090}, DocumentTooLong),  # the cap does not fit the context of 4096
    ],
)
async def test_answers_that_break_the_rules_are_not_used(changes, error):
    async def behave(server: FakeServer, request: web.Request, body: Any) -> web.StreamResponse:
        answer = await clipping_vllm(server, request, body)
        if len(body["prompt"]) > 1:
            return answer
        assert isinstance(answer, web.Response)
        data = json.loads(answer.text or "")
        data["usage"].update({f"{name}_tokens": n for name, n in changes.items()})
        return web.json_response(data)

    async with fake_server(behaviour=behave) as server:
        with pytest.raises(error):
            await paraphrase(server)


async def test_a_server_is_never_asked_to_clip_around_a_second_prompt():
    async with fake_server(behaviour=clipping_vllm) as server:
        backend = OpenAIServer(server.base_url)
        centred = Decoding(bounds=CLIP, centred=True)
        for decoding, public in ((centred, "x"), (centred, None), (DECODING, "x")):
            with pytest.raises(LocalModelUnavailable, match="use the engine transformers"):
                await ServerParaphraser(backend).generate("y", decoding, 8, public=public)
        await backend.aclose()
    assert not server.bodies


async def test_without_bounds_the_server_samples_itself():
    async with fake_server(behaviour=plain_vllm) as server:
        await paraphrase(server, Decoding(top_k=5))
        await paraphrase(server, Decoding(temperature=1.5))
    first, second = server.bodies
    assert (first["top_k"], first["temperature"]) == (5, 1.0)
    assert (second["top_k"], second["temperature"]) == (0, 1.5)
    assert not {"seed", "vllm_xargs"} & {*first, *second}


@pytest.mark.parametrize(
    ("code", "error"), [(400, LocalModelRefused), (404, LocalModelUnavailable)]
)
async def test_errors_of_the_server_are_mapped(code, error):
    async with fake_server(behaviour=status(code)) as server:
        with pytest.raises(error):
            await paraphrase(server)


async def test_a_server_that_says_too_long_refuses_the_document():
    body = {"error": {"message": "maximum context length is 8"}}
    async with fake_server(behaviour=status(400, body)) as server:
        with pytest.raises(DocumentTooLong):
            await paraphrase(server, Decoding(top_k=5))


@pytest.mark.parametrize("body", [{}, {"choices": []}, {"choices": [{"index": 3, "text": "x"}]}])
async def test_an_answer_of_another_form_is_not_used(body):
    async with fake_server(behaviour=status(200, body)) as server:
        with pytest.raises(LocalModelUnavailable, match="not a text completion"):
            await paraphrase(server, Decoding(top_k=5))


async def test_marks_are_never_those_of_an_honest_model_by_chance():
    """A mark is one of many: 200 of them, and none twice."""
    async with fake_server(behaviour=clipping_vllm) as server:
        backend = OpenAIServer(server.base_url)
        paraphraser = ServerParaphraser(backend)
        for _ in range(200):
            await paraphraser.generate("x", DECODING, 1)
        await backend.aclose()
    marks = np.array([body["vllm_xargs"]["inferdpt_clip"][3] for body in server.bodies])
    assert len(np.unique(marks)) == len(marks)
    assert 0.55 <= marks.min() < 0.6
    assert 0.9 < marks.max() <= 0.95
