"""Wait for the disk in groups: all that wait at one time share one `fsync`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

__all__ = ["GroupSync"]


class GroupSync:
    """Run a blocking `sync` in a thread of its own, once for everybody who waits.

    A caller waits for a `sync` that began after its call. The kernel forgets what it could not
    write, so after one failure every later call fails, too.

    Args:
        sync: brings everything written so far to the disk, or raises `OSError`.
    """

    def __init__(self, sync: Callable[[], None]) -> None:
        self._sync = sync
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="inferdpt-sync")
        self._next: asyncio.Future[None] | None = None
        self._running: asyncio.Task[None] | None = None
        self._failure: OSError | None = None

    async def wait(self) -> None:
        """Return when everything that was written before the call is on disk; raise `OSError`."""
        if self._next is None:
            self._next = asyncio.get_running_loop().create_future()
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        await asyncio.shield(self._next)

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while (waiting := self._next) is not None:
            self._next = None
            try:
                self.check()
                await loop.run_in_executor(self._thread, self._sync)
            except Exception as exc:
                if not isinstance(exc, OSError):  # there are no more threads, or they are closed
                    exc = OSError(f"cannot wait for the disk: {exc}")
                self._failure = exc
                waiting.set_exception(exc)
                waiting.exception()  # a caller that was cancelled does not fetch it
            else:
                waiting.set_result(None)
        self._running = None

    def check(self) -> None:
        """Raise the `OSError` of the `sync` that failed, if one did."""
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown()
