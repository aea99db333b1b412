"""No term that a key denies stands in the database."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from perturb import EmbeddingTable
from proxy.access.auth import Grant, Keyring
from proxy.api.app_keys import KEYRING
from proxy.config.settings import Server
from proxy.config.store import StoreSettings as Settings
from proxy.errors import ApiError
from proxy.records.rekey import rekey
from proxy.storage.opening import open_store
from proxy.storage.schema import KEYS
from tests.databases import database, postgres_url
from tests.perturb.marking import WORDS
from tests.proxy.conftest import MODEL, running_proxy
from tests.proxy.storage.test_migrations import downgrade, migrate

__all__ = ["database", "postgres_url"]

TERMS = ("Bluebird-zzq", "Nightjar-zzq")
GRANT = Grant(deny=TERMS, epsilon_max=9.0)


def read_files(folder: str) -> bytes:
    return b"\n".join(path.read_bytes() for path in Path(folder).iterdir())


async def dump(settings: dict[str, Any]) -> bytes:
    """Everything that is in the database: the files of SQLite, or all rows of PostgreSQL."""
    if "folder" in settings:
        return read_files(settings["folder"])

    def read(connection: sa.Connection) -> str:
        metadata = sa.MetaData()
        metadata.reflect(connection)
        rows = (connection.execute(sa.select(table)).all() for table in metadata.sorted_tables)
        return repr(list(rows))

    async with open_store(Settings(**settings)) as store:
        return (await store.scan(read)).encode()


def found_in(data: bytes) -> list[str]:
    return [term for term in TERMS if term.encode() in data or term[:8].encode() in data]


async def test_no_denied_term_is_in_the_database(
    table: EmbeddingTable, database: dict[str, Any]
) -> None:
    """Of a key that is made, used, restricted and revoked."""
    over = {
        "store": database,
        "privacy": {"mechanism": "selective", "parameters": WORDS},
        "local": {"mode": "none"},
    }
    async with running_proxy(table, over) as proxy:
        keyring = proxy.app[KEYRING]
        id_, key = await keyring.create("alice", Grant(deny=TERMS[:1]))
        assert await keyring.restrict(id_, GRANT)
        messages: Any = [{"role": "user", "content": f"Ask about {TERMS[0]}, and write."}]
        await proxy.client(api_key=key).chat.completions.create(model=MODEL, messages=messages)
        assert found_in(str(proxy.sent()).encode()) == []  # the grant is in force
        assert found_in(await dump(database)) == []
        assert [one.grant for one in await keyring.list_keys()] == [GRANT]
        assert await keyring.revoke(id_)
    assert found_in(await dump(database)) == []


async def test_a_grant_that_was_changed_or_moved_lets_nobody_in(database: dict[str, Any]) -> None:
    async with open_store(Settings(**database)) as store:
        keyring = Keyring(store, Server())
        strict, key = await keyring.create("alice", GRANT)
        loose, _ = await keyring.create("alice", Grant())
        read = sa.select(KEYS.c.grant).where(KEYS.c.id == loose)
        moved = await store.read(lambda connection: connection.scalar(read))
        for value in (moved, b"{}", b""):
            change = sa.update(KEYS).where(KEYS.c.id == strict).values(grant=value)
            await store.write(lambda connection, change=change: connection.execute(change))
            with pytest.raises(ApiError) as caught:
                await keyring.client(f"Bearer {key}")
            assert caught.value.code == "store_damaged"


async def test_grants_survive_a_new_secret(database: dict[str, Any]) -> None:
    async with open_store(Settings(**database)) as store:
        _, key = await Keyring(store, Server()).create("alice", GRANT)
        changed, done = await rekey(store, b"n" * 32)
        assert done.sealed == 1
        assert (await Keyring(changed, Server()).client(f"Bearer {key}")).grant == GRANT
        with pytest.raises(ApiError):
            await Keyring(store, Server()).client(f"Bearer {key}")


async def test_grants_of_an_earlier_version_are_sealed(database: dict[str, Any]) -> None:
    """And nothing of them is left in the files once the store is closed."""
    rows = [
        {
            "id": f"key{i}",
            "sha256": "00" * 32,
            "tenant": "alice",
            "grant": GRANT.model_dump_json(exclude_defaults=True),
            "created": time.time() + i,
        }
        for i in range(50)
    ]
    await migrate(database, "0009", {"keys": rows})
    if "folder" in database:
        assert found_in(await dump(database)) == list(TERMS)  # the search finds them
    async with open_store(Settings(**database)) as store:
        found = await Keyring(store, Server()).list_keys()
    assert [(one.id, one.grant) for one in found] == [(row["id"], GRANT) for row in rows]
    assert found_in(await dump(database)) == []
    async with open_store(Settings(**database)) as store:
        assert "grant" in await store.migrate(lambda c: downgrade("0009", "keys", c))
    async with open_store(Settings(**database)) as store:
        assert (await Keyring(store, Server()).list_keys())[0].grant == GRANT
