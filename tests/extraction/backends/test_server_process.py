"""The supervisor of a local server: starting it, and bringing it back when it dies."""

from __future__ import annotations

import asyncio
import logging
import os
import signal

import pytest

from extraction.backends.openai_server import OpenAIServer
from extraction.backends.server_process import ServerProcess
from extraction.errors import LocalModelUnavailable
from proxy.local import find_free_port
from tests.extraction.programs import (
    CANARY,
    MARK_AND_SLEEP,
    SERVER,
    alive,
    exists,
    never,
    program,
    quick,
    running,
    until,
)
from tests.limits import LIMIT

__all__ = ["program", "quick"]


async def test_start_returns_when_the_server_is_ready(program, tmp_path):
    mark = tmp_path / "ready"
    async with running(program(MARK_AND_SLEEP, mark), ready=exists(mark)) as process:
        assert mark.exists()
        assert process.pid is not None
        assert alive(process.pid)
        pid = process.pid
    assert process.pid is None
    assert not alive(pid)


async def test_environment_is_laid_over_this_process_own(program, tmp_path, monkeypatch):
    monkeypatch.setenv("INHERITED", "kept")
    monkeypatch.setenv("OVERLAID", "old")
    source = """
        import os, pathlib, sys, time
        told = os.environ["INHERITED"] + os.environ["OVERLAID"]
        made = pathlib.Path(sys.argv[1] + ".part")
        made.write_text(told)
        made.rename(sys.argv[1])
        time.sleep(600)
    """
    told = tmp_path / "told"
    async with running(program(source, told), ready=exists(told), env={"OVERLAID": "new"}):
        assert told.read_text() == "keptnew"


async def test_exit_before_ready_is_explained_by_status_and_last_lines(program):
    source = """
        import sys
        for i in range(100):
            print("line", i)
        print("no such model", file=sys.stderr)
        sys.exit(3)
    """
    command = program(source)
    process = ServerProcess(command, ready=never, ready_seconds=LIMIT)
    with pytest.raises(LocalModelUnavailable) as failed:
        await process.start()
    message = str(failed.value)
    assert " ".join(command) in message
    assert "exited with status 3" in message
    assert message.endswith("line 98\nline 99\nno such model")
    assert "line 50\n" not in message
    assert process.pid is None


async def test_lines_are_told_whole_though_they_arrive_in_pieces(program):
    source = """
        import os, sys, time
        for piece in (b"no su", b"ch model: caf\\xc3", b"\\xa9\\nthe ", b"end"):
            os.write(1, piece)
            time.sleep(0.02)
        os.write(1, b"." * 100_000)
        sys.exit(1)
    """
    process = ServerProcess(program(source), ready=never, ready_seconds=LIMIT)
    with pytest.raises(LocalModelUnavailable, match="no such model: café\n") as failed:
        await process.start()
    assert len(str(failed.value)) < 5000


async def test_server_not_ready_in_time_is_stopped_and_its_output_told(program, tmp_path):
    source = """
        import os, pathlib, sys, time
        print("still loading")
        pathlib.Path(sys.argv[1]).write_text(str(os.getpid()))
        time.sleep(600)
    """
    told = tmp_path / "pid"
    asked = []

    async def ready() -> bool:
        asked.append(told.exists() and told.read_text())
        return False

    process = ServerProcess(program(source, told), ready=ready, ready_seconds=1.5)
    with pytest.raises(LocalModelUnavailable, match=r"not ready within 1\.5 s") as failed:
        await process.start()
    assert len(asked) > 1
    assert process.pid is None
    if told.exists():
        assert not alive(int(told.read_text()))
    if asked[-1]:
        assert str(failed.value).endswith("still loading")


async def test_program_that_is_not_there_is_told_by_name():
    process = ServerProcess(["/no/such/program", "x"], ready=never, ready_seconds=LIMIT)
    with pytest.raises(LocalModelUnavailable, match="/no/such/program"):
        await process.start()
    await process.stop()


async def test_cancelled_start_leaves_no_child(program, tmp_path):
    mark = tmp_path / "started"
    process = ServerProcess(program(MARK_AND_SLEEP, mark), ready=never, ready_seconds=LIMIT)
    task = asyncio.create_task(process.start())
    await until(lambda: mark.exists() and process.pid is not None)
    pid = process.pid
    assert pid is not None
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not alive(pid)


