"""Keys and tenants: who is let in, for what, how often; and that tenants see only themselves."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import openai
import pytest

from perturb import EmbeddingTable
from proxy.access.admission import LocalBuckets, Rates
from proxy.access.auth import ANONYMOUS, Client, Grant, Keyring, new_key
from proxy.api.app_keys import KEYRING
from proxy.cli.main import main
from proxy.config.settings import Server
from proxy.config.store import Budget
from proxy.config.store import StoreSettings as Settings
from proxy.errors import ApiError, ConfigError
from proxy.storage.opening import open_store
from proxy.storage.store import Store
from tests.databases import database, database_of_commands, dump, postgres_url
from tests.proxy.conftest import MODEL, Proxy, running_proxy

__all__ = ["database", "database_of_commands", "postgres_url"]

TEXT = "The board met on Monday to decide"
TURNS: Any = [{"role": "user", "content": TEXT}]


@pytest.fixture
async def store(database: dict[str, Any]) -> AsyncIterator[Store]:
    async with open_store(Settings(**database)) as opened:
        yield opened


class TestKeyring:
    async def client(self, keyring: Keyring, authorization: str | None) -> Client:
        """Ask as a request does: first whether keys are required."""
        await keyring.required()
        return await keyring.client(authorization)

    async def refused(self, keyring: Keyring, authorization: str | None) -> bool:
        try:
            await self.client(keyring, authorization)
        except ApiError as exc:
            return exc.status == 401
        return False

    async def test_a_configured_key_finds_its_tenant(self, store: Store) -> None:
        (a, hash_a), (b, hash_b) = new_key(), new_key()
        entries: Any = [{"tenant": "a", "sha256": hash_a}, {"tenant": "b", "sha256": hash_b}]
        keyring = Keyring(store, Server(keys=entries))
        assert await keyring.client(f"Bearer {a}") == Client("a")
        assert await keyring.client(f"bearer {b}") == Client("b")
        for wrong in (None, "", "Bearer ", f"Basic {a}", a, f"Bearer {a}x", f"Bearer {hash_a}"):
            assert await self.refused(keyring, wrong)

    async def test_a_stored_key_finds_its_tenant_until_it_is_revoked(self, store: Store) -> None:
        keyring = Keyring(store, Server())
        grant = Grant(mechanisms=("rantext_ldp",), epsilon_max=8.0, budget=Budget(day=5.0))
        id_, key = await keyring.create("alice", grant)
        other, _ = await keyring.create("bob", Grant())
        assert await self.client(keyring, f"Bearer {key}") == Client("alice", grant, id_)
        for wrong in (key[:-1], key + "x", key.replace(id_, other), f"sk-inferdpt-{id_}", "x"):
            assert await self.refused(keyring, f"Bearer {wrong}")
        assert not await keyring.revoke("nobody")
        assert await keyring.revoke(id_)
        assert await self.refused(keyring, f"Bearer {key}")
        assert not await keyring.revoke(id_)
        assert [k.revoked is None for k in await keyring.list_keys()] == [False, True]

    async def test_no_key_can_be_read_from_the_store(self, store: Store) -> None:
        _, key = await Keyring(store, Server()).create("alice", Grant())
        secret = key.split("-", 3)[3].encode()  # all of it: a piece of it occurs by chance
        held = await dump(store)
        assert b"alice" in held
        assert secret not in held
        assert key[-20:].encode() not in held

    async def test_without_keys_everybody_is_one_tenant_until_there_is_a_key(
        self, store: Store
    ) -> None:
        keyring = Keyring(store, Server())
        for header in ("Bearer whatever", None):
            assert await self.client(keyring, header) == ANONYMOUS
        id_, _ = await keyring.create("alice", Grant())
        assert await self.refused(keyring, None)
        await keyring.revoke(id_)  # the last key gone does not open the door
        assert await self.refused(Keyring(store, Server()), None)

    async def test_the_network_is_served_only_where_there_are_keys(self, store: Store) -> None:
        keyring = Keyring(store, Server(host="0.0.0.0"))
        with pytest.raises(ConfigError, match="server.keys"):
            await keyring.check()
        assert await self.refused(keyring, None)
        id_, _ = await keyring.create("alice", Grant())
        await keyring.check()
        await keyring.revoke(id_)
        with pytest.raises(ConfigError, match="inferdpt keys create"):
            await keyring.check()


class TestRates:
    async def test_a_bucket_empties_and_fills(self) -> None:
        now = 0.0
        rates = Rates(LocalBuckets(clock=lambda: now))
        slow = Client("a", Grant(requests_per_minute=6, burst=2), "1")
        seen = [(await rates.take(slow))["x-ratelimit-remaining-requests"] for _ in range(2)]
        assert seen == ["1", "0"]
        with pytest.raises(ApiError) as info:
            await rates.take(slow)
        assert (info.value.status, info.value.code) == (429, "rate_limit_exceeded")
        headers = info.value.response_headers()
        assert (headers["retry-after"], headers["x-ratelimit-limit-requests"]) == ("10", "2")
        assert "x-should-retry" not in headers
        await rates.take(Client("a", Grant(requests_per_minute=6, burst=2), "2"))  # another key
        assert await rates.take(Client("a")) == {}
        now = 10.0
        assert (await rates.take(slow))["x-ratelimit-reset-requests"] == "20s"
        with pytest.raises(ApiError):
            await rates.take(slow)
        now = 1e6
        assert (await rates.take(slow))["x-ratelimit-remaining-requests"] == "1"


@pytest.fixture
async def proxy(table: EmbeddingTable) -> AsyncIterator[Proxy]:
    settings = {"server": {"operators": ["ops"]}, "privacy": {"mechanism": "rantext_ldp"}}
    async with running_proxy(table, settings) as running:
        yield running


async def made(proxy: Proxy, tenant: str, **grant: Any) -> str:
    _, key = await proxy.app[KEYRING].create(tenant, Grant.model_validate(grant))
    return key


async def ask(proxy: Proxy, key: str, text: str = TEXT, **inferdpt: Any) -> Any:
    turns: Any = [{"role": "user", "content": text}]
    return await proxy.client(api_key=key).chat.completions.with_raw_response.create(
        model=MODEL, messages=turns, extra_body={"inferdpt": inferdpt}
    )


@pytest.mark.parametrize(
    ("grant", "inferdpt", "status", "param"),
    [
        ({"mechanisms": ["exponential"]}, {}, 403, "inferdpt.mechanism"),
        ({"mechanisms": ["exponential"]}, {"mechanism": "exponential"}, 200, None),
        ({"mechanisms": ["selective"]}, {"mechanism": "selective"}, 403, "inferdpt.mechanism"),
        ({"epsilon_max": 4}, {}, 403, "inferdpt.epsilon"),
        ({"epsilon_max": 4}, {"epsilon": 3}, 200, None),
        ({"epsilon_min": 7}, {}, 403, "inferdpt.epsilon"),
        ({"models": ["org/other"]}, {}, 404, "model"),
        ({"budget": {"total": 10}}, {}, 403, None),
        ({"budget_tokens": {"request": 6}}, {}, 403, None),
        ({"budget_tokens": {"request": 7}}, {}, 200, None),
        ({"budget_unbounded": {"request": 6}}, {"mechanism": "rantext"}, 403, None),
        ({"budget_unbounded": {"request": 7}}, {"mechanism": "rantext"}, 200, None),
        ({"budget_unbounded": {"total": 0}}, {}, 200, None),
    ],
)
async def test_a_key_allows_what_it_grants(
    proxy: Proxy, grant: Any, inferdpt: Any, status: int, param: str | None
) -> None:
    key = await made(proxy, "alice", **grant)
    try:
        await ask(proxy, key, **inferdpt)
        found, where = 200, None
    except openai.APIStatusError as exc:
        found, where = exc.status_code, exc.param
        assert proxy.remote.received == []
    assert (found, where) == (status, param)


async def test_a_preview_needs_the_grant_too(proxy: Proxy) -> None:
    key = await made(proxy, "alice", mechanisms=["exponential"])
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {key}"}) as session:
        url = f"{proxy.base_url}/privacy/perturb"
        for mechanism, status in (("rantext_ldp", 403), ("exponential", 200)):
            body = {"text": TEXT, "mechanism": mechanism}
            async with session.post(url, json=body) as response:
                assert response.status == status


async def test_only_the_models_it_grants_are_listed(proxy: Proxy) -> None:
    client = proxy.client(api_key=await made(proxy, "alice", models=["org/other"]))
    assert [model.id async for model in client.models.list()] == ["org/other"]
    assert (await client.models.retrieve("org/other")).id == "org/other"
    with pytest.raises(openai.NotFoundError):
        await client.models.retrieve(MODEL)


async def test_too_many_requests_are_429_and_headers_tell(proxy: Proxy) -> None:
    key = await made(proxy, "alice", requests_per_minute=1, burst=2)
    for left in ("1", "0"):
        found = await ask(proxy, key)
        assert found.headers["x-ratelimit-remaining-requests"] == left
    with pytest.raises(openai.RateLimitError) as info:
        await ask(proxy, key)
    assert int(info.value.response.headers["retry-after"]) > 0
    assert info.value.response.headers["x-ratelimit-limit-requests"] == "2"
    await ask(proxy, await made(proxy, "bob"))


async def test_tenants_see_only_themselves(proxy: Proxy) -> None:
    keys = {name: await made(proxy, name) for name in ("alice", "bob", "ops")}
    await ask(proxy, keys["alice"])
    await ask(proxy, keys["alice"], "Another text of some words")
    await ask(proxy, keys["bob"])
    assert proxy.sent(0) != proxy.sent(2)  # one text, two tenants: two draws
    seen = {}
    for name, key in keys.items():
        async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {key}"}) as session:
            async with session.get(f"{proxy.base_url}/privacy/ledger") as response:
                account = await response.json()
            async with session.get(f"{proxy.root}/metrics") as response:
                seen[name] = set(re.findall(r'tenant="(\w+)"', await response.text()))
        assert account["tenant"] == name
        assert account["total"]["tokens"] == {"alice": 12, "bob": 7, "ops": 0}[name]
    assert seen == {"alice": {"alice"}, "bob": {"bob"}, "ops": {"alice", "bob"}}


@pytest.mark.usefixtures("database_of_commands")
def test_the_commands(capsys: Any) -> None:
    create = ["keys", "create", "alice", "--mechanisms", "rantext_ldp,exponential", "--rpm", "60"]
    create += ["--actions", "AGE=refuse", "--deny", "Project Bluebird", "--deny", "Zephyr"]
    create += ["--thresholds", "PERSON=0.3,ID=0.2"]
    assert main([*create, "--budget", "day=500,total=9000", "--epsilon-max", "8"]) == 0
    out = capsys.readouterr().out
    key = out.split()[-1]
    id_ = key.removeprefix("sk-inferdpt-").partition("-")[0]
    assert main(["keys", "list"]) == 0
    out = capsys.readouterr().out
    assert id_ in out
    assert key not in out
    assert '"day": 500.0' in out
    assert '"AGE": "refuse"' in out
    assert '"deny": ["Project Bluebird", "Zephyr"]' in out
    assert '"thresholds": {"ID": 0.2, "PERSON": 0.3}' in out
    assert "in force" in out
    assert main(["keys", "revoke", id_]) == 0
    assert main(["keys", "revoke", id_]) == 2
    assert main(["keys", "list"]) == 0
    assert "revoked" in capsys.readouterr().out
    wrong = (["--budget", "week=5"], ["--mechanisms", "rot13"], ["--burst", "5"], ["--rpm", "0"])
    for options in wrong:
        assert main(["keys", "create", "alice", *options]) == 2
    for tenant in ("", "a\nb", "\udcff"):
        assert main(["keys", "create", tenant]) == 2
    err = capsys.readouterr().err
    assert "inferdpt: burst needs requests_per_minute" in err
    assert "inferdpt: requests_per_minute: " in err
    assert "printable" in err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--epsilon-min", "inf"], "epsilon_min: "),
        (["--epsilon-max", "inf"], "epsilon_max: "),
        (["--rpm", "inf"], "requests_per_minute: "),
        (["--budget", "day=inf"], "budget.day: "),
        (["--budget-unbounded", "total=nan"], "budget_unbounded.total: "),
        (["--epsilon-min", "5", "--epsilon-max", "1"], "epsilon_min must be <= epsilon_max"),
        (["--actions", "AGE=hide"], "actions: "),
        (["--deny", "?!"], "deny: "),
        (["--thresholds", "AGE=0.5"], "thresholds: "),
        (["--thresholds", "PERSON=often"], "thresholds."),
    ],
)
def test_limits_that_cannot_be_kept_make_no_key(
    tmp_path: Path, monkeypatch: Any, capsys: Any, options: list[str], words: str
) -> None:
    monkeypatch.setenv("INFERDPT_STATE_DIR", str(tmp_path))
    assert main(["keys", "create", "alice", *options]) == 2
    assert f"inferdpt: {words}" in capsys.readouterr().err
    assert main(["keys", "list"]) == 0
    assert capsys.readouterr().out == ""
