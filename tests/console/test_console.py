"""The console in Chromium: every page and action, in light, dark and at phone width."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from perturb import EmbeddingTable
from proxy.access.auth import new_key
from tests.console.conftest import AXE
from tests.perturb.marking import WORDS
from tests.proxy.batches.jobs import chats, follow, jsonl, run, start
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.servers import hang, hang_mid_stream

pytestmark = pytest.mark.console

KEY, DIGEST = new_key()
SETTINGS: dict[str, Any] = {
    "privacy": {"mechanism": "selective", "parameters": WORDS},
    "limits": {"budget": {"day": 1000, "total": 9000}, "mechanisms": ["rantext_ldp"]},
    "batches": {"enabled": True},
}
LOCKED = {"server": {"keys": [{"tenant": "root", "sha256": DIGEST}], "operators": ["root"]}}
GATEWAY = {
    "privacy": {"mechanism": "selective", "parameters": WORDS},
    "local": {"mode": "none"},
    "batches": {"enabled": True},
}
NOTE = """
window.violations = [];
addEventListener("securitypolicyviolation", e => violations.push(e.violatedDirective));
"""
WIDE = f"{'Wide' * 15}@{'example' * 8}.com"
PAGES = ("try", "batches", "budgets", "records", "health", "keys")
VIEWS = [("light", 1180), ("dark", 1180), ("light", 320), ("dark", 390)]


class Visitor:
    """Uses the console, and collects everything that a page does wrong."""

    def __init__(self, page: Any, root: str) -> None:
        self.page, self.root = page, root
        self.faults: list[str] = []
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", lambda said: self.faults.append(said.text))
        page.on("request", self._note_foreign)

    def _note_foreign(self, request: Any) -> None:
        if not request.url.startswith(self.root):
            self.faults.append(request.url)

    async def open(self, name: str) -> None:
        await self.page.goto(f"{self.root}/console/{name}")

    async def preview(self) -> None:
        await self.page.get_by_role("button", name="Preview").click()
        await self.page.locator(".result").first.wait_for()

    async def inspect(self) -> None:
        """Check the page: accessible, no wider than the window, and within its policy."""
        found = await self.page.evaluate(
            "axe.run().then(done => done.violations.map(v => "
            "[v.impact, v.id, v.nodes.map(n => n.html)]))"
        )
        bad = [fault for fault in found if fault[0] in ("serious", "critical")]
        assert bad == [], self.page.url
        wide = await self.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, self.page.url
        assert await self.page.evaluate("violations") == []
        assert self.faults == []


@asynccontextmanager
async def visiting(chromium: Any, root: str, **options: Any) -> AsyncIterator[Visitor]:
    context = await chromium.new_context(**options)
    await context.add_init_script(NOTE)
    await context.add_init_script(path=AXE)
    try:
        yield Visitor(await context.new_page(), root)
    finally:
        await context.close()


@pytest.fixture
async def proxy(table: EmbeddingTable) -> AsyncIterator[Proxy]:
    async with running_proxy(table, SETTINGS) as running:
        yield running


@pytest.mark.parametrize(("scheme", "width"), VIEWS)
async def test_every_page_is_accessible_and_fits(
    chromium: Any, proxy: Proxy, scheme: str, width: int
) -> None:
    view = {"color_scheme": scheme, "viewport": {"width": width, "height": 800}}
    async with visiting(chromium, proxy.root, **view) as visitor:
        page = visitor.page
        await visitor.open("try")
        await visitor.inspect()
        await page.get_by_text("Compare with a second setting").click()
        await page.get_by_label("Show both side by side").check()
        await page.locator("[name=mechanism_2]").select_option("rantext_ldp")
        text = page.locator("#text")
        await text.fill(f"{await text.input_value()} {WIDE}")
        await visitor.preview()
        assert await page.locator(".result").count() == 2
        for details in await page.locator(".result summary").all():
            await details.click()
        await visitor.inspect()
        assert not proxy.remote.bodies
        body = await page.locator(".bytes").nth(1).text_content()
        await page.get_by_role("button", name="Send").nth(1).click()
        await page.get_by_role("heading", name="Receipt").wait_for()
        assert proxy.remote.received[-1].endswith(body.encode())
        assert await page.locator(".answer").text_content() == "One two three."
        await visitor.inspect()
        await run(proxy.client(), jsonl(*chats(1), {"custom_id": "refused"}))
        for name in PAGES:
            await visitor.open(name)
            for details in await page.locator("summary").all():
                await details.click()
            await visitor.inspect()
        await visitor.open("records?outcome=answered&endpoint=/console/try/send")
        assert await page.locator("tbody tr").count() == 1
        await visitor.inspect()


@pytest.mark.parametrize("scripts", [True, False])
@pytest.mark.parametrize(("scheme", "width"), VIEWS)
async def test_the_overview_of_tenants_is_accessible_and_fits(
    chromium: Any, table: EmbeddingTable, scheme: str, width: int, scripts: bool
) -> None:
    """Without scripts, axe-core cannot judge the page; its links and forms work all the same."""
    tenants = {f"{'tenant' * 9}-{n}": new_key() for n in range(3)}
    listed = [{"tenant": name, "sha256": digest} for name, (_, digest) in tenants.items()]
    server = {"keys": [*LOCKED["server"]["keys"], *listed], "operators": ["root"]}
    view = {"color_scheme": scheme, "viewport": {"width": width, "height": 800}}
    async with (
        running_proxy(table, SETTINGS | {"server": server}) as proxy,
        visiting(chromium, proxy.root, **view, java_script_enabled=scripts) as visitor,
    ):
        for key, _ in tenants.values():
            await proxy.client(api_key=key).chat.completions.create(
                model=MODEL, messages=[{"role": "user", "content": "Mary Ellis called."}]
            )
        page = visitor.page
        await visitor.open("budgets")
        await page.get_by_label("Client key").fill(KEY)
        await page.get_by_role("button", name="Log in").click()
        visitor.faults.clear()  # the browser notes the status 401
        await page.get_by_role("link", name="Budgets").click()
        rows = page.get_by_role("group", name="Tenants").locator("tbody tr")
        assert await rows.count() == 4
        await page.get_by_role("link", name="Charged requests").click()
        assert await rows.last.locator("th").text_content() == "root"
        await page.get_by_label("Name contains").fill("-2")
        await page.get_by_role("button", name="Filter").click()
        assert await rows.count() == 1
        if scripts:
            await page.get_by_text("What the columns count").click()
            await visitor.inspect()
        async with page.expect_download() as download:
            await page.get_by_role("link", name="Export CSV").click()
        assert (await download.value).suggested_filename == "tenants.csv"
        await rows.locator("th a").click()
        await page.get_by_role("link", name="All tenants").wait_for()
        if scripts:
            await visitor.inspect()


async def test_a_refusal_is_shown_beside_the_text(chromium: Any, proxy: Proxy) -> None:
    async with visiting(chromium, proxy.root) as visitor:
        await visitor.open("try")
        await visitor.page.locator("[name=epsilon_1]").fill("-1")
        await visitor.page.get_by_role("button", name="Preview").click()
        await visitor.page.get_by_role("alert").wait_for()
        assert "Mary Ellis" in await visitor.page.locator("#text").input_value()
        assert visitor.page.url.endswith("/try")


async def test_the_remotes_are_asked_and_the_record_is_saved(chromium: Any, proxy: Proxy) -> None:
    async with visiting(chromium, proxy.root) as visitor:
        await visitor.open("health")
        await visitor.page.get_by_role("button", name="Ask the remotes").click()
        await visitor.page.get_by_text("not asked").wait_for(state="detached")
        await visitor.inspect()
        await visitor.open("records")
        async with visitor.page.expect_download() as download:
            await visitor.page.get_by_role("link", name="Export CSV").click()
        assert (await download.value).suggested_filename == "records.csv"


async def test_a_batch_is_watched_and_cancelled(chromium: Any, proxy: Proxy) -> None:
    proxy.remote.behaviour = hang
    client = proxy.client()
    batch = await start(client, jsonl(*chats(4)))
    await follow(client, batch, ("in_progress",))
    async with visiting(chromium, proxy.root) as visitor:
        page = visitor.page
        await visitor.open("try")
        await page.get_by_role("link", name="Batches").click()
        await visitor.inspect()
        await page.get_by_role("button", name=f"Cancel {batch.id}").click()
        await page.get_by_text("is being cancelled").wait_for()
        await visitor.inspect()
        proxy.remote.release.set()
        await follow(client, batch)
        await page.get_by_role("link", name="Reload").click()
        await page.get_by_text("cancelled", exact=True).wait_for()
        await visitor.inspect()


async def test_keys_are_managed_in_a_session(chromium: Any, table: EmbeddingTable) -> None:
    async with (
        running_proxy(table, SETTINGS | LOCKED) as proxy,
        visiting(chromium, proxy.root) as visitor,
    ):
        page = visitor.page
        await visitor.open("keys")
        assert await page.evaluate("violations") == []
        visitor.faults.clear()  # the browser notes the status 401
        await visitor.inspect()
        await page.get_by_label("Client key").fill(KEY)
        await page.get_by_role("button", name="Log in").click()
        await page.get_by_role("link", name="Keys").click()
        await page.get_by_label("Tenant").fill("alice")
        await page.get_by_role("button", name="Make the key").click()
        assert (await page.get_by_label("New key").input_value()).startswith("sk-inferdpt-")
        await visitor.inspect()
        await page.get_by_text("Change the limits").first.click()
        await page.locator(".keys [name=epsilon_max]").fill("4")
        await page.get_by_role("button", name="Change the limits").click()
        await page.get_by_text("The limits of key").wait_for()
        await page.get_by_text("Rotate", exact=True).click()
        await page.get_by_role("button", name="Make a key in the place of").click()
        assert (await page.get_by_label("New key").input_value()).startswith("sk-inferdpt-")
        await page.get_by_text("Rotate", exact=True).first.click()
        await visitor.inspect()
        await page.get_by_text("Revoke", exact=True).first.click()
        await page.get_by_role("button", name="Revoke").click()
        await page.get_by_text("is revoked").wait_for()
        await visitor.inspect()
        await page.get_by_role("button", name="Log out").click()
        await page.get_by_label("Client key").wait_for()


async def test_a_keyboard_is_enough(chromium: Any, proxy: Proxy) -> None:
    async with visiting(chromium, proxy.root) as visitor:
        page = visitor.page
        await visitor.open("try")
        await page.keyboard.press("Tab")
        assert await page.evaluate("document.activeElement.className") == "skip"
        await page.locator("#text").focus()
        for _ in range(12):
            await page.keyboard.press("Tab")
            if await page.evaluate("document.activeElement.textContent") == "Preview":
                break
        await page.keyboard.press("Enter")
        await page.locator(".result").wait_for()


@pytest.mark.parametrize("settings", [SETTINGS, GATEWAY], ids=["pipeline", "gateway"])
async def test_everything_works_without_scripts(
    chromium: Any, table: EmbeddingTable, settings: dict[str, Any]
) -> None:
    async with running_proxy(table, settings) as proxy:
        context = await chromium.new_context(java_script_enabled=False)
        page = await context.new_page()
        await page.goto(f"{proxy.root}/console")
        await page.locator("#text").fill("Mary Ellis called 020 7946 0123.")
        await page.get_by_role("button", name="Preview").click()
        assert "020 7946" not in (await page.locator(".bytes").text_content() or "")
        await page.get_by_role("button", name="Send").click()
        await page.get_by_role("heading", name="Receipt").wait_for()
        assert await page.locator(".answer").text_content() == "One two three."
        for name in PAGES:
            await page.goto(f"{proxy.root}/console/{name}")
            assert await page.locator("h1").count() == 1
        await context.close()


async def test_an_answer_appears_while_it_is_written(chromium: Any, proxy: Proxy) -> None:
    proxy.local.behaviour = hang_mid_stream
    async with visiting(chromium, proxy.root) as visitor:
        await visitor.open("try")
        await visitor.preview()
        await visitor.page.get_by_role("button", name="Send").click(no_wait_after=True)
        await visitor.page.get_by_text("One", exact=True).wait_for()
        assert await visitor.page.get_by_role("heading", name="Receipt").count() == 0
        proxy.local.release.set()
        await visitor.page.get_by_role("heading", name="Receipt").wait_for()
