"""`inferdpt serve --workers 2`: one service of several processes, until the last of them ends."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import aiohttp
import psutil
import pytest

from proxy.access.auth import Grant, Keyring
from proxy.config.server import Server
from proxy.config.settings import Config
from proxy.config.store import StoreSettings as Settings
from proxy.metrics import Metrics
from proxy.storage.opening import open_store
from proxy.workers import supervisor
from tests.limits import LIMIT
from tests.proxy.conftest import MODEL
from tests.proxy.served import Served, serve
from tests.proxy.storage.reports import WORDS, report
from tests.servers import FakeServer, hang

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="several workers need Linux")

MANY = 24  # connections: all reach one of two workers less than once in ten million times
LDP = ("--mechanism", "rantext_ldp", "--epsilon", "1")


@asynccontextmanager
async def service(state: Path, *arguments: str, **over: Any) -> AsyncIterator[Served]:
    """Run two workers with a state of their own, on the private text alone.

    Either may ask the remote all that is sent at once: the kernel does not share out evenly.
    """
    found = {"INFERDPT_STATE_DIR": str(state), "TMPDIR": str(state), **over}
    found.setdefault("INFERDPT_REMOTE__CONCURRENCY", str(2 * MANY))
    await asyncio.to_thread(state.mkdir, parents=True, exist_ok=True)
    async with serve("--workers", "2", *LDP, *arguments, **found) as served:
        yield served


@pytest.mark.parametrize("port", [None, 9])
def test_a_worker_has_its_share_under_a_changed_configuration_too(port: int | None) -> None:
    """The local model, too, is asked by all workers together as often as by one."""
    given = {"server": {"workers": 2}, "local": {"mode": "external", "concurrency": 8}}
    before = Config.model_validate(given)
    plan = supervisor._Plan(before, SimpleNamespace(metrics=Metrics()), port)
    shares = [plan.own.local]
    plan.change(Config.model_validate({**given, "limits": {"choices": 3}}))
    shares.append(plan.own.local)
    assert [share.concurrency for share in shares] == [4, 4]
    assert plan.own.limits.choices == 3
    assert all(share.base_url.endswith(":9/v1") == (port is not None) for share in shares)


def find_workers(served: Served) -> list[psutil.Process]:
    return psutil.Process(served.process.pid).children()


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT):
        while not holds():
            await asyncio.sleep(0.02)


def chat(text: str, opening: str = "Be brief.") -> dict[str, Any]:
    system = {"role": "system", "content": f"<public>{opening}</public>"}
    return {"model": MODEL, "messages": [system, {"role": "user", "content": text}]}


async def post(served: Served, body: dict[str, Any], key: str = "x") -> tuple[int, Any]:
    """Send a request over a connection of its own."""
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(f"{served.base_url}/chat/completions", json=body) as response,
    ):
        return response.status, await response.json()


async def get(served: Served, path: str) -> str:
    root = served.base_url.removesuffix("/v1")
    async with aiohttp.ClientSession() as session, session.get(root + path) as response:
        assert response.status == 200
        return await response.text()


async def count(served: Served, name: str) -> float:
    """Return a sample on the page of whichever worker answers."""
    page = await get(served, "/metrics")
    return next(float(line.split()[-1]) for line in page.splitlines() if line.startswith(name))


async def wait_until_idle(served: Served) -> None:
    """Wait until only the question itself is being served."""
    async with asyncio.timeout(LIMIT):
        while await count(served, "inferdpt_requests_in_flight") != 1:
            await asyncio.sleep(0.02)


def list_counts(state: Path) -> list[Path]:
    """Return the folders in which workers count."""
    return list(state.glob("inferdpt-*"))


def released(remote: FakeServer) -> list[str]:
    return [body["messages"][-1]["content"] for body in remote.bodies]


async def test_it_starts_once_and_both_workers_serve(tmp_path: Path) -> None:
    async with service(tmp_path) as served:
        assert served.line.count("inferdpt: base_url") == 1
        assert "| 2 workers" in served.line
        served.remote.behaviour = hang
        jobs = [asyncio.create_task(post(served, chat(report(i)))) for i in range(MANY)]
        await until(lambda: len(served.remote.bodies) == MANY)
        port = int(served.base_url.removesuffix("/v1").rpartition(":")[2])
        for worker in find_workers(served):
            open_ = [c for c in worker.net_connections("tcp") if c.status == "ESTABLISHED"]
            assert any(connection.laddr.port == port for connection in open_)
        served.remote.release.set()
        assert {status for status, _ in await asyncio.gather(*jobs)} == {200}
        status, out, log = await served.end()
    assert (status, out) == (0, "")
    assert {json.loads(line)["message"] for line in log.splitlines()} == {"request"}


async def test_a_text_sent_to_both_at_once_is_released_once(tmp_path: Path) -> None:
    async with service(tmp_path) as served:
        for number in range(4):
            body = chat(report(number))
            answers = await asyncio.gather(*(post(served, body) for _ in range(MANY)))
            assert {status for status, _ in answers} == {200}
            assert len(set(released(served.remote)[-MANY:])) == 1
        totals = json.loads(await get(served, "/v1/privacy/ledger"))["total"]
    assert totals["requests"] == 4 * MANY
    assert totals["tokens"] == 4 * WORDS


async def test_workers_draw_on_their_own(tmp_path: Path) -> None:
    """Forked processes that shared the state of a generator would draw the same noise."""
    config = tmp_path / "config.yaml"
    config.write_text("memo: {scope: conversation}")
    async with service(tmp_path / "state", "--config", str(config)) as served:
        text = " ".join(report(number) for number in range(5))
        bodies = [chat(text, f"opening {number}") for number in range(MANY)]
        await asyncio.gather(*(post(served, body) for body in bodies))
        assert len(set(released(served.remote))) == MANY


@pytest.mark.parametrize("place", ["", "store"])
async def test_a_rate_limit_holds_across_workers(tmp_path: Path, place: str) -> None:
    async with open_store(Settings(folder=str(tmp_path))) as store:
        grant = Grant(requests_per_minute=0.01, burst=6)
        _, key = await Keyring(store, Server()).create("alice", grant)
    over = {"INFERDPT_LIMITS__SHARED": place} if place else {}
    async with service(tmp_path, **over) as served:
        found = await asyncio.gather(*(post(served, chat(report(i)), key) for i in range(MANY)))
        assert sorted(status for status, _ in found) == [200] * 6 + [429] * (MANY - 6)
        assert len(served.remote.bodies) == 6


async def test_metrics_add_up_and_survive_a_killed_worker(tmp_path: Path) -> None:
    name = 'inferdpt_requests_total{path="/v1/chat/completions",status="200"}'
    stages = 'inferdpt_stage_seconds_count{stage="remote"}'
    async with service(tmp_path) as served:
        await asyncio.gather(*(post(served, chat(report(i))) for i in range(MANY)))
        await wait_until_idle(served)  # a request is counted after its answer
        for _ in range(6):  # whichever worker answers
            assert await count(served, name) == await count(served, stages) == MANY
        served.remote.behaviour = hang
        hanging = [asyncio.create_task(post(served, chat("More text."))) for _ in range(MANY)]
        await until(lambda: len(served.remote.bodies) == 2 * MANY)
        victim = find_workers(served)[0]
        victim.kill()
        outcomes = asyncio.gather(*hanging, return_exceptions=True)
        await until(lambda: victim.pid not in [w.pid for w in find_workers(served)])
        await until(lambda: len(find_workers(served)) == 2)
        served.remote.release.set()
        served.remote.behaviour = None
        answered = [one for one in await outcomes if not isinstance(one, Exception)]
        assert 0 < len(answered) < MANY  # the other worker's
        await asyncio.gather(*(post(served, chat(report(i))) for i in range(MANY)))
        await wait_until_idle(served)
        assert await count(served, name) == 2 * MANY + len(answered)
        assert await count(served, "inferdpt_worker_restarts_total") == 1
        status, _, log = await served.end()
    assert status == 0
    assert "ended with signal 9 and is started again" in log


async def test_a_stop_drains_all_workers(tmp_path: Path) -> None:
    async with service(tmp_path) as served:
        served.remote.behaviour = hang
        jobs = [asyncio.create_task(post(served, chat(report(i)))) for i in range(MANY)]
        await until(lambda: len(served.remote.bodies) == MANY)
        ending = asyncio.create_task(served.end())
        async with asyncio.timeout(LIMIT):
            while True:  # no new connection is taken from here on
                try:
                    await get(served, "/health")
                except aiohttp.ClientConnectionError:
                    break
                await asyncio.sleep(0.02)
        served.remote.release.set()
        assert {status for status, _ in await asyncio.gather(*jobs)} == {200}
        assert (await ending)[0] == 0


async def test_one_local_server_for_all_which_ends_with_a_killed_supervisor(
    tmp_path: Path,
) -> None:
    pytest.importorskip("xllamacpp")
    async with service(tmp_path, own_local=True) as served:
        assert "local embedded" in served.line
        children = psutil.Process(served.process.pid).children(recursive=True)
        models = [c for c in children if "extraction.backends.llama_server" in c.cmdline()]
        assert len(models) == 1
        assert (await post(served, chat(report(1))))[0] == 200
        assert len(list_counts(tmp_path)) == 1
        served.process.kill()
        await until(lambda: not any(child.is_running() for child in children))
    assert list_counts(tmp_path) == []


async def test_a_worker_that_cannot_come_back_ends_the_service(tmp_path: Path) -> None:
    async with service(tmp_path) as served:
        (tmp_path / "secret").chmod(0o644)
        find_workers(served)[0].kill()
        out, err = await asyncio.wait_for(served.process.communicate(), LIMIT)
    assert served.process.returncode == 2
    assert b"mode must be 0600" in err.splitlines()[-1]
    assert b"Traceback" not in out + err


async def test_no_worker_makes_a_new_database(tmp_path: Path) -> None:
    """Budgets would start anew in it."""
    async with service(tmp_path) as served:
        (tmp_path / "inferdpt.db").rename(tmp_path / "elsewhere.db")
        find_workers(served)[0].kill()
        _, err = await asyncio.wait_for(served.process.communicate(), LIMIT)
    assert served.process.returncode == 2
    assert b"was deleted or replaced" in err
    assert not (tmp_path / "inferdpt.db").exists()


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--host", "0.0.0.0"), "server.keys"),
        (("--mechanism", "rot13"), "mechanism must be one of"),
        (("--workers", "0"), "server.workers: Input should be greater"),
        (("--workers", "65"), "server.workers must be <= "),
    ],
)
async def test_what_cannot_be_served_is_said_and_exits_2(
    tmp_path: Path, arguments: tuple[str, ...], word: str
) -> None:
    command = (sys.executable, "-m", "proxy.cli.main", "serve", "--config", os.devnull)
    process = await asyncio.create_subprocess_exec(
        *(*command, "--workers", "2", "--port", "0", *arguments),
        env={**os.environ, "INFERDPT_STATE_DIR": str(tmp_path)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), LIMIT)
    assert (process.returncode, out) == (2, b"")
    assert word in err.decode()
    assert "Traceback" not in err.decode()


async def test_ctrl_c_is_a_stop(tmp_path: Path) -> None:
    """A terminal sends it to every process of the group."""
    async with service(tmp_path) as served:
        for process in (psutil.Process(served.process.pid), *find_workers(served)):
            process.send_signal(signal.SIGINT)
        out, err = await asyncio.wait_for(served.process.communicate(), LIMIT)
    assert (served.process.returncode, out, err) == (0, b"", b"")
