"""LiteLLM's guardrail, called as LiteLLM's proxy calls guardrails.
`tests/clients/test_litellm_guardrail.py` runs it there."""

from __future__ import annotations

import copy
import json
from collections.abc import AsyncIterator, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.integrations.standalone import load
from tests.proxy.conftest import MODEL, Proxy

ADDRESS = "prtkslmnbvcx@example.com"
DATA = {
    "model": "remote",
    "messages": [{"role": "user", "content": f"Who is {ADDRESS}?"}],
    "metadata": {"user_id": ADDRESS, "requester_metadata": {"user_id": ADDRESS}},
    "proxy_server_request": {"url": "/v1/chat/completions", "body": {"x": ADDRESS}},
}


class Record(SimpleNamespace):
    """A model of LiteLLM's."""

    def model_dump(self) -> dict[str, Any]:
        return copy.deepcopy(vars(self))


class ModelResponse(Record):
    pass


class ModelResponseStream(Record):
    pass


class Refused(Exception):
    def __init__(self, status: int, detail: Any) -> None:
        super().__init__(status, detail)
        self.status = status


class Guardrail:
    def __init__(self, **given: Any) -> None:
        self.given = given


def fake_modules() -> dict[str, ModuleType]:
    """Return what the guardrail imports of programs that are not installed here."""
    names: dict[str, dict[str, Any]] = {
        "fastapi": {"HTTPException": Refused},
        "litellm": {"ModelResponse": ModelResponse, "ModelResponseStream": ModelResponseStream},
        "litellm.integrations": {},
        "litellm.integrations.custom_guardrail": {"CustomGuardrail": Guardrail},
        "litellm.types": {},
        "litellm.types.guardrails": {
            "GuardrailEventHooks": SimpleNamespace(pre_call="pre", post_call="post")
        },
        "litellm.types.utils": {"Delta": Record, "Message": Record},
    }
    made = {name: ModuleType(name) for name in names}
    for name, module in made.items():
        vars(module).update(names[name])
    return made


@pytest.fixture
def module() -> Iterator[ModuleType]:
    with load("inferdpt_guardrail", fake_modules()) as made:
        pass
    return made


@pytest.fixture
def guardrail(module: ModuleType, proxy: Proxy) -> Any:
    return module.InferDPTGuardrail(proxy.base_url, model=MODEL, guardrail_name="inferdpt")


async def sanitize(guardrail: Any, **more: Any) -> dict[str, Any]:
    data = copy.deepcopy({**DATA, **more})
    sent: dict[str, Any] = await guardrail.async_pre_call_hook(None, None, data, "acompletion")
    return sent


def whole(content: str) -> ModelResponse:
    return ModelResponse(choices=[Record(message=Record(role="assistant", content=content))])


async def test_a_chat_is_sanitized_and_its_answer_restored(guardrail: Any) -> None:
    sent = await sanitize(guardrail)
    assert sent["model"] == "remote"
    assert ADDRESS not in json.dumps(sent)
    answer = whole(f"Yes: {sent['messages'][0]['content']}")
    done = await guardrail.async_post_call_success_hook(sent, None, answer)
    assert done.choices[0].message.content == f"Yes: Who is {ADDRESS}?"


async def test_a_streamed_answer_is_restored(guardrail: Any) -> None:
    sent = await sanitize(guardrail, stream=True)
    text = sent["messages"][0]["content"]

    async def stream() -> AsyncIterator[ModelResponseStream]:
        for i in range(0, len(text), 3):
            delta = {"content": text[i : i + 3]}
            yield ModelResponseStream(choices=[Record(index=0, delta=delta, finish_reason=None)])
        yield ModelResponseStream(choices=[Record(index=0, delta={}, finish_reason="stop")])

    chunks = guardrail.async_post_call_streaming_iterator_hook(None, stream(), sent)
    pieces = [getattr(chunk.choices[0].delta, "content", "") async for chunk in chunks]
    assert "".join(pieces) == f"Who is {ADDRESS}?"


async def test_an_answer_is_restored_once(guardrail: Any) -> None:
    sent = await sanitize(guardrail)
    await guardrail.async_post_call_failure_hook(sent)
    text = sent["messages"][0]["content"]
    done = await guardrail.async_post_call_success_hook(sent, None, whole(text))
    assert done.choices[0].message.content == text


async def test_what_cannot_be_sanitized_is_refused(guardrail: Any, proxy: Proxy) -> None:
    with pytest.raises(Refused, match="only chat completions") as info:
        await guardrail.async_pre_call_hook(None, None, dict(DATA), "aembedding")
    assert info.value.status == 400
    with pytest.raises(Refused, match="unknown fields are refused") as info:
        await sanitize(guardrail, note=ADDRESS)
    assert info.value.status == 400
    assert ADDRESS not in str(info.value)
    assert proxy.remote.received == []


async def test_nothing_is_sent_if_the_proxy_cannot_be_reached(module: ModuleType) -> None:
    guardrail = module.InferDPTGuardrail("http://127.0.0.1:9/v1")
    with pytest.raises(Refused, match="nothing was sent") as info:
        await sanitize(guardrail)
    assert info.value.status == 503
