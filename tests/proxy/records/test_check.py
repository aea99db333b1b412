"""Somebody who can write to the database, and does not know the secret, is found out."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from sqlalchemy import Table
from sqlalchemy.dialects.sqlite import insert

from proxy.access.auth import Client, Visit
from proxy.config.store import StoreSettings as Settings
from proxy.errors import ConfigError
from proxy.records.chain import Chain, Recorder
from proxy.records.check import check_records
from proxy.storage.opening import open_store
from proxy.storage.schema import ANSWERS, PASSAGES, RELEASES
from proxy.storage.store import Store
from tests.databases import database, postgres_url
from tests.proxy.records.rows import Book, book, faults

__all__ = ["book", "database", "postgres_url"]

Rows = dict[str, list[dict[str, Any]]]
FIELDS = ("time", "value", "hash")


class Nowhere:
    """A database that is not there."""

    file = None
    insert = staticmethod(insert)


def find(rows: Rows, number: int, tenant: str = "a") -> dict[str, Any]:
    return next(r for r in rows["records"] if (r["tenant"], r["number"]) == (tenant, number))


def remove(rows: Rows, *numbers: int, tenant: str = "a") -> None:
    rows["records"] = [
        r for r in rows["records"] if r["tenant"] != tenant or r["number"] not in numbers
    ]


def change_value(rows: Rows) -> None:
    row = find(rows, 3)
    row["value"] = row["value"].replace('"tokens":3', '"tokens":2')


def change_time(rows: Rows) -> None:
    find(rows, 4)["time"] += 1e-3


def change_all(rows: Rows) -> None:
    """Change a row and all hashes after it, with another secret."""
    row = find(rows, 2)
    row["value"] = row["value"].replace("200", "500")
    rewrite(rows, Chain(Store(Nowhere(), b"another secret", "")))  # type: ignore[arg-type]


def remove_one(rows: Rows) -> None:
    remove(rows, 3)


def remove_and_number(rows: Rows) -> None:
    remove(rows, 3)
    for row in rows["records"]:
        row["number"] -= row["tenant"] == "a" and row["number"] > 3


def remove_first(rows: Rows) -> None:
    remove(rows, 1, 2)


def remove_last(rows: Rows) -> None:
    remove(rows, 7)


def remove_all(rows: Rows) -> None:
    remove(rows, *range(1, 8))


def remove_beginning(rows: Rows) -> None:
    rows["records"] = [r for r in rows["records"] if r["tenant"]]


def remove_everything(rows: Rows) -> None:
    rows["records"] = []


def swap(rows: Rows) -> None:
    one, other = find(rows, 2), find(rows, 4)
    for field in FIELDS:
        one[field], other[field] = other[field], one[field]


def put_in(rows: Rows) -> None:
    for row in rows["records"]:
        row["number"] += row["tenant"] == "a" and row["number"] > 2
    rows["records"].append({**find(rows, 2), "number": 3})


def put_before(rows: Rows) -> None:
    rows["records"].append({**find(rows, 1), "number": 0})


def put_after(rows: Rows) -> None:
    rows["records"].append({**find(rows, 2), "number": 8})


def copy_from_another(rows: Rows) -> None:
    find(rows, 1).update({field: find(rows, 1, "b")[field] for field in FIELDS})


def claim_pruning(rows: Rows) -> None:
    """Remove rows, and put in one that says they were pruned."""
    through = find(rows, 2)["hash"].hex()
    remove(rows, 1, 2)
    content = {"kind": "pruning", "through": 2, "hash": through}
    row = {**find(rows, 7), "number": 8, "value": json.dumps(content, separators=(",", ":"))}
    rows["records"].append(row)


def lower_account(rows: Rows) -> None:
    for row in rows["accounts"]:
        row["proved"] -= 1.0 if row["tenant"] == "a" else 0.0


def remove_and_date_back(rows: Rows) -> None:
    """As if the tenant had been charged before the record began."""
    remove_all(rows)
    for row in rows["accounts"]:
        row["used"] *= row["tenant"] != "a"


def remove_charges_and_date_back(rows: Rows) -> None:
    """Leave the row of a request that was turned away, which states no account."""
    remove(rows, *range(2, 8), tenant="c")
    for row in rows["accounts"]:
        row["used"] *= row["tenant"] != "c"


def remove_everything_and_charges(rows: Rows) -> None:
    rows["records"] = []
    rows["accounts"] = []


def remove_rows_and_account(rows: Rows) -> None:
    """Leave the accounts of days, and what they were spent on."""
    remove_all(rows)
    rows["accounts"] = [
        row for row in rows["accounts"] if (row["tenant"], row["scope"]) != ("a", "total")
    ]


def remove_account(rows: Rows) -> None:
    rows["accounts"] = [row for row in rows["accounts"] if row["tenant"] != "a"]


WRITTEN = "row {} is not the one that was written"
TAMPERING: dict[Callable[[Rows], None], dict[str, str]] = {
    change_value: {"a": WRITTEN.format(3)},
    change_time: {"a": WRITTEN.format(4)},
    change_all: {tenant: WRITTEN.format(1) for tenant in ("", "a", "b", "c")},
    remove_one: {"a": "row 3 is missing"},
    remove_and_number: {"a": WRITTEN.format(3)},
    remove_first: {"a": "rows 1 to 2 are missing"},
    remove_last: {"a": "states 4 requests, and the rows up to 6 state 3"},
    remove_all: {"a": "states 4 requests, and no row does"},
    remove_beginning: {"": "row 1 is missing"},
    remove_everything: {
        "": "row 1 is missing",
        "a": "no row does",
        "b": "no row does",
        "c": "no row does",
    },
    remove_everything_and_charges: {"": "row 1 is missing"},
    remove_and_date_back: {"a": "states 4 requests, and no row does"},
    remove_charges_and_date_back: {"c": "states 1 requests, and no row does"},
    remove_rows_and_account: {"a": "texts or spends of it are stored, and no row does"},
    swap: {"a": WRITTEN.format(2)},
    put_in: {"a": WRITTEN.format(3)},
    put_before: {"a": WRITTEN.format(0)},
    put_after: {"a": WRITTEN.format(8)},
    copy_from_another: {"a": WRITTEN.format(1)},
    claim_pruning: {"a": WRITTEN.format(8)},
    lower_account: {"a": "or the account was changed"},
    remove_account: {"a": "the account states 0 requests"},
}


def rewrite(rows: Rows, chain: Chain) -> None:
    """Make all hashes anew."""
    digest, tenant = b"", None
    for row in sorted(rows["records"], key=lambda row: (row["tenant"], row["number"])):
        before = digest if row["tenant"] == tenant else b""
        digest = chain.hash(before, row["tenant"], row["number"], row["time"], row["value"])
        row["hash"], tenant = digest, row["tenant"]


async def test_each_tampering_is_found_and_named(book: Book) -> None:
    await book.end(Client("c", visit=Visit("turned away", "/v1/completions", time.time())))
    await book.charge("c")
    honest = await book.read()
    assert await faults(book.store) == {}
    for tamper, expected in TAMPERING.items():
        rows = deepcopy(honest)
        tamper(rows)
        await book.put(rows)
        found = await faults(book.store)
        assert found.keys() == expected.keys(), tamper.__name__
        for tenant, words in expected.items():
            assert words in found[tenant], (tamper.__name__, found)
    await book.put(honest)
    assert await faults(book.store) == {}


async def test_verdicts_name_the_last_rows(book: Book) -> None:
    store, a, b = await check_records(book.store)
    rows = await book.read()
    assert (store.tenant, store.head[0], a.tenant, b.tenant) == ("", 1, "a", "b")
    assert (a.first, a.head, a.unfinished) == (1, (7, find(rows, 7)["hash"].hex()), 1)
    assert (b.head[0], b.unfinished) == (6, 0)
    assert a.began == find(rows, 1)["time"]


async def test_an_account_that_was_changed_between_two_charges_is_found(book: Book) -> None:
    rows = await book.read()
    lower_account(rows)
    await book.put(rows)
    await book.charge("a")
    assert (await faults(book.store))["a"].startswith("the account was changed before row 8")


async def test_rows_and_charges_removed_together_are_found_by_who_noted_the_last_rows(
    book: Book,
) -> None:
    earlier = await book.read()
    await book.charge("b")
    noted = {verdict.tenant: verdict.head for verdict in await check_records(book.store)}
    assert await faults(book.store, noted) == {}
    await book.put(earlier)  # an older copy of the database
    assert await faults(book.store) == {}  # a limit that the documentation states
    assert await faults(book.store, noted) == {"b": "rows 7 to 8 are missing"}
    await book.charge("b")
    found = await faults(book.store, noted)
    assert found == {"b": "row 8 is another than the one that was noted"}
    assert (await faults(book.store, {"c": (2, "00")}))["c"] == "rows 1 to 2 are missing"


async def test_who_knows_the_secret_can_write_what_they_like(book: Book) -> None:
    """The control of the tampering above: with the right hashes the same rows pass."""
    rows = await book.read()
    change_time(rows)
    find(rows, 2)["value"] = find(rows, 2)["value"].replace("200", "500")
    rewrite(rows, book.chain)
    await book.put(rows)
    assert await faults(book.store) == {}


async def test_an_account_of_before_the_record_needs_no_rows(book: Book) -> None:
    """The first row states how many there are."""
    rows = await book.read()
    first = find(rows, 1, "")
    began = first["time"]
    total = next(row for row in rows["accounts"] if row["scope"] == "total")
    rows["accounts"].append({**total, "tenant": "old", "used": began - 1})
    await book.put(rows)
    assert "no row does" in (await faults(book.store))["old"]
    first["value"] = first["value"].replace('"accounts":0', '"accounts":1')
    rewrite(rows, book.chain)
    await book.put(rows)
    assert await faults(book.store) == {}
    rows["accounts"][-1]["used"] = began + 1
    await book.put(rows)
    assert "no row does" in (await faults(book.store))["old"]
    rows["accounts"][-1]["used"] = began - 1
    await book.put(rows)
    await book.charge("old")  # goes on from the totals of before
    assert await faults(book.store) == {}
    rows = await book.read()
    remove_and_date_back(rows)  # the one account of before has rows by now
    await book.put(rows)
    assert "no row does" in (await faults(book.store))["a"]


TRACES = {
    RELEASES: {"key": b"r" * 32, "value": "{}", "used": 0.0},
    ANSWERS: {"key": b"a" * 32, "value": "{}", "used": 0.0},
    PASSAGES: {"key": b"p" * 32, "anchor": b"p" * 32, "value": b"", "used": 0.0},
}


@pytest.mark.parametrize("kept", TRACES, ids=str)
async def test_a_tenant_with_texts_and_without_rows_lost_them(book: Book, kept: Table) -> None:
    """Its records and accounts are removed, or all of them are."""
    rows = await book.read()
    insert = kept.insert()
    await book.store.write(
        lambda connection: connection.execute(insert, {"tenant": "a", **TRACES[kept]})
    )
    assert await faults(book.store) == {}
    remove_all(rows)
    rows["accounts"] = [row for row in rows["accounts"] if row["tenant"] != "a"]
    await book.put(rows)
    assert await faults(book.store) == {"a": "texts or spends of it are stored, and no row does"}
    await book.put({"records": [], "accounts": []})
    assert set(await faults(book.store)) == {"", "a"}


async def test_an_emptied_record_is_not_begun_again(book: Book, database: dict[str, Any]) -> None:
    """Not by a proxy that starts, nor by a command that opens the store."""
    await book.put({"records": [], "accounts": []})
    with pytest.raises(ConfigError, match="was changed or removed"):
        await Recorder(book.store, book.ledger).check()
    async with open_store(Settings(**database)) as store:
        assert await faults(store) == {"": "row 1 is missing"}


async def test_only_noted_heads_show_that_every_trace_of_a_tenant_is_gone(book: Book) -> None:
    noted = {verdict.tenant: verdict.head for verdict in await check_records(book.store)}
    rows = await book.read()
    remove_all(rows)
    rows["accounts"] = [row for row in rows["accounts"] if row["tenant"] != "a"]
    await book.put(rows)
    assert await faults(book.store) == {}  # a limit that the documentation states
    assert await faults(book.store, noted) == {"a": "rows 1 to 7 are missing"}
