"""The console's door: sessions, forms, foreign pages, headers, and who sees what."""

from __future__ import annotations

import gzip
import time
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from perturb import EmbeddingTable
from proxy.access import admission
from proxy.access.auth import Grant, new_key
from proxy.api.app_keys import KEYRING
from proxy.console import door
from tests.limits import LIMIT
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.proxy.console.browser import browsing

(ALICE, ALICE_HASH), (BOB, BOB_HASH), (ROOT, ROOT_HASH) = new_key(), new_key(), new_key()
LOCKED: dict[str, Any] = {
    "server": {
        "operators": ["root"],
        "keys": [
            {"tenant": "alice", "sha256": ALICE_HASH},
            {"tenant": "bob", "sha256": BOB_HASH},
            {"tenant": "root", "sha256": ROOT_HASH},
        ],
    }
}


async def stream(data: bytes) -> AsyncIterator[bytes]:
    """Yield data whose length the client does not know."""
    yield data


PAGES = ("", "/try", "/budgets", "/records", "/health")
FORM = {"text": "The board met on Monday.", "model": MODEL, "mode": "remote"}


class TestWithoutKeys:
    async def test_every_page_forbids_what_it_does_not_need(self, proxy: Proxy) -> None:
        async with browsing(proxy.root) as browser:
            for path in (*PAGES, "/keys", "/nothing", "/static/console.css"):
                page = await browser.get(path)
                assert page.status == (404 if path == "/nothing" else 200), path
                policy = page.headers["Content-Security-Policy"]
                assert "default-src 'none'" in policy
                assert "frame-ancestors 'none'" in policy
                assert "unsafe" not in policy
                assert page.headers["X-Content-Type-Options"] == "nosniff"
                assert page.headers["Referrer-Policy"] == "same-origin"
                kept = "no-cache" if "static" in path else "no-store"
                assert page.headers["Cache-Control"] == kept
                assert "style=" not in page.text
                assert "<script>" not in page.text

    async def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(
        self, proxy: Proxy
    ) -> None:
        async with browsing(proxy.root) as browser:
            (cookie,) = (await browser.get()).headers.getall("Set-Cookie")
            assert {"HttpOnly", "SameSite=Strict", "Path=/console", "Max-Age=43200"} <= set(
                cookie.split("; ")
            )
            assert "Set-Cookie" not in (await browser.get()).headers

    @pytest.mark.parametrize(
        "headers",
        [
            {"Origin": "https://evil.example"},
            {"Origin": "null"},
            {"Origin": ""},
            {"Origin": "http://["},
            {"Origin": "http://\u2100.example"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
        ],
    )
    async def test_a_form_of_another_site_is_refused(
        self, proxy: Proxy, headers: dict[str, str]
    ) -> None:
        async with browsing(proxy.root) as browser:
            await browser.get()
            assert (await browser.post("/try", FORM)).status == 200
            assert (await browser.post("/try", FORM, **headers)).status == 403

    @pytest.mark.parametrize(
        "path",
        [
            *("/try", "/try/send", "/health", "/keys", "/keys/restrict", "/keys/revoke"),
            *("/login", "/logout"),
        ],
    )
    async def test_no_form_counts_without_its_sessions_token(
        self, proxy: Proxy, path: str
    ) -> None:
        async with browsing(proxy.root) as browser, browsing(proxy.root) as other:
            await browser.get()
            await other.get()
            for token in ("", "0" * 64, other.token):
                page = await browser.post(path, {**FORM, "token": token})
                assert page.status == 403
                assert "another session" in page.text
        assert not proxy.remote.bodies

    async def test_a_name_that_resolves_to_this_machine_is_refused(self, proxy: Proxy) -> None:
        async with browsing(proxy.root) as browser:
            assert (await browser.get("/records", Host="evil.example")).status == 403
            page = await browser.get("/records", Host="localhost:1")
            assert page.status == 200

    async def test_a_header_that_cannot_be_read_is_refused(self, proxy: Proxy) -> None:
        kind = f"application/x-www-form-urlencoded; charset*{'9' * 5000}=x"
        digits = "9" * 5000
        async with browsing(proxy.root) as browser:
            await browser.get()
            assert (await browser.post("/try", FORM, **{"Content-Type": kind})).status < 500
            assert (await browser.get("", Origin="http://[")).status == 200
            for query in ("before", "from", "to", "tenant", "page"):
                assert (await browser.get(f"/records?{query}={digits}")).status < 500
            page = await browser.get(
                "", Cookie=f"inferdpt_console={digits}.-.{'0' * 32}.{'0' * 64}"
            )
            assert page.status == 200
            for form in ({"epsilon_1": digits}, {"epsilon_1": "1e999"}, {"actions_1": digits}):
                assert (await browser.post("/try", FORM | form)).status < 500

    async def test_only_forms_are_read(self, proxy: Proxy) -> None:
        async with (
            aiohttp.ClientSession() as session,
            session.post(
                f"{proxy.root}/console/try", json={}, headers={"Origin": proxy.root}
            ) as response,
        ):
            assert response.status == 400


class TestCors:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"server": {"cors_origins": ["*"]}}

    async def test_no_other_origin_may_read_the_console(self, proxy: Proxy) -> None:
        async with browsing(proxy.root) as browser:
            page = await browser.get("", Origin="https://evil.example")
            assert "Access-Control-Allow-Origin" not in page.headers


class TestOff:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"server": {"console": False}}

    async def test_there_is_no_console(self, proxy: Proxy) -> None:
        async with browsing(proxy.root) as browser:
            assert (await browser.get()).status == 404


