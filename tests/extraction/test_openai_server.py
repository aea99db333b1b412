"""The client of the local server, against real servers on loopback: what it sends, how it reads
answers, and how each failure comes out."""

from __future__ import annotations

import asyncio
import inspect
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx2
import openai
import pytest
from aiohttp import web

from extraction.backend import Delta, Usage
from extraction.errors import (
    LocalModelError,
    LocalModelRefused,
    LocalModelTimeout,
    LocalModelUnavailable,
)
from extraction.openai_server import OpenAIServer, _raise
from tests.servers import (
    FakeServer,
    answer,
    chunk,
    completion,
    die,
    die_mid_stream,
    end_mid_stream,
    fake_server,
    hang,
    hang_mid_stream,
    open_stream,
    send,
    status,
)

SENT = "sent-canary"
RECEIVED = "received-canary"
MESSAGES = [{"role": "user", "content": SENT}]
WAIT = 10.0  # a bound on what must happen at once


@asynccontextmanager
async def backend(server: FakeServer | str, **settings: Any) -> AsyncIterator[OpenAIServer]:
    base_url = server if isinstance(server, str) else server.base_url
    made = OpenAIServer(base_url, **{"timeout": WAIT, **settings})
    try:
        yield made
    finally:
        await made.aclose()


@asynccontextmanager
async def listing(answer: Callable[[], web.Response]) -> AsyncIterator[str]:
    """A server that answers every GET with this, and every POST with a completion."""

    async def handle(request: web.Request) -> web.Response:
        if request.method == "GET":
            return answer()
        body = await request.json()
        return web.json_response({**completion("ok"), "model": body["model"]})

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


def models(*listed: dict[str, Any]) -> Callable[[], web.Response]:
    return lambda: web.json_response({"object": "list", "data": list(listed)})


def frames(*lines: str | dict[str, Any], done: bool = True) -> Any:
    """A stream of these events, exactly."""

    async def behave(
        server: FakeServer, request: web.Request, body: dict[str, Any]
    ) -> web.StreamResponse:
        response = await open_stream(request)
        for line in lines:
            if isinstance(line, str):
                await response.write(line.encode())
            else:
                await send(response, line)
        if done:
            await response.write(b"data: [DONE]\n\n")
        return response

    return behave


def plain(body: str | bytes, content_type: str = "application/json", code: int = 200) -> Any:
    """A whole answer of these bytes."""

    async def behave(server: FakeServer, request: web.Request, _: dict[str, Any]) -> web.Response:
        data = body.encode() if isinstance(body, str) else body
        return web.Response(body=data, content_type=content_type, status=code)

    return behave


async def whole(made: OpenAIServer, options: dict[str, Any] | None = None) -> Any:
    return await made.complete(MESSAGES, options or {})


async def streamed(made: OpenAIServer, options: dict[str, Any] | None = None) -> Any:
    return [step async for step in made.stream(MESSAGES, options or {})]


BOTH = pytest.mark.parametrize("run", [whole, streamed])
Run = Callable[[OpenAIServer], Awaitable[Any]]


async def failure(run: Run, server: FakeServer | str, **settings: Any) -> LocalModelError:
    """The error a call ends in; whatever it is, it shows no text of either side."""
    async with backend(server, **settings) as made:
        with pytest.raises(LocalModelError) as raised:
            await asyncio.wait_for(run(made), WAIT)
    for text in (str(raised.value), repr(raised.value)):
        assert SENT not in text
        assert RECEIVED not in text
    return raised.value


def unused_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


# -- answers --------------------------------------------------------------------------------


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


# -- what is sent ---------------------------------------------------------------------------


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


# -- failures -------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("model", ["fake", None])
async def test_refused_connection_is_unavailable(run, model):
    error = await failure(run, f"http://127.0.0.1:{unused_port()}/v1", model=model)
    assert isinstance(error, LocalModelUnavailable)


@BOTH
async def test_silent_server_is_a_timeout(run):
    async with fake_server(behaviour=hang) as server:
        error = await failure(run, server, timeout=0.2)
    assert isinstance(error, LocalModelTimeout)


async def test_stream_that_stops_moving_is_a_timeout():
    async with fake_server(behaviour=hang_mid_stream) as server:
        error = await failure(streamed, server, timeout=0.2)
    assert isinstance(error, LocalModelTimeout)


@BOTH
@pytest.mark.parametrize("code", [400, 413, 422])
async def test_refusal_is_told_with_its_status(run, code):
    said = {"error": {"message": RECEIVED, "type": "x", "code": code}}
    async with fake_server(behaviour=status(code, said)) as server:
        error = await failure(run, server)
    assert isinstance(error, LocalModelRefused)
    assert (error.status, error.too_long) == (code, False)
    assert str(code) in str(error)


