"""The remote writes as a stream: it is cut, left, or taken whole, and never reads who reads it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import openai
import pytest
from aiohttp import web

from extraction.backends.base import Usage
from perturb import EmbeddingTable
from proxy.config.settings import Remote
from proxy.errors import ApiError
from proxy.remote.guard import Clearance
from proxy.remote.upstream import Generation, RemoteClient
from tests.limits import LIMIT
from tests.proxy.chats import ANSWER, user
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.servers import (
    Behaviour,
    FakeServer,
    chunk,
    completion,
    die_mid_stream,
    end_mid_stream,
    fake_server,
    hang,
    hang_mid_stream,
    open_stream,
    send,
    status,
)

BODY: dict[str, Any] = {"model": "m", "messages": []}
WORD = "material "
USAGE = Usage(11, 3)  # as the fake remote states it


async def write_forever(
    server: FakeServer, request: web.Request, body: dict[str, Any]
) -> web.StreamResponse:
    """One word after the other, until nobody reads any more."""
    response = await open_stream(request)
    try:
        while True:
            await send(response, chunk({"content": WORD}))
            await asyncio.sleep(0)
    except ConnectionError:
        server.disconnects += 1
        raise


def steps(*sent: dict[str, Any], done: bool = True) -> Behaviour:
    async def behave(
        server: FakeServer, request: web.Request, body: dict[str, Any]
    ) -> web.StreamResponse:
        response = await open_stream(request)
        for step in sent:
            await send(response, step)
        if done:
            await response.write(b"data: [DONE]\n\n")
        return response

    return behave


@asynccontextmanager
async def remote(
    behaviour: Behaviour | None = None, **settings: Any
) -> AsyncIterator[tuple[FakeServer, RemoteClient]]:
    async with fake_server(behaviour=behaviour) as server, asyncio.timeout(LIMIT):
        fixed = {"base_url": server.base_url, "retries": 0, "timeout_seconds": LIMIT}
        client = RemoteClient(Remote(**{**fixed, **settings}))
        try:
            yield server, client
        finally:
            await client.aclose()


async def generate(client: RemoteClient, most: int | None = None) -> Generation:
    return await client.generate(BODY, Clearance((), (), ()), most=most)


async def test_an_answer_that_is_wanted_whole_is_not_streamed() -> None:
    async with remote() as (server, client):
        assert await generate(client) == Generation(ANSWER, usage=USAGE)
        assert server.bodies == [BODY]


async def test_a_stream_is_read_to_its_end() -> None:
    async with remote() as (server, client):
        assert await generate(client, most=1000) == Generation(ANSWER)
        assert server.bodies == [{**BODY, "stream": True}]


async def test_an_answer_is_cut_at_the_limit_and_its_connection_closed() -> None:
    async with remote(write_forever) as (server, client):
        assert await generate(client, most=100) == Generation((WORD * 100)[:100], "cut")
        while not server.disconnects:
            await asyncio.sleep(0.01)
        server.behaviour = None
        assert await generate(client, most=1000) == Generation(ANSWER)


async def test_an_answer_is_left_with_what_has_come_when_patience_ends() -> None:
    async with remote(hang_mid_stream, patience_seconds=0.5) as (server, client):
        assert await generate(client) == Generation("One ", "abandoned")
        while not server.disconnects:
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("retries", [0, 3])
async def test_patience_spans_silence_and_further_attempts(retries: int) -> None:
    async with remote(hang, patience_seconds=0.2) as (_, client):
        assert await generate(client) == Generation("", "abandoned")
    failing = {"retries": retries, "patience_seconds": 0.2}
    async with remote(status(503), **failing) as (_, client):
        if retries:
            assert await generate(client) == Generation("", "abandoned")
        else:
            with pytest.raises(ApiError):
                await generate(client)


async def test_json_in_place_of_a_stream_is_taken_as_it_is() -> None:
    async def whole(server: FakeServer, request: web.Request, body: Any) -> web.Response:
        return web.json_response(completion("A whole answer."))

    async with remote(whole) as (_, client):
        assert await generate(client, most=5) == Generation("A whole answer.", usage=USAGE)


async def test_a_model_that_refuses_streams_is_asked_for_whole_answers_from_then_on() -> None:
    async def refuse(server: FakeServer, request: web.Request, body: Any) -> web.Response:
        if "stream" not in body:
            return web.json_response(completion("A whole answer."))
        error = {"param": "stream", "code": "unsupported_value", "message": "verify first"}
        return web.json_response({"error": error}, status=400)

    async with remote(refuse) as (server, client):
        for _ in range(2):
            assert await generate(client, most=5) == Generation("A whole answer.", usage=USAGE)
        assert ["stream" in body for body in server.bodies] == [True, False, False]


@pytest.mark.parametrize(
    "behaviour",
    [
        die_mid_stream,
        end_mid_stream,
        steps(chunk({"content": "a"}), {"error": {"message": "upstream-secret"}}),
        steps({"object": "error", "code": 500}),
        steps({"text": "upstream-secret", "error_code": 50001}),
        steps(chunk({"content": 17})),
        steps({"choices": [17]}),
    ],
)
async def test_a_stream_that_breaks_is_a_failure(behaviour: Behaviour) -> None:
    async with remote(behaviour) as (_, client):
        with pytest.raises(ApiError) as info:
            await generate(client, most=1000)
        assert (info.value.status, info.value.code) == (502, "remote_error")
        assert "secret" not in f"{info.value.message} {info.value.upstream}"


async def test_a_stream_may_end_without_a_mark_or_without_a_reason() -> None:
    for finished in (
        steps(chunk({"content": "a"}, "stop"), done=False),
        steps(chunk({"content": "a"})),
    ):
        async with remote(finished) as (_, client):
            assert await generate(client, most=1000) == Generation("a")


async def test_a_stream_takes_no_longer_than_a_whole_answer_may() -> None:
    """Events come all the time, and none of them holds text."""
    empty = {**chunk({}), "choices": []}

    async def trickle(server: FakeServer, request: web.Request, body: Any) -> Any:
        response = await open_stream(request)
        while True:
            await send(response, empty)
            await asyncio.sleep(0.01)

    async with remote(trickle, timeout_seconds=0.5) as (_, client):
        with pytest.raises(ApiError) as info:
            await generate(client, most=1000)
        assert (info.value.status, info.value.code) == (504, "remote_timeout")


class TestThroughTheProxy:
    """A context of 512 tokens leaves the generation 120 at most, and three times as much where
    only its relevant sentences are used."""

    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"local": {"context_tokens": 512, "default_max_tokens": 128}}

    async def test_a_cut_answer_is_used_and_the_receipt_and_the_log_say_so(
        self, proxy: Proxy
    ) -> None:
        proxy.remote.behaviour = write_forever
        done = await proxy.client().chat.completions.create(
            model=MODEL,
            messages=user(),
            max_tokens=200,
            extra_body={"inferdpt": {"receipt": "full"}},
        )
        receipt = (done.model_extra or {})["inferdpt"]
        assert "the remote answered" in receipt["remote"][0]
        assert "the connection was closed" in receipt["remote"][0]
        generation = receipt["exchanges"][0]["generation"]
        assert generation == (WORD * 100)[: len(generation)]
        assert WORD * 10 in proxy.local.bodies[-1]["messages"][-1]["content"]
        (line,) = [line for line in proxy.log if '"remote_endings"' in line]
        assert '"remote_endings":["cut"]' in line
        # What came is what history will show the remote again.
        turns = [*user(), {"role": "assistant", "content": ANSWER}, *user("And then?")]
        proxy.remote.behaviour = None
        await proxy.client().chat.completions.create(model=MODEL, messages=turns)
        assert proxy.sent()[1]["content"] == generation.strip()

    async def test_where_an_answer_is_cut_says_nothing_about_the_text(self, proxy: Proxy) -> None:
        proxy.remote.behaviour = write_forever
        sizes = set()
        for text in ("Rain.", "The board met on Monday morning. " * 30):
            done = await proxy.client().chat.completions.create(
                model=MODEL,
                messages=[{"role": "system", "content": text}, *user(text)],
                max_tokens=200,
                extra_body={"inferdpt": {"receipt": "full"}},
            )
            receipt = (done.model_extra or {})["inferdpt"]
            sizes.add(len(receipt["exchanges"][0]["generation"]))
        assert len(sizes) == 1

    async def test_a_short_answer_is_not_streamed(self, proxy: Proxy) -> None:
        await proxy.client().chat.completions.create(model=MODEL, messages=user(), max_tokens=60)
        assert "stream" not in proxy.remote.bodies[-1]


async def test_sentences_that_are_dropped_leave_more_to_be_read(table: EmbeddingTable) -> None:
    sizes = []
    for extraction in ("all", "relevant"):
        local = {"context_tokens": 512, "extraction": extraction}
        async with running_proxy(table, {"local": local}) as proxy:
            proxy.remote.behaviour = write_forever
            done = await proxy.client().chat.completions.create(
                model=MODEL,
                messages=user(),
                extra_body={"inferdpt": {"receipt": "full"}},
            )
            receipt = (done.model_extra or {})["inferdpt"]
            sizes.append(len(receipt["exchanges"][0]["generation"]))
    assert sizes[1] == 3 * sizes[0]


class TestPatience:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"remote": {"patience_seconds": 0.5}}

    async def test_without_a_word_the_local_model_answers_alone(self, proxy: Proxy) -> None:
        proxy.remote.behaviour = hang
        done = await proxy.client().chat.completions.create(model=MODEL, messages=user())
        (told,) = (done.model_extra or {})["inferdpt"]["remote"]
        assert "worked alone" in told
        assert "patience_seconds" in told
        assert proxy.local.bodies[-1]["messages"] == user()

    async def test_a_refusal_of_the_guard_is_no_matter_of_patience(self, proxy: Proxy) -> None:
        with pytest.raises(openai.InternalServerError) as info:
            await proxy.client().chat.completions.create(
                model=MODEL,
                messages=user("They met on Monday to discuss the merger with a competitor."),
                extra_body={"inferdpt": {"instruction": "Why they met on Monday to discuss it"}},
            )
        assert info.value.code == "guard_refused"
        assert proxy.remote.received == []
