"""Files of requests, and batches that are made of them and followed by the official client."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import openai
from openai.types import Batch

from tests.limits import LIMIT
from tests.proxy.chats import user
from tests.proxy.conftest import MODEL
from tests.proxy.storage.reports import report

CHATS = "/v1/chat/completions"
ENABLED: dict[str, Any] = {"batches": {"enabled": True}}
ENDED = ("completed", "failed", "expired", "cancelled")


def chat(text: str, **more: Any) -> dict[str, Any]:
    return {"model": MODEL, "messages": user(text), **more}


def line(name: str, body: Any, url: str = CHATS, **more: Any) -> dict[str, Any]:
    return {"custom_id": name, "method": "POST", "url": url, "body": body, **more}


def chats(count: int, first: int = 0) -> list[dict[str, Any]]:
    """Lines with a private text each that no other line has."""
    return [line(f"line-{i}", chat(report(first + i))) for i in range(count)]


def jsonl(*lines: Any) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in lines)


async def upload(client: openai.AsyncOpenAI, data: bytes, name: str = "in.jsonl") -> str:
    return (await client.files.create(file=(name, data), purpose="batch")).id


async def start(
    client: openai.AsyncOpenAI, data: bytes, endpoint: Any = CHATS, **more: Any
) -> Batch:
    """Upload lines and make a batch of them."""
    return await client.batches.create(
        input_file_id=await upload(client, data),
        endpoint=endpoint,
        completion_window="24h",
        **more,
    )


async def follow(
    client: openai.AsyncOpenAI, batch: Batch, states: tuple[str, ...] = ENDED
) -> Batch:
    """Poll a batch until it is in one of these states. Each line it answers has LIMIT."""
    async with asyncio.timeout(LIMIT) as limit:
        while batch.status not in states:
            await asyncio.sleep(0.05)
            counts = batch.request_counts
            batch = await client.batches.retrieve(batch.id)
            if batch.request_counts != counts:
                limit.reschedule(asyncio.get_running_loop().time() + LIMIT)
    return batch


async def run(
    client: openai.AsyncOpenAI, data: bytes, endpoint: Any = CHATS, **more: Any
) -> Batch:
    """Run a batch to its end."""
    return await follow(client, await start(client, data, endpoint, **more))


async def download(client: openai.AsyncOpenAI, file: str | None) -> list[dict[str, Any]]:
    """Return the lines of a file of answers or errors."""
    assert file is not None
    content = await client.files.content(file)
    return [json.loads(each) for each in content.text.splitlines()]
