"""A proxy without a local model, which the integrations ask."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.proxy.conftest import Proxy, running_proxy
from tests.proxy.gateway.remotes import SETTINGS
from tests.tables import bundled_table


@pytest.fixture
async def proxy() -> AsyncIterator[Proxy]:
    async with running_proxy(bundled_table(), SETTINGS) as running:
        yield running
