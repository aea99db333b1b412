"""Start, watch, restart and stop a local model server as a child process."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import logging
import os
import shutil
import signal
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence

from extraction.backends.with_parent import command_with_parent
from extraction.errors import LocalModelUnavailable

__all__ = ["ServerProcess"]

logger = logging.getLogger("inferdpt.local")
TAIL_LINES = 30
LINE_CHARACTERS = 1000  # kept of a line
RESTART_DELAYS = (0.2, 1.0, 5.0, 15.0, 60.0)
STEADY_SECONDS = 300.0  # a child that ran this long is restarted without delay again
STOP_SECONDS = 10.0  # for a child to end by itself
KILL_SECONDS = 10.0  # for one that was killed to be gone
EXIT_POLL_SECONDS = 0.1
LAST_WORDS_SECONDS = 1.0  # for reading the output of a child that exited


class ServerProcess:
    """Run a command that serves HTTP, and restart it when it exits.

    Output from before the child is ready is kept: its last lines explain a failed start. Later
    output may hold raw text and is discarded.

    Args:
        command: program and arguments.
        ready: called repeatedly until it returns true.
        ready_seconds: how long a start may take.
        env: variables that extend or override this process's environment.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        ready: Callable[[], Awaitable[bool]],
        ready_seconds: float,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.command = tuple(command)
        self._ready = ready
        self._ready_seconds = ready_seconds
        self._env = {**os.environ, **(env or {})}
        self._process: asyncio.subprocess.Process | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._reader: asyncio.Task[None] | None = None
        self._starting = False
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)
        self.restarts = 0

    @property
    def pid(self) -> int | None:
        """Return the child's process id; None while there is no child."""
        return self._process.pid if self._process else None

    async def start(self) -> None:
        """Start the child and wait until it is ready.

        Raises:
            LocalModelUnavailable: it cannot be started, exits, or is not ready in time; the
                message holds the command and the last lines it printed.
        """
        logger.info("starting the local server: %s", " ".join(self.command))
        await self._spawn()
        try:
            await self._wait_ready()
        except BaseException:
            await self.stop()
            raise
        self._keeper = asyncio.create_task(self._keep())

    async def stop(self) -> None:
        """Stop the child: SIGTERM, then SIGKILL to its whole process group."""
        if self._keeper is not None:
            self._keeper.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._keeper
            self._keeper = None
        process = self._process
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(_wait_for_exit(process), STOP_SECONDS)
            self._kill()  # the child, or workers that outlived it
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), KILL_SECONDS)
            self._process = None
        if self._reader is not None:
            self._reader.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._reader
            self._reader = None

    async def _spawn(self) -> None:
        program = self.command[0]
        if shutil.which(program, path=self._env.get("PATH")) is None:
            raise LocalModelUnavailable(f"cannot run `{program}`; is it installed?")
        try:
            self._process = await asyncio.create_subprocess_exec(
                *command_with_parent(self.command),  # a killed proxy leaves no model behind
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                env=self._env,
                start_new_session=True,  # its own group: vLLM's workers die with it
            )
        except OSError as exc:
            raise LocalModelUnavailable(f"cannot run `{program}` ({exc.strerror})") from exc
        self._tail.clear()
        self._starting = True
        self._reader = asyncio.create_task(self._read(self._process))

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        """Keep the pipe empty, and remember the output of a child that is starting."""
        assert process.stdout is not None
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while chunk := await process.stdout.read(65536):
            if self._starting and process is self._process:
                for piece in decoder.decode(chunk).splitlines(keepends=True):
                    line = self._tail.pop() if self._tail and self._tail[-1][-1] != "\n" else ""
                    self._tail.append((line + piece)[-LINE_CHARACTERS:])

    async def _wait_ready(self) -> None:
        process = self._process
        assert process is not None
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._ready_seconds
        pause = 0.02
        while process.returncode is None and loop.time() < deadline:
            if await self._ready() and process.returncode is None:
                self._starting = False
                self._tail.clear()
                return
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, 1.0)
        if process.returncode is not None and self._reader is not None:
            await asyncio.wait([self._reader], timeout=LAST_WORDS_SECONDS)
        why = (
            f"exited with status {process.returncode}"
            if process.returncode is not None
            else f"was not ready within {self._ready_seconds:g} s"
        )
        printed = "".join(self._tail).rstrip()
        raise LocalModelUnavailable(f"`{' '.join(self.command)}` {why}. It printed:\n{printed}")

    async def _keep(self) -> None:
        """Restart the child whenever it exits, with growing delays."""
        loop = asyncio.get_running_loop()
        while True:
            assert self._process is not None
            started = loop.time()
            status = await _wait_for_exit(self._process)
            if loop.time() - started > STEADY_SECONDS:
                self.restarts = 0
            delay = RESTART_DELAYS[min(self.restarts, len(RESTART_DELAYS) - 1)]
            self.restarts += 1
            logger.warning("local server exited with status %s; restart in %g s", status, delay)
            self._kill()  # workers that outlived their parent
            await asyncio.sleep(delay)
            try:
                await self._spawn()
                await self._wait_ready()
                logger.warning("local server is ready again")
            except LocalModelUnavailable:
                logger.error("local server did not come back; trying again")
                self._kill()

    def _kill(self) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)


async def _wait_for_exit(process: asyncio.subprocess.Process) -> int:
    """Return the child's status once it has exited. `Process.wait` may also wait for the end of
    its output, which workers that outlive it hold open."""
    while process.returncode is None:  # noqa: ASYNC110  (asyncio has no event for it)
        await asyncio.sleep(EXIT_POLL_SECONDS)
    return process.returncode
