"""The supervisor of a local server: stopping it, and all it has started."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from extraction.backends import server_process
from extraction.backends.server_process import ServerProcess
from tests.extraction.programs import (
    MARK_AND_SLEEP,
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

FAMILY = """
    import os, pathlib, signal, subprocess, sys, time
    told, stubborn_parent, stubborn_child = pathlib.Path(sys.argv[1]), *sys.argv[2:4]
    code = "import signal, sys, time\\n"
    if stubborn_child == "yes":
        code += "signal.signal(signal.SIGTERM, signal.SIG_IGN)\\n"
    code += "print('up', flush=True)\\ntime.sleep(600)"
    worker = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL)  # nothing of the parent's output is held open
    worker.stdout.readline()
    if stubborn_parent == "yes":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    part = pathlib.Path(str(told) + ".part")
    part.write_text(str(worker.pid))
    part.rename(told)
    time.sleep(600)
"""


@pytest.mark.parametrize("stubborn_parent", ["no", "yes"])
@pytest.mark.parametrize("stubborn_child", ["no", "yes"])
async def test_stop_ends_the_whole_group_also_what_ignores_sigterm(
    program, tmp_path, monkeypatch, stubborn_parent, stubborn_child
):
    monkeypatch.setattr(server_process, "STOP_SECONDS", 0.3)
    told = tmp_path / "worker"
    command = program(FAMILY, told, stubborn_parent, stubborn_child)
    process = ServerProcess(command, ready=exists(told), ready_seconds=LIMIT)
    await process.start()
    parent, worker = process.pid, int(told.read_text())
    assert parent is not None
    assert alive(parent)
    assert alive(worker)
    await process.stop()
    assert not alive(parent)
    await until(lambda: not alive(worker))


async def test_child_is_given_the_chance_to_end_by_itself(program, tmp_path):
    source = """
        import pathlib, signal, sys, time
        up, ended = map(pathlib.Path, sys.argv[1:3])
        def end(*_):
            ended.touch()
            sys.exit(0)
        signal.signal(signal.SIGTERM, end)
        up.touch()
        time.sleep(600)
    """
    up, ended = tmp_path / "up", tmp_path / "ended"
    async with running(program(source, up, ended), ready=exists(up)):
        pass
    assert ended.exists()


async def test_stopped_server_is_not_restarted(program, tmp_path):
    mark = tmp_path / "mark"
    async with running(program(MARK_AND_SLEEP, mark), ready=exists(mark)) as process:
        pass
    mark.unlink()
    await asyncio.sleep(0.1)
    assert process.pid is None
    assert not mark.exists()


async def test_stop_twice_and_stop_without_start_are_nothing(program, tmp_path):
    mark = tmp_path / "mark"
    async with running(program(MARK_AND_SLEEP, mark), ready=exists(mark)) as process:
        pass
    await process.stop()
    await ServerProcess(["x"], ready=never, ready_seconds=1).stop()


@pytest.mark.parametrize("delay", [0.0, 60.0], ids=["while-starting", "while-waiting"])
async def test_stop_during_a_restart_leaves_no_child(program, tmp_path, monkeypatch, delay):
    monkeypatch.setattr(server_process, "RESTART_DELAYS", (delay,))
    folder = tmp_path / "starts"
    folder.mkdir()
    source = """
        import os, pathlib, sys, time
        (pathlib.Path(sys.argv[1]) / str(os.getpid())).touch()
        time.sleep(600)
    """

    async def ready() -> bool:
        return len(list(folder.iterdir())) == 1  # the second start never becomes ready

    async with running(program(source, folder), ready=ready) as process:
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        await until(lambda: process.restarts == 1)
        if not delay:
            await until(lambda: len(list(folder.iterdir())) == 2)
    assert not [path.name for path in folder.iterdir() if alive(int(path.name))]
    assert process.pid is None


async def test_no_task_is_left_behind(program, tmp_path):
    mark = tmp_path / "mark"
    before = asyncio.all_tasks()
    async with running(program(MARK_AND_SLEEP, mark), ready=exists(mark)):
        pass
    assert asyncio.all_tasks() == before
