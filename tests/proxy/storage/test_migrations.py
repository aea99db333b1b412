"""The store of an earlier version, brought up to date with its rows."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import make_url

from proxy.config.store import StoreSettings as Settings
from proxy.corpus.ledger import Accounts, Charged
from proxy.storage.databases.postgres import PostgresDatabase
from proxy.storage.databases.sqlite import SqliteDatabase
from proxy.storage.digests import Digests
from proxy.storage.ledger import Disclosure, Ledger, Price
from proxy.storage.opening import MIGRATIONS, open_store
from proxy.storage.schema import METADATA, REVISION, VERSIONS
from proxy.storage.store import Database, Store
from tests.databases import database, postgres_url
from tests.proxy.records.rows import faults

__all__ = ["database", "postgres_url"]

SECRET = bytes.fromhex("5a" * 32)
DIGESTS = Digests(Store(None, SECRET, ""))  # type: ignore[arg-type]


def make_file(folder: Path) -> Path:
    """Make the folder and the secret; return the path of the database."""
    folder.mkdir(mode=0o700)
    (folder / "secret").write_text(SECRET.hex())
    (folder / "secret").chmod(0o600)
    return folder / "inferdpt.db"


async def connect(settings: dict[str, Any]) -> Database:
    if "url" in settings:
        return PostgresDatabase(make_url(settings["url"]))
    return await SqliteDatabase.open(make_file(Path(settings["folder"])))


def upgrade(connection: sa.Connection, to: str) -> None:
    """Bring a database to a version by its migrations."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes.update(connection=connection, digests=DIGESTS)
    command.upgrade(config, to)


async def migrate(settings: dict[str, Any], to: str, rows: dict[str, list[Any]]) -> None:
    """Make a database of a version, and put rows into it."""

    def run(connection: sa.Connection) -> None:
        upgrade(connection, to)
        for table, values in rows.items():
            columns = [sa.column(name) for name in values[0]]
            connection.execute(sa.insert(sa.table(table, *columns)), values)

    store = Store(await connect(settings), SECRET, "of a version")
    await store.migrate(run)
    await store.close()


def account(tenant: str, scope: str, period: str, *sums: float) -> dict[str, Any]:
    tokens, proved, nominal = sums
    place = {"tenant": tenant, "scope": scope, "period": period}
    figures = {"requests": 1, "tokens": tokens, "proved": proved, "nominal": nominal}
    return place | figures | {"used": time.time()}


def spend(tenant: str, scope: str, period: str, count: int) -> dict[str, Any]:
    channel = {"mechanism": "rantext_ldp", "epsilon": 6.0, "bounded_range": False}
    return {"tenant": tenant, "scope": scope, "period": period, **channel, "count": count}


async def test_accounts_of_the_first_version(database: dict[str, Any]) -> None:
    """Proved, nominal and mixed accounts; then the upgraded store is used."""
    sums = {"proved": (8, 48.0, 0.0), "nominal": (8, 0.0, 48.0), "mixed": (13, 48.0, 30.0)}
    places = [("total", ""), ("day", "2030-01-31"), ("conversation", "c")]
    rows = {
        "accounts": [account(t, *place, *of) for t, of in sums.items() for place in places],
        "spends": [spend(t, *place, 8) for t in ("proved", "mixed") for place in places],
        "releases": [{"key": b"r" * 32, "tenant": "mixed", "value": "{}", "used": time.time()}],
    }
    await migrate(database, "0001", rows)
    async with open_store(Settings(**database)) as store:
        ledger = Ledger(store, delta=1e-6)
        info = await store.info()
        assert (info["accounts"], info["spends"], info["releases"]) == (9, 6, 1)
        for tenant, unbounded in (("proved", 0), ("nominal", 8), ("mixed", 5)):
            figures = await ledger.figures(tenant)
            (day,) = figures["days"].values()
            conversation = figures["conversations"]["c"]
            for found in (figures["total"], day, conversation, conversation["disclosed"]):
                assert (found["tokens"], found["unbounded"]) == (sums[tenant][0], unbounded)
                bound = found["epsilon"]["best"]["bound"]
                assert (bound == "none") is (tenant != "proved")
                assert found["epsilon"]["proved_part"]["basic"] == sums[tenant][1]
        cost = Price(0, unbounded=22)

        def charge(connection: sa.Connection) -> None:
            ledger.lock(connection, "proved")
            ledger.charge(
                connection,
                "proved",
                [("c", cost)],
                conversations=["c"],
                disclosed=[Disclosure("c", b"k" * 32, cost)],
                budgets={},
            )

        await store.write(charge, lane="proved")
        figures = await ledger.figures("proved")
        assert figures["total"]["unbounded"] == 22
        assert figures["conversations"]["c"]["disclosed"]["unbounded"] == 22
        assert figures["conversations"]["c"]["disclosed"]["tokens"] == 8
    async with open_store(Settings(**database)) as store:  # the second start changes nothing
        assert (await store.info())["disclosures"] == 4


