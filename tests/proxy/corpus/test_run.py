"""Runs: complete, resumed after kills, the same bytes however they are run, and without text."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from proxy.config.store import StoreSettings as Settings
from proxy.corpus.engines import in_process, pooled
from proxy.corpus.inputs.records import ADDED
from proxy.corpus.ledger import Accounts
from proxy.corpus.output import open_output
from proxy.corpus.run import run_blocks
from proxy.errors import ConfigError
from proxy.storage.opening import open_store
from tests.proxy.canaries import Canaries
from tests.proxy.cli.commands import run as run_inline
from tests.proxy.corpus.documents import (
    OWNERS,
    documents,
    job,
    released,
    write_jsonl,
)
from tests.proxy.corpus.kills import (
    check_after_kills,
    kill_and_resume,
    ledger_covers,
    read_accounts,
    same_parts,
)
from tests.proxy.corpus.test_inputs import WRITERS

COUNT = 400


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INFERDPT_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "state"


def sanitize(source: Path, out: Path, *options: str) -> int:
    names = ("--id", "id", "--owner", "owner")
    return run_inline("corpus", "run", str(source), "--out", str(out), *names, *options)


def files_of(folder: Path) -> bytes:
    return b"\n".join(p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file())


@pytest.mark.parametrize("name", WRITERS)
def test_a_run_is_complete_in_every_format(tmp_path, state, name):
    rows = documents(57)
    source = WRITERS[name](tmp_path / name, rows)
    out = tmp_path / "out"
    assert sanitize(source, out, "--rows", "10", "--workers", "1") == 0
    report = json.loads((out / "report.json").read_text())
    assert report["outcomes"] == {"released": 57}
    assert sorted(row["documents"] for row in read_accounts(out).values()) == [8] * 6 + [9]
    if name == "rows.csv":
        return
    found = released(out)
    assert [row["id"] for row in found] == [row["id"] for row in rows]
    assert found[0].keys() == {"id", "owner", "kind", *ADDED}
    ledger_covers(out)


def test_a_folder_of_texts_is_one_owner(tmp_path, state):
    for i in range(5):
        (tmp_path / "texts").mkdir(exist_ok=True)
        (tmp_path / "texts" / f"{i}.txt").write_text(f"note number {i} of the day")
    out = tmp_path / "out"
    assert run_inline("corpus", "run", str(tmp_path / "texts"), "--out", str(out)) == 0
    assert [row["id"] for row in released(out)] == [f"{i}.txt" for i in range(5)]
    assert list(read_accounts(out)) == ["(all documents)"]


def test_a_second_run_releases_the_same_bytes_and_charges_nothing(tmp_path, state):
    source = write_jsonl(tmp_path / "rows.jsonl", documents(57))
    for out in ("one", "two"):
        sanitize(source, tmp_path / out, "--rows", "10", "--workers", "1")
    assert same_parts(tmp_path / "one", tmp_path / "two")
    assert read_accounts(tmp_path / "one") == read_accounts(tmp_path / "two")


async def test_the_pool_releases_the_bytes_of_one_process(tmp_path):
    source = write_jsonl(tmp_path / "rows.jsonl", documents(100))
    ours = job(source)
    blocks = list(ours.source.blocks())
    async with open_store(Settings(folder=str(tmp_path / "state"))) as store:
        for name, engine in (("one", in_process), ("two", pooled(2))):
            with open_output(tmp_path / name, "jsonl", {}) as output:
                accounts = Accounts(store, delta=1e-6)
                await run_blocks(ours, engine, blocks, output, accounts, lambda *_: None)
    assert same_parts(tmp_path / "one", tmp_path / "two")


def test_a_budget_refuses_documents_by_name(tmp_path, state):
    source = write_jsonl(tmp_path / "rows.jsonl", documents(70))
    out = tmp_path / "out"
    assert sanitize(source, out, "--budget", "500", "--rows", "10", "--workers", "1") == 1
    found = released(out)
    assert len(found) == 70
    refused = [row for row in found if row["outcome"] == "BudgetExceeded"]
    assert refused
    assert all(row["released"] is row["epsilon"] is None for row in refused)
    failed = [
        json.loads(line)
        for path in sorted((out / "failed_records").iterdir())
        for line in path.read_text().splitlines()
    ]
    assert [row["id"] for row in failed] == [row["id"] for row in refused]
    assert all(row["epsilon"]["charged"] <= 500 for row in read_accounts(out).values())
    ledger_covers(out)


def test_a_dry_run_writes_and_charges_nothing(tmp_path, state, capsys):
    source = write_jsonl(tmp_path / "rows.jsonl", documents(300))
    out = tmp_path / "out"
    assert sanitize(source, out, "--dry-run", "--json") == 0
    estimate = json.loads(capsys.readouterr().out)
    assert not out.exists()
    assert sanitize(source, out, "--workers", "1") == 0
    accounts = read_accounts(out)
    assert estimate["documents"] == 300
    assert estimate["owners"] == len(accounts) == OWNERS
    tokens = sum(row["tokens"] for row in accounts.values())
    assert estimate["tokens"] == pytest.approx(tokens, rel=0.1)
    for name, epsilon in estimate["largest"].items():
        assert epsilon == pytest.approx(accounts[name]["epsilon"]["charged"], rel=0.1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("--epsilon", "7"), "sanitizer"),
        (("--rows", "20"), "documents of a block"),
        (("--budget", "1"), "budget"),
        (("--drop", "kind"), "columns"),
    ],
)
def test_a_folder_belongs_to_one_run(tmp_path, state, change, words):
    source = write_jsonl(tmp_path / "rows.jsonl", documents(20))
    sanitize(source, tmp_path / "out", "--rows", "10", "--workers", "1")
    with pytest.raises(ConfigError, match=words):
        sanitize(source, tmp_path / "out", *({"--rows": "10"} | dict([change])).popitem())
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").touch()
    with pytest.raises(ConfigError, match="something else"):
        sanitize(source, tmp_path / "other")


def test_another_secret_is_refused_before_anything_is_drawn(tmp_path, state, monkeypatch):
    source = write_jsonl(tmp_path / "rows.jsonl", documents(20))
    sanitize(source, tmp_path / "out", "--workers", "1")
    (state / "secret").write_text("5b" * 32)
    with pytest.raises(ConfigError, match="secret is not the one"):
        sanitize(source, tmp_path / "other", "--workers", "1")
    monkeypatch.setenv("INFERDPT_STATE_DIR", str(tmp_path / "another state"))
    with pytest.raises(ConfigError, match="another secret"):
        sanitize(source, tmp_path / "out", "--workers", "1")


def test_one_run_at_a_time_writes_to_a_folder(tmp_path):
    out = tmp_path / "out"
    with (
        open_output(out, "jsonl", {}),
        pytest.raises(ConfigError, match="another run"),
        open_output(out, "jsonl", {}),
    ):
        pass


@pytest.mark.parametrize("engine", [("--workers", "1"), ("--workers", "2")])
def test_the_first_document_of_an_id_is_released_alone(tmp_path, state, engine):
    """A document with another's id and a guess of its text does not show that the guess is
    right: in the same block, in a later one, and after a run that was interrupted."""
    rows = documents(30)
    guess = {**rows[3], "owner": "guesser", "kind": 9}
    other = {**rows[4], "text": "Something else was said."}
    unread = {**rows[7], "text": None}  # releases nothing, so the id is still free
    rows = [*rows[:6], unread, guess, *rows[6:20], guess, other, *rows[20:]]
    source = write_jsonl(tmp_path / "rows.jsonl", rows)
    out = tmp_path / "out"
    assert sanitize(source, out, "--rows", "10", *engine) == 1
    outcomes = json.loads((out / "report.json").read_text())["outcomes"]
    assert outcomes == {"released": 30, "BadText": 1, "RepeatedId": 3}
    found = released(out)
    assert [row["outcome"] for row in found if row["kind"] == 9] == 2 * ["RepeatedId"]
    assert "guesser" not in read_accounts(out)
    ledger_covers(out)
    before = {path.name: path.read_bytes() for path in (out / "data").iterdir()}
    for name in ("part-00000.jsonl", "part-00003.jsonl"):
        (out / "data" / name).unlink()
    assert sanitize(source, out, "--rows", "10", *engine) == 1
    assert {path.name: path.read_bytes() for path in (out / "data").iterdir()} == before
    assert b"note 3" not in (out / "ids.sqlite").read_bytes()


def test_the_output_follows_no_links(tmp_path, state):
    source = write_jsonl(tmp_path / "rows.jsonl", documents(5))
    elsewhere, out = tmp_path / "elsewhere", tmp_path / "out"
    elsewhere.mkdir()
    out.mkdir()
    (out / "data").symlink_to(elsewhere)
    with pytest.raises(ConfigError, match="link"):
        sanitize(source, out, "--workers", "1")
    assert not list(elsewhere.iterdir())


@pytest.mark.hostile
def test_ten_kills_lose_double_and_undercharge_nothing(tmp_path, state):
    source, out = write_jsonl(tmp_path / "rows.jsonl", documents(10 * COUNT)), tmp_path / "out"
    options = ("--rows", "40", "--workers", "2")
    assert kill_and_resume(source, out, state, 10, 21, *options) >= 10
    check_after_kills(source, out, state, 10 * COUNT, "--rows", "40")


def test_no_text_is_in_logs_failures_or_the_store(tmp_path, state, capfd, caplog):
    caplog.set_level(logging.DEBUG)
    canaries = Canaries(7)
    rows = documents(40)
    for row in rows:
        row["text"] = f"{row['text']} {canaries.text()} {canaries.word()}"
    rows[3]["text"] = canaries.text() * 20_000  # too many tokens
    lines = [json.dumps(row) for row in rows]
    lines.insert(5, '{"text": "' + canaries.word())
    lines.insert(9, json.dumps({**rows[0], "owner": None, "text": canaries.text()}))
    lines.insert(12, json.dumps({**rows[0], "text": [canaries.word()]}))
    source = tmp_path / "rows.jsonl"
    source.write_text("\n".join(lines))
    out = tmp_path / "out"
    assert sanitize(source, out, "--rows", "10", "--workers", "2") == 1
    outcomes = json.loads((out / "report.json").read_text())["outcomes"]
    assert outcomes == {
        "released": 39,
        "BadOwner": 1,
        "BadText": 1,
        "DocumentTooLong": 1,
        "Unreadable": 1,
    }
    said = "".join(capfd.readouterr()) + caplog.text
    assert canaries.found_in(said.encode() + files_of(out) + files_of(state)) == set()
    assert canaries.found_in(source.read_bytes()[:200])  # the search would find one
