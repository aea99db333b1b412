"""A real Chromium, and axe-core in its pages."""

from __future__ import annotations

import importlib
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from perturb import EmbeddingTable
from tests.tables import bundled_table

AXE = Path(__file__).parents[2] / ".venv" / "console" / "package" / "axe.min.js"
CHROMIUM = shutil.which("chromium")


def find_reason() -> str | None:
    """Return the reason why there is no browser; None if there is one."""
    if CHROMIUM is None:
        return "Chromium is missing: apt-get install -y chromium"
    if importlib.util.find_spec("playwright") is None or not AXE.exists():
        return "Playwright or axe-core is missing: make test-console installs them"
    return None


@pytest.fixture(scope="session")
def table() -> EmbeddingTable:
    return bundled_table()


@pytest.fixture
async def chromium() -> AsyncIterator[Any]:
    if reason := find_reason():
        pytest.skip(reason)
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        # The sandbox needs rights that a container does not have; only our own pages are opened.
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        await browser.close()
