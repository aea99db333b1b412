"""Signing in at a provider on another site, in Chromium: each role sees what it may."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from perturb import EmbeddingTable
from proxy.access.auth import Grant
from proxy.api.app_keys import KEYRING
from tests.console.test_console import SETTINGS, Visitor, visiting
from tests.proxy.conftest import MODEL, Proxy, running_proxy

pytestmark = pytest.mark.console

GROUPS = {"olga": ["admins"], "anna": ["audit"], "mike": ["staff"], "nora": ["guests"]}
ROLES = {"admins": "operator", "audit": "auditor", "staff": "member"}
SEEN = {
    "olga": ["Try it", "Batches", "Budgets", "Records", "Health", "Keys"],
    "anna": ["Budgets", "Records", "Health"],
    "mike": ["Try it", "Batches", "Budgets", "Records", "Health"],
}


@pytest.fixture
async def proxy(table: EmbeddingTable, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Proxy]:
    from oidc_provider_mock import User, run_server_in_thread

    monkeypatch.setenv("AUTHLIB_INSECURE_TRANSPORT", "1")
    users = [User(sub=name, claims={"groups": groups}) for name, groups in GROUPS.items()]
    with run_server_in_thread(user_claims=users, require_nonce=True) as server:
        # The proxy is at 127.0.0.1, so this is another site: its cookies are not sent from here.
        issuer = f"http://localhost:{server.server_port}"
        oidc = {"issuer": issuer, "client_id": "proxy", "client_secret": "s", "roles": ROLES}
        async with running_proxy(table, SETTINGS | {"server": {"oidc": oidc}}) as running:
            yield running


async def sign_in(visitor: Visitor, name: str) -> None:
    page = visitor.page
    await visitor.open("")
    await page.get_by_role("link", name="Sign in with localhost").click()
    await page.get_by_role("button", name=name).click()
    await page.wait_for_url(f"{visitor.root}/console**")


async def list_pages(visitor: Visitor) -> list[str]:
    texts: list[str] = await visitor.page.locator("nav a").all_text_contents()
    return texts


@pytest.mark.parametrize("scripts", [True, False])
@pytest.mark.parametrize("name", SEEN)
async def test_each_role_sees_what_it_may(
    chromium: Any, proxy: Proxy, name: str, scripts: bool
) -> None:
    """Without scripts, axe-core cannot judge the page."""
    _, key = await proxy.app[KEYRING].create("alice", Grant())
    await proxy.client(api_key=key).chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": "Mary Ellis called."}]
    )
    async with visiting(chromium, proxy.root, java_script_enabled=scripts) as visitor:
        page = visitor.page
        await visitor.open("")
        visitor.faults.clear()  # the browser notes the status 401
        if scripts:
            await visitor.inspect()
        await sign_in(visitor, name)
        await page.get_by_role("button", name="Log out").wait_for()
        assert "code=" not in page.url
        assert await list_pages(visitor) == SEEN[name]
        assert await page.locator(".who").get_by_text(ROLES[GROUPS[name][0]]).count() == 1
        visitor.faults.clear()  # the provider's pages
        for path in SEEN[name]:
            await page.get_by_role("link", name=path, exact=True).click()
            await page.locator(f"nav a[aria-current=page]:text-is('{path}')").wait_for()
            seen = "alice" in (await page.locator("main").text_content() or "")
            if path == "Budgets":
                assert seen is (name != "mike")
            if scripts:
                await visitor.inspect()
        for path in ("try", "keys"):
            answer = await page.goto(f"{visitor.root}/console/{path}")
            allowed = name == "olga" or (name, path) == ("mike", "try")
            assert answer.status == (200 if allowed else 403)
        await page.get_by_role("button", name="Log out").click()
        await page.get_by_role("link", name="Sign in with localhost").wait_for()
        assert (await page.goto(f"{visitor.root}/console/budgets")).status == 401


async def test_who_has_no_role_is_told_so(chromium: Any, proxy: Proxy) -> None:
    async with visiting(chromium, proxy.root) as visitor:
        await sign_in(visitor, "nora")
        await visitor.page.get_by_role("alert").get_by_text("has no role here").wait_for()
        visitor.faults.clear()
        await visitor.inspect()
        assert await list_pages(visitor) == []
        await visitor.open("budgets")
        await visitor.page.get_by_role("link", name="Sign in with localhost").wait_for()


async def test_what_a_member_sends_is_theirs(chromium: Any, proxy: Proxy) -> None:
    async with visiting(chromium, proxy.root) as visitor:
        page = visitor.page
        await sign_in(visitor, "mike")
        await page.locator("#text").fill("Mary Ellis called 020 7946 0123.")
        await visitor.preview()
        await page.get_by_role("button", name="Send").click()
        await page.get_by_role("heading", name="Receipt").wait_for()
        assert "Mary Ellis" not in proxy.remote.received[-1].decode()
        await visitor.open("records?endpoint=/console/try/send")
        assert await page.locator("tbody tr").count() == 1
