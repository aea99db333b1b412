"""Admission: some requests are served and some wait, and no client holds up another."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import openai
import pytest

from perturb import EmbeddingTable
from proxy.access import admission
from proxy.access.admission import SMALL_BODY, Hold, Pool
from proxy.api.app_keys import METRICS
from proxy.errors import ApiError
from tests import servers
from tests.limits import LIMIT
from tests.proxy.chats import user
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.servers import FakeServer

CHAT = {"model": MODEL, "messages": user("The board met on Monday.")}


def pool(units: int = 2, *, each: int = 9, queue: int = 9, seconds: float = LIMIT) -> Pool:
    return Pool(units, each=each, queue=queue, seconds=seconds)


def start(wish: Coroutine[Any, Any, Hold]) -> asyncio.Task[Hold]:
    return asyncio.create_task(wish)


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


class TestPool:
    async def test_a_larger_pool_serves_at_once_those_who_wait(self) -> None:
        places = pool(1)
        held = await places.take("a")
        waiting = start(places.take("b"))
        await settle()
        assert not waiting.done()
        places.resize(pool(2))
        await asyncio.wait_for(waiting, LIMIT)
        held.shrink(0)
        await asyncio.wait_for(places.take("c"), LIMIT)

    async def test_a_smaller_pool_serves_nobody_until_what_is_held_runs_out(self) -> None:
        places = pool(3)
        held = [await places.take("a") for _ in range(3)]
        places.resize(pool(1))
        waiting = start(places.take("b"))
        for hold in held[:2]:
            hold.shrink(0)
            await settle()
            assert not waiting.done()
        held[2].shrink(0)
        await asyncio.wait_for(waiting, LIMIT)

    async def test_who_waits_for_more_than_a_smaller_pool_has_gets_all_of_it(self) -> None:
        places = pool(8, each=8)
        held = await places.take("a", 8)
        waiting = start(places.take("b", 6))
        await settle()
        places.resize(pool(4, each=2))
        held.shrink(0)
        assert (await asyncio.wait_for(waiting, LIMIT)).units == 2

    async def test_units_come_back(self) -> None:
        places = pool(1)
        for _ in range(3):
            hold = await places.take("a")
            hold.shrink(0)
            hold.shrink(0)  # giving back twice gives back once
        held = await places.take("a")
        waiting = start(places.take("a"))
        await settle()
        assert (places.waiting, waiting.done()) == (1, False)
        held.shrink(0)
        await waiting
        assert places.waiting == 0

    async def test_one_client_cannot_hold_all(self) -> None:
        places = pool(3, each=2)
        await places.take("a")
        await places.take("a")
        third = start(places.take("a"))
        await settle()
        assert not third.done()
        await places.take("b")  # while a waits, what is free is b's

    async def test_the_client_that_holds_least_comes_first(self) -> None:
        places = pool(3)
        held = [await places.take("a") for _ in range(3)]
        order: list[str] = []

        async def take(client: str) -> None:
            await places.take(client)
            order.append(client)

        jobs = [asyncio.create_task(take(client)) for client in "aaabbc"]
        await settle()
        for hold in held:
            hold.shrink(0)
            await settle()
        assert order == ["b", "c", "a"]
        for job in jobs:
            job.cancel()

    async def test_a_full_queue_drops_the_last_of_the_longest(self) -> None:
        places = pool(1, queue=3)
        await places.take("a")
        burst = [start(places.take("a")) for _ in range(3)]
        await settle()
        other = start(places.take("b"))
        await settle()
        assert [task.done() for task in burst] == [False, False, True]
        assert not other.done()
        with pytest.raises(ApiError) as info:
            await burst[2]
        assert info.value.status == 429
        assert info.value.response_headers()["retry-after"]
        with pytest.raises(ApiError):  # its own newcomer is the last of the longest
            await places.take("a")

    async def test_without_a_queue_there_is_no_waiting(self) -> None:
        places = pool(1, queue=0)
        await places.take("a")
        with pytest.raises(ApiError):
            await places.take("b")

    async def test_the_longest_wait_ends_with_429(self) -> None:
        places = pool(1, seconds=0.01)
        held = await places.take("a")
        with pytest.raises(ApiError) as info:
            await places.take("b")
        assert info.value.status == 429
        assert places.waiting == 0
        held.shrink(0)
        await places.take("c")

    async def test_who_gives_up_leaves_no_trace(self) -> None:
        places = pool(1)
        held = await places.take("a")
        gone, stays = start(places.take("b")), start(places.take("c"))
        await settle()
        gone.cancel()
        held.shrink(0)  # before the cancelled task has run
        await asyncio.wait([gone])
        held = await stays
        late = start(places.take("d"))
        await settle()
        held.shrink(0)
        late.cancel()  # it has its place and does not know yet
        await asyncio.wait([late])
        assert late.cancelled()
        await places.take("e")

    async def test_a_large_wish_is_not_passed_by_small_ones_forever(self) -> None:
        memory = pool(10, each=8)
        held = await memory.take("a", 5)
        large = start(memory.take("b", 8))
        await settle()
        small = start(memory.take("c", 1))
        await settle()
        assert not large.done()
        assert not small.done()
        held.shrink(0)
        assert (await large).units == 8
        await small

    async def test_a_wish_for_more_than_there_is_gets_what_one_may_hold(self) -> None:
        assert (await pool(10, each=8).take("a", 100)).units == 8


async def post(session: aiohttp.ClientSession, proxy: Proxy, body: Any = CHAT) -> int:
    url = f"{proxy.base_url}/chat/completions"
    async with session.post(url, json=body) as response:
        await response.read()
        return response.status


@asynccontextmanager
async def stalled(proxy: Proxy, count: int, sent: bytes = b"") -> AsyncIterator[list[Any]]:
    """Connections that send the headers of a request and of its body only so much."""
    host, port = proxy.root.removeprefix("http://").split(":")
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1000000\r\n\r\n"
    opened = [await asyncio.open_connection(host, int(port)) for _ in range(count)]
    try:
        for _, writer in opened:
            writer.write(head.encode() + sent)
            await writer.drain()
        async with asyncio.timeout(LIMIT):
            while proxy.app[METRICS].busy < count:
                await asyncio.sleep(0.01)
        yield opened
    finally:
        for _, writer in opened:
            writer.close()


class TestBodies:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"server": {"body_seconds": 3 * LIMIT}}  # slow bodies stay as long as the test

    async def test_slow_bodies_hold_up_nobody(self, proxy: Proxy) -> None:
        async with stalled(proxy, 100), aiohttp.ClientSession() as session:
            assert await post(session, proxy) == 200
            async with session.get(f"{proxy.root}/ready") as response:
                assert response.status == 200

    async def test_they_do_not_hold_the_memory_either(
        self, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """More slow bodies than there is memory for whole ones: small ones need none of it."""
        monkeypatch.setattr(admission, "STALLED_SECONDS", 3 * LIMIT)
        sent = b"x" * (SMALL_BODY + 1)
        async with stalled(proxy, 100, sent), aiohttp.ClientSession() as session:
            assert await post(session, proxy) == 200

    async def test_large_bodies_wait_for_memory_and_get_it(self, table: EmbeddingTable) -> None:
        settings = {"limits": {"held_bytes": 300_000, "body_bytes": 300_000}}
        large = {**CHAT, "metadata": {"a": "x" * 200_000}}
        async with running_proxy(table, settings) as proxy, aiohttp.ClientSession() as session:
            jobs = [post(session, proxy, large) for _ in range(8)]
            assert set(await asyncio.gather(*jobs)) == {200}

    async def test_a_body_without_a_length_is_read(self, proxy: Proxy) -> None:
        async def pieces() -> AsyncIterator[bytes]:
            data = json.dumps({**CHAT, "metadata": {"a": "x" * 200_000}}).encode()
            for i in range(0, len(data), 10_000):
                yield data[i : i + 10_000]

        async with aiohttp.ClientSession() as session:
            url = f"{proxy.base_url}/chat/completions"
            async with session.post(url, data=pieces()) as response:
                assert response.status == 200

    @pytest.mark.parametrize("compress", [None, "gzip"])
    async def test_a_body_over_the_limit_is_413(
        self, table: EmbeddingTable, compress: str | None
    ) -> None:
        settings = {"limits": {"body_bytes": 100_000}}
        body = b" " * 2_000_000  # two kilobytes when compressed
        async with running_proxy(table, settings) as proxy, aiohttp.ClientSession() as session:
            url = f"{proxy.base_url}/chat/completions"
            async with session.post(url, data=body, compress=compress) as response:
                assert response.status == 413

    async def test_a_body_that_does_not_arrive_is_408(self, table: EmbeddingTable) -> None:
        settings = {"server": {"body_seconds": 0.5}}
        async with running_proxy(table, settings) as proxy, stalled(proxy, 1, b"{") as opened:
            answer = await opened[0][0].readuntil(b"}}")
        assert b" 408 " in answer.splitlines()[0]
        assert b"request_timeout" in answer

    async def test_who_holds_memory_and_sends_nothing_loses_it(
        self, table: EmbeddingTable, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Memory is held for the declared length, so the body must come."""
        monkeypatch.setattr(admission, "STALLED_SECONDS", 2.0)
        settings = {"limits": {"held_bytes": 1_000_000, "body_bytes": 1_000_000}}
        large = {**CHAT, "metadata": {"a": "x" * 200_000}}
        sent = b"x" * (SMALL_BODY + 1)
        async with (
            asyncio.timeout(LIMIT),
            running_proxy(table, settings) as proxy,
            stalled(proxy, 1, sent) as opened,
            aiohttp.ClientSession() as session,
        ):
            assert await post(session, proxy, large) == 200
            assert b" 408 " in await opened[0][0].readline()

    @pytest.mark.parametrize("compress", [None, "gzip"])
    async def test_a_low_limit_holds_for_bodies_that_come_with_their_heads(
        self, table: EmbeddingTable, compress: str | None
    ) -> None:
        settings = {"limits": {"body_bytes": 1000}}
        async with running_proxy(table, settings) as proxy, aiohttp.ClientSession() as session:
            for size, status in ((100, 200), (30_000, 413)):
                body = {"model": MODEL, "messages": user("x" * size)}
                async with session.post(
                    f"{proxy.base_url}/chat/completions", json=body, compress=compress
                ) as reply:
                    assert reply.status == status

    async def test_all_of_a_body_has_one_time(self, table: EmbeddingTable) -> None:
        """Check that a body that comes drop by drop, memory or not, is over after `body_seconds`:
        before one that began later, though still before the first took memory."""
        settings = {"server": {"body_seconds": 3.0}}
        async with (
            asyncio.timeout(LIMIT),
            running_proxy(table, settings) as proxy,
            stalled(proxy, 1, b"x" * 60_000) as opened,
        ):
            ((reader, writer),) = opened
            answer = asyncio.create_task(reader.readline())
            await asyncio.sleep(1.0)
            async with stalled(proxy, 1) as ((other, _),):
                later = asyncio.create_task(other.readline())
                await asyncio.sleep(1.0)
                writer.write(b"x" * 10_000)  # now it holds memory
                while not answer.done():
                    writer.write(b"x")
                    await asyncio.wait([answer], timeout=0.1)
                assert b" 408 " in answer.result()
                assert not later.done()
                assert b" 408 " in await later


