"""Keys that end and keys that are rotated: both are in force for the overlap, then the new one."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import time
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import openai
import pytest

from perturb import EmbeddingTable
from proxy.access.auth import Grant, Keyring, Terms
from proxy.api.app_keys import KEYRING
from proxy.cli.main import main
from proxy.config.settings import Server
from proxy.config.store import Budget
from proxy.config.store import StoreSettings as Settings
from proxy.errors import ApiError, ConfigError
from proxy.storage.digests import place_of, seal
from proxy.storage.opening import open_store
from proxy.storage.schema import KEYS
from proxy.storage.store import Store
from tests.databases import database, postgres_url
from tests.proxy.conftest import MODEL, running_proxy
from tests.proxy.console.browser import browsing
from tests.proxy.served import serve
from tests.proxy.storage.test_migrations import DIGESTS, downgrade, migrate

__all__ = ["database", "postgres_url"]

DAY = 86_400.0
GRANT = Grant(deny=("Bluebird-zzq",), epsilon_max=9.0, budget=Budget(day=5.0))
TERMS = Terms(on_behalf=True, label="laptop", owner="Alice Roe")


class Clock:
    """A time that a test moves."""

    def __init__(self) -> None:
        self.now = 1_900_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def store(database: dict[str, Any]) -> AsyncIterator[Store]:
    async with open_store(Settings(**database)) as opened:
        yield opened


async def holds(keyring: Keyring, key: str) -> bool:
    """Whether a request with a key is let in. A session of it goes on just as long."""
    await keyring.required()
    session = await keyring.find(key.split("-")[2])
    try:
        await keyring.client(f"Bearer {key}", unnamed=True)
        found = True
    except ApiError:
        found = False
    assert (session is not None) is found
    return found


async def test_both_keys_are_in_force_for_the_overlap(store: Store, clock: Clock) -> None:
    keyring = Keyring(store, Server(), clock=clock)
    other = Keyring(store, Server(), clock=clock)  # as of another process
    id_, old = await keyring.create("alice", GRANT, TERMS)
    made = await keyring.rotate(id_, 7 * DAY)
    assert made is not None
    _, new = made
    assert new != old
    for at, both in ((0.0, True), (7 * DAY - 1, True), (7 * DAY, False), (700 * DAY, False)):
        clock.now = 1_900_000_000.0 + at
        for each in (keyring, other):
            assert [await holds(each, key) for key in (old, new)] == [both, True]
        assert await keyring.count_in_force() == 1 + both
    first, second = await keyring.list_keys()
    assert (first.in_force, second.in_force) == (False, True)
    kept = ("tenant", "grant", "on_behalf", "label", "owner")
    assert all(getattr(first, name) == getattr(second, name) for name in kept)
    assert (second.grant, second.label, second.owner) == (GRANT, "laptop", "Alice Roe")
    assert (first.expires, second.expires) == (1_900_000_000.0 + 7 * DAY, None)


async def test_an_overlap_of_nothing_ends_the_old_key_at_once(store: Store) -> None:
    keyring = Keyring(store, Server())
    id_, old = await keyring.create("alice", Grant())
    made = await keyring.rotate(id_, 0.0)
    assert made is not None
    assert [await holds(keyring, key) for key in (old, made[1])] == [False, True]


async def test_a_rotation_prolongs_no_key(store: Store, clock: Clock) -> None:
    keyring = Keyring(store, Server(), clock=clock)
    id_, old = await keyring.create("alice", Grant(), Terms(seconds=2 * DAY))
    with pytest.raises(ConfigError, match="say when the new one ends"):
        await keyring.rotate(id_, 7 * DAY)
    assert len(await keyring.list_keys()) == 1
    made = await keyring.rotate(id_, 7 * DAY, 90 * DAY)
    assert made is not None
    clock.now += 2 * DAY
    assert [await holds(keyring, key) for key in (old, made[1])] == [False, True]
    clock.now += 88 * DAY
    assert not await holds(keyring, made[1])


async def test_only_a_key_in_force_is_rotated(store: Store, clock: Clock) -> None:
    keyring = Keyring(store, Server(), clock=clock)
    gone, _ = await keyring.create("alice", Grant())
    ended, _ = await keyring.create("alice", Grant(), Terms(seconds=DAY))
    await keyring.revoke(gone)
    clock.now += DAY
    for id_ in (gone, ended, "nobody"):
        assert await keyring.rotate(id_, DAY, DAY) is None
    assert len(await keyring.list_keys()) == 2


async def test_a_key_at_its_end_is_as_good_as_a_revoked_one(store: Store, clock: Clock) -> None:
    keyring = Keyring(store, Server(), clock=clock)
    id_, key = await keyring.create("alice", Grant(), Terms(seconds=DAY))
    assert await holds(keyring, key)
    assert (await keyring.recall("alice", id_)).key == id_
    clock.now += DAY
    assert not await holds(keyring, key)
    assert not await keyring.revoke(id_)
    assert not await keyring.restrict(id_, GRANT)
    with pytest.raises(ApiError):  # the batches that it made
        await keyring.recall("alice", id_)
    assert await Keyring(store, Server(), clock=clock).mode() == "keys required, none in force"
    with pytest.raises(ConfigError, match="server.keys"):
        await Keyring(store, Server(host="0.0.0.0"), clock=clock).check()
    await keyring.reopen()
    assert not await Keyring(store, Server(), clock=clock).required()


async def test_the_last_use_is_known_to_an_hour(store: Store, clock: Clock) -> None:
    keyring = Keyring(store, Server(), clock=clock)
    id_, key = await keyring.create("alice", Grant())

    async def used() -> float | None:
        (found,) = await keyring.list_keys()
        return found.used

    await keyring.required()
    for wrong in ("x", f"{key}x", f"sk-inferdpt-{id_}-x"):
        assert await keyring.match(wrong) is None
    assert await used() is None
    first = clock.now
    for moved, expected in ((0, first), (3599, first), (1, first + 3600), (10, first + 3600)):
        clock.now += moved
        await keyring.client(f"Bearer {key}")
        assert await used() == expected


async def test_keys_of_an_earlier_version_have_no_end(database: dict[str, Any]) -> None:
    """And one that an earlier version would take for an ordinary key is revoked on the way back,
    not forgotten: without any key, this machine would need none."""
    row = {
        "id": "0123456789ab",
        "sha256": "00" * 32,
        "tenant": "alice",
        "grant": seal(DIGESTS, b"{}", *place_of(KEYS, "0123456789ab")),
        "created": time.time(),
    }
    await migrate(database, "0010", {"keys": [row]})
    async with open_store(Settings(**database)) as store:
        keyring = Keyring(store, Server())
        (found,) = await keyring.list_keys()
        assert (found.in_force, found.on_behalf, found.expires) == (True, False, None)
        assert (found.label, found.owner, found.used) == ("", "", None)
        await keyring.create("webui", Grant(), TERMS)
        await keyring.create("bob", Grant(), Terms(seconds=DAY))
        assert "expires" not in await store.migrate(partial(downgrade, "0010", "keys"))
    async with open_store(Settings(**database)) as store:
        found_keys = await Keyring(store, Server()).list_keys()
        assert {key.tenant: key.in_force for key in found_keys} == {
            "alice": True,
            "webui": False,
            "bob": False,
        }


@pytest.mark.skipif(sys.platform != "linux", reason="several workers need Linux")
async def test_all_workers_follow_a_rotation(tmp_path: Path, capsys: Any) -> None:
    """Both keys are served, and the old one is refused as soon as it has ended."""

    async def command(*arguments: str) -> str:
        assert await asyncio.to_thread(main, ["keys", *arguments]) == 0
        return str(capsys.readouterr().out)

    old = (await command("create", "alice", "--config", os.devnull)).split()[-1]
    async with serve("--workers", "2") as served:

        async def served_for(key: str) -> set[int]:
            """Ask over connections of their own: the kernel spreads them over the workers."""

            async def ask() -> int:
                client = openai.AsyncOpenAI(
                    base_url=served.base_url, api_key=key, max_retries=0, timeout=600.0
                )
                async with client:
                    try:
                        await client.models.retrieve(MODEL)
                    except openai.AuthenticationError:
                        return 401
                    return 200

            return set(await asyncio.gather(*(ask() for _ in range(24))))

        id_ = old.split("-")[2]
        said = await command("rotate", id_, "--overlap", "7d", "--config", os.devnull)
        new = said.split()[-1]
        assert (await served_for(old), await served_for(new)) == ({200}, {200})
        async with open_store(Settings()) as store:
            change = KEYS.update().where(KEYS.c.id == id_).values(expires=time.time() - 1)
            await store.write(lambda connection: connection.execute(change))
        assert (await served_for(old), await served_for(new)) == ({401}, {200})


def test_the_commands(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setenv("INFERDPT_STATE_DIR", str(tmp_path))
    create = ["keys", "create", "alice", "--label", "laptop", "--owner", "Alice Roe"]
    assert main([*create, "--expires", "90d"]) == 0
    key = capsys.readouterr().out.split()[-1]
    id_ = key.split("-")[2]
    assert main(["keys", "rotate", id_, "--overlap", "7d"]) == 2
    assert "say when the new one ends" in capsys.readouterr().err
    assert main(["keys", "rotate", id_, "--overlap", "7d", "--expires", "12w"]) == 0
    out = capsys.readouterr().out
    assert f"takes the place of {id_}" in out
    assert key not in out
    assert main(["keys", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert all('label "laptop"  owner "Alice Roe"' in line for line in lines)
    assert all("never used  in force to 2" in line for line in lines)
    assert main(["keys", "rotate", key, "--overlap", "7d"]) == 2  # the key where its id is meant
    assert key not in capsys.readouterr().err
    for wrong in ("7", "d", "-1d", "1.5d", "7y"):
        for command in (["rotate", id_, "--overlap"], ["create", "bob", "--expires"]):
            with pytest.raises(SystemExit) as ended:
                main(["keys", *command, wrong])
            assert ended.value.code == 2
    for note in ("a\nb", "x" * 101):
        assert main(["keys", "create", "bob", "--owner", note]) == 2
        assert main(["keys", "create", "bob", "--label", note]) == 2
    assert main(["keys", "list"]) == 0
    assert "bob" not in capsys.readouterr().out


async def test_the_console_rotates_keys(table: EmbeddingTable) -> None:
    async with (
        running_proxy(table, {"server": {"operators": ["root"]}}) as proxy,
        browsing(proxy.root) as browser,
    ):
        keyring = proxy.app[KEYRING]
        _, root = await keyring.create("root", Grant())
        await browser.log_in(root)
        form = {"tenant": "web", "label": "<i>", "owner": "Ann", "days": "30", "on_behalf": "on"}
        await browser.post("/keys", form)
        (made,) = [key for key in await keyring.list_keys() if key.tenant == "web"]
        assert (made.on_behalf, made.label, made.owner) == (True, "<i>", "Ann")
        assert made.expires == pytest.approx(made.created + 30 * DAY)
        page = await browser.post("/keys/restrict", {"id": made.id, "epsilon_max": "3"})
        assert "on behalf of its users" in page.text  # no limit changes whose key it is
        assert "&lt;i&gt;" in page.text
        for wrong in ({"overlap": "7"}, {"overlap": "", "days": "9"}, {"overlap": "-1"}):
            assert (await browser.post("/keys/rotate", {"id": made.id, **wrong})).status == 400
        page = await browser.post("/keys/rotate", {"id": made.id, "overlap": "7", "days": "60"})
        key = re.search(r'value="(sk-inferdpt-[^"]+)"', page.text)
        assert key is not None
        holder = await keyring.match(key[1])
        assert holder is not None
        assert (holder.client.tenant, holder.client.on_behalf) == ("web", True)
        assert holder.client.grant.epsilon_max == 3
        for wrong in ({"label": "x" * 101}, {"days": "-1"}, {"days": "soon"}):
            assert (await browser.post("/keys", {"tenant": "web", **wrong})).status == 400
        assert len(await keyring.list_keys()) == 3
