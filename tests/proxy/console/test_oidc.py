"""Sign-in with OpenID Connect: a real provider, hostile ones, sessions, and who sees what."""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import aiohttp
import openai
import pytest
from aiohttp import web
from joserfc import jws
from joserfc.jwk import RSAKey
from joserfc.jws import JWSRegistry
from sqlalchemy import func, select, update

from perturb import EmbeddingTable
from proxy.access import admission, people
from proxy.access.auth import Grant, Keyring, new_key
from proxy.access.people import People, Person
from proxy.api.app_keys import CONFIG, KEYRING, STORE
from proxy.checkup import check
from proxy.config.server import Oidc
from proxy.config.settings import Server, load_config
from proxy.console import door, oidc
from proxy.console.oidc import PROVIDER, Provider, find_person
from proxy.errors import ApiError, ConfigError
from proxy.records.rekey import rekey
from proxy.storage.schema import SESSIONS
from proxy.storage.store import Store
from tests.limits import LIMIT
from tests.proxy.conftest import MODEL, Proxy, merge, running_proxy
from tests.proxy.console.browser import Browser, Page, browsing
from tests.proxy.console.provider import (
    CLIENT,
    EC,
    OTHER,
    RSA,
    SECRET,
    FakeProvider,
    encode,
    providing,
)

ROLES = {"admins": "operator", "audit": "auditor", "staff": "member"}
CALLBACK = "/oidc/callback"
AUDITED = ("/budgets", "/budgets/export", "/records", "/records/export", "/health")


def oidc_of(provider: FakeProvider, **over: Any) -> dict[str, Any]:
    known = {"issuer": provider.root, "client_id": CLIENT, "client_secret": SECRET}
    return {**known, "roles": ROLES, **over}


@asynccontextmanager
async def signing_in(
    table: EmbeddingTable, provider: FakeProvider, *, server: Any = None, **over: Any
) -> AsyncIterator[Proxy]:
    settings = {"server": {"oidc": oidc_of(provider, **over), **(server or {})}}
    async with running_proxy(table, settings) as proxy:
        yield proxy


async def go(browser: Browser, path: str, **headers: str) -> Page:
    """Request a page, without following where it leads."""
    url = f"{browser.root}/console{path}"
    async with browser.session.get(url, headers=headers, allow_redirects=False) as response:
        return Page(response, await response.text())


async def begin(browser: Browser, provider: FakeProvider) -> dict[str, str]:
    """Begin to sign in; return the query with which the provider leads back."""
    page = await go(browser, "/oidc")
    assert page.status == 303
    return provider.authorize(page.headers["Location"])


async def come_back(browser: Browser, query: dict[str, str]) -> Page:
    url = f"{browser.root}/console{CALLBACK}"
    async with browser.session.get(url, params=query) as response:
        return Page(response, await response.text())


async def sign_in(browser: Browser, provider: FakeProvider, **claims: Any) -> Page:
    provider.claims = {**provider.claims, **claims}
    page = await come_back(browser, await begin(browser, provider))
    await browser.get("/budgets")  # for the token of its forms
    return page


async def count(store: Store) -> int:
    """Count the rows of sessions, of ended ones, too."""
    query = select(func.count()).select_from(SESSIONS)
    return await store.scan(lambda connection: connection.scalars(query).one())


@pytest.fixture
async def provider() -> AsyncIterator[FakeProvider]:
    async with providing() as running:
        yield running


