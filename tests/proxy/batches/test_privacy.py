"""Text of batches: in the store encrypted, in logs, metrics and records not at all."""

from __future__ import annotations

import asyncio
import secrets
from typing import Any

import aiohttp
import pytest
from sqlalchemy import select, update

from perturb import EmbeddingTable
from proxy.api.app_keys import METRICS, STORE
from proxy.errors import ApiError
from proxy.records.lines import read_lines
from proxy.records.rekey import rekey
from proxy.storage import digests
from proxy.storage.digests import Digests, open_sealed, seal
from proxy.storage.schema import FILE_LINES
from proxy.storage.store import Store
from tests.databases import database, dump, postgres_url
from tests.limits import LIMIT
from tests.proxy.batches.jobs import (
    ENABLED,
    chat,
    chats,
    download,
    follow,
    jsonl,
    line,
    run,
    start,
)
from tests.proxy.canaries import Canaries
from tests.proxy.conftest import Proxy, running_proxy
from tests.proxy.storage.reports import report
from tests.servers import hang

__all__ = ["database", "postgres_url"]


async def run_with_canaries(proxy: Proxy, c: Canaries) -> bytes:
    """Run a batch whose every text holds a canary; return the database as it was in between, and
    at the end."""
    client = proxy.client()
    proxy.local.text = c.text()
    proxy.remote.behaviour = hang
    good = [line(c.word(), chat(f"{c.text()} {report(i)}")) for i in range(6)]
    bad = [
        line(c.word(), {"model": c.word(), "messages": c.word()}),
        line(c.word(), {"model": c.word(), "messages": [{"role": c.word(), "content": c.text()}]}),
        line(c.word(), c.text()),
        line(c.word(), chat(c.text()), c.text()),
        {**line(c.word(), chat(c.text())), "method": c.text()},
        line(c.word(), chat(c.text(), tools=[{"type": c.word()}], temperature=c.word())),
    ]
    file = await client.files.create(
        file=(f"{c.word()}.jsonl", jsonl(*good, *bad)), purpose="batch"
    )
    before = await dump(proxy.app[STORE])
    batch = await client.batches.create(
        input_file_id=file.id,
        endpoint="/v1/chat/completions",
        completion_window="24h",
        metadata={c.word(): c.text()},
    )
    await asyncio.wait_for(proxy.remote.started.wait(), LIMIT)
    between = await dump(proxy.app[STORE])
    proxy.remote.behaviour = None
    proxy.remote.release.set()
    batch = await follow(client, batch)
    assert batch.request_counts is not None
    assert (batch.request_counts.completed, batch.request_counts.failed) == (6, 6)
    assert {each["custom_id"] for each in await download(client, batch.output_file_id)} <= c.all
    errors = await download(client, batch.error_file_id)
    assert c.found_in(str([each["error"] for each in errors]).encode()) == set()
    await run(client, f'{{"custom_id": "{c.word()}", "{c.word()}'.encode())  # fails as a whole
    return before + between + await dump(proxy.app[STORE])


async def test_no_text_is_kept_in_the_clear(
    table: EmbeddingTable, database: dict[str, Any]
) -> None:
    c = Canaries(7)
    async with running_proxy(table, {**ENABLED, "store": database}) as proxy:
        kept = await run_with_canaries(proxy, c)
        assert c.found_in(kept) == set()
        assert c.found_in("\n".join(proxy.log).encode()) == set()
        assert c.found_in(proxy.app[METRICS].render()) == set()
        assert c.found_in(b"\n".join(proxy.remote.received)) == set()
        records = [str(each) async for each in read_lines(proxy.app[STORE])]
        assert c.found_in("\n".join(records).encode()) == set()
        assert len(c.found_in(b"\n".join(proxy.local.received))) > 6  # the search finds them


async def test_a_store_that_did_not_encrypt_would_be_noticed(
    table: EmbeddingTable, database: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "mask", lambda *given: given[-1])
    c = Canaries(7)
    async with running_proxy(table, {**ENABLED, "store": database}) as proxy:
        assert len(c.found_in(await run_with_canaries(proxy, c))) > 12


async def test_lines_are_in_the_log_the_record_and_the_metrics(table: EmbeddingTable) -> None:
    async with running_proxy(table, ENABLED) as proxy:
        client = proxy.client()
        bad = line("bad", {"messages": []})
        batch = await run(client, jsonl(*chats(2), bad))
        logged = [each for each in proxy.log if '"message":"line"' in each]
        assert all(batch.id in each for each in logged)
        assert len(logged) == 3
        metrics = proxy.app[METRICS].render().decode()
        assert 'inferdpt_batch_lines_total{outcome="answered"} 2.0' in metrics
        assert 'inferdpt_batch_lines_total{outcome="refused"} 1.0' in metrics
        found = await download(client, batch.output_file_id)
        ids = {each["response"]["request_id"] for each in found}
        async with asyncio.timeout(LIMIT):
            while True:  # ends are recorded a moment after the answers
                rows = [each async for each in read_lines(proxy.app[STORE])]
                ends = [each for each in rows if "batch_req_" in str(each)]
                if len(ends) == 3:
                    break
                await asyncio.sleep(0.05)
        assert ids < {each["request"] for each in ends}


