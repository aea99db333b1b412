"""The requests of Codex on `/v1/responses`: served without what is not its user's text."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest

from proxy.requests.validation import HOSTED
from tests.proxy.agents import CODEX_HEADERS, CODEX_ITEMS, CODEX_PATCH, CODEX_TOOLS, codex
from tests.proxy.conftest import MODEL, Proxy
from tests.proxy.messages import post


def request() -> dict[str, Any]:
    words = iter(f"zebra{i}" for i in range(1000))
    return codex(lambda: next(words))


@pytest.mark.usefixtures("seeded_draws")
async def test_its_request_is_served(proxy: Proxy) -> None:
    status, _, told = await post(proxy, request(), "responses", **CODEX_HEADERS)
    assert status == 200
    assert "event: response.completed" in told
    sent = b"".join(proxy.remote.received)
    assert proxy.remote.bodies
    for word in (b"zebra", b"codex", b"metadata", b"session", b"cache"):
        assert word not in sent
    local = json.dumps(proxy.local.bodies[-1])
    assert "zebra" in local
    for word in ("metadata", "session_id", "installation", "prompt_cache_key", "encrypted"):
        assert word not in local
    assert [tool["function"]["name"] for tool in proxy.local.bodies[-1]["tools"]] == [
        *("exec_command", "view_image")
    ]


@pytest.mark.parametrize("tool", CODEX_TOOLS, ids=lambda tool: tool["type"])
async def test_its_other_tools_are_refused_by_name(proxy: Proxy, tool: dict[str, Any]) -> None:
    assert tool["type"] in HOSTED
    body = request()
    body["tools"].append(tool)
    with pytest.raises(openai.BadRequestError, match=f"'{tool['type']}'") as info:
        await proxy.client().post("/responses", cast_to=object, body=body)
    assert info.value.param == "tools[2].type"
    assert proxy.remote.received == []


@pytest.mark.parametrize("item", CODEX_ITEMS, ids=lambda item: item["type"])
async def test_its_other_items_are_refused_by_name(proxy: Proxy, item: dict[str, Any]) -> None:
    body = request()
    body["input"].insert(1, item)
    with pytest.raises(openai.BadRequestError, match=f"'{item['type']}'") as info:
        await proxy.client().post("/responses", cast_to=object, body=body)
    assert info.value.param == "input[1]"
    assert proxy.remote.received == []


async def test_a_resumed_history_with_calls_of_custom_tools_is_served(proxy: Proxy) -> None:
    body = request()
    body["input"][1:1] = CODEX_PATCH
    status, _, _ = await post(proxy, body, "responses", **CODEX_HEADERS)
    assert status == 200
    messages = proxy.local.bodies[-1]["messages"]
    (call,) = next(m["tool_calls"] for m in messages if m.get("tool_calls"))
    assert call["function"]["name"] == "apply_patch"
    assert json.loads(call["function"]["arguments"]) == {"input": "*** Begin\n+x"}
    result = next(m for m in messages if m["role"] == "tool" and m["tool_call_id"] == call["id"])
    assert result["content"] == "Done!"


async def test_a_server_does_not_compact(proxy: Proxy) -> None:
    """The error tells what Codex can do: with the name OpenAI, it has no other way."""
    client = proxy.client()
    with pytest.raises(
        openai.NotFoundError, match="'/v1/responses/compact' is not served"
    ) as info:
        await client.responses.compact(model=MODEL, input="zebra")
    assert "[model_providers]" in info.value.message
    body = request()
    body["input"].append({"type": "compaction_trigger"})
    with pytest.raises(openai.BadRequestError, match=r"\[model_providers\]") as caught:
        await client.post("/responses", cast_to=object, body=body)
    assert caught.value.param == f"input[{len(body['input']) - 1}]"
    assert proxy.remote.received == proxy.local.received == []
    assert "zebra" not in "\n".join(proxy.log)


class TestSetting:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"server": {"ignore_unsupported_tools": True}}

    async def test_its_other_tools_may_be_left_out(self, proxy: Proxy) -> None:
        body = request()
        body["tools"] += CODEX_TOOLS
        status, _, _ = await post(proxy, body, "responses", **CODEX_HEADERS)
        assert status == 200
        assert len(proxy.local.bodies[-1]["tools"]) == 2

    async def test_calls_of_hosted_tools_in_its_history_are_left_out(self, proxy: Proxy) -> None:
        body = request()
        *hosted, compaction = CODEX_ITEMS
        body["input"][1:1] = hosted
        status, _, _ = await post(proxy, body, "responses", **CODEX_HEADERS)
        assert status == 200
        local = json.dumps(proxy.local.bodies[-1])
        assert "search" not in local
        # What holds a conversation's past is missed: it is refused, whatever the setting.
        body["input"].insert(1, compaction)
        status, _, told = await post(proxy, body, "responses", **CODEX_HEADERS)
        assert status == 400
        assert "'compaction'" in told
