"""The console's page of batches: the tenant's own, with their counts, and how to stop one."""

from __future__ import annotations

from typing import Any

import pytest

from proxy.api.app_keys import ADMISSION
from tests.proxy.batches.jobs import chats, follow, jsonl, run, start
from tests.proxy.conftest import Proxy
from tests.proxy.console.browser import browsing
from tests.proxy.console.test_door import ALICE, BOB, LOCKED, ROOT


@pytest.fixture
def settings() -> dict[str, Any]:
    return {"batches": {"enabled": True}}


async def test_batches_are_shown_with_their_counts(proxy: Proxy) -> None:
    client = proxy.client()
    done = await run(client, jsonl(*chats(2), {"custom_id": "<b>bad</b>"}))
    failed = await run(client, b'{"custom_id": "<i>"}\n{"custom_id": "<i>"}\n{\n')
    async with browsing(proxy.root) as browser:
        page = await browser.get("/batches")
        assert page.status == 200
        for batch in (done, failed):
            assert batch.id in page.text
        assert str(done.output_file_id) in page.text
        assert str(done.error_file_id) in page.text
        assert '<span class="status good">completed</span>' in page.text
        assert '<span class="status bad">failed</span>' in page.text
        assert "line 3: The line is not valid JSON." in page.text
        assert '<td class="n">3</td><td class="n">2</td><td class="n">1</td>' in page.text
        assert "Cancel" not in page.text
        assert "bad</b>" not in page.text
        assert "<i>" not in page.text
        assert (await browser.get("/batches?after=batch_x")).status == 404


async def test_a_batch_is_cancelled(proxy: Proxy) -> None:
    client = proxy.client()
    hold = await proxy.app[ADMISSION]._lines.take("another", 2)  # no line begins
    batch = await start(client, jsonl(*chats(3)))
    await follow(client, batch, ("in_progress",))
    async with browsing(proxy.root) as browser:
        assert f'aria-label="Cancel {batch.id}"' in (await browser.get("/batches")).text
        page = await browser.post("/batches/cancel", {"id": batch.id})
        assert page.status == 200
        assert f"Batch {batch.id} is being cancelled." in page.text
        assert (await follow(client, batch)).status == "cancelled"
        assert (await browser.post("/batches/cancel", {"id": batch.id})).status == 409
        assert (await browser.post("/batches/cancel", {"id": "batch_x"})).status == 404
        assert (await browser.post("/batches/cancel", {})).status == 404
    hold.shrink(0)
    assert proxy.remote.bodies == []


async def test_older_batches_are_on_further_pages(
    proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxy.console.views.batches.SHOWN", 2)
    client = proxy.client()
    ids = [(await run(client, b"{\n")).id for _ in range(3)]
    async with browsing(proxy.root) as browser:
        page = await browser.get("/batches")
        assert [id_ in page.text for id_ in ids] == [False, True, True]
        assert f"/console/batches?after={ids[1]}" in page.text
        page = await browser.get(f"/batches?after={ids[1]}")
        assert [f"<code>{id_}</code>" in page.text for id_ in ids] == [True, False, False]


class TestOff:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {}

    async def test_there_is_no_page_of_what_is_not_served(self, proxy: Proxy) -> None:
        async with browsing(proxy.root) as browser:
            assert (await browser.get("/batches")).status == 404
            assert "/console/batches" not in (await browser.get()).text


class TestWithKeys:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {**LOCKED, "batches": {"enabled": True}}

    @pytest.mark.parametrize("key", [BOB, ROOT], ids=["tenant", "operator"])
    async def test_another_tenant_sees_and_stops_nothing(self, proxy: Proxy, key: str) -> None:
        client = proxy.client(api_key=ALICE)
        hold = await proxy.app[ADMISSION]._lines.take("another", 2)
        batch = await start(client, jsonl(*chats(1)))
        async with browsing(proxy.root) as browser:
            assert (await browser.get("/batches")).status == 401
            await browser.log_in(key)
            for path in ("/batches", "/batches?tenant=alice"):
                page = await browser.get(path)
                assert page.status == 200
                assert batch.id not in page.text
            assert (await browser.get(f"/batches?after={batch.id}")).status == 404
            assert (await browser.post("/batches/cancel", {"id": batch.id})).status == 404
        assert (await client.batches.retrieve(batch.id)).status != "cancelling"
        hold.shrink(0)

    async def test_no_form_counts_without_its_sessions_token(self, proxy: Proxy) -> None:
        client = proxy.client(api_key=ALICE)
        hold = await proxy.app[ADMISSION]._lines.take("another", 2)
        batch = await start(client, jsonl(*chats(1)))
        async with browsing(proxy.root) as browser:
            await browser.log_in(ALICE)
            form = {"id": batch.id}
            assert (await browser.post("/batches/cancel", {**form, "token": ""})).status == 403
            page = await browser.post("/batches/cancel", form, Origin="https://evil.example")
            assert page.status == 403
            assert (await client.batches.retrieve(batch.id)).status != "cancelling"
            assert (await browser.post("/batches/cancel", form)).status == 200
        hold.shrink(0)
