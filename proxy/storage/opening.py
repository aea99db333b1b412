"""Open the store: its database, its secret, its schema, and the first row of its record.

That row is written when the store is made. Later, nothing writes it: a store without it lost it,
and `records check` says so.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from sqlalchemy import URL, Connection, func, inspect, make_url, select, text
from sqlalchemy.exc import ArgumentError

from extraction.codec import dump_ascii
from perturb.install import install_command
from proxy.config.store import StoreSettings as Settings
from proxy.config.store import state_folder
from proxy.errors import ConfigError
from proxy.storage.databases.sqlite import DatabaseFile, SqliteDatabase
from proxy.storage.digests import Digests
from proxy.storage.schema import ACCOUNTS, METADATA, RECORDS, REVISION, VERSIONS
from proxy.storage.secret import load_secret
from proxy.storage.store import DRIVER_ERRORS, Database, Store

__all__ = ["ALL", "find_folder", "open_store", "state_folder", "write_beginning"]

ALL = ""  # in place of a tenant: the rows about the store
_ANY = select(RECORDS.c.number).where(RECORDS.c.tenant == ALL).limit(1)
_CHARGED = select(func.count()).where(ACCOUNTS.c.scope == "total", ACCOUNTS.c.requests > 0)


def write_beginning(connection: Connection, digests: Digests) -> None:
    """Write the first row of a store that has none. It states how many accounts were charged
    before, by a version without a record."""
    if connection.scalar(_ANY) is not None:
        return
    now = time.time()
    value = dump_ascii({"kind": "beginning", "accounts": connection.scalar(_CHARGED)})
    digest = digests.record(b"", ALL, 1, now, value)
    row = {"tenant": ALL, "number": 1, "time": now, "value": value, "hash": digest}
    connection.execute(RECORDS.insert(), row)


MIGRATIONS = Path(__file__).parent / "migrations"
MIGRATION_LOCK = 0x1FE2D97  # an advisory lock of PostgreSQL: any number, the same in all versions
LIBRARIES = ("alembic", "sqlalchemy")
SQLITE, POSTGRES = "sqlite", "postgresql+asyncpg"
OLD_SQLITE = "sqlite+aiosqlite"  # of configurations for earlier versions


@asynccontextmanager
async def open_store(settings: Settings) -> AsyncIterator[Store]:
    """Open and migrate the store of a configuration; close it after the block.

    Raises:
        ConfigError: the URL, the secret or the database cannot be used; the message says why.
    """
    url = _read_url(settings)
    own = url.drivername == SQLITE
    folder = _find_folder(url, settings)
    if own:
        DatabaseFile(Path(url.database or "")).make()  # and its folder, for the secret
    secret = load_secret(Path(settings.secret_file or folder / "secret"), create=own)
    for name in LIBRARIES:  # their logs would show parameters and rows
        logging.getLogger(name).setLevel(logging.CRITICAL)
    database = await _connect(url)
    store = Store(database, secret, url.render_as_string(hide_password=True))
    try:
        await _migrate(store)
        yield store
    finally:
        await store.close()


def find_folder(settings: Settings) -> Path:
    """Return the folder of the state on this machine: that of the SQLite file, if there is one.

    Raises:
        ConfigError: the URL of the database cannot be used.
    """
    return _find_folder(_read_url(settings), settings)


def _find_folder(url: URL, settings: Settings) -> Path:
    own = url.drivername == SQLITE
    return Path(url.database or "").parent if own else state_folder(settings.folder)


async def _migrate(store: Store) -> None:
    """Bring the schema up to date. Replicas that start at once wait for each other.

    Raises:
        ConfigError: the database cannot be reached or used, or is newer than this version.
    """

    digests = Digests(store)

    def upgrade(connection: Connection) -> None:
        if store.file is None:
            lock = text("SELECT pg_advisory_xact_lock(:number)")
            connection.execute(lock, {"number": MIGRATION_LOCK})
        if inspect(connection).has_table(VERSIONS.name):
            if connection.scalars(select(VERSIONS.c.version_num)).all() != [REVISION]:
                _upgrade(connection, digests)
        else:
            _make(connection, digests)

    try:
        await store.migrate(upgrade)
    except _Newer as exc:
        raise ConfigError(f"store.url: {store} {exc}") from None
    except Exception as exc:  # drivers raise anything before there is a connection
        raise _cannot_be_used(str(store), exc) from exc


async def _connect(url: URL) -> Database:
    """Open the database at a URL; raise `ConfigError`."""
    if url.drivername == POSTGRES:
        # Lazily: it loads all of SQLAlchemy's ORM, which SQLite does not need.
        from proxy.storage.databases.postgres import PostgresDatabase

        return PostgresDatabase(url)
    try:
        return await SqliteDatabase.open(Path(url.database or ""))
    except DRIVER_ERRORS as exc:
        raise _cannot_be_used(url.render_as_string(hide_password=True), exc) from exc


def _cannot_be_used(name: str, exc: Exception) -> ConfigError:
    cause: BaseException = exc
    while cause.__cause__ is not None:  # the driver's own says why
        cause = cause.__cause__
    return ConfigError(f"store.url: {name} cannot be used: {cause}")


def _read_url(settings: Settings) -> URL:
    """Return the database's URL after checking it."""
    if settings.url is None:
        return URL.create(SQLITE, database=str(state_folder(settings.folder) / "inferdpt.db"))
    try:
        url = make_url(settings.url.get_secret_value())
    except ArgumentError:
        raise ConfigError("store.url: is not a database URL") from None
    if url.drivername == OLD_SQLITE:
        url = url.set(drivername=SQLITE)
    if url.drivername == SQLITE and url.database in (None, "", ":memory:"):
        raise ConfigError("store.url: must name a file: SQLite in memory keeps nothing")
    if url.drivername not in (SQLITE, POSTGRES):
        raise ConfigError(f"store.url: must begin with {SQLITE}:// or {POSTGRES}://")
    if url.drivername == POSTGRES:
        try:
            import asyncpg  # noqa: F401
        except ImportError:
            raise ConfigError(
                f"store.url: PostgreSQL needs asyncpg: {install_command('postgres')}"
            ) from None
    return url


def _make(connection: Connection, digests: Digests) -> None:
    """Make all tables at once: for a new database Alembic is not needed, which takes long to
    load."""
    METADATA.create_all(connection, checkfirst=False)
    VERSIONS.create(connection)
    connection.execute(VERSIONS.insert(), {"version_num": REVISION})
    write_beginning(connection, digests)


class _Newer(Exception):
    """Report a database of a later version; the message names it and the remedy."""


def _upgrade(connection: Connection, digests: Digests) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.migration import MigrationContext
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes.update(connection=connection, digests=digests)
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    found = set(MigrationContext.configure(connection).get_current_heads())
    if unknown := ", ".join(sorted(found - known)):
        raise _Newer(
            f"is newer than this version of inferdpt: it is at revision {unknown}, and this "
            f"version knows {', '.join(sorted(known))}. Upgrade inferdpt on this machine, or "
            "name another database; a newer one is never written to"
        )
    command.upgrade(config, "head")
