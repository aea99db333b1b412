"""The client of the local server, against real servers on loopback: what it sends and reads."""

from __future__ import annotations

import json

import httpx2
import pytest
from aiohttp import web

from extraction.backends.base import Delta, Usage
from extraction.errors import (
    LocalModelUnavailable,
)
from tests.extraction.local_servers import (
    BOTH,
    MESSAGES,
    backend,
    failure,
    frames,
    listing,
    models,
    plain,
    streamed,
    unused_port,
    whole,
)
from tests.servers import (
    answer,
    chunk,
    completion,
    fake_server,
    status,
)


async def test_whole_answer_is_read():
    async with fake_server() as server, backend(server) as made:
        assert await whole(made) == Delta(
            message={"content": "One two three."}, finish_reason="stop", usage=Usage(11, 3)
        )


async def test_streamed_answer_is_read_step_by_step():
    async with fake_server() as server, backend(server) as made:
        assert await streamed(made) == [
            Delta(message={"content": "One "}),
            Delta(message={"content": "two "}),
            Delta(message={"content": "three."}),
            Delta(finish_reason="stop", usage=Usage(11, 3)),
        ]
    assert server.bodies[0]["stream"] is True
    assert server.bodies[0]["stream_options"] == {"include_usage": True}


async def test_whole_tool_calls_and_logprobs_are_read():
    calls = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    logprobs = {
        "content": [
            {
                "token": "O",
                "bytes": [79],
                "logprob": -0.5,
                "top_logprobs": [{"token": "O", "bytes": [79], "logprob": -0.5}],
            }
        ],
        "refusal": None,
    }
    body = completion("", tool_calls=calls)
    body["choices"][0] |= {"logprobs": logprobs, "finish_reason": "tool_calls"}
    async with fake_server(behaviour=plain(json.dumps(body))) as server, backend(server) as made:
        answer = await whole(made)
    assert answer.message == {"tool_calls": calls}
    assert answer.logprobs == logprobs
    assert answer.finish_reason == "tool_calls"


async def test_streamed_tool_calls_keep_their_index_and_logprobs_their_form():
    first = {
        "index": 1,
        "id": "c1",
        "type": "function",
        "function": {"name": "f", "arguments": ""},
    }
    rest = {"index": 1, "function": {"arguments": '{"a":1}'}}
    logprobs = {
        "content": [{"token": "O", "bytes": [79], "logprob": -0.5, "top_logprobs": []}],
        "refusal": None,
    }
    told = chunk({"content": "O"})
    told["choices"][0]["logprobs"] = logprobs
    behaviour = frames(
        chunk({"role": "assistant", "content": ""}),
        told,
        chunk({"tool_calls": [first]}),
        chunk({"tool_calls": [rest]}),
        chunk({}, "tool_calls"),
    )
    async with fake_server(behaviour=behaviour) as server, backend(server) as made:
        steps = await streamed(made)
    assert [step.message for step in steps] == [
        {"content": "O"},
        {"tool_calls": [first]},
        {"tool_calls": [rest]},
        {},
    ]
    assert [step.logprobs for step in steps] == [logprobs, None, None, None]
    assert [step.finish_reason for step in steps] == [None, None, None, "tool_calls"]


async def test_reasoning_and_unknown_fields_of_a_message_are_left_out():
    body = completion("text", reasoning_content="thoughts", audio=None)
    async with fake_server(behaviour=plain(json.dumps(body))) as server, backend(server) as made:
        assert (await whole(made)).message == {"content": "text"}


async def test_answer_without_usage_has_none():
    body = completion("text")
    del body["usage"]
    async with fake_server(behaviour=plain(json.dumps(body))) as server, backend(server) as made:
        assert (await whole(made)).usage is None


async def test_last_text_in_the_chunk_that_finishes_is_kept():
    behaviour = frames(chunk({"content": "One"}), chunk({"content": " two"}, "length"))
    async with fake_server(behaviour=behaviour) as server, backend(server) as made:
        steps = await streamed(made)
    assert "".join(step.message.get("content", "") for step in steps) == "One two"
    assert steps[-1].finish_reason == "length"


async def test_stream_without_done_but_with_a_finish_reason_is_whole():
    behaviour = frames(chunk({"content": "One"}), chunk({}, "stop"), done=False)
    async with fake_server(behaviour=behaviour) as server, backend(server) as made:
        steps = await streamed(made)
    assert steps[-1] == Delta(finish_reason="stop")


async def test_comments_between_events_are_nothing():
    behaviour = frames(": ping\n\n", chunk({"content": "One"}), ": ping\n\n", chunk({}, "stop"))
    async with fake_server(behaviour=behaviour) as server, backend(server) as made:
        assert [step.message for step in await streamed(made)] == [{"content": "One"}, {}]


@BOTH
async def test_extensions_of_the_server_travel_at_the_bodys_top_level(run):
    options = {
        "temperature": 0.25,
        "max_tokens": 9,
        "tools": [{"type": "function", "function": {"name": "f"}}],
        "top_k": 5,
        "min_p": 0.1,
        "guided_regex": "a+",
        "chat_template_kwargs": {"enable_thinking": False},
    }
    async with fake_server() as server, backend(server, model="fake") as made:
        await run(made, options)
    [body] = server.bodies
    assert {name: body[name] for name in options} == options
    assert body["messages"] == MESSAGES
    assert body["structured_outputs"] == {"regex": "a+"}  # vLLM knows the old name no more
    sent = set(options) | {"model", "messages", "structured_outputs"}
    assert set(body) - {"stream", "stream_options"} == sent


