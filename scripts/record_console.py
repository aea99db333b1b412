"""Take the pictures of the console in the documentation: `make screenshots`.

A scripted model on loopback plays the remote and the local model. The days before today in the
account and the other tenants are sample data.
"""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from aiohttp import web
from PIL import Image
from playwright.async_api import Browser, Page, async_playwright
from sqlalchemy import update

from proxy.access.auth import Client, Visit
from proxy.api.app_keys import KEYRING, PIPELINE, RECORDER, STORE
from proxy.app import build_app, build_runner
from proxy.config.settings import load_config
from proxy.console.forms import SettingInput
from proxy.console.views.trying import SAMPLE
from proxy.records.chain import write_end
from proxy.storage.schema import ACCOUNTS, SPENDS

__all__ = ["main"]

PICTURES = Path(__file__).parents[1] / "docs" / "images"
WIDE: Any = {"width": 1080, "height": 760}
PHONE: Any = {"width": 390, "height": 760}
COLOURS = 96  # of a picture: pages have few, and files stay small
DAYS = 12
SUMS = ("requests", "tokens", "unbounded", "proved", "nominal")
ANSWER = "Mary Ellis would like to move her clinic appointment in Leeds. Please call her back."


@asynccontextmanager
async def serve_model() -> AsyncIterator[str]:
    """Serve a model that gives one answer; yield its base_url."""

    async def answer(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        message = {"role": "assistant", "content": ANSWER}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            return web.json_response({"object": "chat.completion", "choices": [choice]})
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for delta, end in ((message, None), ({}, "stop")):
            choice = {"index": 0, "delta": delta, "finish_reason": end}
            line = json.dumps({"object": "chat.completion.chunk", "choices": [choice]})
            await response.write(f"data: {line}\n\n".encode())
        await response.write(b"data: [DONE]\n\n")
        return response

    async def models(_: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "m", "object": "model"}]})

    app = web.Application()
    app.add_routes([web.post("/v1/chat/completions", answer), web.get("/v1/models", models)])
    async with _running(web.AppRunner(app)) as root:
        yield f"{root}/v1"


@asynccontextmanager
async def serve_proxy(model: str, folder: str) -> AsyncIterator[tuple[web.Application, str]]:
    """Run a proxy; yield its application and its address."""
    config = load_config(
        None,
        {
            "store": {"folder": folder},
            "remote": {"base_url": model, "models": {"gpt-4o": "gpt-4o"}},
            "local": {"mode": "external", "base_url": model, "extraction": "all"},
            "privacy": {"mechanism": "selective"},
            "limits": {
                "mechanisms": ["rantext_ldp", "surrogate"],
                "budget": {"conversation": 300, "day": 1000, "total": 20000},
            },
        },
        {},
    )
    app = build_app(config)
    async with _running(build_runner(app)) as root:
        yield app, root


@asynccontextmanager
async def _running(runner: web.AppRunner) -> AsyncIterator[str]:
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def add_days(app: web.Application) -> None:
    """Add sample data for the days before today."""
    numbers = random.Random(20261123)
    today = datetime.now(UTC)
    accounts: list[dict[str, Any]] = []
    spends: list[dict[str, Any]] = []
    for back in range(DAYS, 0, -1):
        day = today - timedelta(days=back)
        place = {"tenant": "anonymous", "scope": "day", "period": day.date().isoformat()}
        words, marked = numbers.randint(20, 60), numbers.randint(20, 90)
        accounts.append(
            place
            | {"requests": numbers.randint(4, 20), "tokens": words + marked, "unbounded": 40}
            | {"proved": words * 6.0, "nominal": marked * 6.0, "used": day.timestamp()}
        )
        channel = {"mechanism": "rantext_ldp", "epsilon": 6.0, "bounded_range": True}
        spends.append(place | channel | {"unit": "token", "count": words})
    sums = {name: ACCOUNTS.c[name] + sum(row[name] for row in accounts) for name in SUMS}
    whole = update(ACCOUNTS).where(ACCOUNTS.c.scope == "total").values(sums)
    store = app[STORE]
    await store.write(lambda connection: connection.execute(whole))
    await store.write(lambda connection: connection.execute(ACCOUNTS.insert(), accounts))
    await store.write(lambda connection: connection.execute(SPENDS.insert(), spends))


