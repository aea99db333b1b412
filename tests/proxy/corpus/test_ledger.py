"""Accounts of owners: charged once a release, within budgets, whatever is repeated."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perturb.audit.accounting import Bound
from proxy.config.store import StoreSettings as Settings
from proxy.corpus.ledger import Account, Accounts, Charged
from proxy.records.rekey import rekey
from proxy.storage.ledger import ROUNDING, Channel, Price
from proxy.storage.opening import open_store
from tests.databases import database, postgres_url

__all__ = ["database", "postgres_url"]

NARROW = Channel("exponential", 0.1, True)


def cost(count: int, channel: Channel = NARROW) -> Price:
    return Price(count, proved=count * channel.epsilon, channel=channel, count=count)


def charged(number: int, owner: str, price: Price, released: str = "made up") -> Charged:
    return Charged(number.to_bytes(32, "big"), owner, released, price)


@asynccontextmanager
async def accounts(database: dict[str, Any], **options: Any) -> AsyncIterator[Accounts]:
    async with open_store(Settings(**database)) as store:
        yield Accounts(store, delta=1e-6, **options)


async def test_a_release_is_charged_once_and_owners_add_up(database):
    block = [charged(1, "ann", cost(10)), charged(2, "bob", cost(5)), charged(3, "ann", cost(1))]
    for _ in range(2):  # by two processes, one after the other
        async with accounts(database) as ours:
            assert await ours.charge(block) == frozenset()
    async with accounts(database) as ours:
        await ours.charge([charged(4, "ann", cost(100))])
        found = await ours.read(["ann", "bob", "eve"])
    assert {name: one.documents for name, one in found.items()} == {"ann": 3, "bob": 1, "eve": 0}
    assert found["ann"].price.tokens == 111
    assert found["ann"].price.proved == pytest.approx(11.1)
    assert found["ann"].bound.name == "zCDP"  # 111 releases of 0.1-bounded range
    assert found["ann"].bound.epsilon < 5


async def test_another_document_owner_release_or_price_is_charged(database):
    first = charged(1, "ann", cost(10))
    others = [
        charged(2, "ann", cost(10)),
        charged(1, "bob", cost(10)),
        charged(1, "ann", cost(10), "drawn otherwise"),
        charged(1, "ann", cost(11)),
    ]
    async with accounts(database) as ours:
        for one in (first, *others, first):
            await ours.charge([one])
        found = await ours.read(["ann", "bob"])
    assert {name: one.price.tokens for name, one in found.items()} == {"ann": 41, "bob": 10}


async def test_a_release_is_free_in_any_block(database):
    rows = [charged(i, "ann", cost(10)) for i in range(6)]
    async with accounts(database) as ours:
        for block in (rows[:3], rows[2:], rows[::2], [rows[1], rows[1]], []):
            assert await ours.charge(block) == frozenset()
        assert (await ours.read(["ann"]))["ann"].price.tokens == 60


async def test_a_budget_refuses_what_would_exceed_it_until_there_is_more(database):
    block = [charged(i, "ann", cost(size)) for i, size in enumerate((40, 50, 20, 10, 1))]
    async with accounts(database, budget=10.0) as ours:
        for _ in range(2):
            assert await ours.charge(block) == {2, 4}
            assert (await ours.read(["ann"]))["ann"].price.proved == pytest.approx(10.0)
        assert await ours.charge([charged(9, "bob", cost(100))]) == frozenset()
    async with accounts(database, budget=12.0) as ours:
        assert await ours.charge(block) == {4}
        assert (await ours.read(["ann"]))["ann"].price.tokens == 120
    async with accounts(database, budget=5.0) as ours:  # what was charged is free
        assert await ours.charge(block) == {4}


async def test_runs_at_once_charge_a_release_once_and_share_a_budget(database):
    """Two processes with blocks that overlap, in the opposite order."""
    rows = [charged(i, f"owner {i % 3}", cost(10)) for i in range(60)]
    blocks = [rows[i : i + 12] for i in range(0, 54, 6)]
    async with accounts(database, budget=12.0) as one, accounts(database, budget=12.0) as other:

        async def run(ours: Accounts, order: int) -> set[bytes]:
            kept: set[bytes] = set()
            for block in blocks[::order]:
                refused = await ours.charge(block)
                kept |= {each.key for i, each in enumerate(block) if i not in refused}
            return kept

        released = set.union(*await asyncio.gather(run(one, 1), run(other, -1)))
        found = await one.read([f"owner {i}" for i in range(3)])
    assert sum(one.documents for one in found.values()) == len(released)
    assert all(one.price.epsilon == pytest.approx(12.0) for one in found.values())


async def test_tokens_without_a_bound_are_kept_apart(database):
    nominal = Price(10, nominal=60.0, unbounded=30)
    async with accounts(database, budget=60.0) as ours:
        assert await ours.charge([charged(1, "ann", nominal)]) == frozenset()
        assert await ours.charge([charged(2, "ann", nominal)]) == {0}
        one = (await ours.read(["ann"]))["ann"]
    assert (one.price.nominal, one.price.unbounded, one.bound.epsilon) == (60.0, 30, 0.0)


async def test_purging_all_accounts_forgets_their_releases(database):
    block = [charged(1, "ann", cost(10))]
    async with open_store(Settings(**database)) as store:
        ours = Accounts(store, delta=1e-6)
        await ours.charge(block)
        await store.purge(tenant="ann", ledger=True)
        assert (await ours.read(["ann"]))["ann"].documents == 1
        await store.purge(ledger=True)
        assert (await ours.read(["ann"]))["ann"] == Account(0, Price(), Bound("basic", 0.0, 0.0))
        await ours.charge(block)  # it would be free if it were still known
        assert (await ours.read(["ann"]))["ann"].price.tokens == 10


async def test_under_another_secret_owners_start_anew_with_other_draws(tmp_path):
    block = [charged(1, "ann", cost(10))]
    async with open_store(Settings(folder=str(tmp_path / "s"))) as store:
        await Accounts(store, delta=1e-6).charge(block)
        changed, _ = await rekey(store, bytes(31) + b"\x01")
        ours = Accounts(changed, delta=1e-6)
        assert (await ours.read(["ann"]))["ann"].documents == 0
        await ours.charge(block)
        assert (await ours.read(["ann"]))["ann"].documents == 1


SIZES = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 30)), max_size=8)


@settings(max_examples=25, deadline=None)
@given(st.lists(SIZES, max_size=4), st.integers(0, 60), st.randoms())
async def test_no_account_exceeds_its_budget_or_lacks_a_release(
    tmp_path_factory, blocks, limit, random
):
    """Blocks that are repeated at random, as kills do."""
    folder = str(tmp_path_factory.mktemp("any") / "state")
    made = [
        [charged(1000 * b + i, *(owner, cost(size))) for i, (owner, size) in enumerate(block)]
        for b, block in enumerate(blocks)
    ]
    async with accounts({"folder": folder}, budget=limit * 0.1) as ours:
        released: dict[bytes, Charged] = {}
        for block in [*made, *random.choices(made, k=6)] if made else []:
            refused = await ours.charge(block)
            released |= {one.key: one for i, one in enumerate(block) if i not in refused}
        for owner, one in (await ours.read(["a", "b"])).items():
            mine = [each.price for each in released.values() if each.owner == owner]
            assert one.price.tokens == sum(price.tokens for price in mine)
            assert one.price.epsilon <= limit * 0.1 * (1 + ROUNDING)
