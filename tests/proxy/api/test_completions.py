"""`/v1/completions` with the official client."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.proxy.chats import ANSWER, TEXT
from tests.proxy.conftest import MODEL, Proxy
from tests.servers import FakeServer, completion


async def test_each_prompt_has_its_own_remote_call_and_choices_are_ordered(proxy: Proxy) -> None:
    async def by_prefix(server: FakeServer, request: Any, body: dict[str, Any]) -> Any:
        from aiohttp import web

        prefix = body["messages"][-1]["content"].split("Prefix Text:\n")[1].split("\n")[0]
        return web.json_response(completion(f"continues {prefix}"))

    proxy.local.behaviour = by_prefix
    prompts = ["First text", "Second text", "Third text"]
    done = await proxy.client().completions.create(model=MODEL, prompt=prompts, n=2)
    assert [c.index for c in done.choices] == [0, 1, 2, 3, 4, 5]
    expected = [f"continues {p}" for p in prompts for _ in range(2)]
    assert [c.text for c in done.choices] == expected
    assert len(proxy.remote.bodies) == 3


@pytest.mark.parametrize("prompt", [[791, 4062, 14198, 39935], [[791, 4062], [14198, 39935]]])
async def test_token_id_prompts_are_decoded_then_perturbed(proxy: Proxy, prompt: Any) -> None:
    done = await proxy.client().completions.create(model=MODEL, prompt=prompt)
    assert len(done.choices) == (2 if isinstance(prompt[0], list) else 1)
    assert "The quick" in json.dumps(proxy.local.bodies)
    assert "39935" not in json.dumps(proxy.remote.bodies)


async def test_completions_stream_text(proxy: Proxy) -> None:
    stream = await proxy.client().completions.create(
        model=MODEL, prompt=TEXT, stream=True, stream_options={"include_usage": True}
    )
    *chunks, last = [c async for c in stream]
    assert "".join(c.choices[0].text for c in chunks) == ANSWER
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert last.usage is not None
    assert last.choices == []


async def test_echo_puts_the_prompt_before_the_answer(proxy: Proxy) -> None:
    done = await proxy.client().completions.create(model=MODEL, prompt=TEXT, echo=True)
    assert done.choices[0].text == TEXT + ANSWER


async def test_completion_logprobs_have_the_completions_shape(proxy: Proxy) -> None:
    found = {
        "content": [
            {"token": "One", "logprob": -0.5, "bytes": None, "top_logprobs": []},
            {
                "token": " two",
                "logprob": -1.0,
                "bytes": None,
                "top_logprobs": [{"token": " two", "logprob": -1.0, "bytes": None}],
            },
        ]
    }

    async def with_logprobs(server: FakeServer, request: Any, body: dict[str, Any]) -> Any:
        from aiohttp import web

        assert body["logprobs"] is True
        assert body["top_logprobs"] == 1
        out = completion("One two")
        out["choices"][0]["logprobs"] = found
        return web.json_response(out)

    proxy.local.behaviour = with_logprobs
    done = await proxy.client().completions.create(model=MODEL, prompt=TEXT, logprobs=1)
    logprobs = done.choices[0].logprobs
    assert logprobs is not None
    assert logprobs.tokens == ["One", " two"]
    assert logprobs.token_logprobs == [-0.5, -1.0]
    assert logprobs.text_offset == [0, 3]
    assert logprobs.top_logprobs == [{}, {" two": -1.0}]
