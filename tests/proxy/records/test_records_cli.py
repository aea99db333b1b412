"""`inferdpt records export` and `check`."""

from __future__ import annotations

import asyncio
import csv
import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from perturb import EmbeddingTable, Perturber, get_mechanism
from proxy.cli.main import main
from proxy.config.store import StoreSettings as Settings
from proxy.errors import store_unavailable
from proxy.records.lines import COLUMNS
from proxy.records.rekey import Rekeyed
from proxy.storage.opening import open_store
from proxy.storage.store import Store
from tests.databases import database, database_of_commands, postgres_url
from tests.proxy.records.rows import Book
from tests.proxy.storage.work import execute

__all__ = ["database", "database_of_commands", "postgres_url"]

DAYS = {"req_1": 1_900_000_000.0, "req_2": 1_900_086_400.0, "req_3": 1_900_172_800.0}


@pytest.fixture
def state(database_of_commands: dict[str, Any], table: EmbeddingTable) -> Settings:
    """A store with a request of two tenants on three days, the last without end."""
    settings = Settings(**database_of_commands)
    sanitizer = Perturber(get_mechanism("rantext_ldp", table, epsilon=6))

    async def fill() -> None:
        async with open_store(settings) as store:
            book = Book(store, sanitizer)
            await book.charge("alice", at=DAYS["req_1"])
            await book.charge("alice", at=DAYS["req_2"], end=False)
            await book.charge("böb", at=DAYS["req_3"])

    asyncio.run(fill())
    return settings


def tamper(settings: Settings, statement: str) -> None:
    """Change the database behind the back of the proxy."""

    async def change() -> None:
        async with open_store(settings) as store:
            await store.write(execute(text(statement)))

    asyncio.run(change())


def export(capsys: Any, *options: str) -> list[dict[str, Any]]:
    assert main(["records", "export", *options]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_export(state: Settings, capsys: Any) -> None:
    lines = export(capsys)
    assert [line["request"] for line in lines] == list(DAYS)
    assert [line["status"] for line in lines] == [200, None, 200]
    assert [line["rows"] for line in lines] == [[1, 2], [3], [1, 2]]
    assert lines[0]["time"] == "2030-03-17T17:46:40.000+00:00"
    assert lines[2]["tenant"] == "böb"
    for options, requests in (
        (["--tenant", "alice"], ["req_1", "req_2"]),
        (["--since", "2030-03-18"], ["req_2", "req_3"]),
        (["--until", "2030-03-18T17:46:40+00:00"], ["req_1"]),
        (["--since", "2030-03-18", "--until", "2030-03-19"], ["req_2"]),
        (["--tenant", "nobody"], []),
    ):
        assert [line["request"] for line in export(capsys, *options)] == requests, options
    assert main(["records", "export", "--format", "csv"]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert tuple(rows[0]) == COLUMNS
    assert json.loads(rows[0]["charged"]) == lines[0]["charged"]
    assert [row["status"] for row in rows] == ["200", "", "200"]
    with pytest.raises(SystemExit) as left:
        main(["records", "export", "--since", "yesterday"])
    assert left.value.code == 2
    assert "2030-01-31" in capsys.readouterr().err


def test_check(state: Settings, tmp_path: Path, capsys: Any) -> None:
    heads = tmp_path / "heads.json"
    for _ in range(2):
        assert main(["records", "check", "--heads", str(heads)]) == 0
    out = capsys.readouterr().out
    assert "alice: rows 1 to 3 since 2030-03-17 17:46:40+00:00" in out
    assert "1 requests without an end" in out
    assert out.endswith("the record is whole\n")
    noted = heads.read_text()
    tamper(state, "DELETE FROM records WHERE tenant = 'böb' AND number = 2")
    assert main(["records", "check"]) == 0  # an end is no charge
    assert main(["records", "check", "--heads", str(heads)]) == 1
    out = capsys.readouterr().out
    assert "böb: row 2 is missing" in out
    assert out.endswith("THE RECORD IS NOT WHOLE\n")
    assert heads.read_text() == noted
    tamper(state, "UPDATE records SET value = replace(value, '\"m\"', '\"n\"')")
    assert main(["records", "check"]) == 1
    assert "alice: row 1 is not the one that was written" in capsys.readouterr().out
    heads.write_text("{")
    assert main(["records", "check", "--heads", str(heads)]) == 2
    assert "heads.json" in capsys.readouterr().err


def test_a_purge_of_the_ledger_is_in_the_record(state: Settings, capsys: Any) -> None:
    assert main(["store", "purge", "--all", "--ledger"]) == 0
    assert main(["records", "check"]) == 0
    assert "alice: rows 1 to 4" in capsys.readouterr().out


def test_a_store_that_served_nobody(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setenv("INFERDPT_STATE_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert main(["records", "check"]) == 0
    assert "(the store): row 1 since" in capsys.readouterr().out
    assert main(["records", "export"]) == 0
    assert capsys.readouterr().out == ""


def test_a_refused_rekey_leaves_no_file(state: Settings, tmp_path: Path, capsys: Any) -> None:
    """Its secret is nobody's: put in place of the old one, it would not open the store."""
    tamper(state, "UPDATE records SET time = time + 1 WHERE tenant = 'alice'")
    assert main(["store", "rekey", "new"]) == 2
    assert "is not whole" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
    (tmp_path / "mine").write_text("5a" * 32)
    (tmp_path / "mine").chmod(0o600)
    assert main(["store", "rekey", "mine"]) == 2
    assert (tmp_path / "mine").read_text() == "5a" * 32, "somebody else made it"


def test_a_rekey_whose_outcome_is_unknown_keeps_the_file(
    state: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without it, a store that was changed could never be opened again."""
    migrate = Store.migrate

    async def lose_the_answer(store: Store, work: Any) -> Any:
        done = await migrate(store, work)
        if isinstance(done, Rekeyed):
            raise store_unavailable()
        return done

    monkeypatch.setattr(Store, "migrate", lose_the_answer)
    assert main(["store", "rekey", "new"]) == 2
    monkeypatch.setattr(Store, "migrate", migrate)
    monkeypatch.setenv("INFERDPT_SECRET", (tmp_path / "new").read_text().strip())
    assert main(["records", "check"]) == 0
