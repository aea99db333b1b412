"""The log probabilities of prompts, as evaluation harnesses ask for them: nothing leaves."""

from __future__ import annotations

import json
from typing import Any

import aiohttp
import openai
import pytest
from aiohttp import web

from perturb import EmbeddingTable
from proxy.api.app_keys import LEDGER
from tests.perturb.marking import WORDS
from tests.proxy.canaries import Canaries, check_none_left
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.servers import FakeServer, status

TEXT = "The board met on Monday to discuss the merger."
EMBEDDED = {"local": {"mode": "embedded", "base_url": "http://127.0.0.1:9/v1"}}


def harness_body(prompt: Any, **change: Any) -> dict[str, Any]:
    """The body that lm-eval's `local-completions` sends for a log-likelihood."""
    return {
        "model": MODEL,
        "prompt": prompt,
        "temperature": 0,
        "max_tokens": 1,
        "logprobs": 1,
        "seed": 1234,
        "echo": True,
        **change,
    }


def read_harness(answer: dict[str, Any], lengths: list[int]) -> list[tuple[float, bool]]:
    """Read an answer as lm-eval's `parse_logprobs` does: the sum over the continuation, whose
    last token is the generated one, and whether each token is the most likely one."""
    found = []
    for choice, length in zip(answer["choices"], lengths, strict=True):
        told = choice["logprobs"]["token_logprobs"][length:-1]
        top = choice["logprobs"]["top_logprobs"][length:-1]
        pairs = zip(told, top, strict=True)
        found.append((sum(told), all(each == max(best.values()) for each, best in pairs)))
    return found


async def post(proxy: Proxy, body: dict[str, Any]) -> tuple[int, dict[str, Any], Any]:
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{proxy.base_url}/completions", json=body) as response,
    ):
        return response.status, await response.json(), response.headers


async def by_words(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
    """A server that scores as vLLM does, with words or ids as tokens."""
    assert request.path == "/v1/completions"
    prompt = body["prompt"]
    tokens = prompt.split(" ") if isinstance(prompt, str) else [f"<{each}>" for each in prompt]
    text = prompt if isinstance(prompt, str) else "".join(tokens)
    tokens += ["!"] * body["max_tokens"]
    logprobs = {
        "tokens": tokens,
        "token_logprobs": [None, *(-float(i) for i in range(1, len(tokens)))],
        "top_logprobs": [None, *({t: -float(i)} for i, t in enumerate(tokens[1:], 1))],
        "text_offset": [0] * len(tokens),
    }
    choice = {"index": 0, "text": text + "!" * body["max_tokens"], "logprobs": logprobs}
    return web.json_response({"choices": [{**choice, "finish_reason": "length"}]})


def nothing_left(proxy: Proxy, answer: dict[str, Any], headers: Any) -> bool:
    receipt = answer["inferdpt"]
    return (
        proxy.remote.bodies == []
        and headers["x-inferdpt-mechanism"] == "none"
        and headers["x-inferdpt-tokens"] == "0"
        and "x-inferdpt-epsilon" not in headers
        and receipt["sent_to"] is None
        and receipt["guarantee"] == "nothing_left"
        and receipt["released"] == 0
        and "log probabilities" in receipt["remote"][0]
    )


@pytest.mark.parametrize(
    ("prompt", "first", "choices"),
    [
        ("a b c", ["a", "b", "c"], 1),
        (["a b", "c d e"], ["a", "b"], 2),
        ([5, 6, 7], ["<5>", "<6>", "<7>"], 1),
        ([[5, 6], [7]], ["<5>", "<6>"], 2),
    ],
)
@pytest.mark.parametrize("generated", [0, 1])
async def test_every_form_of_prompts_is_scored_locally(
    proxy: Proxy, prompt: Any, first: list[str], choices: int, generated: int
) -> None:
    proxy.local.behaviour = by_words
    code, answer, headers = await post(proxy, harness_body(prompt, max_tokens=generated))
    assert code == 200
    assert answer["object"] == "text_completion"
    assert [choice["index"] for choice in answer["choices"]] == list(range(choices))
    assert answer["choices"][0]["logprobs"]["tokens"] == first + ["!"] * generated
    assert answer["choices"][0]["logprobs"]["token_logprobs"][0] is None
    assert nothing_left(proxy, answer, headers)
    assert len(answer["inferdpt"]["remote"]) == choices
    assert await proxy.app[LEDGER].totals() == {}


async def test_the_official_client_reads_it(proxy: Proxy) -> None:
    proxy.local.behaviour = by_words
    done = await proxy.client().completions.create(
        model=MODEL, prompt="a bc d", echo=True, logprobs=1, max_tokens=0
    )
    (choice,) = done.choices
    assert choice.text == "a bc d"
    assert choice.logprobs is not None
    assert choice.logprobs.text_offset == [0, 1, 3]
    assert done.inferdpt["demonstrations"] == 0  # type: ignore[attr-defined]


async def test_no_canary_leaves_or_is_logged(proxy: Proxy) -> None:
    proxy.local.behaviour = by_words
    canaries = Canaries(seed=5)
    for i in range(20):
        body = harness_body([canaries.text(), canaries.text()], max_tokens=i % 2)
        assert (await post(proxy, {**body, "user": canaries.word()}))[0] == 200
    proxy.local.behaviour = status(500, canaries.text())
    assert (await post(proxy, harness_body(canaries.text())))[0] == 503
    check_none_left(proxy, canaries, 21)
    assert proxy.remote.bodies == []


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"max_tokens": 2}, "max_tokens"),
        ({"max_tokens": None}, "max_tokens"),
        ({"stream": True}, "stream"),
        ({"n": 2}, "n"),
        ({"prompt": ""}, "prompt"),
        ({"prompt": []}, "prompt"),
        ({"prompt": ["a", ""]}, "prompt"),
        ({"logprobs": 6}, "logprobs"),
        ({"logprobs": None, "max_tokens": 0}, "max_tokens"),  # no scores are asked for
    ],
)
async def test_a_wrong_field_is_named(proxy: Proxy, change: dict[str, Any], param: str) -> None:
    code, answer, _ = await post(proxy, {**harness_body(TEXT), **change})
    assert (code, answer["error"]["param"]) == (400, param)
    assert proxy.remote.bodies == proxy.local.bodies == []


