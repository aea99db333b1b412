"""The store: one database for what has to outlive the process, and for replicas to agree.

A SQLite file under the state directory, or PostgreSQL where several proxies share it. It holds
nothing the remote does not already know, keyed hashes and counters (proxy.schema).
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

from proxy.config_store import Memo
from proxy.config_store import Store as Settings
from proxy.errors import ApiError, ConfigError, store_unavailable
from proxy.schema import ACCOUNTS, ANSWERS, KEYS, RELEASES, SPENDS
from proxy.secret import load_secret

__all__ = ["Store", "open_store", "state_folder", "sweeping"]

logger = logging.getLogger("inferdpt.store")
MIGRATIONS = Path(__file__).parent / "migrations"
MIGRATION_LOCK = 0x1FE2D97  # of PostgreSQL's advisory locks: any number, the same everywhere
BUSY_SECONDS = 30  # how long a writer waits for another process
# PostgreSQL's limits: a replica that hangs or whose machine is gone must not keep a tenant's
# account locked until TCP notices, which takes hours.
WAITS = {
    "lock_timeout": f"{BUSY_SECONDS}s",
    "idle_in_transaction_session_timeout": f"{BUSY_SECONDS}s",
}
SWEEP_SECONDS = 600.0
BATCH = 500  # rows deleted in one transaction, so that requests get in between
LIBRARIES = ("aiosqlite", "alembic", "sqlalchemy")
SQLITE, POSTGRES = "sqlite+aiosqlite", "postgresql+asyncpg"


def state_folder(folder: str | None) -> Path:
    """Where state is kept: the configured folder, $INFERDPT_STATE_DIR, or `inferdpt` in the
    XDG state directory."""
    if folder := folder or os.environ.get("INFERDPT_STATE_DIR"):
        return Path(folder)
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "inferdpt"


@asynccontextmanager
async def open_store(settings: Settings) -> AsyncIterator[Store]:
    """The store of a configuration, migrated, for as long as the block runs.

    Raises:
        ConfigError: the URL, the secret or the database cannot be used; says which and why.
    """
    url = _url(settings)
    if url.drivername == SQLITE:
        path = Path(url.database or "")
        _private_file(path)
        secret_file, create = settings.secret_file or path.parent / "secret", True
    else:
        folder = state_folder(settings.folder)
        secret_file, create = settings.secret_file or folder / "secret", False
    secret = load_secret(Path(secret_file), create=create)
    for name in LIBRARIES:  # they would log parameters and rows
        logging.getLogger(name).setLevel(logging.CRITICAL)
    store = Store(url, secret)
    try:
        await store.migrate()
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def sweeping(store: Store, settings: Memo) -> AsyncIterator[None]:
    """Keep the store within its limits of age and size, for as long as the block runs."""

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
    """An engine and its transactions. Use it from one event loop."""

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
        if self._sqlite:
            event.listen(self._engine.sync_engine, "connect", _prepare)
            event.listen(self._engine.sync_engine, "begin", _begin)
            event.listen(self._engine.sync_engine, "invalidate", _roll_back)

    @property
    def file(self) -> Path | None:
        """The SQLite file."""
        return Path(self._url.database or "") if self._sqlite else None

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        """A transaction that only reads. Raises `ApiError`: 503, the database failed."""
        with _mapped():
            async with self._engine.begin() as connection:
                yield connection

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        """A transaction that writes: all of it is durable when the block ends, or, where it
        raises, none of it happened. SQLite runs one at a time. Raises as `reading`."""
        with _mapped():
            async with self._writer, self._engine.connect() as connection:
                await connection.execution_options(writes=True)
                async with connection.begin():
                    yield connection

    def insert(self, table: Table) -> Any:
        """The dialect's INSERT, which has `on_conflict_do_…`."""
        return sqlite.insert(table) if self._sqlite else postgresql.insert(table)

    async def migrate(self) -> None:
        """Bring the schema up to date; replicas that start at once wait for each other.

        Raises:
            ConfigError: the database cannot be reached or used.
        """
        try:
            if self.file is not None:
                await asyncio.to_thread(_write_ahead, self.file)
            async with self.writing() as connection:
                if not self._sqlite:
                    lock = text("SELECT pg_advisory_xact_lock(:number)")
                    await connection.execute(lock, {"number": MIGRATION_LOCK})
                await connection.run_sync(_upgrade)
        except Exception as exc:  # drivers raise what they like before there is a connection
            cause = exc.__cause__ or exc
            reason = getattr(cause, "orig", None) or cause
            raise ConfigError(f"store.url: {self} cannot be used: {reason}") from exc

    async def sweep(self, ttl: float, rows: int, *, now: float | None = None) -> int:
        """Forget what was not used for `ttl` seconds, and the oldest used beyond `rows` texts
        and as many answers of each tenant; return how many rows went. Days and totals of the
        ledger stay."""
        now = time.time() if now is None else now
        gone = 0
        for table in (RELEASES, ANSWERS, ACCOUNTS):
            old = table.c.used < now - ttl
            if table is ACCOUNTS:
                old &= table.c.scope == "conversation"
            gone += await self._delete(table, old)
        for table in (RELEASES, ANSWERS):
            for tenant, limit in await self._beyond(table, rows):
                gone += await self._delete(
                    table, (table.c.tenant == tenant) & (table.c.used <= limit)
                )
        return gone

    async def _beyond(self, table: Table, rows: int) -> list[tuple[str, float]]:
        """The tenants with more than `rows` rows, and when the next older one was last used: one
        tenant's texts never push out another's, which would be drawn afresh."""
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
        """Forget texts and answers now.

        Args:
            before: only those last used before this time (seconds since 1970).
            tenant: only this tenant's.
            ledger: the accounts, too: budgets start anew.
        """
        gone = 0
        for table in (RELEASES, ANSWERS, *((ACCOUNTS,) if ledger else ())):
            where = true() if before is None else table.c.used < before
            gone += await self._delete(
                table, where if tenant is None else where & (table.c.tenant == tenant)
            )
        if self.file is not None:  # what was deleted stands in the log until it is emptied
            await asyncio.to_thread(_checkpoint, self.file)
        return gone

    async def _delete(self, table: Table, where: Any) -> int:
        key = tuple_(*table.primary_key)
        some = select(*table.primary_key).where(where).limit(BATCH)
        gone, last = 0, BATCH
        while last == BATCH:
            async with self.writing() as connection:
                # `where` again: PostgreSQL looks at a row anew that was used meanwhile.
                done = await connection.execute(delete(table).where(key.in_(some), where))
            last = done.rowcount
            gone += last
        return gone

    async def ping(self) -> None:
        """See whether the database answers. Raises `ApiError`."""
        async with self.reading() as connection:
            await connection.execute(select(1))

    async def info(self) -> dict[str, int]:
        """How many rows each table has, and the bytes the database takes."""
        out = {}
        async with self.reading() as connection:
            for table in (RELEASES, ANSWERS, ACCOUNTS, SPENDS, KEYS):
                found = await connection.scalar(select(func.count()).select_from(table))
                out[table.name] = int(found or 0)
            if not self._sqlite:
                size = select(func.pg_database_size(func.current_database()))
                out["bytes"] = int(await connection.scalar(size) or 0)
        if (path := self.file) is not None:
            beside = (path.with_name(path.name + end) for end in ("", "-wal"))
            out["bytes"] = sum(file.stat().st_size for file in beside if file.exists())
        return out

    async def close(self) -> None:
        """Let go of connections."""
        await self._engine.dispose()

    def __str__(self) -> str:
        return self._url.render_as_string(hide_password=True)