class TestWithKeys:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return LOCKED

    async def test_pages_need_a_session(self, proxy: Proxy) -> None:
        async with browsing(proxy.root) as browser:
            for path in (*PAGES, "/keys", "/records/export"):
                page = await browser.get(path)
                assert page.status == 401
                assert "Client key" in page.text
            assert (await browser.post("/try", FORM)).status == 401
            wrong = await browser.post("/login", {"key": "sk-inferdpt-wrong"})
            assert wrong.status == 401
            assert "sk-inferdpt-wrong" not in wrong.text
            assert (await browser.log_in(ALICE)).status == 200
            await browser.post("/logout", {})
            assert (await browser.get()).status == 401
        assert ALICE not in "".join(proxy.log)

    async def test_a_forged_or_old_session_is_none(
        self, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with browsing(proxy.root) as browser:
            await browser.log_in(ALICE)
            value = browser.cookies[door.COOKIE]
            expiry, key, nonce, mac = value.split(".")
            forged = (
                f"{expiry}.{BOB_HASH[:16]}.{nonce}.{mac}",
                f"{int(expiry) + 1}.{key}.{nonce}.{mac}",
                f"{expiry}.{key}.{'0' * 32}.{mac}",
                f"{expiry}.{key}.{nonce}.{'0' * 64}",
            )
            async with aiohttp.ClientSession() as session:
                for cookie, status in ((value, 200), *((each, 401) for each in forged)):
                    headers = {"Cookie": f"{door.COOKIE}={cookie}"}
                    url = f"{proxy.root}/console/health"
                    async with session.get(url, headers=headers) as response:
                        assert response.status == status
            later = time.time() + door.HOURS * 3600 + 1
            monkeypatch.setattr(door.time, "time", lambda: later)
            assert (await browser.get("/health")).status == 401

    async def test_a_session_ends_with_its_key(self, proxy: Proxy) -> None:
        keyring = proxy.app[KEYRING]
        id_, key = await keyring.create("carol", Grant())
        async with browsing(proxy.root) as browser:
            assert (await browser.log_in(key)).status == 200
            await keyring.revoke(id_)
            assert (await browser.get("/health")).status == 401

    async def test_an_address_has_a_number_of_attempts_to_log_in(
        self, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(admission, "LOGINS", admission.Bucket(3, LIMIT))
        async with browsing(proxy.root) as browser, browsing(proxy.root) as other:
            await other.log_in(ALICE)
            await browser.get()
            for _ in range(2):
                assert (await browser.post("/login", {"key": "sk-inferdpt-wrong"})).status == 401
            page = await browser.post("/login", {"key": ALICE})
            assert page.status == 429
            assert 0 < int(page.headers["Retry-After"]) <= LIMIT
            assert (await browser.get("/health")).status == 401
            assert (await other.get("/health")).status == 200  # sessions go on

    @pytest.mark.parametrize("encoding", ["", "gzip", "chunked"])
    async def test_nobody_makes_the_proxy_read_a_large_form(
        self, proxy: Proxy, encoding: str
    ) -> None:
        """Such a form would take memory and a place that clients wait for."""
        data: Any = b"key=" + b"a" * 5000
        headers = {"Origin": proxy.root, "Content-Type": "application/x-www-form-urlencoded"}
        if encoding == "gzip":
            data, headers["Content-Encoding"] = gzip.compress(data), "gzip"
        if encoding == "chunked":
            data = stream(data)
        url = f"{proxy.root}/console/login"
        async with (
            aiohttp.ClientSession() as session,
            session.post(url, data=data, headers=headers) as response,
        ):
            assert response.status == 413

    async def test_a_tenant_sees_only_its_own(self, proxy: Proxy) -> None:
        for key in (ALICE, BOB):
            await proxy.client(api_key=key).chat.completions.create(
                model=MODEL, messages=[{"role": "user", "content": "The board met."}]
            )
        async with browsing(proxy.root) as browser:
            await browser.log_in(ALICE)
            for path in PAGES:
                page = await browser.get(path)
                assert page.status == 200
                assert "bob" not in page.text
            for path in ("/budgets?tenant=bob", "/records?tenant=bob", "/keys"):
                assert (await browser.get(path)).status == 403, path
            assert (await browser.get("/records/export?tenant=bob")).status == 403
            export = await browser.get("/records/export?format=jsonl")
            assert '"tenant": "alice"' in export.text
            assert "bob" not in export.text
            assert (await browser.post("/keys", {"tenant": "alice"})).status == 403
            assert (await browser.post("/health", {})).status == 403
            assert "Time by stage" not in (await browser.get("/health")).text

    async def test_an_operator_sees_all(self, proxy: Proxy) -> None:
        await proxy.client(api_key=BOB).chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": "The board met."}]
        )
        async with browsing(proxy.root) as browser:
            await browser.log_in(ROOT)
            assert "chat/completions" in (await browser.get("/records?tenant=bob")).text
            assert "Released tokens" in (await browser.get("/budgets?tenant=bob")).text
            assert "Time by stage" in (await browser.get("/health")).text


async def test_the_first_key_is_confirmed_and_closes_the_console(table: EmbeddingTable) -> None:
    async with running_proxy(table, {}) as proxy, browsing(proxy.root) as browser:
        await browser.get("/keys")
        assert (await browser.post("/keys", {"tenant": "alice"})).status == 400
        made = await browser.post("/keys", {"tenant": "alice", "first": "on"})
        assert "sk-inferdpt-" in made.text
        assert (await browser.get("/records")).status == 401
