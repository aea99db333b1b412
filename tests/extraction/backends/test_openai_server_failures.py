"""The client of the local server: how each failure comes out, and that who goes away hangs up."""

from __future__ import annotations

import asyncio
import json

import aiohttp
import pytest
from aiohttp.http_exceptions import HttpProcessingError

from extraction.backends.base import Delta
from extraction.backends.openai_server import _map_errors
from extraction.errors import (
    LocalModelError,
    LocalModelRefused,
    LocalModelTimeout,
    LocalModelUnavailable,
)
from extraction.http.client import HttpError, TimedOut, map_errors
from tests.extraction.local_servers import (
    BOTH,
    MESSAGES,
    RECEIVED,
    backend,
    failure,
    frames,
    plain,
    streamed,
    unused_port,
    whole,
)
from tests.limits import LIMIT
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
    status,
)


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


def kinds(root: type[Exception]) -> list[type[Exception]]:
    """A class and all that is derived from it."""
    found = [root]
    for kind in found:
        found += [new for new in kind.__subclasses__() if new not in found]
    return sorted(found, key=lambda kind: kind.__name__)


@pytest.mark.parametrize("kind", kinds(HttpError), ids=lambda kind: kind.__name__)
def test_every_error_of_the_client_is_mapped(kind):
    with pytest.raises(LocalModelError) as raised, _map_errors("an answer"):
        raise kind("the words of the client")
    assert isinstance(raised.value, LocalModelTimeout) == (kind is TimedOut)


def made_up(kind: type[Exception]) -> Exception:
    """An error of this class that holds the received text."""
    error = kind.__new__(kind)
    Exception.__init__(error, RECEIVED)
    return error


LIBRARY = [*kinds(aiohttp.ClientError), *kinds(HttpProcessingError), TimeoutError, OSError]


@pytest.mark.parametrize("kind", LIBRARY, ids=lambda kind: kind.__name__)
def test_every_error_of_the_library_is_mapped(kind):
    with pytest.raises(HttpError) as raised, map_errors():
        raise made_up(kind)
    assert RECEIVED not in str(raised.value)
    late = issubclass(kind, TimeoutError) and kind is not aiohttp.ConnectionTimeoutError
    assert isinstance(raised.value, TimedOut) == late


def test_the_walk_finds_the_librarys_errors():
    assert {"ServerDisconnectedError", "BadStatusLine"} <= {kind.__name__ for kind in LIBRARY}


async def disconnected(server: FakeServer) -> None:
    async with asyncio.timeout(LIMIT):
        while not server.disconnects:
            await asyncio.sleep(0.01)


@BOTH
async def test_cancelled_call_closes_its_connection(run):
    async with fake_server(behaviour=hang) as server, backend(server) as made:
        task = asyncio.create_task(run(made))
        await asyncio.wait_for(server.started.wait(), LIMIT)
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
        await asyncio.wait_for(seen.wait(), LIMIT)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await disconnected(server)


async def test_stream_closed_or_dropped_by_its_reader_closes_its_connection():
    async with fake_server(behaviour=hang_mid_stream) as server, backend(server) as made:
        async for _ in made.stream(MESSAGES, {}):
            break
        await disconnected(server)