async def test_killed_server_comes_back_and_the_backend_answers_again(program):
    port = find_free_port()
    backend = OpenAIServer(f"http://127.0.0.1:{port}/v1", timeout=LIMIT)
    messages = [{"role": "user", "content": "x"}]
    try:
        async with running(program(SERVER, port), ready=backend.ready) as process:
            first = process.pid
            assert first is not None
            answer = await backend.complete(messages, {})
            assert answer.message == {"content": str(first)}
            for restarts in (1, 2):
                killed = process.pid
                assert killed is not None
                os.kill(killed, signal.SIGKILL)
                await until(lambda n=restarts: process.restarts == n)
                async with asyncio.timeout(LIMIT):
                    while not await backend.ready():
                        await asyncio.sleep(0.01)
                answer = await backend.complete(messages, {})
                assert answer.message == {"content": str(process.pid)}
                assert process.pid != killed
    finally:
        await backend.aclose()


async def test_restart_is_tried_until_one_succeeds(program, tmp_path):
    source = """
        import pathlib, sys, time
        folder = pathlib.Path(sys.argv[1])
        number = len(list(folder.glob("start*")))
        (folder / f"start{number}").touch()
        if number in (1, 2):
            sys.exit(1)
        (folder / f"ready{number}").touch()
        time.sleep(600)
    """
    folder = tmp_path / "starts"
    folder.mkdir()
    looked: list[int] = []

    async def ready() -> bool:
        looked.append(1)
        return len(list(folder.glob("ready*"))) > killed

    killed = 0
    async with running(program(source, folder), ready=ready) as process:
        killed = 1
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        await until((folder / "ready3").exists)
        await until(lambda: process.pid is not None and alive(process.pid))
        assert process.restarts == 3


async def test_workers_that_outlive_their_parent_are_killed_before_the_restart(program, tmp_path):
    source = """
        import os, pathlib, signal, subprocess, sys, time
        folder = pathlib.Path(sys.argv[1])
        worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        (folder / str(worker.pid)).touch()
        time.sleep(600)
    """
    folder = tmp_path / "workers"
    folder.mkdir()
    wanted = 1

    async def ready() -> bool:
        return len(list(folder.iterdir())) >= wanted

    async with running(program(source, folder), ready=ready) as process:
        [worker] = [int(path.name) for path in folder.iterdir()]
        wanted = 2
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        await until(lambda: len(list(folder.iterdir())) == 2)
        await until(lambda: not alive(worker))


async def test_child_that_prints_much_does_not_block(program, tmp_path):
    source = """
        import pathlib, sys, time
        pathlib.Path(sys.argv[1]).touch()
        for _ in range(200):
            print("x" * 10_000)
        pathlib.Path(sys.argv[2]).touch()
        time.sleep(600)
    """
    ready, printed = tmp_path / "ready", tmp_path / "printed"
    async with running(program(source, ready, printed), ready=exists(ready)):
        await until(printed.exists)


async def test_output_after_ready_is_neither_kept_nor_logged(program, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    canary = "-".join(["printed", "once", "ready"])  # not in the program's text as it stands
    source = """
        import pathlib, sys, time
        go, done = map(pathlib.Path, sys.argv[1:3])
        print("starting")
        while not go.exists():
            time.sleep(0.01)
        for _ in range(100):
            print("-".join(["printed", "once", "ready"]))
        done.touch()
        time.sleep(600)
    """
    go, done = tmp_path / "go", tmp_path / "done"

    async def ready() -> bool:
        return True

    async with running(program(source, go, done), ready=ready) as process:
        go.touch()
        await until(done.exists)
        pid = process.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        await until(lambda: process.restarts == 1)
        assert canary not in repr(vars(process))
        assert "starting" not in repr(vars(process)["_tail"])
    assert canary not in caplog.text
    assert "restart" in caplog.text


async def test_failed_restart_logs_nothing_the_child_printed(program, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    source = f"""
        import pathlib, sys, time
        mark = pathlib.Path(sys.argv[1])
        print("{CANARY}")
        if mark.exists():
            sys.exit(1)
        mark.touch()
        time.sleep(600)
    """
    mark = tmp_path / "mark"
    async with running(program(source, mark), ready=exists(mark)) as process:
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        await until(lambda: process.restarts >= 2)
    assert CANARY not in caplog.text