class TestPlaces:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"limits": {"concurrent_requests": 3, "concurrent_per_client": 2}}

    async def test_one_clients_burst_leaves_a_place_for_others(
        self, table: EmbeddingTable, settings: dict[str, Any]
    ) -> None:
        keys = {"a": "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"}
        keys["b"] = "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d"
        entries = [{"tenant": name, "sha256": digest} for name, digest in keys.items()]
        settings = {**settings, "server": {"keys": entries}}
        async with asyncio.timeout(LIMIT), running_proxy(table, settings) as proxy:

            async def hang_for_a(server: FakeServer, request: Any, body: Any) -> Any:
                if len(server.bodies) <= 2:
                    await server.release.wait()
                return await servers.answer(server, request, body)

            proxy.remote.behaviour = hang_for_a
            a, b = proxy.client(api_key="a"), proxy.client(api_key="b")
            burst = [asyncio.create_task(a.chat.completions.create(**CHAT)) for _ in range(10)]
            while len(proxy.remote.bodies) < 2:
                await asyncio.sleep(0.01)
            await b.chat.completions.create(**CHAT)
            assert len(proxy.remote.bodies) == 3
            assert not any(job.done() for job in burst)
            proxy.remote.release.set()
            await asyncio.gather(*burst)

    async def test_waiting_shows_and_ends_when_the_client_goes(self, proxy: Proxy) -> None:
        proxy.remote.behaviour = servers.hang
        async with asyncio.timeout(LIMIT), aiohttp.ClientSession() as session:
            jobs = [asyncio.create_task(post(session, proxy)) for _ in range(5)]
            while await figure(session, proxy, "inferdpt_requests_waiting") != 3:
                await asyncio.sleep(0.01)
            async with session.get(f"{proxy.root}/health") as response:
                assert response.status == 200
            for job in jobs[2:]:
                job.cancel()
            while await figure(session, proxy, "inferdpt_requests_waiting") != 0:
                await asyncio.sleep(0.01)
            proxy.remote.release.set()
            assert await asyncio.gather(*jobs[:2]) == [200, 200]
            proxy.remote.behaviour = None
            assert await post(session, proxy) == 200
            waited = 'inferdpt_stage_seconds_count{stage="queue"}'
            assert await figure(session, proxy, waited) >= 3

    async def test_a_stream_holds_its_place_until_it_ends(self, proxy: Proxy) -> None:
        proxy.local.behaviour = servers.hang_mid_stream
        async with asyncio.timeout(LIMIT):
            client = proxy.client()
            streams = [await client.chat.completions.create(**CHAT, stream=True) for _ in range(2)]
            third = asyncio.create_task(client.chat.completions.create(**CHAT))
            async with aiohttp.ClientSession() as session:
                while await figure(session, proxy, "inferdpt_requests_waiting") != 1:
                    await asyncio.sleep(0.01)
            assert len(proxy.local.bodies) == 2
            proxy.local.behaviour = None
            proxy.local.release.set()
            for stream in streams:
                async for _ in stream:
                    pass
            await third


async def figure(session: aiohttp.ClientSession, proxy: Proxy, name: str) -> float:
    """One figure of the metrics; 0 where it is not there yet."""
    async with session.get(f"{proxy.root}/metrics") as response:
        lines = (await response.text()).splitlines()
    return next((float(line.split()[-1]) for line in lines if line.startswith(name + " ")), 0)


@pytest.mark.parametrize("stream", [False, True])
async def test_a_hundred_requests_at_once_are_all_answered(proxy: Proxy, stream: bool) -> None:
    client = proxy.client()

    async def one(i: int) -> None:
        messages = user(f"The board met on day {i} of the month.")
        done = await client.chat.completions.create(model=MODEL, messages=messages, stream=stream)
        if isinstance(done, openai.AsyncStream):
            assert [chunk async for chunk in done]

    async with asyncio.timeout(3 * LIMIT):
        await asyncio.gather(*map(one, range(100)))
