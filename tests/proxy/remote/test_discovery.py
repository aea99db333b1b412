"""Models that a remote lists: what is read from the list, whose they are, and what is sent."""

from __future__ import annotations

import asyncio
import random
import re
import string
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import openai
import pytest
from aiohttp import web

from perturb import EmbeddingTable
from proxy.access.auth import Grant
from proxy.api.app_keys import KEYRING
from proxy.config.settings import load_config
from proxy.errors import ApiError
from proxy.remote.remotes import MOST, NAME, REFRESH_SECONDS, Remotes, read_names
from tests.limits import LIMIT
from tests.proxy.chats import user
from tests.proxy.conftest import MODEL, Proxy, merge, running_proxy
from tests.proxy.gateway.remotes import SETTINGS


class Lister:
    """A real server that lists what it is told to, and keeps the path of every request."""

    def __init__(self) -> None:
        self.listed: Any = [{"id": "gpt-4o"}, {"id": "o3-mini"}]
        self.answer: web.Response | None = None
        self.asked: list[str] = []
        self.base_url = ""

    async def handle(self, request: web.Request) -> web.Response:
        self.asked.append(f"{request.method} {request.raw_path}")
        return self.answer or web.json_response({"object": "list", "data": self.listed})

    def names(self, *names: Any) -> None:
        self.listed = [{"id": name, "object": "model"} for name in names]


@asynccontextmanager
async def serving() -> AsyncIterator[Lister]:
    lister = Lister()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", lister.handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    lister.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield lister
    finally:
        await runner.cleanup()


@pytest.fixture
async def lister() -> AsyncIterator[Lister]:
    async with serving() as server:
        yield server


@pytest.fixture
async def other() -> AsyncIterator[Lister]:
    async with serving() as server:
        yield server


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def finding(
    clock: Clock | None = None, remote: Any = None, **remotes: Any
) -> AsyncIterator[Remotes]:
    settings = {"remote": remote or {"models": {}}, "remotes": remotes}
    made = Remotes(load_config(None, settings, {}).every_remote, clock or Clock())
    await made.discover()
    try:
        yield made
    finally:
        await made.aclose()


async def missing(remotes: Remotes, name: str) -> bool:
    try:
        await remotes.find(name)
    except ApiError as exc:
        return exc.status == 404
    return False


async def test_all_that_a_remote_lists_is_served(lister: Lister) -> None:
    async with finding(remote={"base_url": lister.base_url, "models": "discover"}) as remotes:
        assert remotes.models == ("gpt-4o", "o3-mini")
        route = await remotes.find("o3-mini")
        assert (route.remote.alias, route.model) == ("default", "o3-mini")
        assert await missing(remotes, "gpt-5")
    assert lister.asked == ["GET /v1/models"]


async def test_a_named_remotes_models_have_its_alias(lister: Lister) -> None:
    lister.names("a/b", "c")
    async with finding(far={"base_url": lister.base_url}) as remotes:  # discover is the default
        assert remotes.models == ("far/a/b", "far/c")
        assert (await remotes.find("far/a/b")).model == "a/b"
        assert await missing(remotes, "c")


async def test_patterns_select_and_names_need_no_list(lister: Lister) -> None:
    lister.names("gpt-4o", "gpt-4o-mini", "o3-mini", "o3", "whisper-1")
    models = ["whisper-9", "o3*", "*-mini"]
    async with finding(remote={"base_url": lister.base_url, "models": models}) as remotes:
        assert remotes.models == ("whisper-9", "gpt-4o-mini", "o3-mini", "o3")
        assert await missing(remotes, "whisper-1")
        assert (await remotes.find("whisper-9")).model == "whisper-9"
    async with finding(far={"base_url": lister.base_url, "models": ["x-1", "o3"]}) as remotes:
        assert remotes.models == ("far/x-1", "far/o3")
    assert len(lister.asked) == 1  # without a pattern there is nothing to ask


async def test_no_remote_takes_anothers_name(lister: Lister, other: Lister) -> None:
    """A hostile list holds the names of others: it serves them under its own alias, or not."""
    taken = ("gpt-4o", "mine", "far/c", "near/x", "own")
    lister.names(*taken)
    other.names(*taken)
    default = {"base_url": lister.base_url, "models": ["*"]}
    far = {"base_url": other.base_url, "models": "discover"}
    near = {"base_url": "http://127.0.0.1:9/v1", "models": {"mine": "m", "gpt-4o": "g"}}
    async with finding(remote=default, far=far, near=near) as remotes:
        owners = {name: (await remotes.find(name)).remote.alias for name in remotes.models}
        assert owners == {
            "mine": "near",
            "gpt-4o": "near",
            "own": "default",
            **{f"far/{name}": "far" for name in taken},
        }
        assert await missing(remotes, "far/c/d")
        assert await missing(remotes, "near/x")


async def test_an_unknown_name_asks_again_at_most_every_few_minutes(lister: Lister) -> None:
    clock = Clock()
    far = {"base_url": lister.base_url, "models": ["gpt-*"]}
    async with finding(clock, far=far) as remotes:
        lister.names("gpt-4o", "gpt-5")
        assert await missing(remotes, "far/gpt-5")
        assert len(lister.asked) == 1
        clock.now = REFRESH_SECONDS
        for unasked in ("gpt-5", "far/other", "near/gpt-5", "far/gpt-5 ", "far/gpt-" + "x" * 200):
            assert await missing(remotes, unasked)  # no list could have it
        assert len(lister.asked) == 1
        found = await asyncio.gather(*(remotes.find("far/gpt-5") for _ in range(20)))
        assert {route.model for route in found} == {"gpt-5"}
        assert len(lister.asked) == 2
        assert await missing(remotes, "far/gpt-6")
        assert len(lister.asked) == 2


