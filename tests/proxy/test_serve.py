"""`inferdpt serve` and `demo` as processes: ready soon, small, quiet, and gone when told."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import aiohttp
import openai
import psutil
import pytest

from proxy.serve import prepare_threads
from tests.extraction.local_servers import unused_port
from tests.limits import LIMIT
from tests.proxy.conftest import MODEL
from tests.proxy.served import serve
from tests.servers import hang

MEMORY = 250 * 2**20  # bytes
MESSAGES: list[dict[str, Any]] = [{"role": "user", "content": "The board met on Monday morning."}]


async def test_it_starts_without_any_file_and_prints_its_base_url() -> None:
    async with serve("--mechanism", "rantext_ldp", "--epsilon", "8") as served:
        assert served.line.startswith("inferdpt: base_url http://127.0.0.1:")
        assert "rantext_ldp, ε = 8; guarantee=ldp" in served.line
        async with openai.AsyncOpenAI(base_url=served.base_url, api_key="x") as client:
            done = await client.chat.completions.create(model=MODEL, messages=MESSAGES)
        assert done.model_extra["inferdpt"]["mechanism"] == "rantext_ldp"
        assert b"Bearer sk-operator" in served.remote.received[-1]
        assert b"sk-operator" not in served.local.received[-1]
        status, _, log = await served.end()
        assert status == 0
        (line,) = [json.loads(line) for line in log.splitlines()]
        assert line["path"] == "/v1/chat/completions"
        assert line["released"] == 6
        assert "Monday" not in log


async def test_it_warns_of_what_would_fail_the_first_request() -> None:
    """The ready line comes first: no probe delays or prevents a start."""
    gone = f"http://127.0.0.1:{unused_port()}/v1"
    arguments = ("--remote-base-url", gone, "--local-base-url", gone)
    async with serve(*arguments, OPENAI_API_KEY="") as served:
        assert served.line.startswith("inferdpt: base_url ")
        async with (
            aiohttp.ClientSession() as session,
            session.get(served.base_url.removesuffix("/v1") + "/health") as response,
        ):
            assert response.status == 200
        await served.wait_for_log('"remote: ', '"local: ')
        status, _, log = await served.end()
    assert status == 0
    told = [json.loads(line) for line in log.splitlines()]
    warnings = [line["message"] for line in told if line["level"] == "warning"]
    assert [line.split(":")[0] for line in warnings] == ["remote", "local"]
    assert "cannot be reached" in warnings[0]
    assert all(gone in line for line in warnings)


async def test_it_warns_of_a_missing_key() -> None:
    nowhere = "http://remote.invalid/v1"
    async with serve("--remote-base-url", nowhere, OPENAI_API_KEY="", NO_PROXY="*") as served:
        await served.wait_for_log("no key; set OPENAI_API_KEY")
        status, _, log = await served.end()
    assert status == 0
    assert "no key; set OPENAI_API_KEY" in log


async def test_it_stays_small_under_load() -> None:
    async with serve() as served:
        async with openai.AsyncOpenAI(base_url=served.base_url, api_key="x") as client:
            for i in range(20):
                text = f"Report number {i}: the board met on Monday morning. " * 200
                await client.chat.completions.create(
                    model=MODEL, messages=[{"role": "user", "content": text}]
                )
        assert psutil.Process(served.process.pid).memory_info().rss < MEMORY


async def test_a_stop_drains_running_requests() -> None:
    async with serve() as served:
        served.remote.behaviour = hang
        async with openai.AsyncOpenAI(base_url=served.base_url, api_key="x") as client:
            job = asyncio.create_task(
                client.chat.completions.create(model=MODEL, messages=MESSAGES)
            )
            await served.remote.started.wait()
            ending = asyncio.create_task(served.end())
            while True:  # no new connection is taken from here on
                try:
                    async with (
                        aiohttp.ClientSession() as session,
                        session.get(served.base_url.removesuffix("/v1") + "/health"),
                    ):
                        pass
                except aiohttp.ClientConnectionError:
                    break
                await asyncio.sleep(0.02)
            served.remote.release.set()
            done = await asyncio.wait_for(job, LIMIT)
        assert done.choices[0].message.content
        assert (await ending)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--host", "0.0.0.0"), "server.keys"),
        (("--mechanism", "rot13"), "mechanism must be one of"),
        (("--epsilon", "-2"), "epsilon must be > 0"),
    ],
)
async def test_what_cannot_be_served_is_said_and_exits_2(
    arguments: tuple[str, ...], word: str
) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "proxy.cli.main", "serve", "--config", os.devnull, *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), LIMIT)
    assert process.returncode == 2
    assert out == b""
    assert word in err.decode()
    assert "Traceback" not in err.decode()


def test_threads_that_compute_let_the_event_loop_have_its_turn_sooner() -> None:
    before = sys.getswitchinterval()
    try:
        prepare_threads()
        assert sys.getswitchinterval() < before / 2
    finally:
        sys.setswitchinterval(before)


FIRST_TEXT = """
import asyncio, gc, sys
from proxy.access.auth import Client
from proxy.api.app_keys import PIPELINE, POLICY
from proxy.app import build_app
from proxy.config.settings import load_config
from proxy.requests.protocol import Options
from proxy.serve import start_runner, while_running

async def main():
    settings = {
        "server": {"port": 0},
        "local": {"mode": "none"},
        "privacy": {"mechanism": "selective"},
        "store": {"folder": sys.argv[1]},
        "remote": {"base_url": "http://127.0.0.1:9/v1", "models": {"m": "m"}},
    }
    config = load_config(None, settings)
    app = build_app(config)
    async with while_running(app, lambda runner: start_runner(runner, config)):
        text = "Hello, Jonas Bergmann of Lindqvist AG in Hamburg owes me 30 euros."
        await app[PIPELINE].preview(text, app[POLICY].sanitizer(Options()), Client("t"))
        known = (each for each in gc.get_objects() if isinstance(each, (frozenset, list, set)))
        print(max(map(len, known)))

asyncio.run(main())
"""


async def test_the_first_text_loads_no_lists_that_are_collected_over(tmp_path: Path) -> None:
    """Collections of garbage look at all that was loaded since the proxy is ready."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", FIRST_TEXT, str(tmp_path), stdout=pipe, stderr=pipe
    )
    out, err = await asyncio.wait_for(process.communicate(), LIMIT)
    assert process.returncode == 0, err.decode()
    assert int(out) < 1000
