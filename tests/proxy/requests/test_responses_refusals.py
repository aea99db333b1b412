"""`/v1/responses`: what is refused by name, and which fields there are."""

from __future__ import annotations

from typing import Any

import openai
import pytest

from perturb import EmbeddingTable
from proxy.requests import responses
from proxy.requests.protocol import Treatment, find_treatments
from proxy.requests.responses import ResponsesRequest
from tests.proxy.chats import TEXT, user
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.proxy.responses import TOOLS

PARAMETER, CONTENT = "unsupported_parameter", "unsupported_content"
IMAGE = {"type": "input_image", "image_url": "https://example.org/x"}
BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"previous_response_id": "x"}, PARAMETER, "previous_response_id"),
    ({"conversation": "x"}, PARAMETER, "conversation"),
    ({"conversation": {"id": "x"}}, PARAMETER, "conversation"),
    ({"background": True}, PARAMETER, "background"),
    ({"prompt": {"id": "x"}}, PARAMETER, "prompt"),
    ({"context_management": [{"type": "compaction"}]}, PARAMETER, "context_management"),
    ({"truncation": "auto"}, PARAMETER, "truncation"),
    ({"include": ["reasoning.encrypted_content", "x"]}, PARAMETER, "include[1]"),
    ({"tools": [{"type": "web_search"}]}, PARAMETER, "tools[0].type"),
    ({"tools": [TOOLS[0], {"type": "mcp", "server_url": "x"}]}, PARAMETER, "tools[1].type"),
    ({"tools": [{"type": "custom", "name": "x"}]}, PARAMETER, "tools[0].type"),
    ({"tool_choice": {"type": "mcp", "server_label": "x"}}, PARAMETER, "tool_choice.type"),
    (
        {"tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "mcp"}]}},
        PARAMETER,
        "tool_choice.tools[0].type",
    ),
    ({"input": [{"type": "item_reference", "id": "x"}]}, PARAMETER, "input[0]"),
    ({"input": [*user("x"), {"id": "x"}]}, PARAMETER, "input[1]"),
    ({"input": [{"type": "computer_call_output", "call_id": "x"}]}, CONTENT, "input[0]"),
    ({"input": [{"type": "mcp_call", "id": "x"}]}, CONTENT, "input[0]"),
    ({"input": [{"role": "user", "content": [IMAGE]}]}, CONTENT, "input[0].content[0]"),
    (
        {"input": [{"type": "function_call_output", "call_id": "x", "output": [IMAGE]}]},
        CONTENT,
        "input[0].output[0]",
    ),
    ({"bogus": 1}, "unknown_parameter", "bogus"),
    ({"n": 2}, "unknown_parameter", "n"),
    ({"text": {"bogus": 1}}, "unknown_parameter", "text.bogus"),
    ({"reasoning": {"bogus": 1}}, "unknown_parameter", "reasoning.bogus"),
    (
        {"input": [{"role": "user", "content": "x", "bogus": 1}]},
        "unknown_parameter",
        "input[0].bogus",
    ),
    ({"input": [{"role": "robot", "content": "x"}]}, "invalid_value", "input[0].role"),
    ({"input": []}, "invalid_value", "input"),
    ({"input": None}, "invalid_value", "input"),
    ({"input": 3}, "invalid_value", "input"),
    ({"input": [3]}, "invalid_value", "input[0]"),
    ({"input": [{"type": "reasoning"}]}, "", "input"),
    ({"input": [{"role": "system", "content": "x"}]}, "", "input"),
    ({"text": {"format": {"type": "json_schema"}}}, "invalid_value", "text.format"),
    ({"text": {"format": {"type": "xml"}}}, "invalid_value", "text.format.type"),
    ({"tool_choice": "any"}, "invalid_value", "tool_choice"),
    ({"max_output_tokens": 0}, "invalid_value", "max_output_tokens"),
    ({"temperature": "hot"}, "invalid_value", "temperature"),
    ({"top_logprobs": 21}, "invalid_value", "top_logprobs"),
    ({"inferdpt": {"epsilon": -1}}, "invalid_value", "inferdpt.epsilon"),
]


@pytest.mark.parametrize(("change", "code", "param"), BAD)
async def test_what_is_not_served_is_refused_by_name(
    proxy: Proxy, change: dict[str, Any], code: str, param: str
) -> None:
    body = {"model": MODEL, "input": TEXT, **change}
    with pytest.raises(openai.BadRequestError) as info:
        await proxy.client(max_retries=2).post("/responses", cast_to=object, body=body)
    assert (info.value.code or "", info.value.param or "") == (code, param)
    assert info.value.response.headers["x-should-retry"] == "false"
    assert proxy.remote.received == []
    assert [line for line in proxy.local.received if line.startswith(b"POST")] == []


async def test_null_is_not_set(proxy: Proxy) -> None:
    everything = dict.fromkeys([*ResponsesRequest.model_fields, *responses.REJECTED])
    body = {**everything, "model": MODEL, "input": TEXT}
    done: Any = await proxy.client().post("/responses", cast_to=object, body=body)
    assert done["status"] == "completed"


async def test_paths_that_read_or_change_stored_responses_are_404(proxy: Proxy) -> None:
    client = proxy.client()
    calls = (
        client.responses.retrieve("resp_x"),
        client.responses.delete("resp_x"),
        client.responses.cancel("resp_x"),
        client.responses.compact(model=MODEL, input=TEXT),
        client.conversations.create(),
    )
    for call in calls:
        with pytest.raises(openai.NotFoundError):
            await call


async def test_too_many_items_are_413(table: EmbeddingTable) -> None:
    async with running_proxy(table, {"limits": {"messages": 3}}) as proxy:
        with pytest.raises(openai.APIStatusError) as info:
            await proxy.client().responses.create(model=MODEL, input=user("x") * 4)
        assert (info.value.status_code, info.value.param) == (413, "input")


def test_every_field_has_one_treatment_and_only_numbers_are_remote() -> None:
    treatments = find_treatments(ResponsesRequest)
    assert set(treatments) == set(ResponsesRequest.model_fields)
    remote = {name for name, mark in treatments.items() if mark is Treatment.REMOTE}
    assert remote == {"temperature", "top_p", "max_output_tokens", "reasoning"}