class TestSealing:
    def digests(self) -> Digests:
        return Digests(Store(None, secrets.token_bytes(32), "x"))  # type: ignore[arg-type]

    @pytest.mark.parametrize("data", [b"", b"\x00", b"\x00" * 1000, b"text", bytes(range(256))])
    def test_what_is_sealed_opens_in_its_place(self, data: bytes) -> None:
        digests = self.digests()
        sealed = seal(digests, data, "file_lines", "a", "1")
        assert open_sealed(digests, sealed, "file_lines", "a", "1") == data
        assert seal(digests, data, "file_lines", "a", "1") != sealed
        assert len(data) < 4 or data not in sealed[48:]  # one byte stays as it is by chance

    def test_what_was_changed_or_moved_does_not_open(self) -> None:
        digests = self.digests()
        sealed = seal(digests, b"text", "file_lines", "a", "1")
        for i in range(len(sealed)):
            changed = sealed[:i] + bytes([sealed[i] ^ 1]) + sealed[i + 1 :]
            with pytest.raises(ApiError):
                open_sealed(digests, changed, "file_lines", "a", "1")
        for place in (("file_lines", "a", "2"), ("file_lines", "b", "1"), ("file_lines", "a1")):
            with pytest.raises(ApiError):
                open_sealed(digests, sealed, *place)
        for cut in (b"", sealed[:-1], sealed[:40]):
            with pytest.raises(ApiError):
                open_sealed(digests, cut, "file_lines", "a", "1")
        with pytest.raises(ApiError):
            open_sealed(self.digests(), sealed, "file_lines", "a", "1")


async def test_a_batch_survives_another_secret(
    table: EmbeddingTable, database: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inputs, answers, names and metadata are encrypted anew; the batch goes on where it was."""
    secret = secrets.token_bytes(32)
    settings = {**ENABLED, "store": database}
    async with running_proxy(table, settings) as proxy:
        client = proxy.client()
        done = await run(client, jsonl(*chats(3)), metadata={"number": "7"})
        proxy.remote.behaviour = hang
        waiting = await start(client, jsonl(*chats(3, first=3)))
        await asyncio.wait_for(proxy.remote.started.wait(), LIMIT)
        names = [file.filename async for file in client.files.list()]
        before = await download(client, done.output_file_id)
    async with running_proxy(table, {"store": database}) as proxy:
        store = proxy.app[STORE]
        changed, counts = await rekey(store, secret)
        assert counts.sealed == 2 + 4 + 6  # batches, files (the second batch has three), lines
        old, new = Digests(store), Digests(changed)
        for file, number, value in await store.scan(lambda c: c.execute(select(FILE_LINES)).all()):
            with pytest.raises(ApiError):
                open_sealed(old, value, "file_lines", file, str(number))
            assert open_sealed(new, value, "file_lines", file, str(number))
    monkeypatch.setenv("INFERDPT_SECRET", secret.hex())
    async with running_proxy(table, settings) as proxy:
        client = proxy.client()
        assert (await client.batches.retrieve(done.id)).metadata == {"number": "7"}
        assert await download(client, done.output_file_id) == before
        assert (await follow(client, waiting)).status == "completed"
        assert {file.filename async for file in client.files.list()} > set(names) - {"in.jsonl"}


async def test_a_changed_row_changes_no_secret(table: EmbeddingTable) -> None:
    async with running_proxy(table, ENABLED) as proxy:
        await run(proxy.client(), jsonl(*chats(1)))
        store = proxy.app[STORE]
        await store.write(lambda c: c.execute(update(FILE_LINES).values(value=b"x" * 60)))
        with pytest.raises(ApiError, match="was changed"):
            await rekey(store, secrets.token_bytes(32))


async def test_an_answer_that_was_changed_is_not_given_out(table: EmbeddingTable) -> None:
    """Neither is a line that was put into another tenant's file."""
    async with running_proxy(table, ENABLED) as proxy:
        client = proxy.client()
        first, second = [await run(client, jsonl(*chats(1))) for _ in range(2)]
        moved = select(FILE_LINES.c.value).where(FILE_LINES.c.file == first.output_file_id)
        change = update(FILE_LINES).where(FILE_LINES.c.file == second.output_file_id)
        await proxy.app[STORE].write(
            lambda c: c.execute(change.values(value=moved.scalar_subquery()))
        )
        url = f"{proxy.base_url}/files/{second.output_file_id}/content"
        async with aiohttp.ClientSession() as session, session.get(url) as response:
            assert (response.status, (await response.json())["error"]["code"]) == (
                500,
                "store_damaged",
            )
        assert len(await download(client, first.output_file_id)) == 1