def _url(settings: Settings) -> URL:
    """The database's URL, checked."""
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
                "store.url: PostgreSQL needs `pip install 'inferdpt[postgres]'`"
            ) from None
    return url


def _private_file(path: Path) -> None:
    """Make the database file before SQLite does, for this user alone; the files that SQLite
    puts beside it get its mode."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as exc:
        raise ConfigError(f"store: {path} cannot be written ({exc.strerror})") from None


def _prepare(connection: Any, _: Any) -> None:
    """A fresh SQLite connection. Transactions are begun by `_begin`, not by the driver."""
    connection.isolation_level = None
    cursor = connection.cursor()
    for setting in (
        f"busy_timeout = {BUSY_SECONDS * 1000}",
        "synchronous = FULL",  # what was charged is on disk before anything is sent
        "foreign_keys = ON",
        "secure_delete = ON",  # what is forgotten is overwritten
    ):
        cursor.execute(f"PRAGMA {setting}")
    cursor.close()


def _begin(connection: Connection) -> None:
    """A transaction that will write takes the lock at once: one that reads first could find at
    its first write that another was faster."""
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _roll_back(connection: Any, _: Any, __: Any) -> None:
    """A connection is given up in the middle of a statement, as when a client goes away: closed
    as it is, it would hold its lock until the statement is garbage collected."""
    with contextlib.suppress(sqlite3.Error):
        connection.rollback()


def _write_ahead(path: Path) -> None:
    """Put the file into WAL mode: a property of the file, and a change that does not wait for
    others by itself."""
    deadline = time.monotonic() + BUSY_SECONDS
    with contextlib.closing(sqlite3.connect(path)) as connection:
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)


def _checkpoint(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _upgrade(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


@contextmanager
def _mapped() -> Iterator[None]:
    """The database's errors as ours."""
    try:
        yield
    except (SQLAlchemyError, OSError) as exc:
        raise store_unavailable() from exc
