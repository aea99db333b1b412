"""Any JSON at any position of a request is served or refused, never a 500."""

from __future__ import annotations

import asyncio
import copy
import random
from collections.abc import Iterator
from typing import Any

import aiohttp
import pytest

from proxy.errors import ApiError
from proxy.gateway.rules import (
    _BOUNDS,
    _BY_NAME,
    _FLAGS,
    _INNER,
    _TEXTS,
    _VALUES,
    BodyReading,
    ProtocolWord,
    Schema,
    fill,
)
from tests.proxy.conftest import Proxy
from tests.proxy.gateway.everywhere import MAKERS

SINGLE = [None, True, 7, -1, 1.5, 10**400, 1e308, "", "text", "\ud800", "\x00", [], {}]
VALUES = [*SINGLE, ["email"], [[1], None], {"a": 1}, {"type": []}, [{"type": {}}], {"": [{}]}]
KEYWORDS = (*_TEXTS, *_VALUES, *_BY_NAME, *_INNER, *_FLAGS, *_BOUNDS)
KEYWORDS += ("type", "format", "$schema", "$ref", "unknown")
AT_ONCE = 8
REQUESTS = [50, pytest.param(400, marks=pytest.mark.hostile)]


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_any_json_at_any_keyword_of_a_schema_is_read_or_refused(keyword: str) -> None:
    refused: set[int] = set()
    for value in VALUES:
        for schema in ({keyword: value}, {"properties": {"a": {"items": [{keyword: value}]}}}):
            reading = BodyReading(most=100)
            try:
                outline = Schema().read(schema, "tools[0]", reading)
            except ApiError as exc:
                refused.add(exc.status)
                continue
            assert fill(outline, {raw: raw for turn in reading.turns for raw in turn}) == schema
    assert refused <= {400}


def test_any_json_but_its_words_is_refused_by_a_word() -> None:
    for value in VALUES:
        with pytest.raises(ApiError):
            ProtocolWord(frozenset(("auto",))).read(value, "x", BodyReading(most=100))


def list_places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of every value in a body."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        yield (*place, key)
        if isinstance(item, dict | list):
            yield from list_places(item, (*place, key))


def change(body: dict[str, Any], place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    made = inner = copy.deepcopy(body)
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return made


class AnyJson:
    @pytest.mark.parametrize("path", MAKERS)
    @pytest.mark.parametrize("requests", REQUESTS)
    async def test_any_json_at_any_position_is_served_or_refused(
        self, path: str, requests: int, proxy: Proxy
    ) -> None:
        draw = random.Random(path)
        words = iter(f"word{i}" for i in range(1000))
        body = {**MAKERS[path](lambda: next(words)), "service_tier": "auto"}
        changes = [(place, value) for place in list_places(body) for value in VALUES]
        limit = asyncio.Semaphore(AT_ONCE)

        async def status(session: aiohttp.ClientSession, place: Any, value: Any) -> int:
            async with limit:
                changed = change(body, place, value)
                async with session.post(f"{proxy.base_url}/{path}", json=changed) as response:
                    return response.status

        async with aiohttp.ClientSession() as session:
            chosen = draw.sample(changes, min(requests, len(changes)))
            found = await asyncio.gather(*(status(session, *each) for each in chosen))
        broken = [each for each, code in zip(chosen, found, strict=True) if code >= 500]
        assert broken == []


class TestInGatewayMode(AnyJson):
    pass


class TestWithALocalModel(AnyJson):
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {}
