"""A child that ends with its parent, and no code of ours between fork and exec."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from extraction.backends import with_parent
from extraction.backends.server_process import ServerProcess
from extraction.errors import LocalModelUnavailable
from tests.extraction.programs import alive, exists, never, program, quick, running
from tests.limits import LIMIT

__all__ = ["program", "quick"]

ROOT = Path(__file__).resolve().parents[3]
# Starts a server under the supervisor; its parent is killed meanwhile.
PARENT = """
    import asyncio, os, pathlib, sys
    from extraction.backends.server_process import ServerProcess

    async def never():
        return False

    async def main():
        process = ServerProcess(sys.argv[2:], ready=never, ready_seconds=60)
        starting = asyncio.create_task(process.start())
        while process.pid is None:
            await asyncio.sleep(0)
        told = pathlib.Path(sys.argv[1])
        told.with_suffix(".part").write_text(str(process.pid))
        told.with_suffix(".part").rename(told)
        await starting

    asyncio.run(main())
"""


def test_no_program_of_ours_runs_code_between_fork_and_exec():
    for package in ("perturb", "extraction", "proxy", "benchmarks", "scripts"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                assert not (isinstance(node, ast.keyword) and node.arg == "preexec_fn"), path


def gone(pid: int) -> bool:
    end = time.monotonic() + LIMIT
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.01)
    return not alive(pid)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone tells a child of its parent")
@pytest.mark.parametrize("delay", [0.0, 0.005, 0.02, 0.05, 0.2])
def test_no_child_is_left_whenever_the_parent_is_killed(tmp_path, delay):
    script, told = tmp_path / "parent.py", tmp_path / "pid"
    script.write_text(textwrap.dedent(PARENT))
    child = [sys.executable, "-c", "import time; time.sleep(600)"]
    parent = subprocess.Popen(
        [sys.executable, str(script), str(told), *child],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    end = time.monotonic() + LIMIT
    while not told.exists() and time.monotonic() < end:
        time.sleep(0.001)
    time.sleep(delay)
    parent.kill()
    parent.wait()
    pid = int(told.read_text())
    try:
        assert gone(pid)
    finally:
        if alive(pid):
            os.kill(pid, signal.SIGKILL)


def test_what_was_started_for_a_parent_that_is_gone_does_not_run(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    mark = tmp_path / "mark"
    command = [sys.executable, "-c", f"open({str(mark)!r}, 'w')"]
    launcher = [sys.executable, "-I", "-S", with_parent.__file__]
    for parent, ran in ((dead.pid, False), (os.getpid(), True)):
        done = subprocess.run([*launcher, str(parent), *command], timeout=LIMIT)
        assert done.returncode == 0
        assert mark.exists() is ran


async def test_the_program_itself_has_the_childs_process_id(program, tmp_path):
    source = """
        import os, pathlib, sys, time
        told = pathlib.Path(sys.argv[1])
        told.with_suffix(".part").write_text(f"{os.getpid()} {os.getpgrp()} {os.getppid()}")
        told.with_suffix(".part").rename(told)
        time.sleep(600)
    """
    told = tmp_path / "told"
    async with running(program(source, told), ready=exists(told)) as process:
        assert told.read_text() == f"{process.pid} {process.pid} {os.getpid()}"


async def test_a_file_that_is_no_program_is_told_by_name(tmp_path):
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELF nothing")
    broken.chmod(0o755)
    process = ServerProcess([str(broken)], ready=never, ready_seconds=LIMIT)
    with pytest.raises(LocalModelUnavailable, match=r"cannot run `.*broken` \(Exec format error"):
        await process.start()
    await process.stop()
