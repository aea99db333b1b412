"""Small Python programs as local servers, under the supervisor."""

from __future__ import annotations

import asyncio
import sys
import textwrap
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from extraction.backends import server_process
from extraction.backends.server_process import ServerProcess
from tests.limits import LIMIT

CANARY = "raw-text-canary"

# A server of one model whose every line of output after the first request holds the canary.
SERVER = """
    import http.server, json, os, sys
    print("loading", flush=True)
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        def log_message(self, *_):
            print("raw-text-canary", flush=True)
        def do_GET(self):
            self.answer({"object": "list", "data": [{"id": "small", "object": "model"}]})
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.answer({"choices": [{"index": 0, "finish_reason": "stop",
                "message": {"role": "assistant", "content": str(os.getpid())}}]})
        def answer(self, body):
            data = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
MARK_AND_SLEEP = """
    import pathlib, sys, time
    pathlib.Path(sys.argv[1]).touch()
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_process, "RESTART_DELAYS", (0.01, 0.02))
    monkeypatch.setattr(server_process, "LAST_WORDS_SECONDS", LIMIT)


@pytest.fixture
def program(tmp_path: Path) -> Callable[..., list[str]]:
    """Writes a program down; the command that runs it."""

    def write(source: str, *arguments: object, name: str = "child.py") -> list[str]:
        path = tmp_path / name
        path.write_text(textwrap.dedent(source))
        return [sys.executable, "-u", str(path), *map(str, arguments)]

    return write


def exists(path: Path) -> Callable[[], Awaitable[bool]]:
    async def ready() -> bool:
        return path.exists()  # noqa: ASYNC240

    return ready


async def never() -> bool:
    return False


async def until(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(LIMIT):
        while not condition():
            await asyncio.sleep(0.01)


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@asynccontextmanager
async def running(command: list[str], **settings: Any) -> AsyncIterator[ServerProcess]:
    process = ServerProcess(command, **{"ready_seconds": LIMIT, **settings})
    try:
        await process.start()
        yield process
    finally:
        await process.stop()