VLLM = {
    "error": {
        "message": "This model's maximum context length is 512 tokens. However, you requested "
        f"{RECEIVED} 700 tokens in the messages. Please reduce the length of the input.",
        "type": "BadRequestError",
        "param": None,
        "code": 400,
    }
}
VLLM_FLAT = {"object": "error", **VLLM["error"]}  # before vLLM 0.10
LLAMA_CPP = {
    "error": {
        "code": 400,
        "message": "the request (700 tokens) exceeds the available size",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": 700,
        "n_ctx": 512,
    }
}
FASTCHAT = {
    "object": "error",
    "message": f"This model's maximum context length is 512 tokens. {RECEIVED}",
    "code": 40303,
}


@BOTH
@pytest.mark.parametrize("code", [401, 403, 404, 408, 409, 429])
async def test_what_is_wrong_between_proxy_and_server_is_not_the_clients_fault(run, code):
    async with fake_server(behaviour=status(code)) as server:
        error = await failure(run, server)
    assert isinstance(error, LocalModelUnavailable)


async def test_a_server_that_changed_its_model_is_asked_again():
    async def renamed(server, request, body):
        return await (status(404) if body["model"] == "old" else answer)(server, request, body)

    async with fake_server(behaviour=renamed) as server, backend(server) as made:
        made._listed = "old"
        with pytest.raises(LocalModelUnavailable):
            await whole(made)
        assert (await whole(made)).message["content"]


@BOTH
@pytest.mark.parametrize(
    "body",
    [VLLM, VLLM_FLAT, LLAMA_CPP, FASTCHAT],
    ids=["vllm", "vllm-flat", "llama.cpp", "fastchat"],
)
async def test_prompt_over_the_context_is_told_apart(run, body):
    async with fake_server(behaviour=status(400, body)) as server:
        error = await failure(run, server)
    assert isinstance(error, LocalModelRefused)
    assert error.too_long


@BOTH
@pytest.mark.parametrize("code", [500, 502, 503, 504])
async def test_servers_own_failure_is_unavailable(run, code):
    said = {"error": {"message": RECEIVED, "type": "x", "code": code}}
    async with fake_server(behaviour=status(code, said)) as server:
        error = await failure(run, server)
    assert isinstance(error, LocalModelUnavailable)


ILL_FORMED = {
    "cut-json": plain('{"choices": [{"message": {"content": "' + RECEIVED),
    "no-json": plain(RECEIVED),
    "empty": plain(""),
    "null": plain("null"),
    "list": plain("[]"),
    "string": plain(f'"{RECEIVED}"'),
    "no-choices": plain(json.dumps({"id": RECEIVED})),
    "empty-choices": plain(json.dumps({"choices": []})),
    "null-choices": plain(json.dumps({"choices": None})),
    "null-message": plain(json.dumps({"choices": [{"message": None}]})),
    "string-message": plain(json.dumps({"choices": [{"message": RECEIVED}]})),
    "string-usage": plain(json.dumps({**completion("x"), "usage": RECEIVED})),
    "html": plain(f"<html>{RECEIVED}</html>", "text/html"),
    "html-500": plain(f"<html>{RECEIVED}</html>", "text/html", 500),
    "not-utf8": plain(b'{"choices": "\xff\xfe"}'),
}


@pytest.mark.parametrize("name", ILL_FORMED)
async def test_answer_of_another_form_is_unavailable(name):
    async with fake_server(behaviour=ILL_FORMED[name]) as server:
        error = await failure(whole, server)
    assert isinstance(error, LocalModelUnavailable)


ILL_STREAMED = {
    "html": plain(f"<html>{RECEIVED}</html>", "text/html"),
    "whole-answer": plain(json.dumps(completion(RECEIVED))),
    "empty": plain("", "text/event-stream"),
    "only-done": frames(),
    "cut-json": frames('data: {"choices": [{"delta": {"content": "' + RECEIVED + "\n\n"),
    "no-json": frames(f"data: {RECEIVED}\n\n"),
    "null": frames("data: null\n\n"),
    "list": frames("data: []\n\n"),
    "string-delta": frames({"choices": [{"delta": RECEIVED}]}),
    "null-delta": frames({"choices": [{"delta": None}]}),
    "string-choices": frames({"choices": RECEIVED}),
    "not-utf8": plain(b'data: {"choices": "\xff\xfe"}\n\n', "text/event-stream"),
    "reset": die,
    "reset-in-the-middle": die_mid_stream,
    "clean-end-in-the-middle": end_mid_stream,
    "done-without-finish": frames(chunk({"content": RECEIVED})),
    "fastchat-error": frames(
        chunk({"content": "One"}), {"text": RECEIVED, "error_code": 50001}, chunk({}, "stop")
    ),
    "openai-error": frames(
        chunk({"content": "One"}), {"error": {"message": RECEIVED, "type": "x"}}
    ),
    "string-error": frames({"error": RECEIVED}),
    "error-event": frames('event: error\ndata: {"error": "' + RECEIVED + '"}\n\n'),
}


