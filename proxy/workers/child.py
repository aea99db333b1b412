"""Run a coroutine in a forked process, which tells when it is ready and ends with its parent."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

from extraction.errors import ExtractionError
from perturb import PerturbError
from proxy.errors import ApiError, ConfigError
from proxy.serve import run_until

__all__ = ["Child", "Told", "Work"]

Told = asyncio.Queue[Any]
Work = Callable[[Callable[[str], None], Told], Coroutine[Any, Any, None]]
EXPLAINED = (ApiError, ConfigError, PerturbError, ExtractionError, OSError)
FAILED = 2  # the status of a process that could not be started, as of the command
STEADY_SECONDS = 60.0  # one that ran this long is started again at once
DELAYS = (0.0, 0.2, 1.0, 3.0)  # seconds before a new start, after so many short lives
ATTEMPTS = 4  # starts in a row that may fail


class _Closeable(Protocol):
    def close(self) -> None: ...


class Child:
    """Start, watch and stop one forked process.

    The two processes share a channel. The child sends on it that it is ready, or why it cannot
    be, and takes what its work is told. It ends when the channel closes, which the death of
    either process does, whatever the cause.

    Args:
        name: for people and metrics, without underscores.
        work: runs in the child until it is cancelled; it is given a function to call once, when
            it is ready, with a text for the supervisor, and a queue of what it is told.
        folder: of the supervisor, which its children remove if it was killed.
        obeys: whether SIGTERM ends it, too.
    """

    def __init__(self, name: str, work: Work, *, folder: Path, obeys: bool) -> None:
        self.name = name
        self.ready = False
        self.text = ""  # what it told when it was ready, or why it could not be
        self.due = 0.0  # when it is to be started
        self.channel: Connection | None = None
        self._work = work
        self._folder = folder
        self._obeys = obeys
        self._process: Any = None
        self._began = 0.0
        self._lives = 0  # short ones in a row
        self._failures = 0
        self._served = False

    def start(self, foreign: Iterable[_Closeable]) -> None:
        """Start the process, which closes its copies of `foreign`: those are other children's."""
        ours, theirs = multiprocessing.Pipe()
        self.ready, self.text, self._began = False, "", time.monotonic()
        fork = multiprocessing.get_context("fork")
        self._process = fork.Process(
            target=self._enter, args=(os.getpid(), theirs, [ours, *foreign]), name=self.name
        )
        self._process.start()
        theirs.close()
        self.channel = ours

    def hear(self) -> bool:
        """Read what the child sent. Return False if it has ended."""
        assert self.channel is not None
        try:
            self.ready, self.text = self.channel.recv()
        except (EOFError, OSError):
            return False
        if self.ready:
            self._failures, self._served = 0, True
        return True

    def bury(self) -> str:
        """Note that the child has ended, plan its next start, and return how it ended.

        Raises:
            ConfigError: it was never ready, or failed to start too many times.
        """
        self.stop(None)
        status = self._process.exitcode
        how = f"signal {-status}" if status < 0 else f"status {status}"
        if not self.ready:
            self._failures += 1
            if not self._served or self._failures >= ATTEMPTS:
                raise ConfigError(self.text or f"{self.name} could not be started: {how}")
        if time.monotonic() - self._began > STEADY_SECONDS:
            self._lives = 0
        self.due = time.monotonic() + DELAYS[min(self._lives, len(DELAYS) - 1)]
        self._lives += 1
        return how

    def tell(self, message: Any) -> None:
        """Send the child's work a message; one that has ended will start anew."""
        if self.channel is not None:
            with suppress(OSError):
                self.channel.send(message)

    def tell_to_stop(self) -> None:
        """Let the child end as soon as it has drained."""
        if self.channel is not None:
            self.channel.close()
            self.channel = None

    def stop(self, seconds: float | None) -> None:
        """Wait until the child has ended; kill it after `seconds`."""
        self.tell_to_stop()
        if self._process is None:
            return
        self._process.join(seconds)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()

    def _enter(self, parent: int, channel: Connection, foreign: list[_Closeable]) -> None:
        """Run in the child."""
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # Ctrl-C reaches all; the supervisor tells us
        for end in foreign:
            end.close()
        try:
            asyncio.run(self._run(channel))
        except EXPLAINED as exc:
            channel.send((False, str(exc)))
            sys.exit(FAILED)
        finally:
            if os.getppid() != parent:
                shutil.rmtree(self._folder, ignore_errors=True)

    async def _run(self, channel: Connection) -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        told: Told = asyncio.Queue()

        def hear() -> None:
            try:
                told.put_nowait(channel.recv())
            except (EOFError, OSError):
                loop.remove_reader(channel.fileno())
                stop.set()

        loop.add_reader(channel.fileno(), hear)
        if self._obeys:
            loop.add_signal_handler(signal.SIGTERM, stop.set)
        try:
            await run_until(stop, self._work(lambda text: channel.send((True, text)), told))
        finally:
            loop.remove_reader(channel.fileno())
