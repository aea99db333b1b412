"""DP-Prompt in the proxy: the paraphrase leaves, with a proof that logits were clipped or not at
all."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import openai
import pytest
from aiohttp import web

from extraction.errors import ClippingNotProved
from perturb import EmbeddingTable
from proxy.checkup import check
from proxy.config.settings import Local, load_config
from proxy.local import build_vllm_command
from tests.extraction.fake_vllm import PARAPHRASE, clipping_vllm, plain_vllm
from tests.proxy.cli.commands import parse, run
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.servers import fake_server

TEXT = "Maria Schmidt earns 81,000 euros and lives in the green house near the old harbour bridge."
MESSAGES: Any = [{"role": "user", "content": TEXT}]
PRIVACY = {
    "mechanism": "dp_prompt",
    "epsilon": 4.0,
    "parameters": {"clip": [-10, 10], "max_tokens": 8},
}


@pytest.fixture
def settings() -> dict[str, Any]:
    return {"privacy": PRIVACY}


async def ask(proxy: Proxy, **inferdpt: Any) -> Any:
    return await proxy.client().chat.completions.create(
        model=MODEL, messages=MESSAGES, extra_body={"inferdpt": inferdpt}
    )


@pytest.fixture
async def clipped(table: EmbeddingTable, settings: dict[str, Any]) -> Any:
    """A proxy over a local server that runs the processor, and that server."""
    async with fake_server(behaviour=clipping_vllm) as local:
        mode = {"mode": "external", "base_url": local.base_url}
        async with running_proxy(table, {**settings, "local": mode}) as proxy:
            yield proxy, local


async def test_the_paraphrase_leaves_and_the_receipt_says_what_it_is_worth(clipped: Any) -> None:
    proxy, _ = clipped
    answer = await ask(proxy, receipt="full")
    assert proxy.sent()[0]["content"] == PARAPHRASE
    receipt = answer.to_dict()["inferdpt"]
    assert (receipt["mechanism"], receipt["guarantee"], receipt["released"]) == (
        "dp_prompt",
        "ldp",
        8,
    )
    assert receipt["epsilon"] == {
        "nominal": 4.0,
        "per_token": 4.0,
        "all_tokens": 32.0,
        "delta": 1e-9,
    }
    assert receipt["texts"][0]["parameters"]["temperature"] == 10.0
    assert "Maria" not in json.dumps(receipt)
    assert not [line for line in proxy.log if "Maria" in line]


async def test_one_text_is_paraphrased_once(clipped: Any) -> None:
    proxy, local = clipped
    for _ in range(2):
        await ask(proxy)
    prompts = [body["prompt"] for body in local.bodies if "prompt" in body]
    assert sum(TEXT in prompt[0] for prompt in prompts) == 1


async def test_an_empty_paraphrase_is_charged_and_stays(
    table: EmbeddingTable, tmp_path: Path
) -> None:
    """That nothing was left of a text tells something, too: it is paid for, and no restart draws
    anew."""
    texts = iter(["", PARAPHRASE])

    async def behaviour(server: Any, request: web.Request, body: Any) -> web.StreamResponse:
        answer = await clipping_vllm(server, request, body)
        if TEXT not in str(body.get("prompt")):
            return answer
        assert isinstance(answer, web.Response)
        data = json.loads(answer.text or "")
        data["choices"][0]["text"] = next(texts)
        return web.json_response(data)

    messages: Any = [{"role": "user", "content": "<public>Hello.</public>"}, *MESSAGES]
    async with fake_server(behaviour=behaviour) as local:
        settings = {
            "privacy": PRIVACY,
            "local": {"mode": "external", "base_url": local.base_url},
            "store": {"folder": str(tmp_path / "state")},
        }
        for charged in (32.0, 0.0):
            async with running_proxy(table, settings) as proxy:
                answer = await proxy.client().chat.completions.create(
                    model=MODEL, messages=messages
                )
                assert [m["content"] for m in proxy.sent()] == ["Hello."]
                budget = answer.to_dict()["inferdpt"]["budget"]
                assert budget["charged"]["epsilon"] == charged


async def test_a_client_may_ask_for_another_epsilon(clipped: Any) -> None:
    proxy, local = clipped
    await ask(proxy, epsilon=2.0)
    asked = [body["vllm_xargs"]["inferdpt_clip"] for body in local.bodies if "prompt" in body]
    assert asked[-1][:3] == [-10.0, 10.0, 20.0]


async def test_a_client_may_not_ask_for_it_where_the_operator_did_not(
    table: EmbeddingTable,
) -> None:
    async with running_proxy(table, {}) as proxy:
        with pytest.raises(openai.BadRequestError, match="mechanism must be one of"):
            await ask(proxy, mechanism="dp_prompt")
    assert proxy.remote.bodies == []


async def test_the_proxy_does_not_start_over_a_server_that_does_not_clip(
    table: EmbeddingTable, settings: dict[str, Any]
) -> None:
    async with fake_server(behaviour=plain_vllm) as local:
        mode = {"mode": "external", "base_url": local.base_url}
        with pytest.raises(ClippingNotProved, match="--logits-processors"):
            async with running_proxy(table, {**settings, "local": mode}):
                pass


async def test_a_server_that_stops_clipping_sends_nothing(clipped: Any) -> None:
    proxy, local = clipped
    local.behaviour = plain_vllm
    with pytest.raises(openai.InternalServerError) as info:
        await ask(proxy)
    assert (info.value.status_code, info.value.code) == (503, "local_model_unavailable")
    assert proxy.remote.bodies == []
    assert any("ClipLogits" in line for line in proxy.log)


async def test_an_engine_that_echoes_the_document_sends_nothing(table: EmbeddingTable) -> None:
    """A server that proves what it is asked to and repeats its prompt all the same."""

    async def echo(server: Any, request: web.Request, body: Any) -> web.StreamResponse:
        answer = await clipping_vllm(server, request, body)
        assert isinstance(answer, web.Response)
        data = json.loads(answer.text or "")
        data["choices"][0]["text"] = TEXT
        return web.json_response(data)

    async with fake_server(behaviour=echo) as local:
        settings = {
            "privacy": {**PRIVACY, "parameters": {"clip": [-10, 10], "max_tokens": 40}},
            "local": {"mode": "external", "base_url": local.base_url},
        }
        async with running_proxy(table, settings) as proxy:
            with pytest.raises(openai.InternalServerError) as info:
                await ask(proxy)
    assert info.value.code == "guard_refused"
    assert proxy.remote.bodies == []


async def test_quasi_and_top_k_say_that_they_promise_nothing(table: EmbeddingTable) -> None:
    async with fake_server(behaviour=plain_vllm) as local:
        for parameters in ({"mode": "topk", "top_k": 5}, {"mode": "quasi", "clip": [-1, 1]}):
            settings = {
                "privacy": {"mechanism": "dp_prompt", "parameters": parameters},
                "local": {"mode": "external", "base_url": local.base_url},
            }
            async with running_proxy(table, settings) as proxy:
                answer = await ask(proxy)
            receipt = answer.to_dict()["inferdpt"]
            assert receipt["guarantee"] == "none"
            assert receipt["epsilon"]["all_tokens"] == "infinity"


# -- commands -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("behaviour", "status", "words"),
    [
        (clipping_vllm, 0, "the paraphrasing model answers"),
        (plain_vllm, 1, "PROBLEM paraphraser"),
    ],
)
async def test_check_asks_for_the_proof(
    behaviour: Any, status: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async with fake_server() as remote, fake_server(behaviour=behaviour) as local:
        config = load_config(
            None,
            {
                "privacy": PRIVACY,
                "remote": {"base_url": remote.base_url, "api_key": "k"},
                "local": {"mode": "external", "base_url": local.base_url},
            },
        )
        assert await asyncio.to_thread(check, config) == status
    assert words in capsys.readouterr().out


def test_a_supervised_vllm_loads_the_processor_only_where_it_must_clip() -> None:
    local = Local.model_validate({"mode": "vllm", "vllm": {"args": ["--seed", "1"]}})
    with_it = build_vllm_command(local, 1, clips=True)
    place = with_it.index("--logits-processors")
    assert with_it[place + 1] == "extraction.dp_prompt.vllm_clip:ClipLogits"
    assert with_it[with_it.index("--logprobs-mode") + 1] == "processed_logprobs"
    assert "--logits-processors" not in build_vllm_command(local, 1)


def test_clip_bounds_without_transformers_says_what_to_install(tmp_path: Any) -> None:
    path = tmp_path / "public.txt"
    path.write_text("Public.")
    words = ["clip-bounds", "--model", str(tmp_path), "--text", str(path)]
    assert parse(*words)["rule"] == "minmax"
    with pytest.raises(Exception, match="transformers|no model"):
        run(*words)