async def add_tenants(app: web.Application) -> None:
    """Add sample requests of other tenants: they are charged and recorded, and not sent."""
    mechanisms = {"design": "rantext_ldp", "finance": "", "support": "surrogate"}
    for tenant, mechanism in mechanisms.items():
        chat = SettingInput(mechanism).write_chat({"text": SAMPLE, "model": "gpt-4o"})
        for number, status in enumerate((200, 200, 403) if tenant == "support" else (200,)):
            visit = Visit(f"req_{tenant}_{number}", "/v1/chat/completions", time.time())
            client = Client(tenant, visit=visit)
            if status == 200:
                await app[PIPELINE].plan_chat(chat, client)
            facts: dict[str, Any] = {"error": None, "model": "gpt-4o", "remote": []}
            entry = write_end(client, status=status, seconds=1.2 + number, **facts)
            app[RECORDER].end(tenant, entry)
    await app[RECORDER].flush()


class Camera:
    """Takes pictures of pages."""

    def __init__(self, browser: Browser, root: str) -> None:
        self._browser, self._root = browser, root

    @asynccontextmanager
    async def open(self, path: str, *, dark: bool = False, phone: bool = False) -> Any:
        """Open a page in a window of its own."""
        page = await self._browser.new_page(
            color_scheme="dark" if dark else "light",
            viewport=PHONE if phone else WIDE,
        )
        await page.goto(f"{self._root}/console/{path}")
        yield page
        await page.close()

    async def take(self, page: Page, name: str, *, start: int = 0, end: int | None = None) -> None:
        """Save a picture of a page, or of the pixels between two heights, in few colours."""
        path = PICTURES / f"console-{name}.png"
        await page.screenshot(path=path, full_page=True)
        with Image.open(path) as picture:
            part = picture.crop((0, start, picture.width, end or picture.height))
        few = part.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
        few.save(path, optimize=True)


async def _preview(page: Page) -> None:
    await page.get_by_role("button", name="Preview").click()
    await page.locator(".result").first.wait_for()
    await page.mouse.move(0, 0)


async def _find_top(page: Page, selector: str) -> int:
    box = await page.locator(selector).first.bounding_box()
    shift: float = await page.evaluate("scrollY")
    return 0 if box is None else round(box["y"] + shift) - 16


async def _compare(page: Page) -> None:
    await page.get_by_text("Compare with a second setting").click()
    await page.get_by_label("Show both side by side").check()
    await page.locator("[name=mechanism_2]").select_option("rantext_ldp")
    await page.locator("[name=epsilon_2]").fill("8")
    await _preview(page)


async def take_all(camera: Camera, app: web.Application) -> None:
    """Take every picture."""
    async with camera.open("try") as page:
        await _preview(page)
        await camera.take(page, "try", start=await _find_top(page, ".result"))
        await page.get_by_role("button", name="Send").click()
        await page.get_by_role("heading", name="Receipt").wait_for()
        await camera.take(page, "answer")
    async with camera.open("try", dark=True) as page:
        await _compare(page)
        await camera.take(page, "compare")
        await page.get_by_role("button", name="Send").nth(1).click()
        await page.get_by_role("heading", name="Receipt").wait_for()
    await add_days(app)
    async with camera.open("budgets") as page:
        await camera.take(page, "budgets", end=1000)
    await add_tenants(app)
    async with camera.open("budgets") as page:
        await camera.take(page, "tenants")
    async with camera.open("records", dark=True) as page:
        await camera.take(page, "records")
    async with camera.open("health") as page:
        await page.get_by_role("button", name="Ask the remotes").click()
        await page.get_by_text("not asked").wait_for(state="detached")
        await camera.take(page, "health")
    async with camera.open("try", phone=True) as page:
        await _preview(page)
        await page.locator("#result").scroll_into_view_if_needed()
        await camera.take(page, "phone", end=1500)
    await _take_keys(camera, app)


async def _take_keys(camera: Camera, app: web.Application) -> None:
    """Take the picture of the keys, before the first of them closes the console."""
    async with camera.open("keys", dark=True) as page:
        await page.get_by_role("textbox", name="Tenant").fill("alice")
        await page.get_by_text("Limits of the key").click()
        await page.get_by_label("Largest ε").fill("8")
        await camera.take(page, "keys")
    assert not app[KEYRING].locked


async def main() -> None:
    """Take the pictures."""
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("Chromium is missing: apt-get install -y chromium")
    with tempfile.TemporaryDirectory() as folder:
        async with (
            serve_model() as model,
            serve_proxy(model, folder) as (app, root),
            async_playwright() as playwright,
        ):
            browser = await playwright.chromium.launch(
                executable_path=chromium, args=["--no-sandbox"]
            )
            await take_all(Camera(browser, root), app)
            await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
