"""Databases for tests: a SQLite file, and PostgreSQL where a server runs on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from benchmarks.load.databases import create_database
from benchmarks.load.processes import LoadError

__all__ = ["database", "postgres_url"]


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """A database of the test's own."""
    with ExitStack() as stack:
        try:
            url = stack.enter_context(create_database())
        except LoadError as exc:
            pytest.skip(str(exc))
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def database(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """`store` settings that several proxies may share."""
    if request.param == "sqlite":
        return {"folder": str(tmp_path / "shared")}
    monkeypatch.setenv("INFERDPT_SECRET", "5a" * 32)
    return {"url": request.getfixturevalue("postgres_url")}
