"""What asks under a condition, and the servers that it asks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from perturb import load_table
from proxy.advice.conditions import (
    TARGETS,
    Ask,
    Condition,
    Served,
    ask_all,
    list_points,
    read_point,
    running_conditions,
    serve_model,
)
from proxy.advice.texts import read_tasks
from proxy.errors import ConfigError
from tests.servers import FakeServer, fake_server


@asynccontextmanager
async def asking(
    targets: Sequence[Any] = TARGETS, mechanisms: Sequence[str] = (), **behaviour: Any
) -> AsyncIterator[tuple[FakeServer, FakeServer, Ask]]:
    """Run a local and a remote server, and what asks them; `behaviour` is the remote's."""
    async with (
        fake_server() as own,
        fake_server(**behaviour) as other,
        running_conditions(
            load_table(),
            Served(own.base_url, "m", "own-key"),
            Served(other.base_url, "m", "other-key"),
            mechanisms,
            targets,
        ) as ask,
    ):
        yield own, other, ask


def test_a_point_is_a_name_and_a_number() -> None:
    assert read_point("surrogate=12") == ("surrogate", 12)
    for text in ("surrogate", "surrogate=", "surrogate=twelve"):
        with pytest.raises(ValueError, match="could not convert"):
            read_point(text)


def test_a_condition_names_its_candidates() -> None:
    found = list_points([("surrogate", 0)], ["all"], [1, 2])
    assert [each.name for each in found] == ["surrogate 0, all", "surrogate 0, all, best of 2"]


def test_a_key_is_not_shown() -> None:
    assert "secret" not in repr(Served("http://127.0.0.1/v1", "m", "secret"))


async def test_a_server_without_a_model_is_an_error() -> None:
    async def lists(request: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": []})

    app = web.Application()
    app.router.add_get("/v1/models", lists)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        with pytest.raises(ConfigError, match="the remote model's server lists no model"):
            await serve_model("remote", url, None, "none").__aenter__()
    finally:
        await runner.cleanup()


@pytest.mark.parametrize("target", ["remote", "gateway"])
async def test_who_is_no_target_is_never_asked(target: str) -> None:
    tasks = read_tasks(("summary",), 1)
    async with asking(["proxy"]) as (own, other, ask):
        with pytest.raises(KeyError):
            await ask(tasks[0], Condition("any", target))  # type: ignore[arg-type]
        assert other.received == own.received == []


async def test_a_failure_names_the_condition_and_nothing_that_a_server_says() -> None:
    async def fail(server: FakeServer, request: web.Request, body: object) -> web.Response:
        error = {"message": "the ferry to Skarholm", "type": "any", "code": "any"}
        return web.json_response({"error": error}, status=400)

    tasks = read_tasks(("summary",), 2)
    async with asking(["remote"], behaviour=fail) as (_, _, ask):
        with pytest.raises(ConfigError) as info:
            await ask_all(tasks, [Condition("the ideal", "remote")], ask)
    assert str(info.value) == "the ideal: failed with BadRequestError 400"


async def test_keys_go_to_their_own_servers() -> None:
    tasks = read_tasks(("summary",), 1)
    async with asking(mechanisms=["surrogate"]) as (own, other, ask):
        conditions = [
            Condition("ideal", "remote"),
            Condition("gateway", "gateway"),
            *list_points([("surrogate", 0)], ["all"], [1]),
        ]
        await ask_all(tasks, conditions, ask)
        assert len(other.received) == 3
        assert all(b"other-key" in each and b"own-key" not in each for each in other.received)
        assert all(b"own-key" in each and b"other-key" not in each for each in own.received)
