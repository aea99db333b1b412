"""A proxy without a local model."""

from __future__ import annotations

from typing import Any

import pytest

from tests.proxy.gateway.remotes import SETTINGS


@pytest.fixture
def settings() -> dict[str, Any]:
    return SETTINGS
