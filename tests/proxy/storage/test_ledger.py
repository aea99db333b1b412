"""The ledger: what is charged to which account, and that no limit is passed."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest
from sqlalchemy import Connection, select

from proxy.config.store import Budget
from proxy.config.store import StoreSettings as Settings
from proxy.errors import ApiError
from proxy.storage.ledger import BudgetExceeded, Channel, Charge, Ledger, Price
from proxy.storage.opening import open_store
from proxy.storage.store import Store
from tests.databases import database, postgres_url
from tests.limits import LIMIT
from tests.proxy.storage.work import scalar

__all__ = ["database", "postgres_url"]


@pytest.fixture
async def store(database: dict[str, Any]) -> AsyncIterator[Store]:
    async with open_store(Settings(**database)) as opened:
        yield opened


class TestAccounts:
    async def charge(
        self, store: Store, tenant: str, *costs: Price, conversation: str = "c", **limits: Any
    ) -> Charge:
        ledger = Ledger(store, delta=1e-6)

        def work(connection: Connection) -> Charge:
            ledger.lock(connection, tenant)
            return ledger.charge(
                connection,
                tenant,
                [(conversation, cost) for cost in costs],
                conversations=[conversation],
                budgets=limits,
            )

        return await store.write(work, lane=tenant)

    async def test_sums_by_tenant_day_and_conversation(self, store: Store) -> None:
        ldp = Price(10, 60.0, 0.0, Channel("rantext_ldp", 6.0, False), 10)
        narrow = Price(400, 200.0, 0.0, Channel("exponential", 0.5, True), 400)
        await self.charge(store, "a", ldp, Price(5, 0.0, 30.0))
        await self.charge(store, "a", narrow, conversation="d")
        await self.charge(store, "a")
        await self.charge(store, "b", ldp)
        ledger = Ledger(store, delta=1e-6)
        figures = await ledger.figures("a")
        total = figures["total"]
        assert (total["requests"], total["tokens"]) == (3, 415)
        epsilon = total["epsilon"]
        proved = epsilon["proved_part"]
        assert (epsilon["charged"], proved["basic"], epsilon["nominal"]) == (290.0, 260.0, 30.0)
        rho = 10 * 36 / 2 + 400 * 0.25 / 8
        zcdp = rho + 2 * math.sqrt(rho * math.log(1e6))
        assert proved["best"]["epsilon"] == pytest.approx(min(260.0, zcdp))
        (day,) = figures["days"].values()
        assert day == total
        conversations = figures["conversations"]
        assert {name: c["tokens"] for name, c in conversations.items()} == {"c": 15, "d": 400}
        best = conversations["d"]["epsilon"]["best"]
        assert (best["bound"], best["delta"]) == ("zCDP", 1e-6)
        assert (await ledger.figures("b"))["total"]["tokens"] == 10
        assert (await ledger.figures("nobody"))["total"]["tokens"] == 0
        assert list(await ledger.totals()) == ["a", "b"]

    async def test_units_are_kept_apart_and_documents_add_up(self, store: Store) -> None:
        words = Price(10, 60.0, 0.0, Channel("rantext_ldp", 6.0, False), 10)
        document = Price(1, 12.0, 0.0, Channel("surrogate", 12.0, False, "document"), 1)
        await self.charge(store, "a", words, document)
        await self.charge(store, "a", document, document, Price(5, 0.0, 30.0))
        figures = await Ledger(store, delta=1e-6).figures("a")
        (day,) = figures["days"].values()
        expected = {
            "document": {"count": 3, "epsilon": 36.0},
            "token": {"count": 10, "epsilon": 60.0},
        }
        for account in (figures["total"], day, figures["conversations"]["c"]):
            assert account["units"] == expected
            assert account["epsilon"]["proved_part"]["basic"] == 96.0

    async def test_tenants_are_compared_over_days_with_their_units_apart(
        self, store: Store
    ) -> None:
        words = Price(10, 60.0, 0.0, Channel("rantext_ldp", 6.0, False), 10)
        other = Price(4, 24.0, 0.0, Channel("exponential", 6.0, True), 4)
        document = Price(1, 12.0, 0.0, Channel("surrogate", 12.0, False, "document"), 1)
        await self.charge(store, "a", words, document, other)
        await self.charge(store, "b", Price(5, 0.0, 30.0, unbounded=5))
        ledger = Ledger(store, delta=1e-6)
        expected = {
            "a": {
                "requests": 1,
                "tokens": 15,
                "unbounded": 0,
                "proved": 96.0,
                "nominal": 0.0,
                "units": {"document": 12.0, "token": 84.0},
            },
            "b": {
                "requests": 1,
                "tokens": 5,
                "unbounded": 5,
                "proved": 0.0,
                "nominal": 30.0,
                "units": {},
            },
        }
        assert await ledger.compare() == expected
        today = datetime.now(UTC).date()
        assert await ledger.compare((today - timedelta(days=1)).isoformat()) == expected
        assert await ledger.compare((today + timedelta(days=2)).isoformat()) == {}

    async def test_the_operator_gets_the_best_composition_there_is(self, store: Store) -> None:
        await self.charge(
            store, "a", Price(400, 200.0, 0.0, Channel("rantext_ldp", 0.5, False), 400)
        )
        ledger = Ledger(store, delta=1e-6)
        quick, exact = [
            (await ledger.figures("a", exact=exact))["total"]["epsilon"]["best"]
            for exact in (False, True)
        ]
        assert (quick["bound"], exact["bound"]) == ("zCDP", "privacy loss distribution")
        assert exact["epsilon"] < quick["epsilon"] < 200

    async def test_an_account_with_unbounded_tokens_has_no_bound(self, store: Store) -> None:
        ldp = Price(10, 60.0, 0.0, Channel("rantext_ldp", 6.0, False), 10)
        await self.charge(store, "a", ldp)
        await self.charge(store, "a", ldp, Price(0, unbounded=22), conversation="d")
        await self.charge(store, "nominal", Price(1, nominal=6.0))
        figures = await Ledger(store, delta=1e-6).figures("a", exact=True)
        none = {"bound": "none", "epsilon": "infinity", "delta": 0.0}
        (day,) = figures["days"].values()
        for whole, proved in (
            (figures["total"], 120.0),
            (day, 120.0),
            (figures["conversations"]["d"], 60.0),
        ):
            epsilon = whole["epsilon"]
            assert whole["unbounded"] == 22
            assert (epsilon["basic"], epsilon["best"]) == ("infinity", none)
            assert epsilon["proved_part"]["basic"] == proved
            assert epsilon["proved_part"]["best"]["epsilon"] <= proved
        bounded = figures["conversations"]["c"]
        assert (bounded["unbounded"], bounded["epsilon"]["basic"]) == (0, 60.0)
        assert bounded["epsilon"]["best"]["bound"] in ("basic", "zCDP")
        nominal = (await Ledger(store, delta=1e-6).figures("nominal"))["total"]
        assert nominal["epsilon"]["best"] == none
        assert (await Ledger(store, delta=1e-6).totals())["a"]["unbounded"] == 22

    @pytest.mark.parametrize("scope", ["request", "conversation", "day", "total"])
    async def test_each_limit_holds_by_itself(self, store: Store, scope: str) -> None:
        cost = Price(10, 60.0, unbounded=5)
        for unit, one, two in (
            ("epsilon", 60.0, 130.0),
            ("tokens", 12, 22),
            ("unbounded", 5, 10),
        ):
            limits = {unit: Budget(**{scope: one if scope == "request" else two})}
            charged = await self.charge(store, unit, cost, **limits)
            left = {unit: list(rest) for unit, rest in charged.left.items() if rest}
            assert left == {unit: [scope]}
            await self.charge(store, unit, cost, **limits)
            with pytest.raises(BudgetExceeded) as info:
                await self.charge(store, unit, cost, Price(3, 12.0, unbounded=1), **limits)
            assert info.value.scope == scope
            await self.charge(store, unit, **limits)  # what costs nothing goes through
            total = (await Ledger(store, delta=1e-6).figures(unit))["total"]
            assert (total["tokens"], total["requests"]) == (20, 3)

    async def test_rounding_refuses_nobody(self, store: Store) -> None:
        for _ in range(10):
            await self.charge(store, "a", Price(1, 0.1), epsilon=Budget(total=1.0))
        with pytest.raises(ApiError):
            await self.charge(store, "a", Price(1, 0.1), epsilon=Budget(total=1.0))


async def test_a_tenant_that_waits_for_its_turn_takes_nobodys_connection(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another replica holds the account, and more requests wait than there are connections."""
    monkeypatch.setenv("INFERDPT_SECRET", "5a" * 32)
    async with open_store(Settings(url=postgres_url)) as store:
        charge = TestAccounts().charge
        await charge(store, "a", Price(1, 6.0))
        url = postgres_url.replace("+asyncpg", "")
        other = await asyncpg.connect(url)
        turn = other.transaction()
        await turn.start()
        await other.execute("SELECT 1 FROM accounts WHERE tenant = 'a' FOR UPDATE")
        waiting = [asyncio.create_task(charge(store, "a", Price(1, 6.0))) for _ in range(100)]
        async with asyncio.timeout(LIMIT):
            await asyncio.gather(*(charge(store, "b", Price(1, 6.0)) for _ in range(30)))
            await asyncio.gather(*(store.read(scalar(select(1))) for _ in range(30)))
            assert not any(task.done() for task in waiting)
            await turn.rollback()
            await other.close()
            await asyncio.gather(*waiting)
        totals = await Ledger(store, delta=1e-6).totals()
        assert {tenant: sums["requests"] for tenant, sums in totals.items()} == {"a": 101, "b": 30}


async def test_a_mechanism_that_is_not_installed_any_more_keeps_the_usual_share(
    database: dict[str, Any],
) -> None:
    async with open_store(Settings(**database)) as store:
        ledger = Ledger(store, delta=1e-6)
        spent = Price(1, proved=6.0, channel=Channel("gone", 6.0, False), count=1)

        def work(connection: Connection) -> None:
            ledger.lock(connection, "t")
            ledger.charge(connection, "t", [("", spent)], budgets={})

        await store.write(work, lane="t")
        assert (await ledger.figures("t"))["guard_delta_per_text"] == 1e-9
