"""Transactions of PostgreSQL: those of one lane together, lanes side by side."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Any

import asyncpg
import pytest
from sqlalchemy import Connection, func, make_url, select, text

from proxy.config.store import Budget
from proxy.config.store import StoreSettings as Settings
from proxy.errors import ApiError
from proxy.storage.databases.postgres import AT_ONCE
from proxy.storage.ledger import BudgetExceeded, Ledger, Price
from proxy.storage.opening import open_store
from proxy.storage.schema import ANSWERS, RELEASES
from proxy.storage.store import Store
from tests.backends import end_backends
from tests.databases import postgres_url
from tests.limits import LIMIT
from tests.proxy.storage.work import execute, scalar

__all__ = ["postgres_url"]

COUNT = select(func.count()).select_from(RELEASES)
LOCK = 5  # an advisory lock that a test holds
MINE = text(f"SELECT pg_advisory_xact_lock({LOCK})")
END = text("SELECT pg_terminate_backend(pg_backend_pid())")
TRANSACTION = text("SELECT pg_current_xact_id()::text")


@pytest.fixture
async def store(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Store]:
    monkeypatch.setenv("INFERDPT_SECRET", "5a" * 32)
    async with open_store(Settings(url=postgres_url)) as opened:
        yield opened


@pytest.fixture
async def held(store: Store, postgres_url: str) -> AsyncIterator[asyncpg.Connection]:
    """Another client that holds the lock."""
    other = await asyncpg.connect(postgres_url.replace("+asyncpg", ""))
    await other.execute(f"SELECT pg_advisory_lock({LOCK})")
    yield other
    await other.close()


async def release(other: asyncpg.Connection) -> None:
    await other.execute(f"SELECT pg_advisory_unlock({LOCK})")


def add(number: int, *then: Any) -> Callable[[Connection], Any]:
    """Insert a row, run statements, and return the transaction's number."""
    row = {"key": b"%d" % number, "tenant": "t", "value": "", "used": 0.0}

    def work(connection: Connection) -> Any:
        connection.execute(RELEASES.insert(), row)
        for statement in then:
            connection.execute(statement)
        return connection.scalar(TRANSACTION)

    return work


async def test_a_lane_commits_together_what_waits_at_once(store: Store) -> None:
    found = await asyncio.gather(*(store.write(add(i), lane="a") for i in range(10)))
    assert len(set(found)) == 1
    many = 3 * AT_ONCE + 1
    found = await asyncio.gather(*(store.write(add(i), lane="a") for i in range(10, 10 + many)))
    assert len(set(found)) == 4
    assert await store.scan(scalar(COUNT)) == 10 + many
    lanes = await asyncio.gather(*(store.write(add(-1 - i), lane=f"{i}") for i in range(5)))
    assert len(set(lanes)) == 5


async def test_who_exceeds_the_budget_leaves_the_others_committed(store: Store) -> None:
    ledger = Ledger(store, delta=1e-6)
    transactions = set()

    def charge(cost: float) -> Callable[[Connection], None]:
        def work(connection: Connection) -> None:
            transactions.add(connection.scalar(TRANSACTION))
            ledger.lock(connection, "t")
            limits = {"epsilon": Budget(request=10.0)}
            ledger.charge(connection, "t", [("c", Price(1, cost))], budgets=limits)

        return work

    costs = [6.0, 60.0, 6.0, 6.0, 60.0, 6.0]
    outcomes = await asyncio.gather(
        *(store.write(charge(cost), lane="t") for cost in costs), return_exceptions=True
    )
    assert [isinstance(outcome, BudgetExceeded) for outcome in outcomes] == [c > 10 for c in costs]
    assert len(transactions) == 1
    total = (await ledger.totals())["t"]
    assert (total["requests"], total["proved"]) == (4, 24.0)


async def test_a_statement_that_fails_leaves_the_others_committed(store: Store) -> None:
    wrong = text("SELECT 1 / 0")
    jobs = [store.write(add(i, *([wrong] if i == 2 else [])), lane="a") for i in range(5)]
    outcomes = await asyncio.gather(*jobs, return_exceptions=True)
    assert [isinstance(outcome, ApiError) for outcome in outcomes] == [i == 2 for i in range(5)]
    assert await store.scan(scalar(COUNT)) == 4


async def test_if_the_connection_is_lost_nobody_is_told_that_it_is_committed(
    store: Store,
) -> None:
    jobs = [store.write(add(i, *([END] if i == 2 else [])), lane="a") for i in range(5)]
    async with asyncio.timeout(LIMIT):
        outcomes = await asyncio.gather(*jobs, return_exceptions=True)
    assert all(isinstance(outcome, ApiError) for outcome in outcomes)
    assert await store.scan(scalar(COUNT)) == 0
    await store.write(add(9), lane="a")
    assert await store.scan(scalar(COUNT)) == 1


async def test_the_first_transactions_after_a_restart_succeed(
    store: Store, postgres_url: str
) -> None:
    """All connections are stale, as after a restart of the server: nobody notices."""
    await asyncio.gather(*(store.write(add(i), lane=f"{i}") for i in range(20)))
    await asyncio.gather(*(store.scan(scalar(COUNT)) for _ in range(5)))
    for number in range(3):
        assert await end_backends(postgres_url) >= 2
        async with asyncio.timeout(LIMIT):
            await asyncio.gather(
                store.ping(),
                *(store.scan(scalar(COUNT)) for _ in range(3)),
                *(store.read(lambda connection: connection.scalar(COUNT)) for _ in range(8)),
                *(store.write(add(100 * (number + 1) + i), lane=f"{i}") for i in range(20)),
            )
    assert await store.scan(scalar(COUNT)) == 80


