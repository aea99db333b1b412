"""A stand-in for `os.fsync` on the log of a SQLite file, and another process at that file."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.limits import LIMIT

__all__ = ["Disk", "disk", "other_process", "until"]

HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
for statement in sys.argv[2:]:
    connection.execute(statement).fetchall()
print("held", flush=True)
sys.stdin.readline()
connection.execute("COMMIT")
"""


class Disk:
    """Lets every `fsync` through, or those that the test lets, or fails them."""

    def __init__(self) -> None:
        self.begun = self.done = 0  # syncs of a log
        self.failing = False
        self._free = True
        self._turn = threading.Semaphore(0)
        self._fsync = os.fsync

    def fsync(self, descriptor: int) -> None:
        if not os.readlink(f"/proc/self/fd/{descriptor}").endswith("-wal"):
            self._fsync(descriptor)
            return
        self.begun += 1
        if not self._free:
            assert self._turn.acquire(timeout=LIMIT)
        if self.failing:
            raise OSError(errno.EIO, "the disk failed")
        self._fsync(descriptor)
        self.done += 1

    def stop(self) -> None:
        """Hold every `fsync` from now on."""
        self._free = False

    def let(self) -> None:
        """Let one `fsync` through."""
        self._turn.release()

    def go(self) -> None:
        """Let all through again."""
        self._free = True
        self._turn.release(100)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    made = Disk()
    monkeypatch.setattr(os, "fsync", made.fsync)
    yield made
    made.go()


async def until(reached: Callable[[], bool]) -> None:
    """Return when something holds."""
    async with asyncio.timeout(LIMIT):
        while not reached():
            await asyncio.sleep(0.001)


@contextlib.contextmanager
def other_process(path: Path, *statements: str) -> Iterator[Callable[[], None]]:
    """Run statements in another process, which commits at the end, or when it is told to."""
    command = [sys.executable, "-c", HOLD, str(path), *statements]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:  # type: ignore[call-overload]

        def commit() -> None:
            process.communicate("\n", timeout=LIMIT)

        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            yield commit
        finally:
            if process.poll() is None:
                process.kill()
