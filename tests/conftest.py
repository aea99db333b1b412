"""Every test has state of its own, and as much time as it needs: machines are busy."""

from __future__ import annotations

import gc
import itertools
import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

_NUMBERS = itertools.count()


def pytest_configure(config: pytest.Config) -> None:
    if config.pluginmanager.hasplugin("hypothesispytest"):  # the vLLM tier goes without it
        from hypothesis import HealthCheck, settings
        from hypothesis.internal.conjecture import providers
        from hypothesis.internal.constants_ast import Constants

        untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
        settings.register_profile("same", untimed, derandomize=True)
        settings.register_profile("explore", untimed, derandomize=False)
        if not config.getoption("hypothesis_profile"):  # every run tries the same examples
            settings.load_profile("same")
            # It draws from the constants of all modules that happen to be loaded, too.
            vars(providers)["_get_local_constants"] = Constants


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say at the end what this machine lacks, a line for each reason to skip tests."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
    if reasons:
        terminalreporter.section("not run here")
    for reason, count in sorted(reasons.items()):
        terminalreporter.line(f"{count:4} {'test' if count == 1 else 'tests'}: {reason}")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what needs PostgreSQL: it is run by `make test-postgres`."""
    kind = getattr(getattr(item, "callspec", None), "params", {}).get("database")
    if kind == "postgresql" or "postgres_url" in getattr(item, "fixturenames", ()):
        item.add_marker("postgres")


def pytest_collection_finish() -> None:
    """Keep modules and tests out of garbage collections: one stops everything for a second."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _state_of_the_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """For servers that live longer than a test; never the user's own state."""
    before, folder = os.environ.get("INFERDPT_STATE_DIR"), tmp_path_factory.mktemp("state")
    os.environ["INFERDPT_STATE_DIR"] = str(folder)
    yield folder
    os.environ.pop("INFERDPT_STATE_DIR")
    if before is not None:
        os.environ["INFERDPT_STATE_DIR"] = before


@pytest.fixture(autouse=True)
def _state_of_the_test(_state_of_the_session: Path, monkeypatch: Any) -> None:
    """A folder that only the tests that write to it make: `tmp_path` would make one for each of
    thousands, and look through all the others for its number."""
    folder = _state_of_the_session / f"test-{next(_NUMBERS)}"
    monkeypatch.setenv("INFERDPT_STATE_DIR", str(folder))
    monkeypatch.delenv("INFERDPT_SECRET", raising=False)


@pytest.fixture
def seeded_draws(monkeypatch: Any) -> None:
    """Let every draw of this process, and the secret of its store, come from a seed: for
    assertions on the form of a release, which few draws fail. What may not leave is looked for
    by `tests.absence`, in draws of any seed."""
    keys = SimpleNamespace(randbits=random.Random(1).getrandbits)
    monkeypatch.setattr("perturb.rng.secrets", keys)
    monkeypatch.setenv("INFERDPT_SECRET", "5a" * 32)
