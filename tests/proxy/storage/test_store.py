"""The store: who may read it, what a transaction is, how it forgets."""

from __future__ import annotations

import asyncio
import gc
import re
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, select, text, update

from proxy.cli.main import main
from proxy.config.store import StoreSettings as Settings
from proxy.errors import ApiError, ConfigError
from proxy.storage.databases.sqlite import BUSY_SECONDS
from proxy.storage.ledger import Ledger
from proxy.storage.opening import open_store, state_folder
from proxy.storage.schema import ACCOUNTS, ANSWERS, DISCLOSURES, METADATA, RELEASES
from proxy.storage.secret import load_secret
from proxy.storage.store import Store
from tests.databases import database, postgres_url
from tests.proxy.storage.work import execute, scalar

__all__ = ["database", "postgres_url"]

KEY = "ab" * 32
TOKENS = select(ACCOUNTS.c.tokens)


def open_account(connection: Connection) -> None:
    """Open the account of tenant t."""
    row = {"tenant": "t", "scope": "total", "period": "", "used": 0.0}
    figures = {"requests": 0, "tokens": 0, "unbounded": 0, "proved": 0.0, "nominal": 0.0}
    connection.execute(ACCOUNTS.insert(), row | figures)


@pytest.fixture
async def store(database: dict[str, Any]) -> AsyncIterator[Store]:
    async with open_store(Settings(**database)) as opened:
        yield opened


class TestFiles:
    async def test_nobody_else_may_read_them(self, tmp_path: Path) -> None:
        folder = tmp_path / "new" / "state"
        async with open_store(Settings(folder=str(folder))) as store:
            assert folder.stat().st_mode & 0o777 == 0o700
            names = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
            assert names == dict.fromkeys(
                ("inferdpt.db", "inferdpt.db-shm", "inferdpt.db-wal", "secret"), 0o600
            )
            assert len(store.secret) == 32

    def test_where_they_are(self, tmp_path: Path, monkeypatch: Any) -> None:
        monkeypatch.setenv("INFERDPT_STATE_DIR", "/a")
        assert state_folder("/b") == Path("/b")
        assert state_folder(None) == Path("/a")
        monkeypatch.delenv("INFERDPT_STATE_DIR")
        monkeypatch.setenv("XDG_STATE_HOME", "/c")
        assert state_folder(None) == Path("/c/inferdpt")
        monkeypatch.delenv("XDG_STATE_HOME")
        monkeypatch.setenv("HOME", "/d")
        assert state_folder(None) == Path("/d/.local/state/inferdpt")

    @pytest.mark.parametrize(
        ("settings", "words"),
        [
            ({"url": "nonsense"}, "store.url"),
            ({"url": "sqlite://"}, "must name a file"),
            ({"url": "sqlite+aiosqlite://"}, "must name a file"),  # of an earlier version
            ({"url": "mysql+aiomysql://host/name"}, "must begin with"),
            ({"url": "postgresql+asyncpg://user:hidden@127.0.0.1:9/name"}, "cannot be used"),
            ({"folder": "/dev/null/x"}, "cannot be written"),
            ({"secret_file": "/dev/null/x"}, "cannot be made"),
        ],
    )
    async def test_what_cannot_be_used_is_said(
        self, settings: dict[str, Any], words: str, monkeypatch: Any
    ) -> None:
        if "secret_file" not in settings:
            monkeypatch.setenv("INFERDPT_SECRET", KEY)
        with pytest.raises(ConfigError, match=words) as info:
            async with open_store(Settings(**settings)):
                pass
        assert "hidden" not in str(info.value) + repr(Settings(**settings))

    async def test_replicas_must_be_given_their_secret(self, postgres_url: str) -> None:
        with pytest.raises(ConfigError, match="INFERDPT_SECRET"):
            async with open_store(Settings(url=postgres_url)):
                pass


class TestSecret:
    def test_processes_that_start_at_once_agree(self, tmp_path: Path) -> None:
        for attempt in range(20):
            path, start = tmp_path / f"{attempt}", threading.Barrier(8)
            found: list[bytes] = []

            def load(path: Path = path, start: Any = start, found: Any = found) -> None:
                start.wait()
                found.append(load_secret(path, create=True))

            threads = [threading.Thread(target=load) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert len(found) == 8
            assert set(found) == {load_secret(path, create=False)}
        assert len(list(tmp_path.iterdir())) == 20  # no temporary file is left

    def test_the_environment_goes_before_the_file(self, tmp_path: Path, monkeypatch: Any) -> None:
        monkeypatch.setenv("INFERDPT_SECRET", KEY)
        assert load_secret(tmp_path / "none", create=True) == bytes.fromhex(KEY)
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        ("content", "mode", "words"),
        [
            (KEY, 0o644, "mode must be 0600"),
            (KEY[:-2], 0o600, "must have >= 32 bytes, has 31"),
            ("secret " * 20, 0o600, "must be hexadecimal"),
            ("", 0o600, "must have >= 32 bytes"),
        ],
    )
    def test_a_bad_file_is_refused(
        self, tmp_path: Path, content: str, mode: int, words: str
    ) -> None:
        path = tmp_path / "secret"
        path.write_text(content)
        path.chmod(mode)
        with pytest.raises(ConfigError, match=words):
            load_secret(path, create=True)
        assert path.read_text() == content

    @pytest.mark.parametrize("value", ["", "xyz", "ab" * 31])
    def test_a_bad_variable_is_refused_and_not_shown(
        self, tmp_path: Path, value: str, monkeypatch: Any
    ) -> None:
        monkeypatch.setenv("INFERDPT_SECRET", value)
        with pytest.raises(ConfigError) as info:
            load_secret(tmp_path / "secret", create=True)
        assert not value or value not in str(info.value)


