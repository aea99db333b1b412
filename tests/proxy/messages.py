"""The official client of the Messages API, and the events of its streams."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient

from tests.proxy.conftest import MODEL, NO_TLS, Proxy


@asynccontextmanager
async def messages_client(proxy: Proxy, **settings: Any) -> AsyncIterator[AsyncAnthropic]:
    logging.getLogger("anthropic").setLevel(logging.INFO)  # it logs requests, and runs beside us
    http = DefaultAsyncHttpxClient(verify=NO_TLS)
    defaults = {"api_key": "none", "max_retries": 0, "http_client": http}
    options: dict[str, Any] = {**defaults, **settings}
    async with AsyncAnthropic(base_url=proxy.root, **options) as client:
        yield client


def ask(text: Any, **body: Any) -> dict[str, Any]:
    return {
        "model": MODEL,
        "max_tokens": 100,
        "messages": [{"role": "user", "content": text}],
        **body,
    }


async def post(
    proxy: Proxy, body: Any, path: str = "messages", **headers: str
) -> tuple[int, Any, str]:
    """The status, the JSON and the text of an answer."""
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(f"{proxy.base_url}/{path}", json=body) as reply,
    ):
        text = await reply.text()
        return reply.status, json.loads(text) if text.startswith("{") else None, text


def read_events(text: str) -> list[dict[str, Any]]:
    """The events of a stream; each has its type in both of its lines."""
    events = []
    for frame in filter(None, text.split("\n\n")):
        name, line = frame.split("\n")
        event = json.loads(line.removeprefix("data: "))
        assert name == f"event: {event['type']}"
        events.append(event)
    return events


def check_order(events: list[dict[str, Any]]) -> None:
    """The order of the API: one open block at a time, numbered from 0."""
    kinds = [event["type"] for event in events if event["type"] != "ping"]
    assert kinds[0] == "message_start"
    assert kinds[-2:] == ["message_delta", "message_stop"]
    index = -1
    is_open = False
    for event in events[1:-2]:
        if event["type"] == "content_block_start":
            assert not is_open
            is_open, index = True, index + 1
        elif event["type"] == "content_block_stop":
            assert is_open
            is_open = False
        elif event["type"] != "ping":
            assert event["type"] == "content_block_delta"
            assert is_open
        assert event.get("index", index) == index
    assert not is_open