async def test_a_local_server_that_cannot_is_a_400_that_names_echo(proxy: Proxy) -> None:
    async def ignores(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
        return web.json_response({"choices": [{"index": 0, "text": "!", "logprobs": None}]})

    for behaviour in (ignores, status(400)):
        proxy.local.behaviour = behaviour
        code, answer, _ = await post(proxy, harness_body(TEXT))
        assert (code, answer["error"]["param"]) == (400, "echo")
        assert answer["error"]["code"] == "unsupported_parameter"
    assert proxy.remote.bodies == []


async def test_an_unknown_model_is_not_served(proxy: Proxy) -> None:
    code, answer, _ = await post(proxy, harness_body(TEXT, model="other"))
    assert (code, answer["error"]["code"]) == (404, "model_not_found")
    assert proxy.local.bodies == []


@pytest.mark.parametrize(
    "settings",
    [
        {"local": {"score_prompts": False}},
        {"local": {"mode": "none"}, "privacy": {"mechanism": "selective", "parameters": WORDS}},
    ],
)
async def test_the_operator_may_refuse(table: EmbeddingTable, settings: dict[str, Any]) -> None:
    async with running_proxy(table, settings) as proxy:
        with pytest.raises(openai.BadRequestError) as raised:
            await proxy.client().completions.create(
                model=MODEL, prompt=TEXT, echo=True, logprobs=1, max_tokens=1
            )
        assert raised.value.param == "echo"
        assert proxy.remote.bodies == proxy.local.bodies == []


async def test_a_harness_gets_the_bundled_models_likelihoods(table: EmbeddingTable) -> None:
    """As lm-eval reads them: the likelihood of a whole is the product of those of its parts."""
    async with running_proxy(table, EMBEDDED) as proxy:
        code, answer, headers = await post(proxy, harness_body([TEXT, f"{TEXT} It was approved."]))
        assert code == 200
        assert nothing_left(proxy, answer, headers)
        tokens = [choice["logprobs"]["tokens"] for choice in answer["choices"]]
        assert "".join(tokens[0][:-1]) == TEXT
        context = len(tokens[0]) - 1
        assert tokens[1][:context] == tokens[0][:-1]
        (short, _), (long, _) = read_harness(answer, [1, 1])
        [_, (continuation, greedy)] = read_harness(answer, [context, context])
        assert long == pytest.approx(short + continuation, abs=0.1)
        assert continuation < 0
        assert greedy is False
        first = tokens[0][-1]  # the most likely token after the prompt is a greedy continuation
        _, again, _ = await post(proxy, harness_body(TEXT + first))
        assert json.dumps(again["choices"][0]["logprobs"]["tokens"][: context + 1]) == json.dumps(
            tokens[0]
        )
        assert read_harness(again, [context])[0][1] is True