class TestSchema:
    async def test_the_migrations_make_the_tables_the_code_uses(self, store: Store) -> None:
        def differences(connection: Any) -> list[Any]:
            return list(compare_metadata(MigrationContext.configure(connection), METADATA))

        assert await store.scan(differences) == []

    async def test_proxies_that_start_at_once_wait_for_each_other(
        self, database: dict[str, Any]
    ) -> None:
        async def start() -> int:
            async with open_store(Settings(**database)) as store:
                return (await store.info())["releases"]

        assert await asyncio.gather(*(start() for _ in range(5))) == [0] * 5

    async def test_every_connection_to_the_file_is_set_up(self, tmp_path: Path) -> None:
        def settings(connection: Connection) -> dict[str, Any]:
            return {
                name: connection.scalar(text(f"PRAGMA {name}"))
                for name in ("synchronous", "journal_mode", "secure_delete", "foreign_keys")
            }

        async with open_store(Settings(folder=str(tmp_path / "a"))) as store:
            for run in (store.read, store.scan, store.write):
                found = await run(settings)  # type: ignore[operator]
                assert found == {
                    "synchronous": 1,  # NORMAL: a commit does not wait for the disk, `write` does
                    "journal_mode": "wal",
                    "secure_delete": 1,
                    "foreign_keys": 1,
                }

    async def test_a_replica_that_hangs_lets_go_of_its_locks(
        self, postgres_url: str, monkeypatch: Any
    ) -> None:
        monkeypatch.setenv("INFERDPT_SECRET", KEY)
        async with open_store(Settings(url=postgres_url)) as store:
            for name in ("lock_timeout", "idle_in_transaction_session_timeout"):
                assert await store.scan(scalar(text(f"SHOW {name}"))) == "30s"


class TestTransactions:
    async def test_all_of_it_or_nothing(self, store: Store) -> None:
        def fail(connection: Connection) -> None:
            Ledger(store, delta=1e-6).charge(connection, "t", [], budgets={})
            raise ValueError("stop")

        with pytest.raises(ValueError, match="stop"):
            await store.write(fail)
        assert (await store.info())["accounts"] == 0

    async def test_no_update_is_lost(self, database: dict[str, Any]) -> None:
        """Read, then write what was read plus one: from two replicas, many at once."""
        async with (
            open_store(Settings(**database)) as one,
            open_store(Settings(**database)) as two,
        ):

            async def add(store: Store) -> None:
                def work(connection: Connection) -> None:
                    Ledger(store, delta=1e-6).lock(connection, "t")
                    found = connection.scalar(TOKENS)
                    assert found is not None
                    connection.execute(update(ACCOUNTS).values(tokens=found + 1))

                await store.write(work, lane="t")

            await one.write(open_account)
            await asyncio.gather(*(add(store) for store in (one, two) for _ in range(20)))
            assert await one.scan(scalar(TOKENS)) == 40

    @pytest.mark.parametrize("delay", [0.0, 0.002, 0.02])
    async def test_who_is_cancelled_keeps_no_lock(self, store: Store, delay: float) -> None:
        """Wherever a client goes away, the next writer does not wait for garbage collection, and
        what the client wrote is there as a whole or not at all."""

        def work(connection: Connection) -> None:
            Ledger(store, delta=1e-6).lock(connection, "t")
            for table in (ACCOUNTS, RELEASES):
                connection.execute(update(table).values(used=table.c.used + 1))

        await store.write(open_account)
        row = {"key": b"k", "tenant": "t", "value": "", "used": 0.0}
        await store.write(execute(RELEASES.insert(), row))
        gc.disable()
        try:
            for _ in range(5):
                jobs = [asyncio.create_task(store.write(work, lane="t")) for _ in range(10)]
                await asyncio.sleep(delay)
                for job in jobs:
                    job.cancel()
                outcomes = await asyncio.gather(*jobs, return_exceptions=True)
                assert {type(o) for o in outcomes} <= {asyncio.CancelledError, type(None)}
                async with asyncio.timeout(BUSY_SECONDS / 2):
                    await store.write(work, lane="t")
            used = [await store.scan(scalar(select(t.c.used))) for t in (ACCOUNTS, RELEASES)]
            assert used[0] == used[1] >= 5
        finally:
            gc.enable()

    async def test_errors_are_503_and_show_nothing(self, store: Store, caplog: Any) -> None:
        await store.write(execute(text("DROP TABLE releases")))
        row = {"key": b"k", "tenant": "t", "value": "private-value", "used": 0.0}
        with pytest.raises(ApiError) as info:
            await store.write(execute(RELEASES.insert(), row))
        assert (info.value.status, info.value.code) == (503, "store_unavailable")
        assert info.value.retry
        assert "private-value" not in str(info.value.__cause__) + caplog.text