@pytest.mark.parametrize("together", [1, 3])
async def test_a_connection_that_is_lost_in_use_is_tried_once_more(
    store: Store, together: int
) -> None:
    runs = Counter[int]()

    def work(number: int) -> Callable[[Connection], Any]:
        def run(connection: Connection) -> Any:
            runs[number] += 1
            end = [END] if number == 0 and runs[0] == 1 else []
            return add(number, *end)(connection)

        return run

    async with asyncio.timeout(LIMIT):
        await asyncio.gather(*(store.write(work(i), lane="a") for i in range(together)))
    assert runs[0] == 2
    assert await store.scan(scalar(COUNT)) == together


async def test_a_scan_is_tried_once_more(store: Store) -> None:
    runs = Counter[str]()

    def work(connection: Connection) -> Any:
        runs["all"] += 1
        if runs["all"] == 1:
            connection.execute(END)
        return connection.scalar(COUNT)

    assert await store.scan(work) == 0
    assert runs["all"] == 2


async def test_a_commit_that_may_count_is_not_tried_again(store: Store) -> None:
    """The connection ends while COMMIT runs: to insert again could count it twice."""
    trigger = """
        CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END';
        CREATE CONSTRAINT TRIGGER late AFTER INSERT ON releases
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION die()
    """
    for statement in trigger.split(";\n"):
        await store.migrate(execute(text(statement)))
    runs = Counter[str]()

    def work(connection: Connection) -> Any:
        runs["all"] += 1
        return add(1)(connection)

    for _ in range(2):
        with pytest.raises(ApiError) as info:
            await store.write(work)
        assert info.value.status == 503
    assert runs["all"] == 2
    assert await store.scan(scalar(COUNT)) == 0


async def test_lanes_run_side_by_side(store: Store, held: asyncpg.Connection) -> None:
    stuck = asyncio.create_task(store.write(add(0, MINE), lane="a"))
    behind = asyncio.create_task(store.write(add(1), lane="a"))
    async with asyncio.timeout(LIMIT):
        await asyncio.gather(*(store.write(add(2 + i), lane=f"b{i}") for i in range(10)))
    assert not stuck.done()
    assert not behind.done()
    await release(held)
    async with asyncio.timeout(LIMIT):
        await asyncio.gather(stuck, behind)
    assert await store.scan(scalar(COUNT)) == 12


async def test_who_is_cancelled_disturbs_nobody(store: Store, held: asyncpg.Connection) -> None:
    first = [asyncio.create_task(store.write(add(i, MINE), lane="a")) for i in range(3)]
    await asyncio.sleep(0.05)
    second = [asyncio.create_task(store.write(add(3 + i), lane="a")) for i in range(3)]
    await asyncio.sleep(0)
    for tasks in (first, second):
        tasks[1].cancel()
    await asyncio.wait([first[1], second[1]])
    await release(held)
    async with asyncio.timeout(LIMIT):
        await asyncio.gather(*(task for task in first + second if not task.cancelled()))
    assert await store.scan(scalar(COUNT)) == 5  # the one that had begun, but not the other


async def test_only_those_who_wait_wait_for_the_disk(store: Store) -> None:
    mode = scalar(text("SHOW synchronous_commit"))
    assert await asyncio.gather(*(store.write(mode, wait=False) for _ in range(3))) == ["off"] * 3
    waits = (False, True, False)
    assert await asyncio.gather(*(store.write(mode, wait=w) for w in waits)) == ["on"] * 3
    assert await store.write(mode) == "on"  # the same connection


async def test_replicas_that_remember_the_same_answers_at_once_do_not_deadlock(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each commits its own order of them together. The server finds their deadlocks at once, not
    after a second."""
    url = make_url(postgres_url)
    other = await asyncpg.connect(postgres_url.replace("+asyncpg", ""))
    await other.execute(f"ALTER DATABASE {url.database} SET deadlock_timeout = '10ms'")
    await other.close()
    monkeypatch.setenv("INFERDPT_SECRET", "5a" * 32)
    settings = Settings(url=postgres_url)
    generator, failed = random.Random(1), Counter[str]()
    async with open_store(settings) as one, open_store(settings) as two:

        async def put(store: Store, number: int) -> None:
            row = {"key": b"%d" % number, "tenant": "t", "value": "", "used": 0.0}
            add = store.insert(ANSWERS)
            again = add.on_conflict_do_update(index_elements=["key"], set_={"used": 1.0})
            try:
                await store.write(execute(again, row), wait=False)
            except ApiError as exc:
                failed[type(exc.__cause__).__name__] += 1

        for _ in range(10):
            orders = [(s, generator.sample(range(20), 20)) for s in (one, two)]
            await asyncio.gather(*(put(store, n) for store, order in orders for n in order))
    assert failed == {}


async def test_no_statement_is_kept_behind_a_pool_of_connections(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The setting has SQLAlchemy's name in the URL."""
    monkeypatch.setenv("INFERDPT_SECRET", "5a" * 32)
    kept = text("SELECT count(*) FROM pg_prepared_statements")
    for size, least in (("0", 0), ("100", 1)):
        url = f"{postgres_url}?prepared_statement_cache_size={size}"
        async with open_store(Settings(url=url)) as opened:
            await opened.read(lambda connection: connection.scalar(COUNT))
            found = await opened.read(lambda connection: connection.scalar(kept))
            assert (found >= 1) is bool(least)
