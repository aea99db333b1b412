"""All lines of the process are JSON, and none shows what a request may have held."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import aiohttp
import asyncpg
import pytest

from tests.databases import postgres_url
from tests.limits import LIMIT
from tests.proxy.served import serve

__all__ = ["postgres_url"]

HIDDEN = "what was sent"
LIBRARY = 'logging.getLogger("some.library")'
SAID = {
    "an error of a library": f'{LIBRARY}.error("lost %s", hidden)',
    "a library's traceback": f"""
try:
    raise LookupError(hidden)
except LookupError:
    {LIBRARY}.exception("lost " + hidden)
""",
    "a warning": "warnings.warn(hidden)",
    "a thread": "thread = threading.Thread(target=fail); thread.start(); thread.join()",
    "what is thrown away": """
class Thrown:
    def __del__(self):
        fail()
Thrown()
""",
    "a callback of the event loop": """
async def run():
    log_loop_errors(asyncio.get_running_loop())
    asyncio.get_running_loop().call_soon(fail)
    await asyncio.sleep(0.01)
asyncio.run(run())
""",
    "a task that nobody waits for": """
async def run():
    log_loop_errors(asyncio.get_running_loop())
    async def go():
        fail()
    asyncio.create_task(go())
    await asyncio.sleep(0.01)
asyncio.run(run())
""",
    "arguments that do not fit": 'logging.getLogger("inferdpt.x").error("%d", hidden)',
    "the end of the process": "fail()",
}
PROGRAM = """
import asyncio, logging, threading, warnings
from proxy.logs import configure_logging, log_loop_errors

hidden = " ".join(["what", "was", "sent"])
def fail():
    raise LookupError(hidden)
configure_logging()
"""


@pytest.mark.parametrize("name", SAID)
def test_every_line_is_json_without_text(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + SAID[name]],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        cwd=Path(__file__).parents[2],
    )
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert all(set(line) == {"time", "level", "message"} for line in lines)
    assert HIDDEN not in done.stderr
    if name != "arguments that do not fit":  # that line is lost
        assert lines
    if "library" not in name and "warning" not in name and lines:
        assert "LookupError" in lines[-1]["message"]


@pytest.mark.parametrize("comes_back", [True, False])
async def test_a_database_that_lets_nobody_in_leaves_lines_of_json(
    postgres_url: str, comes_back: bool
) -> None:
    """The driver's pool tries to connect again, and reports every failure with a traceback."""
    name = postgres_url.rpartition("/")[2]
    server = postgres_url.replace("+asyncpg", "").removesuffix(name) + "postgres"
    secret = {"INFERDPT_SECRET": "5a" * 32, "INFERDPT_STORE__URL": postgres_url}
    async with serve(**secret) as served, aiohttp.ClientSession() as session:
        root = served.base_url.removesuffix("/v1")
        admin = await asyncpg.connect(server)
        try:
            await admin.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
            ended = await admin.fetchval(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = $1",
                name,
            )
            assert ended > 0
            for path, status in (("/ready", 503), ("/v1/privacy/ledger", 503), ("/health", 200)):
                async with session.get(root + path) as response:
                    assert response.status == status
            if comes_back:
                await admin.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
                async with session.get(f"{root}/ready") as response:
                    assert response.status == 200
        finally:
            await admin.close()
        status, _, log = await served.end()
    assert status == 0
    lines = [json.loads(line) for line in log.splitlines()]
    assert [line for line in lines if line.get("status") == 503]