@pytest.mark.parametrize("name", ILL_STREAMED)
async def test_stream_of_another_form_or_cut_off_is_unavailable(name):
    async with fake_server(behaviour=ILL_STREAMED[name]) as server:
        error = await failure(streamed, server)
    assert isinstance(error, LocalModelUnavailable)


async def test_text_before_the_cut_is_handed_on_first():
    async with fake_server(behaviour=die_mid_stream) as server, backend(server) as made:
        steps = made.stream(MESSAGES, {})
        assert await anext(steps) == Delta({"content": "One "})
        with pytest.raises(LocalModelUnavailable):
            await anext(steps)


async def test_connection_reset_before_a_whole_answer_is_unavailable():
    async with fake_server(behaviour=die) as server:
        assert isinstance(await failure(whole, server), LocalModelUnavailable)


def sdk_errors() -> list[type[openai.OpenAIError]]:
    found: list[type[openai.OpenAIError]] = []
    queue = [openai.OpenAIError]
    while queue:
        kind = queue.pop()
        found.append(kind)
        queue += kind.__subclasses__()
    return sorted(set(found), key=lambda kind: kind.__name__)


def made_up(kind: type[openai.OpenAIError]) -> openai.OpenAIError:
    """An error of this class that holds the received text wherever it can."""
    request = httpx2.Request("POST", "http://127.0.0.1/v1")
    code = getattr(kind, "status_code", 500)
    given: dict[str, Any] = {
        "message": RECEIVED,
        "request": request,
        "response": httpx2.Response(
            code if isinstance(code, int) else 500, text=RECEIVED, request=request
        ),
        "body": {"message": RECEIVED},
    }
    wanted = inspect.signature(kind.__init__).parameters
    with suppress(TypeError):
        return kind(**{name: value for name, value in given.items() if name in wanted})
    error = kind.__new__(kind)
    Exception.__init__(error, RECEIVED)
    return error


@pytest.mark.parametrize("kind", sdk_errors(), ids=lambda kind: kind.__name__)
def test_every_error_of_the_sdk_is_mapped(kind):
    with pytest.raises(LocalModelError) as raised:
        _raise(made_up(kind))
    assert RECEIVED not in str(raised.value)
    if issubclass(kind, openai.APITimeoutError):
        assert isinstance(raised.value, LocalModelTimeout)
    status_code = getattr(kind, "status_code", None)
    if status_code in (400, 413, 422):
        assert isinstance(raised.value, LocalModelRefused)
        assert raised.value.status == status_code


def test_the_walk_finds_the_sdks_errors():
    names = {kind.__name__ for kind in sdk_errors()}
    assert {"APITimeoutError", "BadRequestError", "APIResponseValidationError"} <= names


# -- cancelling -----------------------------------------------------------------------------


async def disconnected(server: FakeServer) -> None:
    async with asyncio.timeout(WAIT):
        while not server.disconnects:
            await asyncio.sleep(0.01)


@BOTH
async def test_cancelled_call_closes_its_connection(run):
    async with fake_server(behaviour=hang) as server, backend(server) as made:
        task = asyncio.create_task(run(made))
        await asyncio.wait_for(server.started.wait(), WAIT)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await disconnected(server)


async def test_stream_cancelled_in_the_middle_closes_its_connection():
    async with fake_server(behaviour=hang_mid_stream) as server, backend(server) as made:
        seen = asyncio.Event()

        async def read() -> None:
            async for _ in made.stream(MESSAGES, {}):
                seen.set()

        task = asyncio.create_task(read())
        await asyncio.wait_for(seen.wait(), WAIT)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await disconnected(server)


async def test_stream_closed_or_dropped_by_its_reader_closes_its_connection():
    async with fake_server(behaviour=hang_mid_stream) as server, backend(server) as made:
        async for _ in made.stream(MESSAGES, {}):
            break
        await disconnected(server)


# -- readiness and context ------------------------------------------------------------------


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
