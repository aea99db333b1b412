"""The local model keeps the contract."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from inferdpt_example.backend import Parrot

from extraction.testing import BackendContract


class TestParrot(BackendContract):
    @asynccontextmanager
    async def running(self) -> AsyncIterator[Parrot]:
        yield Parrot(words=3)
