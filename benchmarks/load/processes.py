"""Child processes on loopback: started on a free port, watched, and stopped by their id."""

from __future__ import annotations

import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

__all__ = ["Child", "LoadError", "Usage", "post", "start_child"]

STOP_SECONDS = 15.0
POLL_SECONDS = 0.02
LOG_CHARACTERS = 2000


class LoadError(Exception):
    """Say why a measurement could not be made."""


@dataclass(frozen=True)
class Usage:
    """Hold the CPU seconds of a process tree so far, and its bytes of memory now."""

    cpu_seconds: float
    rss_bytes: int


@dataclass(frozen=True)
class Child:
    """Watch and stop a running process. `log` holds its output."""

    process: subprocess.Popen[bytes]
    log: Path

    @property
    def pid(self) -> int:
        return self.process.pid

    def usage(self) -> Usage:
        """Return what the process and its descendants use, read from /proc.

        Raises:
            LoadError: the process has ended.
        """
        try:
            root = psutil.Process(self.pid)
            tree = [root, *root.children(recursive=True)]
        except psutil.NoSuchProcess:
            raise LoadError(f"process {self.pid} has ended: {self.tail()}") from None
        cpu, rss = 0.0, 0
        for process in tree:
            try:
                with process.oneshot():
                    times = process.cpu_times()
                    rss += process.memory_info().rss
            except psutil.NoSuchProcess:
                continue  # one of the descendants ended meanwhile
            cpu += times.user + times.system
        return Usage(cpu, rss)

    def wait_until(self, ready: Callable[[], bool], seconds: float) -> None:
        """Wait until `ready` returns true.

        Raises:
            LoadError: the process ended, or it took longer than `seconds`.
        """
        limit = time.monotonic() + seconds
        while not ready():
            if self.process.poll() is not None:
                raise LoadError(f"exited with {self.process.returncode}: {self.tail()}")
            if time.monotonic() > limit:
                raise LoadError(f"not ready after {seconds:.0f} s: {self.tail()}")
            time.sleep(POLL_SECONDS)

    def tail(self) -> str:
        """Return the end of the output."""
        return self.log.read_text("utf-8", "replace")[-LOG_CHARACTERS:].strip()

    def stop(self) -> None:
        """End the process and its descendants: politely first, then by force."""
        try:
            tree = psutil.Process(self.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            tree = []
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for left in tree:
            try:
                left.kill()
            except psutil.NoSuchProcess:
                continue


@contextmanager
def start_child(
    command: Sequence[str], folder: Path, *, env: Mapping[str, str] | None = None
) -> Iterator[Child]:
    """Run a command in `folder`; stop it at the end, whatever happens.

    The child has a session of its own, so that Ctrl-C in the terminal reaches only this process,
    which then stops the child in order.
    """
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            list(command),
            cwd=folder,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    child = Child(process, log)
    before = signal.signal(signal.SIGTERM, _exit)  # `kill` ends the run as Ctrl-C does
    try:
        yield child
    finally:
        signal.signal(signal.SIGTERM, before)
        child.stop()


def _exit(number: int, frame: object) -> None:
    raise SystemExit(128 + number)


def post(url: str, body: bytes, seconds: float) -> tuple[int, bytes]:
    """Send a JSON body; return status and answer, status 0 if nothing answers."""
    headers = {"Content-Type": "application/json", "Authorization": "Bearer sk-load"}
    request = urllib.request.Request(url, body, headers)
    try:
        with urllib.request.urlopen(request, timeout=seconds) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as exc:
        return exc.code, exc.read()
    except OSError:
        return 0, b""
