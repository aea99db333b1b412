"""Decide which requests are served now and which wait: a bounded number in all and per client.

A body is read before its request takes a place, so that slow clients do not hold up others. Memory
is bounded, too: bodies above `SMALL_BODY` share a pool of bytes until their answers end.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from proxy.config.settings import Config
from proxy.errors import ApiError, bad_request, too_large
from proxy.metrics import Metrics

__all__ = ["FILES_PATH", "Admission", "Hold", "Pool"]

FILES_PATH = "/v1/files"
FORM_BYTES = 16_384  # of an uploaded file's form, beside the file

SMALL_BODY = 65_536  # bytes that every connection may hold: ordinary chats never wait for memory
STALLED_SECONDS = 5.0  # how long a client that holds memory for a body may be silent


class Pool:
    """Grant units to requests, which hold them and give them back.

    A request that finds no free unit waits. Free units go to the waiting client that holds the
    fewest, so that no client waits for the whole burst of another. The requests of one client are
    served in order of arrival. A full queue drops the last request of the client with the most
    requests in it.

    Args:
        units: the number of units.
        each: how many one client may hold.
        queue: how many requests may wait.
        seconds: the longest wait; None is no limit.

    Attributes:
        room: is set while a unit is free and no request waits.
    """

    def __init__(self, units: int, *, each: int, queue: int, seconds: float | None) -> None:
        self._free = units
        self._each = min(each, units)
        self._queue = queue
        self._seconds = seconds
        self._held: Counter[str] = Counter()
        self._waiting: dict[str, deque[_Waiter]] = {}
        self._arrivals = 0
        self.room = asyncio.Event()
        self.room.set()

    @property
    def waiting(self) -> int:
        """Return the number of waiting requests."""
        return sum(map(len, self._waiting.values()))

    async def take(self, client: str, units: int = 1) -> Hold:
        """Take units, at most as many as one client may hold, and wait until they are free.

        Raises:
            ApiError: 429, the queue is full, or the longest wait is over.
        """
        units = min(units, self._each)
        if not self._waiting and units <= min(self._free, self._each - self._held[client]):
            self._grant(client, units)
            self._note_room()
            return Hold(self, client, units)
        waiter = _Waiter(client, units, self._arrivals)
        self._arrivals += 1
        self._waiting.setdefault(client, deque()).append(waiter)
        self._serve()
        try:
            if not waiter.turn.done() and self.waiting > self._queue:
                self._drop_one()
            async with asyncio.timeout(self._seconds):
                await waiter.turn
        except BaseException as exc:
            self._forget(waiter)
            if waiter.granted:
                self._give(client, waiter.units)  # the grant came too late
            self._serve()
            if isinstance(exc, TimeoutError):
                raise _busy() from None
            raise
        return Hold(self, client, waiter.units)

    def _serve(self) -> None:
        """Grant free units.

        A request for many units at the head is not overtaken: it could wait forever.
        """
        while (waiter := self._next()) is not None and waiter.units <= self._free:
            self._forget(waiter)
            if waiter.turn.cancelled():
                continue
            self._grant(waiter.client, waiter.units)
            waiter.granted = True
            waiter.turn.set_result(None)
        self._note_room()

    def _grant(self, client: str, units: int) -> None:
        self._free -= units
        self._held[client] += units

    def _note_room(self) -> None:
        if self._free > 0 and not self._waiting:
            self.room.set()
        else:
            self.room.clear()

    def _next(self) -> _Waiter | None:
        """Return the next request in turn."""
        heads = (
            queue[0]
            for client, queue in self._waiting.items()
            if self._held[client] + queue[0].units <= self._each
        )
        return min(heads, key=lambda head: (self._held[head.client], head.arrival), default=None)

    def _drop_one(self) -> None:
        """Refuse the last request of the client with the longest queue."""
        longest = max(self._waiting.values(), key=lambda queue: (len(queue), queue[-1].arrival))
        last = longest[-1]
        self._forget(last)
        if not last.turn.cancelled():
            last.turn.set_exception(_busy())

    def _forget(self, waiter: _Waiter) -> None:
        queue = self._waiting.get(waiter.client, deque())
        if waiter in queue:
            queue.remove(waiter)
        if not queue:
            self._waiting.pop(waiter.client, None)

    def _give(self, client: str, units: int) -> None:
        self._free += units
        self._held[client] -= units
        if not self._held[client]:
            del self._held[client]
        self._serve()


class _Waiter:
    """Hold a request that waits for its turn."""

    def __init__(self, client: str, units: int, arrival: int) -> None:
        self.client = client
        self.units = units
        self.arrival = arrival
        self.granted = False
        self.turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()


@dataclass
class Hold:
    """Hold the units of a request."""

    pool: Pool
    client: str
    units: int

    def shrink(self, units: int) -> None:
        """Give back all units but these."""
        if units < self.units:
            given, self.units = self.units - units, units
            self.pool._give(self.client, given)


class Admission:
    """Admit requests to a bounded number of places and bound the memory for their bodies."""

    def __init__(self, config: Config, metrics: Metrics) -> None:
        limits, batches = config.limits, config.batches
        self._most = limits.body_bytes
        self._most_of_files = batches.file_bytes + FORM_BYTES if batches.enabled else self._most
        self._seconds = config.server.body_seconds
        self._metrics = metrics
        queue, seconds = limits.queue_requests, limits.queue_seconds
        self._places = Pool(
            limits.concurrent_requests,
            each=limits.concurrent_per_client,
            queue=queue,
            seconds=seconds,
        )
        largest = max(self._most, self._most_of_files)
        memory = max(limits.held_bytes, largest)
        self._memory = Pool(memory, each=max(memory // 2, largest), queue=queue, seconds=seconds)
        lines = batches.concurrency
        self._lines = Pool(lines, each=lines, queue=sys.maxsize, seconds=None)

    @asynccontextmanager
    async def admit(self, request: web.Request, client: str) -> AsyncIterator[bytes]:
        """Read a request's body, then hold a place for it; yield the body.

        Raises:
            ApiError: 400, 408 or 413, the body cannot be read, is late or is too large; 429, no
                place or memory became free in time.
        """
        held: list[Hold] = []
        try:
            body = await self._read(request, client, held)
            with self._metrics.stage("queue"), self._metrics.waiting.track_inprogress():
                held.append(await self._places.take(client))
            yield body
        finally:
            for hold in held:
                hold.shrink(0)

    async def admit_line(self, tenant: str) -> Hold:
        """Hold a place for a line of a batch, once there is room that no request needs.

        Lines have places of their own. Tenants take turns, and `shrink(0)` gives a place back.
        """
        hold = await self._lines.take(tenant)
        try:
            await self._places.room.wait()
        except BaseException:
            hold.shrink(0)
            raise
        return hold

    async def _read(self, request: web.Request, client: str, held: list[Hold]) -> bytes:
        """Return the decompressed body and add the memory it holds to `held`.

        The time limit covers the whole body but not the wait for memory.
        """
        most = size = self._most_of_files if request.path == FILES_PATH else self._most
        if request.content_length is not None and "Content-Encoding" not in request.headers:
            size = request.content_length
        data = bytearray()
        loop = asyncio.get_running_loop()
        try:
            if size <= SMALL_BODY and request.content.is_eof():  # it came with its head
                return request.content.read_nowait()
            async with asyncio.timeout(self._seconds) as deadline:
                end = loop.time() + self._seconds
                while size <= most and (chunk := await request.content.readany()):
                    data += chunk
                    if len(data) > most:
                        break
                    if len(data) > SMALL_BODY and not held:
                        deadline.reschedule(None)
                        began = loop.time()
                        with self._metrics.waiting.track_inprogress():
                            held.append(await self._memory.take(client, size))
                        end += loop.time() - began
                    if held:
                        deadline.reschedule(min(end, loop.time() + STALLED_SECONDS))
        except TimeoutError:
            raise ApiError(
                408,
                f"The body did not arrive within {self._seconds:g} seconds, or stopped arriving.",
                code="request_timeout",
                retry=True,
            ) from None
        except (web.RequestPayloadError, HttpProcessingError):
            raise bad_request("The body cannot be read.", code="invalid_body") from None
        if max(size, len(data)) > most:
            raise too_large(f"The body may have at most {most} bytes.")
        for hold in held:
            hold.shrink(len(data))
        return bytes(data)


def _busy() -> ApiError:
    return ApiError(
        429,
        "The proxy is at its limit of concurrent requests; try again.",
        type="rate_limit_error",
        code="rate_limit_exceeded",
        retry=True,
        headers={"retry-after": "1"},
    )
