"""Open the store: the one database that outlives the process and that replicas share.

It is a SQLite file under the state directory, or PostgreSQL for several proxies. It holds only
what the remote already knows, keyed hashes and counters (proxy.storage.schema).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sqlite3
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    Connection,
    Table,
    delete,
    event,
    func,
    make_url,
    select,
    text,
    true,
    tuple_,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from perturb.install import install_command
from proxy.config.store import Memo
from proxy.config.store import Store as Settings
from proxy.errors import ApiError, ConfigError, store_unavailable
from proxy.storage.schema import ACCOUNTS, ANSWERS, DISCLOSURES, KEYS, PASSAGES, RELEASES, SPENDS
from proxy.storage.secret import load_secret
from proxy.storage.store_file import BUSY_SECONDS, DatabaseFile

__all__ = ["Store", "open_store", "state_folder", "sweeping"]

logger = logging.getLogger("inferdpt.store")
MIGRATIONS = Path(__file__).parent / "migrations"
MIGRATION_LOCK = 0x1FE2D97  # an advisory lock of PostgreSQL: any number, the same in all versions
# PostgreSQL's limits. A replica that hangs, or that lost its machine, must not keep a tenant's
# account locked until TCP notices, which takes hours.
WAITS = {
    "lock_timeout": f"{BUSY_SECONDS}s",
    "idle_in_transaction_session_timeout": f"{BUSY_SECONDS}s",
}
SWEEP_SECONDS = 600.0
BATCH = 500  # rows deleted in one transaction, so that requests run in between
LIBRARIES = ("aiosqlite", "alembic", "sqlalchemy")
SQLITE, POSTGRES = "sqlite+aiosqlite", "postgresql+asyncpg"


def state_folder(folder: str | None) -> Path:
    """Return the folder of the state.

    It is the configured folder, else $INFERDPT_STATE_DIR, else `inferdpt` in the XDG state
    directory.
    """
    if folder := folder or os.environ.get("INFERDPT_STATE_DIR"):
        return Path(folder)
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "inferdpt"


@asynccontextmanager
async def open_store(settings: Settings) -> AsyncIterator[Store]:
    """Open and migrate the store of a configuration; close it after the block.

    Raises:
        ConfigError: the URL, the secret or the database cannot be used; the message says why.
    """
    url = _read_url(settings)
    if url.drivername == SQLITE:
        path = Path(url.database or "")
        DatabaseFile(path).make()
        secret_file, create = settings.secret_file or path.parent / "secret", True
    else:
        folder = state_folder(settings.folder)
        secret_file, create = settings.secret_file or folder / "secret", False
    secret = load_secret(Path(secret_file), create=create)
    for name in LIBRARIES:  # their logs would show parameters and rows
        logging.getLogger(name).setLevel(logging.CRITICAL)
    store = Store(url, secret)
    try:
        await store.migrate()
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def sweeping(store: Store, settings: Memo) -> AsyncIterator[None]:
    """Keep the store within its limits of age and size while the block runs."""

    async def sweep() -> None:
        while True:
            try:
                await store.sweep(settings.ttl_seconds, settings.rows)
            except ApiError:
                logger.warning("old entries could not be forgotten: the store failed")
            await asyncio.sleep(SWEEP_SECONDS)

    task = asyncio.create_task(sweep())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


class Store:
    """Hold an engine and open its transactions. Use it from one event loop."""

    def __init__(self, url: URL, secret: bytes) -> None:
        self.secret = secret
        self._url = url
        # Parameters hold generations and released text: errors must not show them.
        self._sqlite = url.drivername == SQLITE
        self._engine: AsyncEngine = create_async_engine(
            url,
            hide_parameters=True,
            connect_args={} if self._sqlite else {"server_settings": WAITS},
        )
        # SQLite has one writer: waiting here is fair, polling for its lock is not.
        self._writer = asyncio.Lock() if self._sqlite else contextlib.nullcontext()
        self._file = DatabaseFile(Path(url.database or "")) if self._sqlite else None
        if self._file is not None:
            engine = self._engine.sync_engine
            event.listen(engine, "do_connect", self._check_file)  # SQLite would make an empty file
            event.listen(engine, "connect", _prepare)
            event.listen(engine, "begin", _begin)
            event.listen(engine, "begin", self._check_file)
            event.listen(engine, "invalidate", _roll_back)

    @property
    def file(self) -> Path | None:
        """Return the SQLite file; None for PostgreSQL."""
        return self._file.path if self._file is not None else None

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        """Open a transaction that only reads.

        Raises:
            ApiError: 503, the database failed, or the file is not the one that was opened.
        """
        with _map_errors():
            async with self._engine.begin() as connection:
                yield connection

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        """Open a transaction that writes. SQLite runs one at a time.

        All of it is durable when the block ends; nothing of it counts if the block raises.

        Raises:
            ApiError: as `reading` does.
        """
        with _map_errors():
            async with self._writer, self._engine.connect() as connection:
                await connection.execution_options(writes=True)
                async with connection.begin():
                    yield connection
                self._check_file()  # a commit to a deleted file is lost

    def _check_file(self, *_: object) -> None:
        """Check that the SQLite file is still there; raise `ApiError` if not."""
        if self._file is not None:
            self._file.check()

    def insert(self, table: Table) -> Any:
        """Return the dialect's INSERT, which has `on_conflict_do_…`."""
        return sqlite.insert(table) if self._sqlite else postgresql.insert(table)

    async def migrate(self) -> None:
        """Bring the schema up to date. Replicas that start at once wait for each other.

        Raises:
            ConfigError: the database cannot be reached or used, or is newer than this version.
        """
        try:
            if self._file is not None:
                await asyncio.to_thread(self._file.open)
            async with self.writing() as connection:
                if not self._sqlite:
                    lock = text("SELECT pg_advisory_xact_lock(:number)")
                    await connection.execute(lock, {"number": MIGRATION_LOCK})
                await connection.run_sync(_upgrade)
        except _Newer as exc:
            raise ConfigError(f"store.url: {self} {exc}") from None
        except Exception as exc:  # drivers raise anything before there is a connection
            cause = exc.__cause__ or exc
            reason = getattr(cause, "orig", None) or cause
            raise ConfigError(f"store.url: {self} cannot be used: {reason}") from exc

    async def sweep(self, ttl: float, rows: int, *, now: float | None = None) -> int:
        """Forget old rows and return their number.

        Days and totals of the ledger stay.

        Args:
            ttl: seconds without use after which a row is forgotten.
            rows: the most texts of one tenant, and the most answers. The ones unused for the
                longest time are forgotten.
            now: seconds since 1970; None for the present.
        """
        now = time.time() if now is None else now
        gone = 0
        for table in (RELEASES, ANSWERS, PASSAGES, ACCOUNTS):
            old = table.c.used < now - ttl
            if table is ACCOUNTS:
                old &= table.c.scope == "conversation"
            gone += await self._delete(table, old)
        for table in (RELEASES, ANSWERS, PASSAGES):
            for tenant, limit in await self._beyond(table, rows):
                gone += await self._delete(
                    table, (table.c.tenant == tenant) & (table.c.used <= limit)
                )
        return gone

    async def _beyond(self, table: Table, rows: int) -> list[tuple[str, float]]:
        """Return the tenants with more than `rows` rows, each with the last use of its newest
        excess row.

        The limit is per tenant: one tenant's texts never push out another's, which would be drawn
        afresh.
        """
        many = select(table.c.tenant).group_by(table.c.tenant).having(func.count() > rows)
        async with self.reading() as connection:
            found = []
            for tenant in (await connection.scalars(many)).all():
                newest = select(table.c.used).where(table.c.tenant == tenant)
                query = newest.order_by(table.c.used.desc()).offset(rows).limit(1)
                found.append((tenant, (await connection.scalars(query)).one()))
        return found

    async def purge(
        self, *, before: float | None = None, tenant: str | None = None, ledger: bool = False
    ) -> int:
        """Forget texts and answers now and return the number of rows.

        Args:
            before: only those last used before this time (seconds since 1970).
            tenant: only this tenant's.
            ledger: forget the accounts, too; budgets start anew.
        """
        gone = 0
        for table in (RELEASES, ANSWERS, PASSAGES, *((ACCOUNTS,) if ledger else ())):
            where = true() if before is None else table.c.used < before
            gone += await self._delete(
                table, where if tenant is None else where & (table.c.tenant == tenant)
            )
        if self._file is not None:  # deleted rows stay in the log until it is emptied
            await asyncio.to_thread(self._file.checkpoint)
        return gone

    async def _delete(self, table: Table, where: Any) -> int:
        key = tuple_(*table.primary_key)
        some = select(*table.primary_key).where(where).limit(BATCH)
        gone, last = 0, BATCH
        while last == BATCH:
            async with self.writing() as connection:
                # `where` again: PostgreSQL re-reads a row that was used meanwhile.
                done = await connection.execute(delete(table).where(key.in_(some), where))
            last = done.rowcount
            gone += last
        return gone

    async def ping(self) -> None:
        """Check that the database answers; raise `ApiError` if not."""
        async with self.reading() as connection:
            await connection.execute(select(1))

    async def info(self) -> dict[str, int]:
        """Return the number of rows of each table, and the database's size in bytes."""
        out = {}
        async with self.reading() as connection:
            for table in (RELEASES, ANSWERS, PASSAGES, ACCOUNTS, SPENDS, DISCLOSURES, KEYS):
                found = await connection.scalar(select(func.count()).select_from(table))
                out[table.name] = int(found or 0)
            if not self._sqlite:
                size = select(func.pg_database_size(func.current_database()))
                out["bytes"] = int(await connection.scalar(size) or 0)
        if self._file is not None:
            out["bytes"] = self._file.bytes()
        return out

    async def close(self) -> None:
        """Close all connections."""
        await self._engine.dispose()
        if self._file is not None:
            self._file.close()

    def __str__(self) -> str:
        return self._url.render_as_string(hide_password=True)