class TestRealProvider:
    """The whole path, with a provider that others wrote."""

    async def test_people_sign_in_with_the_roles_of_their_groups(
        self, table: EmbeddingTable, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from oidc_provider_mock import User, run_server_in_thread

        monkeypatch.setenv("AUTHLIB_INSECURE_TRANSPORT", "1")
        groups = {"op": ["admins", "other"], "au": ["audit"], "me": ["staff"], "no": ["other"]}
        users = [User(sub=sub, claims={"groups": names}) for sub, names in groups.items()]
        with run_server_in_thread(user_claims=users, require_nonce=True) as server:
            issuer = f"http://localhost:{server.server_port}"
            signing = {"issuer": issuer, "client_id": CLIENT, "client_secret": "s"}
            settings = {"server": {"oidc": {**signing, "roles": ROLES}}}
            async with running_proxy(table, settings) as proxy:
                statuses = {}
                for sub in groups:
                    async with browsing(proxy.root) as browser:
                        form = await browser.session.get(f"{proxy.root}/console/oidc")
                        back = await browser.session.post(form.url, data={"sub": sub})
                        assert back.status == (403 if sub == "no" else 200)
                        assert ("Signed in" in await back.text()) is (sub != "no")
                        pages = [await go(browser, path) for path in ("/budgets", "/try", "/keys")]
                        statuses[sub] = [page.status for page in pages]
                        assert (f">{ROLES.get(groups[sub][0])}<" in pages[0].text) is (sub != "no")
                assert statuses == {
                    "op": [200, 200, 200],
                    "au": [200, 403, 403],
                    "me": [200, 200, 403],
                    "no": [401, 401, 401],
                }
                async with browsing(proxy.root) as browser:
                    form = await browser.session.get(f"{proxy.root}/console/oidc")
                    back = await browser.session.post(form.url, data={"action": "deny"})
                    assert back.status == 403
                    assert (await browser.get("/budgets")).status == 401


async def test_the_request_is_a_code_flow_with_pkce(
    table: EmbeddingTable, provider: FakeProvider
) -> None:
    async with (
        signing_in(table, provider, scopes=["email", "openid"]) as proxy,
        browsing(proxy.root) as browser,
    ):
        page = await go(
            browser, "/oidc?next=https://evil.example&redirect_uri=https://evil.example"
        )
        query = parse_qs(urlsplit(page.headers["Location"]).query)
        state, nonce, challenge = (
            query.pop(name)[0] for name in ("state", "nonce", "code_challenge")
        )
        assert len({state, nonce, challenge}) == 3
        assert min(map(len, (state, nonce, challenge))) >= 43
        assert query == {
            "response_type": ["code"],
            "client_id": [CLIENT],
            "redirect_uri": [f"{proxy.root}/console/oidc/callback"],
            "scope": ["openid email"],
            "code_challenge_method": ["S256"],
        }
        again = parse_qs(urlsplit((await go(browser, "/oidc")).headers["Location"]).query)
        assert {again[name][0] for name in ("state", "nonce", "code_challenge")}.isdisjoint(
            {state, nonce, challenge}
        )
        done = await sign_in(browser, provider)
        assert done.status == 200
        assert "evil" not in done.text
        assert 'content="0; url=/console"' in done.text
        # The provider compared the verifier with the challenge, and the proxy's secret.
        assert provider.forms[-1]["grant_type"] == "authorization_code"
        assert provider.headers[-1] is not None


async def test_the_cookies_are_out_of_reach(table: EmbeddingTable, provider: FakeProvider) -> None:
    async with signing_in(table, provider, hours=2) as proxy, browsing(proxy.root) as browser:
        page = await go(browser, "/oidc")
        (attempt,) = (c for c in page.headers.getall("Set-Cookie") if c.startswith(door.ATTEMPT))
        assert {"HttpOnly", "SameSite=Lax", "Path=/console/oidc/callback", "Max-Age=600"} <= set(
            attempt.split("; ")
        )
        done = await come_back(browser, provider.authorize(page.headers["Location"]))
        session, gone = sorted(done.headers.getall("Set-Cookie"))
        assert {"HttpOnly", "SameSite=Strict", "Path=/console", "Max-Age=7200"} <= set(
            session.split("; ")
        )
        assert gone.startswith(f"{door.ATTEMPT}=; ")
        assert "Max-Age=0" in gone
        assert "Secure" not in session + attempt


async def test_a_public_address_is_configured_and_never_taken_from_a_request(
    table: EmbeddingTable, provider: FakeProvider
) -> None:
    async with signing_in(table, provider) as proxy, browsing(proxy.root) as browser:
        for path in ("/oidc", CALLBACK):
            headers = {"Host": "evil.example", "Cookie": f"{door.ATTEMPT}=9999999999.{'0' * 32}"}
            page = await go(browser, path, **headers)
            assert page.status == 403
            assert "public_url" in page.text
            assert "Location" not in page.headers
    async with (
        signing_in(table, provider, public_url="https://proxy.example/") as proxy,
        browsing(proxy.root) as browser,
    ):
        page = await go(browser, "/oidc", Host="evil.example")
        query = parse_qs(urlsplit(page.headers["Location"]).query)
        assert query["redirect_uri"] == ["https://proxy.example/console/oidc/callback"]
        cookies = page.headers.getall("Set-Cookie")
        assert len(cookies) == 2
        assert all("Secure" in cookie for cookie in cookies)


class TestAttempts:
    async def test_no_answer_counts_but_the_one_to_this_browser(
        self, table: EmbeddingTable, provider: FakeProvider
    ) -> None:
        async with (
            signing_in(table, provider) as proxy,
            browsing(proxy.root) as browser,
            browsing(proxy.root) as victim,
        ):
            stolen = await begin(browser, provider)
            assert (await come_back(victim, stolen)).status == 403  # no attempt
            mine = await begin(victim, provider)
            assert (await come_back(victim, stolen)).status == 403  # login CSRF
            mine = await begin(victim, provider)
            assert (await come_back(victim, {**mine, "state": ""})).status == 403
            mine = await begin(victim, provider)
            assert (await come_back(victim, {"state": mine["state"]})).status == 403
            mine = await begin(victim, provider)
            denied = await come_back(victim, {**mine, "error": "access_denied"})
            assert denied.status == 403
            assert "did not let you in" in denied.text
            assert provider.forms == []
            # A code of another attempt: the provider misses its verifier.
            mine = await begin(victim, provider)
            assert (await come_back(victim, {**mine, "code": stolen["code"]})).status == 403
            assert (await victim.get("/budgets")).status == 401
            assert (await come_back(browser, stolen)).status == 200

    async def test_a_nonce_of_another_attempt_does_not_count(
        self, table: EmbeddingTable, provider: FakeProvider
    ) -> None:
        """A provider that compares no verifier: the nonce alone tells the attempts apart."""
        async with signing_in(table, provider) as proxy, browsing(proxy.root) as browser:
            other = await begin(browser, provider)
            mine = await begin(browser, provider)
            provider._fits = lambda asked, form: True  # type: ignore[method-assign]
            page = await come_back(browser, {**mine, "code": other["code"]})
            assert page.status == 403
            assert "nonce" in page.text

    @pytest.mark.parametrize("ended", [False, True])
    async def test_an_attempt_begins_one_session(
        self, table: EmbeddingTable, provider: FakeProvider, ended: bool
    ) -> None:
        provider.forgets = False
        async with signing_in(table, provider) as proxy, browsing(proxy.root) as browser:
            query = await begin(browser, provider)
            kept = browser.cookies[door.ATTEMPT]
            assert (await come_back(browser, query)).status == 200
            if ended:
                await browser.get("/budgets")
                await browser.post("/logout", {})
                await proxy.app[STORE].sweep(1e9, 10**6)
            async with aiohttp.ClientSession(
                headers={"Cookie": f"{door.ATTEMPT}={kept}"}
            ) as thief:
                url = f"{proxy.root}/console{CALLBACK}"
                async with thief.get(url, params=query) as response:
                    assert response.status == 403
                    assert "used before" in await response.text()
            assert (await come_back(browser, query)).status == 403  # its cookie is used up

    async def test_an_answer_that_cannot_be_read_counts_nothing(
        self, table: EmbeddingTable, provider: FakeProvider
    ) -> None:
        async with signing_in(table, provider) as proxy, browsing(proxy.root) as browser:
            for query in ("state=%ff%00&code=%ed%a0%80", "state", "state=a&state=b", "%", "iss=x"):
                await begin(browser, provider)
                assert (await go(browser, f"{CALLBACK}?{query}")).status == 403
                cookie = f"{door.ATTEMPT}={query}"
                assert (await go(browser, CALLBACK, Cookie=cookie)).status == 403

    async def test_an_attempt_is_over_after_a_while(
        self, table: EmbeddingTable, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with signing_in(table, provider) as proxy, browsing(proxy.root) as browser:
            url = f"{CALLBACK}?{urlencode(await begin(browser, provider))}"
            # The browser would forget it by itself.
            cookie = f"{door.ATTEMPT}={browser.cookies[door.ATTEMPT]}"
            later = time.time() + 601
            monkeypatch.setattr(door.time, "time", lambda: later)
            page = await go(browser, url, Cookie=cookie)
            assert page.status == 403
            assert "is over" in page.text
            assert provider.forms == []

    async def test_the_answer_of_another_provider_does_not_count(
        self, table: EmbeddingTable, provider: FakeProvider
    ) -> None:
        async with signing_in(table, provider) as proxy, browsing(proxy.root) as browser:
            query = await begin(browser, provider)
            mixed = await come_back(browser, {**query, "iss": "https://evil.example"})
            assert mixed.status == 403
            query = await begin(browser, provider)
            assert (await come_back(browser, {**query, "iss": provider.root})).status == 200
        provider.metadata = {"authorization_response_iss_parameter_supported": True}
        async with signing_in(table, provider) as proxy, browsing(proxy.root) as browser:
            assert (await come_back(browser, await begin(browser, provider))).status == 403
            query = await begin(browser, provider)
            assert (await come_back(browser, {**query, "iss": provider.root})).status == 200

    async def test_no_other_site_begins_an_attempt(
        self, table: EmbeddingTable, provider: FakeProvider
    ) -> None:
        async with signing_in(table, provider) as proxy, browsing(proxy.root) as browser:
            for site, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 303)):
                assert (await go(browser, "/oidc", **{"Sec-Fetch-Site": site})).status == status

    async def test_an_address_has_a_number_of_attempts(
        self, table: EmbeddingTable, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(admission, "LOGINS", admission.Bucket(2, LIMIT))
        async with signing_in(table, provider) as proxy, browsing(proxy.root) as browser:
            statuses = []
            for _ in range(3):
                query = await begin(browser, provider)
                page = await come_back(browser, {**query, "code": "wrong"})
                statuses.append(page.status)
            assert statuses == [403, 403, 429]
            assert len(provider.forms) == 2


def sign_none(claims: dict[str, Any]) -> str:
    head = encode(json.dumps({"alg": "none", "kid": "one"}).encode())
    return f"{head}.{encode(json.dumps(claims).encode())}."


def sign_with_public_key(claims: dict[str, Any]) -> str:
    """Confuse a verifier that takes the key for that of an HMAC."""
    head = encode(json.dumps({"alg": "HS256", "kid": "one"}).encode())
    signed = f"{head}.{encode(json.dumps(claims).encode())}"
    digest = hmac.digest(RSA.as_pem(private=False), signed.encode(), "sha256")
    return f"{signed}.{encode(digest)}"


def sign_and_change(claims: dict[str, Any]) -> str:
    head, _, tail = FakeProvider.sign_with()(claims).split(".")
    changed = encode(json.dumps({**claims, "sub": "u-2"}).encode())
    return f"{head}.{changed}.{tail}"


def sign_critical(claims: dict[str, Any]) -> str:
    """Ask for an extension that nobody knows, with a good signature."""
    head = encode(json.dumps({"alg": "RS256", "kid": "one", "crit": ["x"], "x": 1}).encode())
    signed = f"{head}.{encode(json.dumps(claims).encode())}"
    signature = JWSRegistry.algorithms["RS256"].sign(signed.encode(), RSA)
    return f"{signed}.{encode(signature)}"


def sign_text(text: str) -> Any:
    return lambda claims: jws.serialize_compact({"alg": "RS256", "kid": "one"}, text, RSA)


UNSIGNED: dict[str, Any] = {
    "another key": FakeProvider.sign_with(OTHER),
    "none": sign_none,
    "the public key as a secret": sign_with_public_key,
    "changed": sign_and_change,
    "an unknown key": FakeProvider.sign_with(RSAKey.generate_key(2048, {"kid": "three"})),
    "a critical header": sign_critical,
    "no token": lambda claims: "no token",
    "five parts": lambda claims: FakeProvider.sign_with()(claims) + ".a.b",
    "no claims": sign_text("[]"),
    "no JSON": sign_text("{"),
    "deep": sign_text("[" * 5000),
}
NOW = int(time.time())
WRONG: dict[str, dict[str, Any]] = {
    "iss": {"iss": "https://evil.example"},
    "no iss": {"iss": None},
    "aud": {"aud": "another"},
    "no aud": {"aud": None},
    "auds": {"aud": ["another", "third"]},
    "several auds without azp": {"aud": [CLIENT, "another"]},
    "azp": {"azp": "another"},
    "several auds with another azp": {"aud": [CLIENT, "another"], "azp": "another"},
    "exp": {"exp": NOW - 3600},
    "no exp": {"exp": None},
    "text exp": {"exp": "never"},
    "infinite exp": {"exp": float("inf")},
    "iat": {"iat": NOW + 3600},
    "no iat": {"iat": None},
    "nbf": {"nbf": NOW + 3600},
    "nonce": {"nonce": "0" * 64},
    "no nonce": {"nonce": None},
    "no sub": {"sub": None},
    "empty sub": {"sub": ""},
    "list sub": {"sub": ["u-1"]},
    "sub of a front end's user": {"sub": "webui::u-1"},
}


class TestTokens:
    @pytest.mark.parametrize("kind", UNSIGNED)
    async def test_a_token_that_the_provider_did_not_sign_counts_nothing(
        self, table: EmbeddingTable, provider: FakeProvider, kind: str
    ) -> None:
        provider.sign = UNSIGNED[kind]
        async with signing_in(table, provider) as proxy, browsing(proxy.root) as browser:
            page = await sign_in(browser, provider)
            assert page.status == 403
            assert provider.forms
            assert (await browser.get("/budgets")).status == 401

    @pytest.mark.parametrize("kind", WRONG)
    async def test_a_token_for_something_else_counts_nothing(
        self, table: EmbeddingTable, provider: FakeProvider, kind: str
    ) -> None:
        provider.changes = WRONG[kind]
        async with signing_in(table, provider) as proxy, browsing(proxy.root) as browser:
            page = await sign_in(browser, provider)
            assert page.status == 403
            assert "evil" not in page.text
            assert (await browser.get("/budgets")).status == 401

    @pytest.mark.parametrize(
        "changes",
        [{"aud": [CLIENT]}, {"aud": [CLIENT, "another"], "azp": CLIENT}, {"exp": NOW - 30}],
    )
    async def test_a_token_in_another_form_counts(
        self, table: EmbeddingTable, provider: FakeProvider, changes: dict[str, Any]
    ) -> None:
        """A clock may be a minute off."""
        if "exp" in changes:
            changes = {"exp": int(time.time()) - 5}
        provider.changes = changes
        async with signing_in(table, provider) as proxy, browsing(proxy.root) as browser:
            assert (await sign_in(browser, provider)).status == 200

    async def test_elliptic_curves_and_a_key_without_a_name_count(
        self, table: EmbeddingTable, provider: FakeProvider
    ) -> None:
        provider.keys, provider.sign = [RSA, EC], FakeProvider.sign_with(EC, x5t="unknown")
        async with signing_in(table, provider) as proxy, browsing(proxy.root) as browser:
            assert (await sign_in(browser, provider)).status == 200
        provider.keys, provider.sign = [RSA], FakeProvider.sign_with(RSA, kid=None)
        async with signing_in(table, provider) as proxy, browsing(proxy.root) as browser:
            assert (await sign_in(browser, provider)).status == 200
        provider.keys = [RSA, EC]  # which of them is not said
        async with signing_in(table, provider) as proxy, browsing(proxy.root) as browser:
            assert (await sign_in(browser, provider)).status == 403

    async def test_keys_of_unknown_kinds_do_not_hide_the_others(
        self, table: EmbeddingTable, provider: FakeProvider
    ) -> None:
        unknown = {"kty": "EC", "crv": "P-0", "x": "AA", "y": "AA", "kid": "four"}
        provider.strange = [unknown, {"kty": "AKP", "kid": "five"}, {"kty": "RSA"}, 1, None, "x"]
        async with signing_in(table, provider) as proxy, browsing(proxy.root) as browser:
            assert (await sign_in(browser, provider)).status == 200

    async def test_an_unknown_key_is_asked_for_once_a_minute(
        self, table: EmbeddingTable, provider: FakeProvider
    ) -> None:
        now = 1000.0
        async with signing_in(table, provider) as proxy, browsing(proxy.root) as browser:
            proxy.app[PROVIDER]._keys._clock = lambda: now
            assert (await sign_in(browser, provider)).status == 200
            provider.keys, provider.sign = [EC], FakeProvider.sign_with(EC)
            for _ in range(3):  # the keys were read a moment ago
                assert (await sign_in(browser, provider)).status == 403
            assert provider.asked["/keys"] == 1
            now += 61
            assert (await sign_in(browser, provider)).status == 200
            assert (await sign_in(browser, provider)).status == 200
            assert provider.asked["/keys"] == 2
            provider.sign = FakeProvider.sign_with()  # the old key is no longer the provider's
            assert (await sign_in(browser, provider)).status == 403


async def redirect(request: web.Request) -> web.Response:
    assert request.query_string == ""
    return web.Response(status=302, headers={"Location": f"{request.path}?again"})


async def broken(request: web.Request) -> web.Response:
    return web.Response(text="{", content_type="application/json")


async def failing(request: web.Request) -> web.Response:
    return web.Response(status=500)


async def empty(request: web.Request) -> web.Response:
    return web.json_response({})


async def listed(request: web.Request) -> web.Response:
    return web.json_response([1])


PLACES = ("/.well-known/openid-configuration", "/keys", "/token")


class TestDocuments:
    @pytest.mark.parametrize("place", PLACES)
    @pytest.mark.parametrize("answer", [redirect, broken, failing, empty, listed])
    async def test_a_document_that_cannot_be_used_lets_nobody_in(
        self, table: EmbeddingTable, provider: FakeProvider, place: str, answer: Any
    ) -> None:
        provider.answers[place] = answer
        async with signing_in(table, provider) as proxy, browsing(proxy.root) as browser:
            page = await go(browser, "/oidc")
            if place != PLACES[0]:
                page = await come_back(browser, provider.authorize(page.headers["Location"]))
            assert page.status == 503
            assert (await browser.get("/budgets")).status == 401
            assert provider.asked[place] == 1

    @pytest.mark.parametrize("place", PLACES)
    @pytest.mark.parametrize(
        ("padding", "status"),
        [("x" * 600_000, 503), ([0] * 30_000, 503), ("x" * 400_000, 200)],
        ids=["long", "many", "less"],
    )
    async def test_a_huge_document_lets_nobody_in(
        self, table: EmbeddingTable, provider: FakeProvider, place: str, padding: Any, status: int
    ) -> None:
        async with signing_in(table, provider) as proxy, browsing(proxy.root) as browser:
            provider.extra[place] = {"padding": padding}
            page = await go(browser, "/oidc")
            if page.status == 303:
                page = await come_back(browser, provider.authorize(page.headers["Location"]))
            assert page.status == status

    @pytest.mark.parametrize(
        "metadata",
        [
            {"issuer": "https://evil.example"},
            {"issuer": None},
            {"token_endpoint": "http://evil.example/token"},
            {"token_endpoint": "file:///etc/passwd"},
            {"token_endpoint": ["x"]},
            {"jwks_uri": "http://evil.example/keys"},
            {"jwks_uri": "http://["},
            {"authorization_endpoint": "http://evil.example/"},
            {"authorization_endpoint": "javascript:alert(1)"},
            {"authorization_endpoint": "https://a.example/\r\nX: y"},
        ],
    )
    async def test_a_configuration_of_another_place_lets_nobody_in(
        self, table: EmbeddingTable, provider: FakeProvider, metadata: dict[str, Any]
    ) -> None:
        provider.metadata = metadata
        async with signing_in(table, provider) as proxy, browsing(proxy.root) as browser:
            page = await go(browser, "/oidc")
            assert page.status == 503
            assert "Location" not in page.headers
            assert "evil" not in page.text

    async def test_a_provider_that_does_not_answer_is_not_waited_for(
        self, table: EmbeddingTable, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(oidc, "SECONDS", 0.05)
        ends = asyncio.Event()

        async def hang(request: web.Request) -> web.StreamResponse:
            response = web.StreamResponse()
            await response.prepare(request)
            await ends.wait()
            return response

        provider.answers[PLACES[0]] = hang
        with pytest.raises(ApiError) as caught:
            await Provider(Oidc(**oidc_of(provider))).read_metadata()
        ends.set()
        assert caught.value.status == 503

    async def test_a_failed_provider_is_asked_again_after_a_rest(
        self, provider: FakeProvider
    ) -> None:
        now = 1000.0
        place = PLACES[0]
        provider.answers[place] = failing
        used = Provider(Oidc(**oidc_of(provider)), clock=lambda: now)
        for _ in range(3):
            with pytest.raises(ApiError):
                await used.read_metadata()
        assert provider.asked[place] == 1
        now += 6
        del provider.answers[place]
        for _ in range(3):
            await used.read_metadata()
        assert provider.asked[place] == 2
        now += 3601
        await used.read_metadata()
        assert provider.asked[place] == 3

    async def test_the_secret_goes_where_the_provider_wants_it(
        self, table: EmbeddingTable, provider: FakeProvider
    ) -> None:
        post, basic = "client_secret_post", "client_secret_basic"
        for methods in (None, [post], [post, basic]):
            provider.metadata = {"token_endpoint_auth_methods_supported": methods}
            async with signing_in(table, provider) as proxy, browsing(proxy.root) as browser:
                assert (await sign_in(browser, provider)).status == 200
                in_form = methods == [post]
                assert (provider.headers[-1] is None) is in_form
                assert ("client_secret" in provider.forms[-1]) is in_form
        async with (
            signing_in(table, provider, client_secret="wrong") as proxy,
            browsing(proxy.root) as browser,
        ):
            assert (await sign_in(browser, provider)).status == 503
        provider.secret = None
        async with (
            signing_in(table, provider, client_secret=None) as proxy,
            browsing(proxy.root) as browser,
        ):
            assert (await sign_in(browser, provider)).status == 200
            assert provider.headers[-1] is None


def read_folder(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


class TestSessions:
    async def test_who_signs_out_is_out_in_every_copy(
        self, table: EmbeddingTable, provider: FakeProvider
    ) -> None:
        async with signing_in(table, provider) as proxy, browsing(proxy.root) as browser:
            await sign_in(browser, provider)
            headers = {"Cookie": f"{door.COOKIE}={browser.cookies[door.COOKIE]}"}
            async with aiohttp.ClientSession(headers=headers) as copy:
                url = f"{proxy.root}/console/budgets"
                async with copy.get(url) as response:
                    assert response.status == 200
                await browser.post("/logout", {})
                async with copy.get(url) as response:
                    assert response.status == 401
            assert (await browser.get("/budgets")).status == 401

    async def test_a_forged_session_is_none(
        self, table: EmbeddingTable, provider: FakeProvider
    ) -> None:
        async with signing_in(table, provider) as proxy, browsing(proxy.root) as browser:
            await sign_in(browser, provider)
            expiry, name, id_, mac = browser.cookies[door.COOKIE].split(".")
            assert name == "person"
            forged = (
                f"{int(expiry) + 1}.{name}.{id_}.{mac}",
                f"{expiry}.{name}.{id_}.{'0' * 64}",
                f"{expiry}.{name}.{'0' * 32}.{mac}",
                f"{expiry}.-.{id_}.{mac}",
            )
            for cookie in forged:
                headers = {"Cookie": f"{door.COOKIE}={cookie}"}
                async with (
                    aiohttp.ClientSession(headers=headers) as other,
                    other.get(f"{proxy.root}/console/budgets") as response,
                ):
                    assert response.status == 401

    async def test_a_session_ends_after_its_hours(
        self, table: EmbeddingTable, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with signing_in(table, provider, hours=2) as proxy, browsing(proxy.root) as browser:
            await sign_in(browser, provider)
            store, settings = proxy.app[STORE], proxy.app[CONFIG].server.oidc
            id_ = browser.cookies[door.COOKIE].split(".")[2]
            soon, later = time.time() + 7190, time.time() + 7210
            assert await People(store, settings, clock=lambda: soon).find(id_) is not None
            assert await People(store, settings, clock=lambda: later).find(id_) is None
            monkeypatch.setattr(door.time, "time", lambda: later)
            assert (await browser.get("/budgets")).status == 401
            assert await count(store) == 1
            await store.sweep(1e9, 10**6, now=time.time() + 1000)
            assert await count(store) == 0

    async def test_a_person_has_a_number_of_sessions(
        self, table: EmbeddingTable, provider: FakeProvider
    ) -> None:
        now = time.time()
        async with signing_in(table, provider) as proxy:
            settings = proxy.app[CONFIG].server.oidc
            kept = People(proxy.app[STORE], settings, clock=lambda: now)
            await kept.begin("other", Person("u-2", "member", "t"))
            for number in range(people.MOST + 2):
                now += 1
                assert await kept.begin(str(number), Person("u-1", "member", "t"))
            found = [await kept.find(str(number)) for number in range(people.MOST + 2)]
            assert [each is None for each in found] == [True] * 2 + [False] * people.MOST
            assert await kept.find("other") is not None

    async def test_a_session_ends_with_the_configuration_that_it_began_with(
        self, table: EmbeddingTable, provider: FakeProvider
    ) -> None:
        async with signing_in(table, provider) as proxy:
            store, settings = proxy.app[STORE], proxy.app[CONFIG].server.oidc
            await People(store, settings).begin("id", Person("u-1", "operator", "u-1"))
            assert await People(store, settings).find("id") is not None
            fewer = settings.model_copy(update={"roles": {"staff": "member"}})
            assert await People(store, fewer).find("id") is None

    async def test_no_session_is_forged_by_who_writes_the_database(
        self, table: EmbeddingTable, provider: FakeProvider
    ) -> None:
        """A row that is moved to another session is not opened."""
        async with signing_in(table, provider) as proxy:
            store, settings = proxy.app[STORE], proxy.app[CONFIG].server.oidc
            kept = People(store, settings)
            await kept.begin("a", Person("u-1", "operator", "u-1"))
            await kept.begin("b", Person("u-2", "member", "u-2"))
            assert await kept.find("b") == Person("u-2", "member", "u-2")
            mine, other = kept._name("a"), kept._name("b")
            find = select(SESSIONS.c.value).where(SESSIONS.c.key == mine)
            value = await store.read(lambda c: c.scalar(find))
            moved = update(SESSIONS).where(SESSIONS.c.key == other).values(value=value)
            await store.write(lambda c: c.execute(moved))
            with pytest.raises(ApiError) as caught:
                await kept.find("b")
            assert caught.value.code == "store_damaged"

    async def test_another_secret_ends_all_sessions(
        self, table: EmbeddingTable, provider: FakeProvider
    ) -> None:
        async with signing_in(table, provider) as proxy:
            store, settings = proxy.app[STORE], proxy.app[CONFIG].server.oidc
            await People(store, settings).begin("id", Person("u-1", "operator", "u-1"))
            changed, _ = await rekey(store, b"x" * 32)
            assert await count(changed) == 0

    async def test_nothing_of_the_provider_is_kept_or_logged(
        self, table: EmbeddingTable, provider: FakeProvider
    ) -> None:
        tokens: list[str] = []
        sign = provider.sign

        def note(claims: dict[str, Any]) -> str:
            tokens.append(sign(claims))
            return tokens[-1]

        provider.sign = note
        async with signing_in(table, provider) as proxy, browsing(proxy.root) as browser:
            query = await begin(browser, provider)
            provider.claims = {"sub": "u-canary", "groups": ["admins"], "email": "ann@x.example"}
            assert (await come_back(browser, query)).status == 200
            await browser.get("/budgets")
            verifier = provider.forms[-1]["code_verifier"]
            secrets = (*query.values(), *tokens, "at-secret", "ann@x.example", SECRET, verifier)
            logged = "\n".join(proxy.log)
            assert "/console/oidc/callback" in logged
            assert [each for each in secrets if each in logged] == []
            folder = Path(proxy.app[CONFIG].store.folder or "")
            stored = await asyncio.to_thread(read_folder, folder)
            known = (*secrets, "u-canary", *(token.split(".")[2] for token in tokens))
            assert [each for each in known if each.encode() in stored] == []


TEAMS = {"tenant_claim": "groups", "tenants": {"r": "red", "b": "blue"}}


class TestRoles:
    @pytest.mark.parametrize(
        ("groups", "role"),
        [
            (["staff", "admins", "audit"], "operator"),
            (["staff", "audit"], "auditor"),
            ("staff", "member"),
            (["STAFF"], None),
            ([], None),
            (None, None),
            ({"admins": True}, None),
            ([["admins"], 1, None], None),
            ("staff,admins", None),
        ],
    )
    def test_the_strongest_role_counts(self, groups: Any, role: str | None) -> None:
        settings = Oidc(issuer="https://a.example", client_id=CLIENT, roles=ROLES)
        claims = {"sub": "u-1", "groups": groups}
        if role is None:
            with pytest.raises(ApiError, match="no role"):
                find_person(claims, settings)
        else:
            assert find_person(claims, settings).role == role

    @pytest.mark.parametrize("group", ["admins", "audit"])
    def test_who_sees_all_tenants_is_one_of_their_own(self, group: str) -> None:
        given = {"issuer": "https://a.example", "client_id": CLIENT, "roles": ROLES}
        claims = {"sub": "u-1", "groups": [group, "r"], "team": "red"}
        for over in ({"tenant_claim": "team"}, TEAMS):
            assert find_person(claims, Oidc(**{**given, **over})).tenant == "u-1"

    @pytest.mark.parametrize(
        ("over", "claims", "tenant"),
        [
            ({}, {}, "u-1"),
            ({"tenant_claim": "team"}, {"team": "red"}, "red"),
            ({"tenant_claim": "team"}, {"team": ["red", "blue"]}, None),
            ({"tenant_claim": "team"}, {}, None),
            ({"tenant_claim": "team"}, {"team": "a\nb"}, None),
            ({"tenant_claim": "team"}, {"team": ""}, None),
            ({"tenant_claim": "team"}, {"team": "webui::red"}, None),
            (
                {"tenant_claim": "groups", "tenants": {"r": "red"}},
                {"groups": ["staff", "r"]},
                "red",
            ),
            ({"tenant_claim": "groups", "tenants": {"r": "red"}}, {}, None),
            (
                {"tenant_claim": "groups", "tenants": {"r": "red", "b": "blue"}},
                {"groups": ["staff", "r", "b"]},
                None,
            ),
            ({"tenant_claim": "email"}, {"email": "a@x", "email_verified": True}, "a@x"),
            ({"tenant_claim": "email"}, {"email": "a@x", "email_verified": False}, None),
            ({"tenant_claim": "email"}, {"email": "a@x", "email_verified": "true"}, None),
            ({"tenant_claim": "email"}, {"email": "a@x"}, None),
        ],
    )
    def test_a_member_has_one_tenant(
        self, over: dict[str, Any], claims: dict[str, Any], tenant: str | None
    ) -> None:
        settings = Oidc(issuer="https://a.example", client_id=CLIENT, roles=ROLES, **over)
        claims = {"sub": "u-1", "groups": ["staff"], **claims}
        if tenant is None:
            with pytest.raises(ApiError):
                find_person(claims, settings)
        else:
            assert find_person(claims, settings).tenant == tenant

    async def test_who_has_no_role_sees_nothing_else(
        self, table: EmbeddingTable, provider: FakeProvider
    ) -> None:
        async with signing_in(table, provider) as proxy, browsing(proxy.root) as browser:
            page = await sign_in(browser, provider, groups=["guests"])
            assert page.status == 403
            assert "Your account has no role here" in page.text
            assert "<nav" not in page.text
            for path in ("", "/try", *AUDITED, "/keys"):
                assert (await browser.get(path)).status == 401
            assert await count(proxy.app[STORE]) == 0

    async def test_an_operator_manages_keys(
        self, table: EmbeddingTable, provider: FakeProvider
    ) -> None:
        """A proxy without any key is closed, and its first operator signs in."""
        async with signing_in(table, provider) as proxy, browsing(proxy.root) as browser:
            with pytest.raises(openai.AuthenticationError):
                await proxy.client().models.list()
            page = await browser.get()
            assert page.status == 401
            assert "Sign in with 127.0.0.1" in page.text
            await sign_in(browser, provider)
            made = await browser.post("/keys", {"tenant": "alice"})
            key = made.text.partition('readonly value="')[2].partition('"')[0]
            await proxy.client(api_key=key).chat.completions.create(
                model=MODEL, messages=[{"role": "user", "content": "The board met."}]
            )
            assert "alice" in (await browser.get("/budgets")).text
            assert "chat/completions" in (await browser.get("/records?tenant=alice")).text
            assert "Ask the remotes" in (await browser.get("/health")).text
            assert (await browser.post("/health", {})).status == 200

    async def test_an_auditor_sees_figures_and_changes_nothing(
        self, table: EmbeddingTable, provider: FakeProvider
    ) -> None:
        async with signing_in(table, provider) as proxy, browsing(proxy.root) as browser:
            _, key = await proxy.app[KEYRING].create("alice", Grant())
            await proxy.client(api_key=key).chat.completions.create(
                model=MODEL, messages=[{"role": "user", "content": "The board met."}]
            )
            await sign_in(browser, provider, groups=["audit"])
            for path in AUDITED:
                assert (await browser.get(path)).status == 200, path
            assert (await go(browser, "")).headers["Location"] == "/console/budgets"
            assert "alice" in (await browser.get("/budgets")).text
            assert (
                '"tenant": "alice"'
                in (await browser.get("/records/export?tenant=alice&format=jsonl")).text
            )
            health = await browser.get("/health")
            assert "Time by stage" in health.text
            assert "Ask the remotes" not in health.text
            for name in ("try", "keys", "batches"):
                assert f'href="/console/{name}"' not in health.text
                assert (await browser.get(f"/{name}")).status == 403
            sent = len(proxy.remote.bodies)
            posts = {
                route.resource.canonical.removeprefix("/console")
                for route in proxy.app.router.routes()
                if route.method == "POST"
                and route.resource is not None
                and route.resource.canonical.startswith("/console/")
            } - {"/login", "/logout"}
            assert "/try/send" in posts
            form = {"text": "A secret.", "model": MODEL, "mode": "remote", "tenant": "eve"}
            for path in posts:
                assert (await browser.post(path, form)).status == 403, path
            assert len(proxy.remote.bodies) == sent
            assert [each.tenant for each in await proxy.app[KEYRING].list_keys()] == ["alice"]
            await browser.post("/logout", {})
            assert (await browser.get("/budgets")).status == 401

    async def test_a_member_sees_only_their_tenant(
        self, table: EmbeddingTable, provider: FakeProvider
    ) -> None:
        """Also where that is the tenant of an operator's key: of a person, the role counts."""
        server = {"operators": ["root"]}
        async with (
            signing_in(table, provider, server=server, tenant_claim="team") as proxy,
            browsing(proxy.root) as browser,
        ):
            _, key = await proxy.app[KEYRING].create("bob", Grant())
            await proxy.client(api_key=key).chat.completions.create(
                model=MODEL, messages=[{"role": "user", "content": "The board met."}]
            )
            await sign_in(browser, provider, groups=["staff"], team="root")
            for path in ("", "/try", "/budgets", "/records", "/health"):
                page = await browser.get(path)
                assert page.status == 200
                assert "bob" not in page.text
                assert "root" in page.text
            for path in ("/budgets?tenant=bob", "/records?tenant=bob", "/keys"):
                assert (await browser.get(path)).status == 403, path
            assert (await browser.get("/records/export?tenant=bob")).status == 403
            assert (await browser.get("/budgets/export")).status == 403
            assert (await browser.post("/keys", {"tenant": "root"})).status == 403
            assert (await browser.post("/health", {})).status == 403
            assert "Time by stage" not in (await browser.get("/health")).text
            form = {"text": "The board met.", "model": MODEL, "mode": "remote"}
            assert (await browser.post("/try/send", form)).status == 200
            assert "try/send" in (await browser.get("/records")).text

    async def test_a_member_has_the_limits_of_the_tenants_keys(
        self, table: EmbeddingTable, provider: FakeProvider
    ) -> None:
        async with (
            signing_in(table, provider, tenant_claim="team") as proxy,
            browsing(proxy.root) as browser,
        ):
            keyring = proxy.app[KEYRING]
            await keyring.create("red", Grant(epsilon_max=4, budget={"day": 100}))
            id_, _ = await keyring.create("red", Grant(budget={"day": 0}))
            await keyring.create("blue", Grant(epsilon_max=1))
            await sign_in(browser, provider, groups=["staff"], team="red")
            form = {"text": "The board met.", "model": MODEL, "mode": "remote"}
            page = await browser.post("/try/send", {**form, "epsilon_1": "5"})
            assert "epsilon must be &lt;= 4" in page.text
            page = await browser.post("/try/send", {**form, "epsilon_1": "3"})
            assert page.status == 403
            assert not proxy.remote.bodies
            await keyring.revoke(id_)
            page = await browser.post("/try/send", {**form, "epsilon_1": "3"})
            assert page.status == 200
            assert proxy.remote.bodies


ALICE, ALICE_HASH = new_key()


@pytest.mark.parametrize("keys", [True, False])
async def test_keys_open_the_console_unless_that_is_off(
    table: EmbeddingTable, provider: FakeProvider, keys: bool
) -> None:
    server = {"keys": [{"tenant": "alice", "sha256": ALICE_HASH}]}
    async with (
        signing_in(table, provider, server=server, keys=keys) as proxy,
        browsing(proxy.root) as browser,
    ):
        page = await browser.get()
        assert ("Client key" in page.text) is keys
        assert "Sign in with" in page.text
        if keys:
            assert (await browser.log_in(ALICE)).status == 200
        else:
            request: Any = type("R", (), {"app": proxy.app})
            browser.token = door._sign(request, "token", browser.cookies[door.COOKIE])
            page = await browser.post("/login", {"key": ALICE})
            assert page.status == 403
            assert "Keys do not open the console here" in page.text
            # Nor does a session that a key began before.
            holder = await proxy.app[KEYRING].match(ALICE)
            assert holder is not None
            session = door._make_session(request, holder.name, holder.sha256)
            headers = {"Cookie": f"{door.COOKIE}={session.value}"}
            async with (
                aiohttp.ClientSession(headers=headers) as other,
                other.get(f"{proxy.root}/console/budgets") as response,
            ):
                assert response.status == 401
        # The API knows keys alone, and takes no session for one.
        await proxy.client(api_key=ALICE).models.list()


class TestConfiguration:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"oidc": {"client_id": "p"}}, "issuer must be set"),
            ({"oidc": {"issuer": "https://a.example", "roles": ROLES}}, "client_id must be set"),
            ({"oidc": {"issuer": "https://a.example", "client_id": "p"}}, "roles must be set"),
            ({"oidc": {"issuer": "http://a.example"}}, "issuer must begin with https://"),
            ({"oidc": {"public_url": "http://a.example"}}, "public_url must begin with https://"),
            ({"oidc": {"public_url": "https://a.example/p"}}, "public_url must have no path"),
            ({"oidc": {"roles": {"x": "root"}}}, "roles"),
            ({"oidc": {"tenants": {"x": "a::b"}}}, "tenants must be"),
            ({"oidc": {"hours": 100}}, "hours"),
            ({"oidc": {}, "host": "0.0.0.0"}, "public_url must be set"),
            ({"oidc": {}, "console": False}, "oidc needs the console"),
        ],
    )
    def test_a_setting_that_cannot_be_is_named(
        self, settings: dict[str, Any], message: str
    ) -> None:
        given = settings["oidc"]
        if given.keys().isdisjoint({"client_id", "issuer"}) or "begin" in message:
            good = {"issuer": "https://a.example", "client_id": "p", "roles": ROLES}
            settings = {**settings, "oidc": {**good, **given}}
        with pytest.raises(ConfigError, match=message):
            load_config(None, {"server": settings}, {})

    def test_the_secret_is_in_no_output(self) -> None:
        variables = {"INFERDPT_SERVER__OIDC__CLIENT_SECRET": "canary"}
        given = {"issuer": "https://a.example", "client_id": "p", "roles": ROLES}
        config = load_config(None, {"server": {"oidc": given}}, variables)
        secret = config.server.oidc.client_secret
        assert secret is not None
        assert secret.get_secret_value() == "canary"
        assert "canary" not in repr(config) + config.model_dump_json()

    async def test_a_proxy_of_the_network_starts_where_people_sign_in(
        self, table: EmbeddingTable, provider: FakeProvider
    ) -> None:
        async with signing_in(table, provider) as proxy:
            server: dict[str, Any] = {"host": "0.0.0.0"}
            with pytest.raises(ConfigError):
                await Keyring(proxy.app[STORE], Server(**server)).check()
            server["oidc"] = oidc_of(provider, public_url="https://proxy.example")
            await Keyring(proxy.app[STORE], Server(**server)).check()

    def test_a_missing_library_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "joserfc", None)
        settings = Oidc(issuer="https://a.example", client_id="p", roles=ROLES)
        with pytest.raises(ConfigError, match=r"needs joserfc: .*install.*oidc"):
            Provider(settings)


@pytest.mark.parametrize("answers", [True, False])
async def test_doctor_reads_the_providers_keys(
    provider: FakeProvider, answers: bool, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    if not answers:
        provider.metadata = {"issuer": "https://other.example"}
    given = merge(
        {"store": {"folder": str(tmp_path)}, "local": {"mode": "none"}},
        {"server": {"oidc": oidc_of(provider)}, "remote": {"base_url": "http://127.0.0.1:1/v1"}},
    )
    config = load_config(os.devnull, given, {})
    await asyncio.to_thread(check, config)
    said = capsys.readouterr().out
    assert ("ok      oidc: people sign in at" in said) is answers
    assert ("PROBLEM oidc:" in said) is not answers
