"""Batches through the official client: uploaded, made, followed, cancelled, downloaded."""

from __future__ import annotations

from typing import Any

import pytest

from perturb import EmbeddingTable
from tests.databases import database, postgres_url
from tests.proxy.batches.jobs import (
    ENABLED,
    chat,
    chats,
    download,
    jsonl,
    line,
    run,
)
from tests.proxy.chats import ANSWER
from tests.proxy.conftest import MODEL, Proxy, running_proxy

__all__ = ["database", "postgres_url"]


@pytest.fixture
def settings() -> dict[str, Any]:
    return ENABLED


async def test_each_line_is_answered_once_in_order(
    table: EmbeddingTable, database: dict[str, Any]
) -> None:
    async with running_proxy(table, {**ENABLED, "store": database}) as proxy:
        client = proxy.client()
        lines = chats(12)
        batch = await run(client, jsonl(*lines), metadata={"run": "7"})
        assert (batch.status, batch.metadata) == ("completed", {"run": "7"})
        assert batch.request_counts is not None
        assert batch.request_counts.model_dump() == {"total": 12, "completed": 12, "failed": 0}
        assert batch.error_file_id is None
        found = await download(client, batch.output_file_id)
        assert [each["custom_id"] for each in found] == [each["custom_id"] for each in lines]
        assert {each["response"]["status_code"] for each in found} == {200}
        for each in found:
            assert each["response"]["body"]["choices"][0]["message"]["content"] == ANSWER
        assert len(proxy.remote.bodies) == 12
        file = await client.files.retrieve(str(batch.output_file_id))
        assert file.bytes == len((await client.files.content(file.id)).content)
        assert (file.purpose, file.status) == ("batch_output", "processed")


@pytest.mark.parametrize(
    ("endpoint", "body"),
    [
        ("/v1/completions", {"model": MODEL, "prompt": "The board met."}),
        ("/v1/responses", {"model": MODEL, "input": "The board met."}),
    ],
)
async def test_other_endpoints(proxy: Proxy, endpoint: str, body: dict[str, Any]) -> None:
    client = proxy.client()
    batch = await run(client, jsonl(line("a", body, endpoint)), endpoint)
    (found,) = await download(client, batch.output_file_id)
    kinds = {"/v1/completions": "text_completion", "/v1/responses": "response"}
    assert found["response"]["body"]["object"] == kinds[endpoint]


async def test_a_line_is_planned_and_charged_as_a_request(proxy: Proxy) -> None:
    """Options and receipts of the body count; a text that was sent before is sent again as it was
    drawn, and costs nothing."""
    client = proxy.client()
    text, options = "The merger was signed by Alice in Geneva.", {"receipt": "full", "epsilon": 3}
    asked = chat(text, inferdpt={"mechanism": "rantext_ldp", **options})
    batch = await run(client, jsonl(line("a", asked), line("b", asked)))
    found = await download(client, batch.output_file_id)
    receipts = [each["response"]["body"]["inferdpt"] for each in found]
    assert {receipt["mechanism"] for receipt in receipts} == {"rantext_ldp"}
    assert proxy.sent(0) == proxy.sent(1)
    first: Any = await client.get("/privacy/ledger", cast_to=object)
    await client.post("/chat/completions", body=asked, cast_to=object)
    assert proxy.sent(2) == proxy.sent(0)
    second: Any = await client.get("/privacy/ledger", cast_to=object)
    assert (first["total"]["requests"], second["total"]["requests"]) == (2, 3)
    assert first["total"]["tokens"] == second["total"]["tokens"] > 0


async def test_bad_lines_become_errors_and_the_others_are_answered(proxy: Proxy) -> None:
    client = proxy.client()
    secret = "zzcanaryzz"
    bad = {
        "method": {**line("method", chat("x")), "method": secret},
        "url": line("url", chat("x"), f"/v1/{secret}"),
        "body": line("body", [secret]),
        "stream": line("stream", chat("x", stream=True)),
        "messages": line("messages", {"model": MODEL, "messages": secret}),
        "model": line("model", {**chat("x"), "model": secret}),
        "nothing": line("nothing", chat("x", nothing=secret)),
        "more": line("more", chat("x"), more=secret),
    }
    batch = await run(client, jsonl(line("good", chat("x")), *bad.values()))
    assert batch.status == "completed"
    assert batch.request_counts is not None
    assert batch.request_counts.model_dump() == {"total": 9, "completed": 1, "failed": 8}
    found = await download(client, batch.error_file_id)
    assert [each["custom_id"] for each in found] == list(bad)
    for each in found:
        assert each["error"]["code"]
        name = each["custom_id"]
        assert name in each["error"]["message"] + str(each["response"]["body"]["error"]["param"])
        assert secret not in str(each)
    assert secret not in "".join(proxy.log)
    assert len(proxy.remote.bodies) == 1


async def test_a_line_beyond_the_budget_is_refused(table: EmbeddingTable) -> None:
    settings = {**ENABLED, "limits": {"budget_tokens": {"total": 20}}}
    async with running_proxy(table, settings) as proxy:
        client = proxy.client()
        batch = await run(client, jsonl(*chats(4)))
        assert batch.request_counts is not None
        assert batch.request_counts.failed > 0
        errors = await download(client, batch.error_file_id)
        assert {each["error"]["code"] for each in errors} == {"privacy_budget_exceeded"}
        assert {each["response"]["status_code"] for each in errors} == {403}
        assert len(proxy.remote.bodies) == batch.request_counts.completed


@pytest.mark.parametrize(
    ("data", "code", "number"),
    [
        (b"{\n", "invalid_json", 1),
        (b"\xff\xfe\n", "invalid_json", 1),
        (b'{"custom_id": "a\x00"}\n', "invalid_json", 1),
        (jsonl(line("a", {})) + b"[]\n", "invalid_json", 2),
        (b"[" * 100_000 + b"\n", "invalid_json", 1),
        (b'{"a":' * 1000 + b"1" + b"}" * 1000 + b"\n", "invalid_json", 1),
        (b'{"custom_id": "a", "custom_id": "b"}\n', "invalid_json", 1),
        (b'{"custom_id": NaN}\n', "invalid_json", 1),
        (b'{"body": [' + b"{}," * 60_000 + b"{}]}\n", "request_too_large", 1),
        (jsonl(line("a", {}), {"method": "POST"}), "invalid_value", 2),
        (jsonl(line("", {})), "invalid_value", 1),
        (jsonl(line("a" * 513, {})), "invalid_value", 1),
        (jsonl({**line("", {}), "custom_id": 7}), "invalid_value", 1),
        (b"\n\n" + jsonl(line("a", {}), line("b", {}), line("a", {})), "duplicate_custom_id", 5),
    ],
)
async def test_a_file_whose_lines_cannot_be_told_apart_fails(
    proxy: Proxy, data: bytes, code: str, number: int
) -> None:
    client = proxy.client()
    batch = await run(client, data)
    assert batch.status == "failed"
    assert batch.failed_at is not None
    assert batch.errors is not None
    assert batch.errors.data is not None
    first = batch.errors.data[0]
    assert (first.code, first.line) == (code, number)
    assert proxy.remote.bodies == []
    assert (batch.output_file_id, batch.error_file_id) == (None, None)


async def test_blank_lines_are_skipped(proxy: Proxy) -> None:
    client = proxy.client()
    data = b"\n \r\n" + jsonl(line("a", chat("x"))) + b"\n" + jsonl(line("b", chat("y")))[:-1]
    batch = await run(client, data)
    assert batch.request_counts is not None
    assert batch.request_counts.model_dump() == {"total": 2, "completed": 2, "failed": 0}
