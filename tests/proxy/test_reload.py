"""A running proxy reads its file again: all of it or nothing, and no request notices."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import openai
import psutil
import pytest
import yaml

from proxy.cli.main import main
from proxy.config.settings import load_config
from proxy.errors import ConfigError
from proxy.reload import read_again
from tests.limits import LIMIT
from tests.proxy.conftest import MODEL
from tests.proxy.served import Served, serve
from tests.servers import hang_mid_stream

WORKERS = pytest.mark.parametrize(
    "workers",
    [
        1,
        pytest.param(
            2, marks=pytest.mark.skipif(sys.platform != "linux", reason="workers need Linux")
        ),
    ],
)
MANY = 24  # connections: all reach one of two workers less than once in ten million times
DONE, REFUSED = "the configuration is reloaded", "the reload is refused"
BASE: dict[str, Any] = {
    "local": {"mode": "none"},
    "privacy": {"mechanism": "selective", "parameters": {"deny": ["Bluebird"]}},
}


def key_of(tenant: str) -> dict[str, str]:
    return {"tenant": tenant, "sha256": hashlib.sha256(tenant.encode()).hexdigest()}


def with_keys(*tenants: str, **sections: Any) -> dict[str, Any]:
    return {**BASE, "server": {"keys": [key_of(tenant) for tenant in tenants]}, **sections}


@dataclass
class Reloadable:
    served: Served
    path: Path

    async def reload(self, text: str | dict[str, Any], said: str) -> str:
        """Change the file, ask for a reload by a signal, and return the line that it logs."""
        spelled = text if isinstance(text, str) else yaml.safe_dump(text)
        await asyncio.to_thread(self.path.write_text, spelled)
        self.served.logged.clear()
        self.served.process.send_signal(signal.SIGHUP)
        await self.served.wait_for_log(said)
        line = next(line for line in self.served.logged if said in line)
        message: str = json.loads(line)["message"]
        return message

    async def post(self, text: str, key: str = "x", **fields: Any) -> int:
        """Send a chat over a connection of its own, and return the status."""
        async with aiohttp.ClientSession() as session:
            return await chat(session, self.served, text, key, **fields)

    async def settle(self, key: str, status: int) -> None:
        """Wait until whichever worker is asked answers a key with a status."""
        async with asyncio.timeout(LIMIT):
            while True:
                asked = [self.post("The board met.", key) for _ in range(MANY)]
                if set(await asyncio.gather(*asked)) == {status}:
                    return


async def chat(
    session: aiohttp.ClientSession, served: Served, text: str, key: str, **fields: Any
) -> int:
    body = {"model": MODEL, "messages": [{"role": "user", "content": text}], **fields}
    headers = {"Authorization": f"Bearer {key}"}
    url = f"{served.base_url}/chat/completions"
    async with session.post(url, json=body, headers=headers) as response:
        await response.read()
        return response.status


@asynccontextmanager
async def service(
    folder: Path, settings: dict[str, Any], *arguments: str, workers: int = 1
) -> AsyncIterator[Reloadable]:
    path = folder / "config.yaml"
    await asyncio.to_thread(path.write_text, yaml.safe_dump(settings))
    words = ("--config", str(path), "--workers", str(workers), *arguments)
    env = {"TMPDIR": str(folder), "INFERDPT_REMOTE__CONCURRENCY": str(2 * MANY)}
    async with serve(*words, own_local=True, **env) as served:
        yield Reloadable(served, path)


@WORKERS
async def test_keys_of_the_file_come_and_go(workers: int, tmp_path: Path) -> None:
    async with service(tmp_path, with_keys("alice", "bob"), workers=workers) as proxy:
        assert [await proxy.post("The board met.", k) for k in ("alice", "bob", "carol")] == [
            *(200, 200, 401)
        ]
        said = await proxy.reload(with_keys("alice", "carol"), DONE)
        assert said == f"{DONE}; changed: server.keys"
        await proxy.settle("carol", 200)
        await proxy.settle("bob", 401)
        await proxy.settle("alice", 200)
        await proxy.reload(BASE, DONE)  # no key is left, which opens nothing
        await proxy.settle("alice", 401)
        await proxy.settle("nobody", 401)
        status, _, log = await proxy.served.end()
    assert status == 0
    assert hashlib.sha256(b"carol").hexdigest() not in log


@WORKERS
async def test_a_first_key_closes_an_open_proxy(workers: int, tmp_path: Path) -> None:
    async with service(tmp_path, BASE, workers=workers) as proxy:
        await proxy.settle("x", 200)
        await proxy.reload(with_keys("alice"), DONE)
        await proxy.settle("x", 401)
        await proxy.settle("alice", 200)


@WORKERS
async def test_a_file_that_cannot_be_used_changes_nothing(workers: int, tmp_path: Path) -> None:
    deny = {"mechanism": "selective", "parameters": {"deny": ["Kestrel"]}}
    async with service(tmp_path, with_keys("alice"), workers=workers) as proxy:
        for broken, word in (
            ("server: [", "config.yaml"),
            (yaml.safe_dump({**with_keys("bob"), "limit": {}}), "limit: unknown key"),
            (yaml.safe_dump(with_keys("bob", limits={"choices": 0})), "limits.choices"),
            (
                yaml.safe_dump(with_keys("bob", privacy={**deny, "certificates": ["/nowhere"]})),
                "/nowhere",
            ),
            # what needs a restart, beside what does not
            (yaml.safe_dump(with_keys("bob", memo={"rows": 5}, privacy=deny)), "memo: needs a"),
        ):
            said = await proxy.reload(broken, REFUSED)
            assert word in said
            assert "the earlier configuration stays in force" in said
        await proxy.settle("alice", 200)
        await proxy.settle("bob", 401)
        assert not any(b"Kestrel" in sent for sent in proxy.served.remote.received)
        await proxy.post("The project Kestrel met with Bluebird.", "alice")
        assert b"Kestrel" in proxy.served.remote.received[-1]  # the earlier list is in force
        assert b"Bluebird" not in proxy.served.remote.received[-1]


async def test_a_file_without_changes_is_put_in_force_again(tmp_path: Path) -> None:
    async with service(tmp_path, BASE) as proxy:
        assert await proxy.reload(BASE, DONE) == f"{DONE}; changed: no setting"
        assert await proxy.post("The board met.") == 200


def test_without_a_file_there_is_nothing_to_read() -> None:
    config = load_config(None)
    with pytest.raises(ConfigError, match="started without a configuration file"):
        read_again(None, config)


@WORKERS
async def test_an_open_stream_ends_as_it_began(workers: int, tmp_path: Path) -> None:
    async with service(tmp_path, with_keys("alice"), workers=workers) as proxy:
        remote = proxy.served.remote
        remote.behaviour = hang_mid_stream
        body = {
            "model": MODEL,
            "stream": True,
            "messages": [{"role": "user", "content": "The board met."}],
        }
        async with (
            aiohttp.ClientSession(headers={"Authorization": "Bearer alice"}) as session,
            session.post(f"{proxy.served.base_url}/chat/completions", json=body) as response,
        ):
            first = await response.content.readuntil(b"One ")
            await proxy.reload(with_keys("bob", limits={"choices": 1}), DONE)
            remote.behaviour = None
            await proxy.settle("alice", 401)
            await proxy.settle("bob", 200)
            remote.release.set()
            rest = await response.content.read()
        assert b"One " in first
        assert rest.rstrip().endswith(b"data: [DONE]")
        assert b'"finish_reason":"stop"' in rest
        assert b'"error"' not in rest


@WORKERS
async def test_no_request_fails_during_reloads_and_each_sees_one_configuration(
    workers: int, tmp_path: Path
) -> None:
    lists = [["Bluebird"], ["Kestrel"]]
    stop = asyncio.Event()
    statuses: list[int] = []

    async def load(proxy: Reloadable, name: str) -> None:
        async with aiohttp.ClientSession() as session:  # keeps its connection
            number = 0
            while not stop.is_set():
                text = f"In {name}{number} the projects Bluebird and Kestrel met."
                statuses.append(await chat(session, proxy.served, text, "x"))
                number += 1

    async with service(tmp_path, BASE, workers=workers) as proxy:
        jobs = [asyncio.create_task(load(proxy, letter)) for letter in "abcdef"]
        for round_ in range(10):
            privacy = {"mechanism": "selective", "parameters": {"deny": lists[(round_ + 1) % 2]}}
            limits = {"concurrent_requests": 4 + round_ % 3, "choices": 1 + round_ % 2}
            await proxy.reload({**BASE, "privacy": privacy, "limits": limits}, DONE)
            before = len(statuses)
            async with asyncio.timeout(LIMIT):
                while len(statuses) < before + 12:
                    await asyncio.sleep(0.01)
        stop.set()
        await asyncio.gather(*jobs)
        sent = [
            str(body["messages"][-1]["content"])
            for body in proxy.served.remote.bodies
            if "messages" in body
        ]
    assert set(statuses) == {200}
    assert len(sent) == len(statuses) >= 120
    hidden = [("Bluebird" in text, "Kestrel" in text) for text in sent]
    assert set(hidden) == {(False, True), (True, False)}


@pytest.mark.skipif(sys.platform != "linux", reason="workers need Linux")
async def test_a_worker_that_is_started_again_has_the_new_configuration(tmp_path: Path) -> None:
    async with service(tmp_path, with_keys("alice"), workers=2) as proxy:
        await proxy.reload(with_keys("bob"), DONE)
        await proxy.settle("bob", 200)
        for child in psutil.Process(proxy.served.process.pid).children():
            child.kill()
        await proxy.served.wait_for_log("worker-0 ended", "worker-1 ended")
        async with asyncio.timeout(LIMIT):
            while True:
                with contextlib.suppress(aiohttp.ClientError):
                    assert await proxy.post("The board met.", "bob") == 200
                    break
        await proxy.settle("bob", 200)
        await proxy.settle("alice", 401)


async def test_lines_of_batches_follow(tmp_path: Path) -> None:
    batches = {"batches": {"enabled": True}}
    privacy = {"mechanism": "selective", "parameters": {"deny": ["Kestrel"]}}
    body = {"model": MODEL, "messages": [{"role": "user", "content": "Kestrel met Bluebird."}]}
    line = {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": body}
    async with service(tmp_path, {**BASE, **batches}) as proxy:
        await proxy.reload({**BASE, **batches, "privacy": privacy}, DONE)
        async with openai.AsyncOpenAI(base_url=proxy.served.base_url, api_key="x") as client:
            data = ("lines.jsonl", json.dumps(line).encode())
            file = await client.files.create(file=data, purpose="batch")
            batch = await client.batches.create(
                input_file_id=file.id,
                endpoint="/v1/chat/completions",
                completion_window="24h",
            )
            async with asyncio.timeout(LIMIT):
                while batch.status != "completed":
                    assert batch.status != "failed"
                    batch = await client.batches.retrieve(batch.id)
        (sent,) = proxy.served.remote.bodies
    content = sent["messages"][-1]["content"]
    assert ("Kestrel" in content, "Bluebird" in content) == (False, True)


async def test_the_level_of_the_log_changes(tmp_path: Path) -> None:
    quiet = with_keys("alice", telemetry={"log_level": "error"})
    async with service(tmp_path, BASE) as proxy:
        await proxy.post("The board met.")
        await proxy.served.wait_for_log('"message":"request"')
        await asyncio.to_thread(proxy.path.write_text, yaml.safe_dump(quiet))
        proxy.served.process.send_signal(signal.SIGHUP)
        await proxy.settle("alice", 200)
        await proxy.reload("server: [", REFUSED)  # an error is still logged
        assert await proxy.post("The board met.", "alice") == 200
        proxy.served.logged.clear()
        _, _, log = await proxy.served.end()
    assert '"message":"request"' not in log


@WORKERS
async def test_without_its_terminal_it_ends(tmp_path: Path, workers: int) -> None:
    ours, theirs = os.openpty()
    await asyncio.to_thread((tmp_path / "config.yaml").write_text, yaml.safe_dump(BASE))
    words = ("--config", str(tmp_path / "config.yaml"), "--workers", str(workers))
    async with serve(*words, own_local=True, stdin=theirs, TMPDIR=str(tmp_path)) as served:
        served.process.send_signal(signal.SIGHUP)
        await served.wait_for_log(DONE)
        os.close(ours)
        served.process.send_signal(signal.SIGHUP)
        assert await asyncio.wait_for(served.process.wait(), LIMIT) == 0
    os.close(theirs)


class TestCommand:
    async def test_without_a_file_it_finds_the_only_proxy(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
    ) -> None:
        (elsewhere := tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(elsewhere)
        assert await asyncio.to_thread(main, ["reload"]) == 2
        assert "proxies with 0 files run here" in capsys.readouterr().err
        async with service(tmp_path, BASE) as proxy:
            assert await asyncio.to_thread(main, ["reload"]) == 0
            await proxy.served.wait_for_log(DONE)

    async def test_it_finds_the_proxy_by_its_file(self, tmp_path: Path, capsys: Any) -> None:
        async with service(tmp_path, BASE) as proxy:
            arguments = ["reload", "--config", str(proxy.path)]
            await asyncio.to_thread(proxy.path.write_text, yaml.safe_dump(with_keys("alice")))
            assert await asyncio.to_thread(main, arguments) == 0
            assert f"process {proxy.served.process.pid} reads" in capsys.readouterr().out
            await proxy.served.wait_for_log(DONE)
            await proxy.settle("x", 401)

            await asyncio.to_thread(proxy.path.write_text, "limit: {}")
            assert await asyncio.to_thread(main, arguments) == 2  # before anybody is asked
            assert "limit: unknown key" in capsys.readouterr().err

            other = tmp_path / "other.yaml"
            await asyncio.to_thread(other.write_text, yaml.safe_dump(BASE))
            assert await asyncio.to_thread(main, ["reload", "--config", str(other)]) == 2
            assert "no proxy that was started with" in capsys.readouterr().err

            await asyncio.to_thread(proxy.path.write_text, yaml.safe_dump(BASE))
            proxy.served.process.kill()  # which leaves its file behind
            await proxy.served.process.wait()
            assert await asyncio.to_thread(main, arguments) == 2
            assert "no proxy that was started with" in capsys.readouterr().err
