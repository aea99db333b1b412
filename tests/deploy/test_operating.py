"""The commands of docs/operating.md, in their order, on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import make_url

from perturb import EmbeddingTable, Perturber, get_mechanism
from proxy.config.settings import load_config
from proxy.records.chain import Recorder
from proxy.storage.opening import open_store
from tests.databases import database, postgres_url
from tests.limits import LIMIT
from tests.proxy.conftest import table
from tests.proxy.records.rows import Book

__all__ = ["database", "postgres_url", "table"]

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "operating.md").read_text("utf-8")
SECRET = "5a" * 32  # as `database` sets it for PostgreSQL
SHELL = "set -euo pipefail\n"


def find_blocks(heading: str, *, postgres: bool) -> list[str]:
    """Return the blocks of a section that are for a database: those for the other are left out."""
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    found = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    assert found, heading
    other = ("INFERDPT_STATE_DIR",) if postgres else ("pg_dump", "pg_restore", "export INFERDPT")
    return [block for block in found if not any(word in block for word in other)]


@pytest.fixture
def shell(database: dict[str, Any], tmp_path: Path) -> dict[str, str]:
    """The environment of a shell in which `inferdpt` is this checkout's, with a store."""
    for program in ("sqlite3", "pg_dump"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    command = tmp_path / "bin" / "inferdpt"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m proxy.cli.main "$@"\n')
    command.chmod(0o755)
    own = {"PATH": f"{command.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    own["FOLDER"] = str(tmp_path)
    if "folder" in database:
        own["INFERDPT_STATE_DIR"] = database["folder"]
    else:
        url = make_url(database["url"])
        own |= {
            "INFERDPT_SECRET": SECRET,
            "INFERDPT_STORE__URL": database["url"],
            "PGHOST": str(url.host),
            "PGPORT": str(url.port),
            "PGUSER": str(url.username),
            "PGDATABASE": str(url.database),
        }
    return {**os.environ, **own}


def run(block: str, shell: dict[str, str], status: int = 0) -> str:
    done = subprocess.run(
        ["bash", "-c", SHELL + block],
        cwd=shell["FOLDER"],
        env=shell,
        capture_output=True,
        text=True,
        timeout=LIMIT * 2,
    )
    assert done.returncode == status, done.stderr + done.stdout
    return done.stdout


def charge(table: EmbeddingTable, database: dict[str, Any], tenant: str) -> None:
    """Charge a request of a tenant, as a proxy would."""
    sanitizer = Perturber(get_mechanism("rantext_ldp", table, epsilon=6))

    async def work() -> None:
        async with open_store(load_config(None, {"store": database}).store) as store:
            book = Book(store, sanitizer)
            await Recorder(store, book.ledger).check()
            await book.charge(tenant)

    asyncio.run(work())


def test_backup_and_restore(
    database: dict[str, Any],
    shell: dict[str, str],
    table: EmbeddingTable,
) -> None:
    postgres = "url" in database
    charge(table, database, "alice")
    backed = [run(block, shell) for block in find_blocks("Backup", postgres=postgres)]
    assert "the record is whole" in backed[-1]
    charge(table, database, "bob")
    charge(table, database, "alice")
    assert "bob" in run("inferdpt ledger", shell)
    later = run("inferdpt records check --heads later.json", shell)
    assert "alice: rows 1 to 4" in later
    restored = [run(block, shell) for block in find_blocks("Restore", postgres=postgres)]
    assert "the record is whole" in restored[-1]
    assert "alice: rows 1 to 2" in restored[-1]
    assert "bob" not in run("inferdpt ledger", shell)
    missing = run("inferdpt records check --heads later.json", shell, status=1)
    assert "alice: rows 3 to 4 are missing" in missing


# What concerns keys and files is the same on both databases.
ON_SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


@ON_SQLITE
def test_keys_are_rotated(shell: dict[str, str], database: dict[str, Any]) -> None:
    rotation, leak = find_blocks("Rotate keys", postgres="url" in database)
    run("inferdpt keys create alice", shell)
    old = re.findall(r"^[0-9a-f]{12}", run("inferdpt keys list", shell), re.MULTILINE)
    assert len(old) == 1
    assert "sk-inferdpt-" in run(rotation.replace("1f2e3d4c5b6a", old[0]), shell)
    listed = run("inferdpt keys list", shell).splitlines()
    assert [("in force to" in line, "in force" in line) for line in listed] == [
        (True, True),
        (False, True),
    ]
    assert "sk-inferdpt-" in run(leak.replace("1f2e3d4c5b6a", old[0]), shell)
    assert "revoked" in run("inferdpt keys list", shell)


@ON_SQLITE
def test_keys_are_moved(shell: dict[str, str], database: dict[str, Any], tmp_path: Path) -> None:
    exporting, importing = find_blocks("Move keys", postgres="url" in database)
    run("inferdpt keys create alice --label laptop", shell)
    run(exporting, shell)
    other = {**shell, "INFERDPT_STATE_DIR": str(tmp_path / "other")}
    assert "1 key would be imported" in run(importing, other)
    assert run("inferdpt keys export", other) == run("inferdpt keys export", shell)


def test_the_secret_is_rotated(
    database: dict[str, Any],
    shell: dict[str, str],
    table: EmbeddingTable,
) -> None:
    postgres = "url" in database
    charge(table, database, "alice")
    run("inferdpt records check --heads heads.json", shell)
    before = run("inferdpt ledger", shell)
    rotating, placing = find_blocks("Rotate the secret", postgres=postgres)
    assert "3 rows of the record are hashed anew" in run(rotating, shell)
    new = Path(shell["FOLDER"], "new-secret")
    assert new.stat().st_mode & 0o777 == 0o600
    whole = run(f"{placing}\ninferdpt records check --heads heads.json\n", shell)
    assert "the record is whole" in whole
    assert run("inferdpt ledger", shell) == before
    if postgres:  # the shell still has the old one
        assert "NOT WHOLE" in run("inferdpt records check", shell, status=1)


@ON_SQLITE
def test_a_secret_that_others_can_read_is_not_taken(
    shell: dict[str, str], database: dict[str, Any], table: EmbeddingTable
) -> None:
    charge(table, database, "alice")
    run(f"umask 022; echo {'a5' * 32} > new-secret; chmod 644 new-secret", shell)
    run("inferdpt store rekey new-secret", shell, status=2)
    assert "whole" in run("inferdpt records check", shell)
