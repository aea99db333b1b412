"""`/v1/responses` with the official client: answers."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest
from openai.types.responses import Response
from pydantic import BaseModel

from perturb import EmbeddingTable
from tests.proxy.chats import ANSWER, TEXT, user
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.proxy.responses import TOOLS, whole, wire


async def test_a_response_has_the_local_models_words_and_a_receipt(proxy: Proxy) -> None:
    done = await proxy.client().responses.create(model=MODEL, input=TEXT)
    Response.model_validate(done.model_dump())  # every field that the API promises is there
    assert (done.object, done.status, done.model) == ("response", "completed", MODEL)
    assert done.output_text == ANSWER
    assert done.usage is not None
    used = done.usage
    assert (used.input_tokens, used.output_tokens, used.total_tokens) == (11, 3, 14)
    assert done.model_extra is not None
    assert done.model_extra["store"] is False
    receipt = done.model_extra["inferdpt"]
    assert (receipt["mechanism"], receipt["released"]) == ("rantext", 13)
    assert [m["role"] for m in proxy.sent()] == ["user"]
    assert TEXT not in json.dumps(proxy.remote.bodies)


def test_the_synchronous_client_works_too(proxy_in_thread: Proxy) -> None:
    with openai.OpenAI(base_url=proxy_in_thread.base_url, api_key="x") as client:
        assert client.responses.create(model=MODEL, input=TEXT).output_text == ANSWER
        events = list(client.responses.create(model=MODEL, input=TEXT, stream=True))
        assert (events[0].type, events[-1].type) == ("response.created", "response.completed")
        with client.responses.stream(model=MODEL, input=TEXT) as stream:
            assert stream.get_final_response().output_text == ANSWER
        with pytest.raises(openai.NotFoundError):
            client.responses.create(model="other", input=TEXT)


async def test_headers_say_what_was_done(proxy: Proxy) -> None:
    raw = await proxy.client().responses.with_raw_response.create(model=MODEL, input=TEXT)
    assert raw.headers["x-inferdpt-mechanism"] == "rantext"
    assert raw.headers["x-inferdpt-tokens"] == "13"


async def test_options_are_those_of_chat(proxy: Proxy) -> None:
    done = await proxy.client().responses.create(
        model=MODEL,
        input="<public>Summarise:</public> " + TEXT,
        extra_body={"inferdpt": {"mechanism": "rantext_ldp", "epsilon": 8, "receipt": "full"}},
    )
    assert done.model_extra is not None
    receipt = done.model_extra["inferdpt"]
    assert receipt["guarantee"] == "ldp"
    assert receipt["exchanges"][0]["sent"] == proxy.sent()
    assert proxy.sent()[0]["content"].startswith("Summarise: ")
    await proxy.client().responses.create(
        model=MODEL, input="Another text", extra_body={"inferdpt": {"local_only": True}}
    )
    assert len(proxy.remote.bodies) == 1


async def test_a_text_leaves_as_the_bytes_that_chat_sends(proxy: Proxy) -> None:
    client = proxy.client()
    await client.chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": TEXT}], max_completion_tokens=9
    )
    await client.responses.create(model=MODEL, input=TEXT, max_output_tokens=9)
    assert proxy.remote.bodies[0] == proxy.remote.bodies[1]


async def test_instructions_follow_the_rule_for_system_turns(table: EmbeddingTable) -> None:
    asked: dict[str, Any] = {
        "model": MODEL,
        "instructions": "You work for Zanzibar.",
        "input": [{"role": "developer", "content": "Mind the Zanzibar."}, *user(TEXT)],
    }
    for system, seen in (("local", False), ("public", True), ("perturb", False)):
        async with running_proxy(table, {"privacy": {"system": system}}) as proxy:
            await proxy.client().responses.create(**asked)
            assert ("Zanzibar" in json.dumps(proxy.sent())) is seen
            assert len(proxy.sent()) == (1 if system == "local" else 3)
            got = proxy.local.bodies[-1]["messages"]
            assert got[0] == {"role": "system", "content": "You work for Zanzibar."}
            assert got[1] == {"role": "system", "content": "Mind the Zanzibar."}


async def test_numbers_reach_both_models_and_the_rest_the_local_one_or_nobody(
    proxy: Proxy,
) -> None:
    await proxy.client().responses.create(
        model=MODEL,
        input=TEXT,
        temperature=0.31415,
        top_p=0.8,
        max_output_tokens=33,
        reasoning={"effort": "low", "summary": "auto"},
        parallel_tool_calls=False,
        tools=TOOLS,
        tool_choice={"type": "function", "name": "look_up"},
        include=["message.output_text.logprobs"],
        top_logprobs=2,
        metadata={"secret": "m"},
        user="u",
        safety_identifier="s",
        prompt_cache_key="k",
        service_tier="auto",
        store=True,
        max_tool_calls=3,
        truncation="disabled",
        background=False,
        text={"verbosity": "low"},
    )
    sent = dict(proxy.remote.bodies[-1])
    sent.pop("messages")
    assert sent == {
        "model": "remote-model",
        "temperature": 0.31,
        "top_p": 0.8,
        "max_completion_tokens": 33,
        "reasoning_effort": "low",
        "store": False,
    }
    got = proxy.local.bodies[-1]
    function = {key: TOOLS[0][key] for key in ("name", "description", "parameters", "strict")}
    assert got["tools"][0] == {"type": "function", "function": function}
    assert got["tool_choice"] == {"type": "function", "function": {"name": "look_up"}}
    assert got["parallel_tool_calls"] is False
    assert (got["logprobs"], got["top_logprobs"], got["max_tokens"]) == (True, 2, 33)
    assert got.keys() == {
        *("model", "messages", "temperature", "top_p", "max_tokens", "reasoning_effort"),
        *("tools", "tool_choice", "parallel_tool_calls", "logprobs", "top_logprobs"),
    }


async def test_allowed_tools_are_all_the_local_model_is_told_of(proxy: Proxy) -> None:
    choice: Any = {
        "type": "allowed_tools",
        "mode": "required",
        "tools": [{"type": "function", "name": "add"}],
    }
    done = await proxy.client().responses.create(
        model=MODEL, input=TEXT, tools=TOOLS, tool_choice=choice
    )
    got = proxy.local.bodies[-1]
    assert [tool["function"]["name"] for tool in got["tools"]] == ["add"]
    assert got["tool_choice"] == "required"
    assert [tool.name for tool in done.tools if tool.type == "function"] == ["look_up", "add"]


async def test_a_choice_without_tools_is_not_passed_on(proxy: Proxy) -> None:
    await proxy.client().responses.create(model=MODEL, input=TEXT, tools=[], tool_choice="auto")
    assert not {"tools", "tool_choice"} & proxy.local.bodies[-1].keys()


class Found(BaseModel):
    """Hold the fields that the schema asks for."""

    title: str
    pages: int


async def test_a_json_schema_reaches_the_local_model_and_its_answer_is_parsed(
    proxy: Proxy,
) -> None:
    proxy.local.behaviour = whole({"role": "assistant", "content": '{"title": "a", "pages": 3}'})
    done = await proxy.client().responses.parse(model=MODEL, input=TEXT, text_format=Found)
    assert done.output_parsed == Found(title="a", pages=3)
    given = proxy.local.bodies[-1]["response_format"]
    assert given["type"] == "json_schema"
    assert (given["json_schema"]["name"], given["json_schema"]["strict"]) == ("Found", True)
    assert given["json_schema"]["schema"]["properties"].keys() == {"title", "pages"}
    assert "response_format" not in proxy.remote.bodies[-1]
    async with proxy.client().responses.stream(
        model=MODEL, input=TEXT, text_format=Found
    ) as stream:
        final = await stream.get_final_response()
    assert final.output_parsed == Found(title="a", pages=3)


@pytest.mark.parametrize(
    ("kind", "given"), [("json_object", {"type": "json_object"}), ("text", None)]
)
async def test_the_other_formats(proxy: Proxy, kind: Any, given: Any) -> None:
    await proxy.client().responses.create(model=MODEL, input=TEXT, text={"format": {"type": kind}})
    assert proxy.local.bodies[-1].get("response_format") == given


LOGPROBS = {
    "content": [
        {
            "token": "é",
            "logprob": -0.5,
            "bytes": None,
            "top_logprobs": [{"token": "e", "logprob": -1.0, "bytes": [101]}],
        }
    ]
}


async def test_logprobs_come_with_the_text_where_they_are_included(proxy: Proxy) -> None:
    proxy.local.behaviour = whole({"role": "assistant", "content": "é"}, logprobs=LOGPROBS)
    expected = [
        {
            "token": "é",
            "logprob": -0.5,
            "bytes": [195, 169],
            "top_logprobs": [{"token": "e", "logprob": -1.0, "bytes": [101]}],
        }
    ]
    asked: Any = {"include": ["message.output_text.logprobs"], "top_logprobs": 1}
    done = await proxy.client().responses.create(model=MODEL, input=TEXT, **asked)
    (message,) = [item.model_dump() for item in done.output]
    assert message["content"][0]["logprobs"] == expected
    events = await wire(proxy, **asked)
    assert [e["logprobs"] for e in events if e["type"].endswith("text.delta")] == [expected]
    plain = await wire(proxy)
    assert [e["logprobs"] for e in plain if e["type"].endswith("text.delta")] == [[]]