async def fill(store: Store) -> None:
    """Ten texts and answers of two tenants, used at seconds 0 to 9; their accounts."""

    def work(connection: Connection) -> None:
        for i in range(10):
            tenant = "ab"[i % 2]
            row = {"key": bytes([i]) * 32, "tenant": tenant, "value": f"value-{i}", "used": i}
            for table in (RELEASES, ANSWERS):
                connection.execute(table.insert(), [row])
        for tenant in "ab":
            for scope, period in (("total", ""), ("day", "2030-01-01"), ("conversation", "c")):
                row = {"tenant": tenant, "scope": scope, "period": period, "used": 5.0}
                figures = {"requests": 1, "tokens": 1, "proved": 1.0, "nominal": 0.0}
                connection.execute(ACCOUNTS.insert(), [row | figures])
            sent = {"tenant": tenant, "scope": "conversation", "period": "c", "key": b"k"}
            cost = {"tokens": 1, "unbounded": 0, "proved": 1.0, "nominal": 0.0}
            connection.execute(DISCLOSURES.insert(), [sent | cost])

    await store.write(work)


async def counts(store: Store) -> tuple[int, int, int]:
    info = await store.info()
    return info["releases"], info["answers"], info["accounts"]


class TestForgetting:
    async def test_by_age(self, store: Store) -> None:
        await fill(store)
        assert await store.sweep(4.5, 100, now=9.0) == 10
        assert await counts(store) == (5, 5, 6)
        assert (await store.info())["disclosures"] == 2
        await store.sweep(1.0, 100, now=9.5)
        assert await counts(store) == (1, 1, 4)  # days and totals stay
        assert (await store.info())["disclosures"] == 0  # they go with their conversation

    async def test_by_number_the_oldest_first(self, store: Store) -> None:
        await fill(store)
        assert await store.sweep(1e9, 3, now=9.0) == 8
        left = await store.scan(lambda c: c.scalars(select(RELEASES.c.used)).all())
        assert sorted(left) == [4, 5, 6, 7, 8, 9]

    async def test_one_tenants_texts_do_not_push_out_anothers(self, store: Store) -> None:
        await fill(store)
        rows = [
            {"key": bytes([i]) * 32, "tenant": "b", "value": "", "used": i} for i in range(10, 30)
        ]
        await store.write(execute(RELEASES.insert(), *rows))
        assert await store.sweep(1e9, 5, now=30.0) == 20
        mine = select(RELEASES.c.used).where(RELEASES.c.tenant == "a")
        assert sorted(await store.scan(lambda c: c.scalars(mine).all())) == [0, 2, 4, 6, 8]

    async def test_by_command(self, store: Store) -> None:
        await fill(store)
        assert await store.purge(tenant="a", before=5.0) == 6
        assert await counts(store) == (7, 7, 6)
        assert (await store.info())["disclosures"] == 2
        assert await store.purge(tenant="a", ledger=True) == 7
        assert await counts(store) == (5, 5, 3)
        assert (await store.info())["disclosures"] == 1
        assert await store.purge() == 10
        assert await counts(store) == (0, 0, 3)

    async def test_what_is_forgotten_is_overwritten(self, tmp_path: Path) -> None:
        folder = tmp_path / "files"

        def stands() -> bool:
            return any(b"value-" in path.read_bytes() for path in folder.iterdir())

        async with open_store(Settings(folder=str(folder))) as store:
            await fill(store)
            assert stands()
            await store.purge()
            assert not stands()

    def test_the_commands(self, tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
        monkeypatch.setenv("INFERDPT_STATE_DIR", str(tmp_path / "s"))

        async def make() -> None:
            async with open_store(Settings()) as store:
                await fill(store)

        asyncio.run(make())
        monkeypatch.chdir(tmp_path)
        assert main(["store", "info"]) == 0
        out = capsys.readouterr().out
        assert re.search(r"releases 10\n.*answers 10\n.*accounts 6\n", out, re.DOTALL)
        assert main(["store", "purge", "--tenant", "a"]) == 0
        assert "10 rows" in capsys.readouterr().out
        assert main(["ledger"]) == 0
        out = capsys.readouterr().out
        assert "2030-01-01" in out
        assert "unbounded: tokens without a proved bound" in out
        assert re.search(r"^a .*\n.*\nb ", out, re.MULTILINE)
        assert main(["store", "purge"]) == 0  # long unused
        assert "12 rows" in capsys.readouterr().out
        assert main(["store", "purge", "--ledger"]) == 2
        assert main(["store", "purge", "--all", "--ledger"]) == 0
        assert main(["ledger", "--json"]) == 0
        assert capsys.readouterr().out.endswith("[]\n")