async def test_spends_of_an_earlier_version_get_their_unit(database: dict[str, Any]) -> None:
    """The unit is told by the mechanism."""
    place = ("total", "")
    kinds = {"rantext_ldp": "token", "selective": "marked part", "surrogate": "document"}
    rows = {
        "accounts": [{**account("t", *place, 8, 48.0, 0.0), "unbounded": 0}],
        "spends": [{**spend("t", *place, 2), "mechanism": kind} for kind in kinds],
    }
    await migrate(database, "0003", rows)
    async with open_store(Settings(**database)) as store:
        figures = await Ledger(store, delta=1e-6).figures("t")
    units = {unit: {"count": 2, "epsilon": 12.0} for unit in kinds.values()}
    assert figures["total"]["units"] == units


async def test_the_record_begins_with_an_account_of_before_and_goes_with_its_table(
    database: dict[str, Any],
) -> None:
    place = ("t", "total", "")
    rows = {"accounts": [{**account(*place, 8, 48.0, 0.0), "unbounded": 0}]}
    await migrate(database, "0005", rows)
    for _ in range(2):
        async with open_store(Settings(**database)) as store:
            assert (await store.info())["records"] == 1
            assert await faults(store) == {}
            assert await store.migrate(partial(downgrade, "0005", "records")) == []
            assert await store.migrate(partial(downgrade, "0005", "accounts")) != []


async def test_owners_of_a_corpus_keep_their_charges(database: dict[str, Any]) -> None:
    """Which releases of a block were paid for was not known, so they are charged again."""
    one = Charged(b"k" * 32, "ann", "made up", Price(8, proved=48.0))
    sums = {"documents": 1, "tokens": 8, "unbounded": 0, "proved": 48.0, "nominal": 0.0}
    channel = {"mechanism": "rantext_ldp", "epsilon": 6.0, "bounded_range": False, "unit": "token"}
    key = DIGESTS.of("owner", "ann")
    rows = {
        "owners": [{"key": key, **sums}],
        "owner_spends": [{"key": key, **channel, "count": 8}],
        "blocks": [{"key": DIGESTS.of("block", one.key.hex(), "ann"), "refused": "[]"}],
    }
    await migrate(database, "0008", rows)
    async with open_store(Settings(**database)) as store:
        accounts = Accounts(store, delta=1e-6)
        account = (await accounts.read(["ann"]))["ann"]
        assert (account.documents, account.price.epsilon) == (1, 48.0)
        assert account.bound.epsilon == 48.0
        await accounts.charge([one])
        assert (await accounts.read(["ann"]))["ann"].price.epsilon == 96.0
        assert await store.migrate(partial(downgrade, "0008", "blocks")) == ["key", "refused"]
    async with open_store(Settings(**database)) as store:
        assert (await Accounts(store, delta=1e-6).read(["ann"]))["ann"].price.epsilon == 96.0


def downgrade(to: str, table: str, connection: sa.Connection) -> list[str]:
    """Bring the store back to a version; return the columns that a table has then."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes.update(connection=connection, digests=DIGESTS)
    command.downgrade(config, to)
    inspector = sa.inspect(connection)
    if not inspector.has_table(table):
        return []
    return [column["name"] for column in inspector.get_columns(table)]


async def test_back_to_the_first_version(database: dict[str, Any]) -> None:
    place = ("t", "conversation", "c")
    rows = {"accounts": [account(*place, 8, 48.0, 0.0)], "spends": [spend(*place, 8)]}
    await migrate(database, "0001", rows)
    async with open_store(Settings(**database)) as store:
        columns = await store.migrate(partial(downgrade, "0001", "accounts"))
        assert "tokens" in columns
        assert "unbounded" not in columns
    async with open_store(Settings(**database)) as store:
        info = await store.info()
        assert (info["accounts"], info["spends"]) == (1, 1)


async def test_a_new_database_is_as_the_migrations_make_it(database: dict[str, Any]) -> None:
    """All tables with their columns, defaults, keys and indexes, and Alembic's own table."""

    def start_anew(connection: sa.Connection) -> None:
        metadata = sa.MetaData()
        metadata.reflect(connection)
        metadata.drop_all(connection)
        assert sa.inspect(connection).get_table_names() == []
        upgrade(connection, "head")

    async with open_store(Settings(**database)) as store:
        new = await store.migrate(describe)
        await store.migrate(start_anew)
        assert await store.migrate(describe) == new
    assert set(new) == {*METADATA.tables, VERSIONS.name}
    assert all(table["indexes"] for name, table in new.items() if name in ("releases", "rates"))


def test_the_tables_have_the_revision_of_the_last_migration() -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    assert ScriptDirectory.from_config(config).get_heads() == [REVISION]


def describe(connection: sa.Connection) -> dict[str, Any]:
    """Return what a database has, without the names that PostgreSQL chose for its keys: the
    migrations rename a table whose key keeps its name."""
    inspector = sa.inspect(connection)

    def anonymous(key: Any) -> dict[str, Any]:
        return {name: value for name, value in key.items() if name != "name"}

    return {
        table: {
            "columns": sorted(
                (str(c["name"]), str(c["type"]), c["nullable"], str(c["default"]))
                for c in inspector.get_columns(table)
            ),
            "key": anonymous(inspector.get_pk_constraint(table)),
            "references": list(map(anonymous, inspector.get_foreign_keys(table))),
            "indexes": sorted(map(str, inspector.get_indexes(table))),
            "unique": inspector.get_unique_constraints(table),
        }
        for table in inspector.get_table_names()
    }
