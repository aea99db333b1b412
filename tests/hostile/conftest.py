"""Marks the tier, and prints what it ran."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hostile import tally
from tests.hostile.stage import Stage

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.hostile)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if line := tally.summary():
        terminalreporter.write_line(line)


@pytest.fixture(scope="module")
def settings() -> dict[str, Any]:
    """Return configuration to lay over the defaults; a module overrides it."""
    return {}


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, settings: dict[str, Any]) -> Iterator[Stage]:
    """Set up one proxy between a scripted remote and a scripted local model for a module."""
    with Stage(tmp_path_factory.mktemp("hostile"), settings) as made:
        yield made