@BOTH
async def test_configured_model_is_asked_for_without_asking_for_the_list(run):
    async with fake_server() as server, backend(server, model="configured") as made:
        await run(made)
    assert server.bodies[0]["model"] == "configured"
    assert [data.split()[0] for data in server.received] == [b"POST"]


@BOTH
async def test_first_listed_model_is_asked_for_and_the_list_only_once(run):
    async with fake_server() as server, backend(server) as made:
        await run(made)
        await run(made)
    assert [body["model"] for body in server.bodies] == ["fake", "fake"]
    assert [data.split()[0] for data in server.received] == [b"GET", b"POST", b"POST"]


@pytest.mark.parametrize(("key", "sent"), [("local-key", b"local-key"), (None, b"none")])
async def test_key_goes_as_bearer_and_none_without_one(key, sent, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "environment-key")
    monkeypatch.setenv("OPENAI_ORG_ID", "environment-organization")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "environment-project")
    async with fake_server() as server, backend(server, api_key=key) as made:
        await whole(made)
    for data in server.received:
        assert b"Bearer " + sent + b"\n" in data
        assert b"environment" not in data


@BOTH
async def test_environments_http_proxies_are_not_used(run, monkeypatch):
    async with fake_server() as wanted, fake_server() as trap:
        address = f"http://127.0.0.1:{trap.port}"
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, address)
            monkeypatch.setenv(name.lower(), address)
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        # The control: a client that trusts the environment goes through the trap.
        async with httpx2.AsyncClient() as client:
            await client.get(wanted.base_url + "/models")
        assert len(trap.received) == 1
        async with backend(wanted) as made:
            await run(made)
        assert len(trap.received) == 1
        assert len(wanted.bodies) == 1


@BOTH
@pytest.mark.parametrize("code", [302, 307, 308])
async def test_redirect_is_not_followed(run, code):
    async with fake_server() as elsewhere:
        location = elsewhere.base_url + "/chat/completions"
        moved = status(code, headers={"Location": location})
        async with fake_server(behaviour=moved) as server:
            error = await failure(run, server)
        assert isinstance(error, LocalModelUnavailable)
        assert elsewhere.received == []


async def test_no_request_meets_a_connection_that_the_server_is_about_to_close():
    used = set()

    async def hang_up(server, request, body):
        """Offer to keep a connection, and close it when it is used again."""
        if request.transport in used:
            request.transport.abort()
        used.add(request.transport)
        return await answer(server, request, body)

    async with fake_server(behaviour=hang_up) as server, backend(server, model="m") as made:
        for _ in range(3):
            await made.complete(MESSAGES, {})
            assert [step async for step in made.stream(MESSAGES, {})]
    assert len(used) == 6


async def test_failed_request_is_sent_once():
    async with fake_server(behaviour=status(500)) as server:
        await failure(whole, server, model="fake")
    assert len(server.received) == 1


async def test_server_that_lists_its_models_is_ready():
    async with fake_server() as server, backend(server) as made:
        assert await made.ready()


NOT_READY = {
    "loading": lambda: web.json_response({"error": {"message": "Loading model"}}, status=503),
    "html": lambda: web.Response(text="<html>", content_type="text/html"),
    "cut-json": lambda: web.Response(text='{"data": [', content_type="application/json"),
    "list": lambda: web.json_response([]),
    "redirect": lambda: web.Response(status=307, headers={"Location": "http://127.0.0.1:9/"}),
}


@pytest.mark.parametrize("name", NOT_READY)
async def test_server_that_lists_no_models_in_openais_form_is_not_ready(name):
    async with listing(NOT_READY[name]) as url, backend(url) as made:
        assert await made.ready() is False
        assert await made.context_tokens() is None
        with pytest.raises(LocalModelUnavailable):
            await whole(made)
        with pytest.raises(LocalModelUnavailable):
            await streamed(made)


async def test_absent_server_is_not_ready_and_tells_no_context():
    async with backend(f"http://127.0.0.1:{unused_port()}/v1") as made:
        assert await made.ready() is False
        assert await made.context_tokens() is None


async def test_server_without_a_model_is_unavailable():
    async with listing(models()) as url:
        error = await failure(whole, url)
    assert isinstance(error, LocalModelUnavailable)


@pytest.mark.parametrize(
    ("listed", "model", "tokens"),
    [
        ([{"id": "a", "max_model_len": 512}], None, 512),
        ([{"id": "a", "max_model_len": 512}], "a", 512),
        ([{"id": "a", "meta": {"n_ctx": 1024, "n_ctx_train": 4096}}], None, 1024),
        ([{"id": "a", "max_model_len": 1}, {"id": "b", "max_model_len": 2}], "b", 2),
        ([{"id": "a", "max_model_len": 1}, {"id": "b", "max_model_len": 2}], None, 1),
        ([{"id": "a", "max_model_len": 512}], "other", 512),  # llama.cpp: any name will do
        ([{"id": "a", "max_model_len": 1}, {"id": "b", "max_model_len": 2}], "c", None),
        ([{"id": "a"}], None, None),
        ([{"id": "a", "meta": None}], None, None),
        ([{"id": "a", "meta": {"n_ctx": "1024"}}], None, None),
        ([{"id": "a", "max_model_len": 0}], None, None),
        ([], None, None),
    ],
)
async def test_context_is_what_the_server_tells_of_its_model(listed, model, tokens):
    async with listing(models(*listed)) as url, backend(url, model=model) as made:
        assert await made.context_tokens() == tokens
