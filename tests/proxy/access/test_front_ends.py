"""Keys of front ends: each request is of the user whom it names, and of nobody else."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import openai
import pytest
from multidict import CIMultiDict

from perturb import EmbeddingTable
from proxy.access.auth import Grant, Terms, new_key
from proxy.api.app_keys import KEYRING, RECORDER, STORE
from proxy.cli.main import main
from proxy.config.settings import load_config
from proxy.errors import ApiError, ConfigError
from proxy.records.chain import list_tenants
from proxy.storage.schema import KEYS
from tests.databases import database, postgres_url
from tests.proxy.batches.jobs import CHATS, ENABLED, chats, download, jsonl, run, upload
from tests.proxy.conftest import MODEL, Proxy, merge, running_proxy
from tests.proxy.console.browser import browsing

__all__ = ["database", "postgres_url"]

HEADER = "X-OpenWebUI-User-Id"
ANN, BEN = "7b1e0c52-ann", "665f1c9e.ben_2"
TEXT = "The board met on Monday to decide"
SETTINGS: dict[str, Any] = {
    "server": {"operators": ["ops"]},
    "privacy": {"mechanism": "rantext_ldp"},
}


@asynccontextmanager
async def fronted(
    table: EmbeddingTable, over: dict[str, Any] | None = None, **grant: Any
) -> AsyncIterator[tuple[Proxy, str]]:
    """A proxy, and the key of a front end on it."""
    async with running_proxy(table, merge(SETTINGS, over or {})) as proxy:
        yield proxy, await make(proxy, "webui", on_behalf=True, **grant)


async def make(proxy: Proxy, tenant: str, *, on_behalf: bool = False, **grant: Any) -> str:
    terms = Terms(on_behalf=on_behalf)
    return (await proxy.app[KEYRING].create(tenant, Grant.model_validate(grant), terms))[1]


def by(proxy: Proxy, key: str, user: str | None, header: str = HEADER) -> openai.AsyncOpenAI:
    headers = {} if user is None else {header: user}
    return proxy.client(api_key=key, default_headers=headers)


async def ask(client: openai.AsyncOpenAI, text: str = TEXT, **inferdpt: Any) -> Any:
    turns: Any = [{"role": "user", "content": text}]
    return await client.chat.completions.with_raw_response.create(
        model=MODEL, messages=turns, extra_body={"inferdpt": inferdpt}
    )


async def fetch(proxy: Proxy, path: str, key: str, *users: str) -> tuple[int, str]:
    """GET a path, with the header once for each user."""
    headers = CIMultiDict({"Authorization": f"Bearer {key}"})
    for user in users:
        headers.add(HEADER, user)
    async with (
        aiohttp.ClientSession() as session,
        session.get(proxy.root + path, headers=headers) as response,
    ):
        return response.status, await response.text()


async def read_tokens(proxy: Proxy, key: str, *users: str) -> tuple[str, int]:
    _, text = await fetch(proxy, "/v1/privacy/ledger", key, *users)
    account = json.loads(text)
    return account["tenant"], account["total"]["tokens"]


async def test_users_share_no_draw_and_no_account(
    table: EmbeddingTable, database: dict[str, Any]
) -> None:
    async with fronted(table, {"store": database}) as (proxy, key):
        plain = await make(proxy, "alice")
        for who, user in ((key, ANN), (key, BEN), (plain, None), (key, ANN)):
            await ask(by(proxy, who, user))
        ann, ben, alice, again = (str(proxy.sent(i)) for i in range(4))
        assert again == ann
        assert len({ann, ben, alice}) == 3
        await ask(by(proxy, key, BEN), "Another text of some words")
        assert await read_tokens(proxy, key, ANN) == (f"webui::{ANN}", 7)
        assert await read_tokens(proxy, key, BEN) == (f"webui::{BEN}", 12)
        assert await read_tokens(proxy, plain) == ("alice", 7)


async def test_two_keys_of_a_front_end_have_the_same_users(table: EmbeddingTable) -> None:
    """As after a rotation."""
    async with fronted(table) as (proxy, key):
        other = await make(proxy, "webui", on_behalf=True)
        elsewhere = await make(proxy, "librechat", on_behalf=True)
        for each in (key, other, elsewhere):
            await ask(by(proxy, each, ANN))
        assert proxy.sent(0) == proxy.sent(1) != proxy.sent(2)


async def test_a_key_of_the_configuration_may_be_of_a_front_end(table: EmbeddingTable) -> None:
    key, digest = new_key()
    entry = {"tenant": "webui", "sha256": digest, "on_behalf": True}
    over = {"server": {"keys": [entry], "user_header": "X-User"}}
    async with running_proxy(table, merge(SETTINGS, over)) as proxy:
        for user in (ANN, BEN):
            await ask(by(proxy, key, user, "X-User"))
        assert proxy.sent(0) != proxy.sent(1)
        with pytest.raises(openai.BadRequestError):  # only the configured header counts
            await ask(by(proxy, key, ANN))


async def test_a_user_has_a_budget_of_their_own(table: EmbeddingTable) -> None:
    async with fronted(table, budget_tokens={"total": 7}) as (proxy, key):
        await ask(by(proxy, key, ANN))
        with pytest.raises(openai.PermissionDeniedError):
            await ask(by(proxy, key, ANN), "Another text")
        await ask(by(proxy, key, BEN))
        assert len(proxy.remote.bodies) == 2


@pytest.mark.parametrize("place", [None, "store"])
async def test_a_user_has_a_rate_limit_of_their_own(
    table: EmbeddingTable, place: str | None
) -> None:
    limits = {"requests_per_minute": 0.001, "burst": 2}
    async with fronted(table, {"limits": {"shared": place}}, **limits) as (proxy, key):
        for left in ("1", "0"):
            found = await ask(by(proxy, key, ANN))
            assert found.headers["x-ratelimit-remaining-requests"] == left
        with pytest.raises(openai.RateLimitError):
            await ask(by(proxy, key, ANN))
        found = await ask(by(proxy, key, BEN))
        assert found.headers["x-ratelimit-remaining-requests"] == "1"


async def test_records_and_pages_keep_users_apart(table: EmbeddingTable) -> None:
    async with fronted(table) as (proxy, key):
        root = await make(proxy, "ops")
        for user in (ANN, BEN):
            await ask(by(proxy, key, user))
        await proxy.app[RECORDER].flush()
        names = await proxy.app[STORE].scan(list_tenants)
        assert {f"webui::{ANN}", f"webui::{BEN}"} <= set(names)
        assert "webui" not in names
        status, text = await fetch(proxy, "/metrics", key, ANN)
        assert status == 200
        assert set(re.findall(r'tenant="([^"]+)"', text)) == {f"webui::{ANN}"}
        async with browsing(proxy.root) as browser:
            await browser.log_in(root)
            for user, other in ((ANN, BEN), (BEN, ANN)):
                export = f"/records/export?format=jsonl&tenant=webui::{user}"
                lines = (await browser.get(export)).text
                assert f'"tenant": "webui::{user}"' in lines
                assert other not in lines
                page = await browser.get(f"/budgets?tenant=webui::{user}")
                assert "Released tokens" in page.text


async def test_an_operator_sees_the_limits_of_the_users_key(
    table: EmbeddingTable, database: dict[str, Any]
) -> None:
    over = {"store": database, "limits": {"budget_tokens": {"day": 654}}}
    async with fronted(table, over, budget_tokens={"total": 987}) as (proxy, key):
        await make(proxy, "webui", budget_tokens={"total": 321})  # not of a front end
        alice = await make(proxy, "alice", budget_tokens={"total": 876})
        root = await make(proxy, "ops")
        for who, user in ((key, ANN), (alice, None)):
            await ask(by(proxy, who, user))
        async with browsing(proxy.root) as browser:
            await browser.log_in(root)
            for tenant, limit in ((f"webui::{ANN}", "987"), ("alice", "876"), ("webui", "321")):
                page = (await browser.get(f"/budgets?tenant={tenant}")).text
                cells = re.findall(r'<td class="n">(\d{3})</td>', page)
                assert {"987", "876", "654", "321"} & set(cells) == {"654", limit}


async def test_the_key_of_a_front_end_opens_no_console(table: EmbeddingTable) -> None:
    """Whoever sits at the browser is no user whom the key could name."""
    async with fronted(table) as (proxy, key), browsing(proxy.root) as browser:
        await browser.get()
        assert (await browser.post("/login", {"key": key})).status == 403
        assert (await browser.get("/health")).status == 401


async def test_a_session_ends_when_its_key_becomes_that_of_a_front_end(
    table: EmbeddingTable,
) -> None:
    """As a key of the configuration may, by a reload."""
    async with fronted(table) as (proxy, _), browsing(proxy.root) as browser:
        assert (await browser.log_in(await make(proxy, "alice"))).status == 200
        change = KEYS.update().values(on_behalf=True)
        await proxy.app[STORE].write(lambda connection: connection.execute(change))
        assert (await browser.get("/health")).status == 401


async def test_no_front_end_is_an_operator(table: EmbeddingTable) -> None:
    """It could name any user, also one whose tenant the operator listed."""
    over = {"server": {"operators": ["webui", f"webui::{ANN}"]}}
    async with fronted(table, over) as (proxy, key):
        for user in (ANN, BEN):
            await ask(by(proxy, key, user))
        _, text = await fetch(proxy, "/metrics", key, ANN)
        assert BEN not in text
        assert "inferdpt_requests_total" not in text


@pytest.mark.parametrize("gateway", [False, True])
async def test_no_model_hears_who_asks(table: EmbeddingTable, gateway: bool) -> None:
    over: dict[str, Any] = {}
    if gateway:
        over = {"local": {"mode": "none"}, "privacy": {"mechanism": "selective"}}
    async with fronted(table, over) as (proxy, key):
        client = by(proxy, key, ANN)
        more = {HEADER.replace("Id", "Email"): "ann@example.org"}
        await ask(client.with_options(default_headers={HEADER: ANN, **more}))
        turns: Any = [{"role": "user", "content": TEXT}]
        stream = await client.chat.completions.create(model=MODEL, messages=turns, stream=True)
        async for _ in stream:
            pass
        assert len(proxy.remote.received) == 2
        assert bool(proxy.local.received) is not gateway
        for data in (*proxy.remote.received, *proxy.local.received):
            for word in (ANN, "webui", "ann@example.org"):
                assert word.encode() not in data.lower()
        assert not any("ann@example.org" in line for line in proxy.log)


@pytest.mark.parametrize("keyed", [False, True])
async def test_an_ordinary_key_names_nobody(table: EmbeddingTable, keyed: bool) -> None:
    """Open WebUI sends the header whatever its key is. It counts for nothing there: the request
    is of the key's own tenant, also if the name is another user's, or none at all."""
    async with running_proxy(table, SETTINGS) as proxy:
        key, own = "none", "anonymous"
        if keyed:
            await ask(by(proxy, await make(proxy, "webui", on_behalf=True), ANN))
            key, own = await make(proxy, "alice"), "alice"
        first = len(proxy.remote.bodies)
        for user in (None, ANN, f"webui::{ANN}", "not a name"):
            await ask(by(proxy, key, user))
        assert len({str(proxy.sent(i)) for i in range(first, first + 4)}) == 1
        if keyed:
            assert proxy.sent(0) != proxy.sent(first)
        assert await read_tokens(proxy, key, ANN) == (own, 7)


BAD = [
    ("",),
    ("a" * 65,),
    ("ann@example.org",),
    ("Ann Roe",),
    ("ann::x",),
    ("ann/x",),
    ("{{LIBRECHAT_USER_ID}}",),
    ("änn",),
    (ANN, BEN),
    (ANN, ANN),
]


@pytest.mark.parametrize("users", BAD)
async def test_who_is_not_named_as_demanded_is_refused(
    table: EmbeddingTable, users: tuple[str, ...]
) -> None:
    async with fronted(table) as (proxy, key):
        for path in ("/v1/privacy/ledger", "/v1/models", "/metrics"):
            status, text = await fetch(proxy, path, key, *users)
            assert status == 400
            error = json.loads(text)["error"]
            assert (error["code"], error["param"]) == ("invalid_user", HEADER)
            assert not any(user in text for user in users if user)
        if len(users) == 1 and users[0].isascii():
            with pytest.raises(openai.BadRequestError):
                await ask(by(proxy, key, users[0]))
        assert proxy.remote.received == []
        assert not any(user in line for user in users if user for line in proxy.log)


async def test_a_front_end_that_names_nobody_may_only_list_models(table: EmbeddingTable) -> None:
    """Open WebUI lists them for itself when it starts."""
    async with fronted(table, ENABLED) as (proxy, key):
        for path in ("/v1/models", f"/v1/models/{MODEL}"):
            assert (await fetch(proxy, path, key))[0] == 200
        for path in ("/v1/privacy/ledger", "/metrics", "/v1/files", "/v1/batches", "/v1/modelsx"):
            status, text = await fetch(proxy, path, key)
            assert status == 400
            assert json.loads(text)["error"]["code"] == "user_required"
        with pytest.raises(openai.BadRequestError) as caught:
            await ask(by(proxy, key, None))
        assert caught.value.code == "user_required"
        assert HEADER in caught.value.message
        assert proxy.remote.received == []


async def test_files_and_batches_are_the_users(table: EmbeddingTable) -> None:
    async with fronted(table, ENABLED) as (proxy, key):
        ann, ben = by(proxy, key, ANN), by(proxy, key, BEN)
        file = await upload(ann, jsonl(*chats(1)))
        batch = await run(ann, jsonl(*chats(2)))
        assert batch.status == "completed"
        assert len(await download(ann, batch.output_file_id)) == 2
        with pytest.raises(openai.NotFoundError):
            await ben.batches.retrieve(batch.id)
        with pytest.raises(openai.NotFoundError):
            await ben.files.content(file)
        with pytest.raises(openai.NotFoundError):
            await ben.batches.create(input_file_id=file, endpoint=CHATS, completion_window="24h")
        assert (await ben.files.list()).data == []
        assert (await read_tokens(proxy, key, ANN))[1] > 0
        assert (await read_tokens(proxy, key, BEN))[1] == 0


@pytest.mark.parametrize("tenant", ["webui", f"webuj::{ANN}", f"x::webui::{ANN}"])
async def test_a_key_answers_no_lines_of_others(table: EmbeddingTable, tenant: str) -> None:
    async with fronted(table) as (proxy, key):
        keyring = proxy.app[KEYRING]
        holder = await keyring.match(key)
        assert holder is not None
        client = await keyring.recall(f"webui::{ANN}", holder.name)
        assert (client.tenant, client.key) == (f"webui::{ANN}", holder.name)
        with pytest.raises(ApiError):
            await keyring.recall(tenant, holder.name)
        plain = await make(proxy, "webui")
        other = await keyring.match(plain)
        assert other is not None
        with pytest.raises(ApiError):  # of the same tenant, and yet of no front end
            await keyring.recall(f"webui::{ANN}", other.name)


async def test_no_key_has_the_tenant_of_a_user(table: EmbeddingTable) -> None:
    entry = {"tenant": "webui::ann", "sha256": "0" * 64}
    with pytest.raises(ConfigError, match="server.keys"):
        load_config(None, {"server": {"keys": [entry]}}, {})
    async with running_proxy(table, {}) as proxy, browsing(proxy.root) as browser:
        await browser.get("/keys")
        form = {"tenant": "webui::ann", "first": "on"}
        assert (await browser.post("/keys", form)).status == 400


def test_the_commands_make_keys_of_front_ends(
    tmp_path: Any, monkeypatch: Any, capsys: Any
) -> None:
    monkeypatch.setenv("INFERDPT_STATE_DIR", str(tmp_path))
    for command in ("create", "new"):
        assert main(["keys", command, "webui::ann"]) == 2
        assert "'::'" in capsys.readouterr().err
        assert main(["keys", command, "webui", "--on-behalf"]) == 0
        assert ("on_behalf: true" in capsys.readouterr().out) is (command == "new")
    assert main(["keys", "list"]) == 0
    assert "webui  on behalf of its users  " in capsys.readouterr().out


@pytest.mark.parametrize("name", ["", "X User", "X-User:", "authorization", "X-API-Key", "Cookie"])
def test_the_header_may_hold_no_secret(name: str) -> None:
    with pytest.raises(ConfigError, match="server.user_header"):
        load_config(None, {"server": {"user_header": name}}, {})