@pytest.mark.parametrize(
    "answer",
    [
        web.Response(status=500, text="raw-secret"),
        web.Response(text="raw-secret"),
        web.json_response([1]),
        web.json_response({"data": {"id": "x"}}),
        web.json_response({"data": ["x"]}),
        web.json_response({"data": [{"id": "x"}] * 250_000}),
        web.Response(status=302, headers={"Location": "/v1/raw-secret"}),
    ],
    ids=["500", "no JSON", "no object", "no list", "no models", "too long", "redirect"],
)
async def test_a_list_that_cannot_be_read_changes_nothing(
    lister: Lister, answer: web.Response, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    async with finding(clock, far={"base_url": lister.base_url}) as remotes:
        lister.answer, clock.now = answer, REFRESH_SECONDS
        assert await missing(remotes, "far/new")
        assert remotes.models == ("far/gpt-4o", "far/o3-mini")
    assert len(lister.asked) == 2
    assert "remotes.far: its" in caplog.text
    assert "raw-secret" not in caplog.text


async def test_names_of_another_form_are_left_out(lister: Lister) -> None:
    good = ["a", "A.b_c:d/e@f+g-h", "x" * 128]
    bad = ["", " a", "a b", "a\n", "a\x1b[31m", "é", "a\u202e", "x" * 129, "-a", "/a", None, 5, {}]
    bad += ["a\u0000", "${jndi}", "<b>", "a?b", "a#b", "a%20b", 'a"', "\U0001f600"]
    lister.names(*bad, *good, *good)
    async with finding(far={"base_url": lister.base_url}) as remotes:
        assert remotes.models == tuple(f"far/{name}" for name in good)


def test_any_name_that_is_read_has_the_strict_form() -> None:
    made = random.Random(5)
    characters = string.printable + "äß\u200b\u202e\ud800"
    seen = 0
    for _ in range(20_000):
        name = "".join(made.choices(characters, k=made.randrange(1, 4)))
        found = read_names({"data": [{"id": name}]})
        assert found in ([], [name])
        strict = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._:/@+\-]*", name, re.ASCII) is not None
        assert bool(found) == strict == bool(NAME.fullmatch(name))
        seen += strict
    assert seen > 1_000


async def test_a_long_list_is_cut(lister: Lister) -> None:
    lister.names(*(f"m{i}" for i in range(MOST + 500)))
    async with finding(far={"base_url": lister.base_url}) as remotes:
        assert len(remotes.models) == MOST


async def test_a_remote_that_is_down_stops_nothing(lister: Lister) -> None:
    clock = Clock()
    lister.answer = web.Response(status=503)
    near = {"base_url": "http://127.0.0.1:9/v1", "models": {"m": "n"}}
    async with finding(clock, far={"base_url": lister.base_url}, near=near) as remotes:
        assert remotes.models == ("m",)
        lister.answer, clock.now = None, REFRESH_SECONDS
        assert (await remotes.find("far/gpt-4o")).model == "gpt-4o"


@pytest.fixture
def settings(lister: Lister) -> dict[str, Any]:
    lister.names("gpt-4o", "o3-mini", "raw name")
    return merge(SETTINGS, {"remotes": {"far": {"base_url": lister.base_url, "retries": 0}}})


async def test_the_proxy_lists_concrete_names(proxy: Proxy) -> None:
    client = proxy.client()
    async with asyncio.timeout(LIMIT):
        listed = [model.id async for model in client.models.list()]
    assert listed == [MODEL, "org/other", "far/gpt-4o", "far/o3-mini"]
    assert (await client.models.retrieve("far/o3-mini")).id == "far/o3-mini"
    with pytest.raises(openai.NotFoundError):
        await client.models.retrieve("far/raw name")


async def test_a_name_that_is_not_on_the_list_never_leaves(proxy: Proxy, lister: Lister) -> None:
    """Not even one of the strict form: it could spell what a client knows."""
    for model in ("far/JaneDoe-4095260993934932", "far/Jane Doe", "JaneDoe", "far/gpt-4o/JaneDoe"):
        with pytest.raises(openai.NotFoundError) as info:
            await proxy.client().chat.completions.create(model=model, messages=user("Hi"))
        assert "Jane" not in str(info.value)
    sent = "\n".join(lister.asked) + b"\n".join(proxy.remote.received).decode()
    assert "Jane" not in sent
    assert lister.asked == ["GET /v1/models"]
    assert not any("Jane" in line for line in proxy.log)


async def test_keys_are_limited_to_models_by_the_clients_names(
    table: EmbeddingTable, settings: dict[str, Any]
) -> None:
    async with running_proxy(table, settings) as proxy:
        _, key = await proxy.app[KEYRING].create("a", Grant(models=("far/gpt-4o",)))
        client = proxy.client(api_key=key)
        assert [model.id async for model in client.models.list()] == ["far/gpt-4o"]
        with pytest.raises(openai.NotFoundError):
            await client.chat.completions.create(model="far/o3-mini", messages=user("Hi"))


async def test_a_remote_of_the_messages_api_is_asked_for_its_whole_list(lister: Lister) -> None:
    lister.names("claude-opus", "claude-haiku")
    far = {"base_url": lister.base_url, "api": "messages", "models": ["*-haiku"]}
    async with finding(far=far) as remotes:
        assert remotes.models == ("far/claude-haiku",)
    assert lister.asked == ["GET /v1/models?limit=1000"]