def _read_url(settings: Settings) -> URL:
    """Return the database's URL after checking it."""
    if settings.url is None:
        return URL.create(SQLITE, database=str(state_folder(settings.folder) / "inferdpt.db"))
    try:
        url = make_url(settings.url.get_secret_value())
    except ArgumentError:
        raise ConfigError("store.url: is not a database URL") from None
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


def _prepare(connection: Any, _: Any) -> None:
    """Prepare a fresh SQLite connection. `_begin` begins its transactions, not the driver."""
    connection.isolation_level = None
    cursor = connection.cursor()
    for setting in (
        f"busy_timeout = {BUSY_SECONDS * 1000}",
        "synchronous = FULL",  # a charge is on disk before anything is sent
        "foreign_keys = ON",
        "secure_delete = ON",  # forgotten rows are overwritten
    ):
        cursor.execute(f"PRAGMA {setting}")
    cursor.close()


def _begin(connection: Connection) -> None:
    """Begin a transaction.

    A transaction that will write takes the lock at once. If it read first, another could write in
    between, and its own first write would fail.
    """
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _roll_back(connection: Any, _: Any, __: Any) -> None:
    """Roll back a connection that is abandoned in the middle of a statement, as when a client
    disconnects.

    Without the rollback, it would hold its lock until the statement is garbage collected.
    """
    with contextlib.suppress(sqlite3.Error):
        connection.rollback()


class _Newer(Exception):
    """Report a database of a later version; the message names it and the remedy."""


def _upgrade(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.migration import MigrationContext
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    found = set(MigrationContext.configure(connection).get_current_heads())
    if unknown := ", ".join(sorted(found - known)):
        raise _Newer(
            f"is newer than this version of inferdpt: it is at revision {unknown}, and this "
            f"version knows {', '.join(sorted(known))}. Upgrade inferdpt on this machine, or "
            "name another database; a newer one is never written to"
        )
    command.upgrade(config, "head")


@contextmanager
def _map_errors() -> Iterator[None]:
    """Map the database's errors to `ApiError`."""
    try:
        yield
    except (SQLAlchemyError, OSError) as exc:
        raise store_unavailable() from exc
