"""One proxy, and one vLLM under it, for the whole tier."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from openai import AsyncOpenAI, OpenAI

from tests.vllm.stack import MODEL, Stack
from tests.vllm.tiny_model import save_tiny_model

HERE = Path(__file__).parent
LAST = "test_vllm_supervision.py"  # it kills and stops what the other files share


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path == HERE / LAST)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    folder = tmp_path_factory.mktemp("models") / MODEL
    await asyncio.to_thread(save_tiny_model, folder, chat_template=None)
    stack = Stack(folder)
    try:
        await stack.start()
        yield stack
    finally:
        await stack.stop()


@pytest_asyncio.fixture(loop_scope="session")
async def client(stack: Stack) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(base_url=stack.url, api_key="any", max_retries=0) as found:
        yield found


@pytest.fixture
def sync_client(stack: Stack) -> Iterator[OpenAI]:
    """To be used from a thread: the proxy runs in the test's own loop."""
    with OpenAI(base_url=stack.url, api_key="any", max_retries=0) as found:
        yield found
