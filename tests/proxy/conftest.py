"""A proxy in this process between a fake remote and a fake local model, over real HTTP."""

from __future__ import annotations

import asyncio
import logging
import os
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import openai
import pytest
from aiohttp import web

from perturb import EmbeddingTable, Perturber
from proxy.api.app_keys import POLICY
from proxy.app import build_app, build_runner
from proxy.config.settings import load_config
from proxy.config.store import StoreSettings
from proxy.logs import JsonFormatter
from proxy.storage.opening import open_store
from tests.limits import LIMIT
from tests.servers import FakeServer, fake_server
from tests.tables import bundled_table

MODEL = "gpt-4o"
# SDKs read the certificates of the system for each client, which takes longer than a chat.
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@pytest.fixture(scope="session")
def table() -> EmbeddingTable:
    return bundled_table()


class ListHandler(logging.Handler):
    """Log lines as they would be printed."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.setFormatter(JsonFormatter())

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@dataclass
class Proxy:
    """A running proxy and both of its upstreams."""

    base_url: str
    remote: FakeServer
    local: FakeServer
    app: web.Application
    log: list[str]
    clients: list[openai.AsyncOpenAI] = field(default_factory=list)

    @property
    def root(self) -> str:
        return self.base_url.removesuffix("/v1")

    def client(self, **settings: Any) -> openai.AsyncOpenAI:
        # A machine that stalls is no failure: the SDK's own limit for a connection is 5 s.
        timeout = openai.Timeout(600.0, connect=LIMIT)
        http = openai.DefaultAsyncHttpxClient(verify=NO_TLS, timeout=timeout)
        defaults = {"api_key": "none", "max_retries": 0, "timeout": timeout, "http_client": http}
        made = openai.AsyncOpenAI(base_url=self.base_url, **{**defaults, **settings})
        self.clients.append(made)
        return made

    def sent(self, i: int = -1) -> list[dict[str, Any]]:
        """The messages of a body that the remote received."""
        messages: list[dict[str, Any]] = self.remote.bodies[i]["messages"]
        return messages


def merge(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    return {
        **base,
        **{k: {**base.get(k, {}), **v} if isinstance(v, dict) else v for k, v in over.items()},
    }


@cache
def new_store(secret: str | None) -> dict[str, bytes]:
    """Return the files of a store that is migrated and empty: migrating is half of a start.

    They are the database and its own secret, unless INFERDPT_SECRET is set.
    """
    assert secret == os.environ.get("INFERDPT_SECRET")

    async def make(folder: str) -> None:
        async with open_store(StoreSettings(folder=folder)):
            pass

    with TemporaryDirectory() as folder, ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, make(folder)).result()
        names = ("inferdpt.db",) if secret else ("inferdpt.db", "secret")
        return {name: Path(folder, name).read_bytes() for name in names}


@asynccontextmanager
async def running_proxy(
    table: EmbeddingTable,
    settings: dict[str, Any],
    prepare: Callable[[web.Application], None] = lambda app: None,
) -> AsyncIterator[Proxy]:
    """`prepare` may break the application before it starts."""
    handler = ListHandler()
    root = logging.getLogger()
    project = logging.getLogger("inferdpt")
    levels = root.level, project.level
    propagates, project.propagate = project.propagate, True  # `serve` in a test turns it off
    root.addHandler(handler)  # the root: whatever any library says is caught, too
    root.setLevel(logging.DEBUG)
    project.setLevel(logging.DEBUG)
    async with fake_server() as remote, fake_server() as local, AsyncExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        for name, content in new_store(os.environ.get("INFERDPT_SECRET")).items():
            (folder / name).touch(0o600)
            (folder / name).write_bytes(content)
        defaults = {
            "store": {"folder": str(folder)},
            "remote": {
                "base_url": remote.base_url,
                "api_key": "operator-secret",
                "models": {MODEL: "remote-model", "org/other": "o"},
                "retries": 0,
            },
            # The remote's fixed answers are about nothing that the tests ask.
            "local": {"mode": "external", "base_url": local.base_url, "extraction": "all"},
            "prompts": {"remote_words": "", "remote_passages": ""},
            "server": {"drain_seconds": 0.5},
        }
        config = load_config(None, merge(defaults, settings))
        app = build_app(config, table=table)
        prepare(app)
        run = build_runner(app)
        await run.setup()
        await web.TCPSite(run, "127.0.0.1", 0).start()
        base_url = f"http://127.0.0.1:{run.addresses[0][1]}/v1"
        proxy = Proxy(base_url, remote, local, app, handler.lines)
        try:
            yield proxy
            assert remote.find_faults() == []
            # The local model's options are the client's, as it wrote them.
            assert local.find_faults("model", "messages", "prompt", "stream") == []
        finally:
            for client in proxy.clients:
                await client.close()
            remote.release.set()
            local.release.set()
            await run.cleanup()
            root.removeHandler(handler)
            root.setLevel(levels[0])
            project.setLevel(levels[1])
            project.propagate = propagates


def sanitizing(broken: type[Perturber]) -> Callable[[web.Application], None]:
    """For `prepare`: every sanitizer is of a broken kind."""

    def prepare(app: web.Application) -> None:
        policy = app[POLICY]
        honest = policy.sanitizer
        policy.sanitizer = lambda *given: broken(honest(*given).mechanism)  # type: ignore

    return prepare


@pytest.fixture
def settings() -> dict[str, Any]:
    """Configuration laid over the defaults; a test module or class overrides it."""
    return {}


@pytest.fixture
async def proxy(table: EmbeddingTable, settings: dict[str, Any]) -> AsyncIterator[Proxy]:
    async with running_proxy(table, settings) as running:
        yield running


@pytest.fixture
def proxy_in_thread(table: EmbeddingTable, settings: dict[str, Any]) -> Iterator[Proxy]:
    """The same on an event loop of its own thread, for the synchronous client."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    def call(job: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(job, loop).result(LIMIT)

    context = running_proxy(table, settings)
    try:
        yield call(context.__aenter__())
        call(context.__aexit__(None, None, None))
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
