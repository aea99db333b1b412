"""A small HTTP client for untrusted JSON servers.

Every answer is read within limits of bytes and time and parsed within a limit of work. It yields
a value or an error. Sessions read little at once, keep no cookie, and log nothing.

    HttpError
    ├── Unreachable    there is no connection, or it broke before the answer began
    ├── Blocked        the certificate or the environment's proxy prevents the connection
    ├── TimedOut       no answer, or no next event, in time
    └── Unreadable     the answer is not HTTP, not JSON, or over a limit
        └── CutShort   the answer began and broke off

A request is worth repeating only after `Unreachable`: a server that began to answer may have
counted it. No message holds anything that was sent or received.
"""

from __future__ import annotations

import asyncio
import logging
import math
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from aiohttp.http_exceptions import ContentEncodingError, HttpProcessingError
from aiohttp.payload import BytesPayload

from extraction.codec import load

__all__ = [
    "CUT",
    "DONE",
    "Blocked",
    "CutShort",
    "HttpClient",
    "HttpError",
    "Limit",
    "Patience",
    "Reply",
    "TimedOut",
    "Unreachable",
    "Unreadable",
    "find_proxy",
    "map_errors",
    "open_session",
    "parse",
    "silence_library",
]

CUT = "the answer was cut short"
DONE = b"[DONE]"  # the last event of a stream in OpenAI's form
LATE = "no answer in time"
ENCODED = "the answer is in an encoding that cannot be read"


class HttpError(Exception):
    """Serve as the base of every error of the client."""


class Unreachable(HttpError):
    """Report a connection that cannot be made, or that broke before the answer began."""


class Blocked(HttpError):
    """Report a certificate that is not trusted, or a proxy that refuses to connect."""


class TimedOut(HttpError):
    """Report an answer, or a next event, that did not come in time."""


class Unreadable(HttpError):
    """Report an answer that is not HTTP, not JSON, or over a limit."""


class CutShort(Unreadable):
    """Report an answer that began and broke off."""


@contextmanager
def map_errors() -> Iterator[None]:
    """Map the library's errors, most specific first."""
    try:
        yield
    except HttpError:
        raise
    except aiohttp.ConnectionTimeoutError as exc:
        raise Unreachable("no connection in time") from exc
    except TimeoutError as exc:
        raise TimedOut(LATE) from exc
    except aiohttp.ClientConnectorCertificateError as exc:
        raise Blocked(
            "its certificate is not trusted (SSL_CERT_FILE can name its issuer)"
        ) from exc
    except aiohttp.ClientHttpProxyError as exc:
        raise Blocked("the environment's HTTP proxy refused to connect to it") from exc
    except aiohttp.ClientPayloadError as exc:
        if isinstance(exc.__cause__, ContentEncodingError):
            raise Unreadable(ENCODED) from exc
        raise CutShort(CUT) from exc
    except (aiohttp.ClientResponseError, HttpProcessingError) as exc:
        # aiohttp has no exception for an unknown encoding
        encoded = "content-encoding" in str(getattr(exc, "message", ""))
        raise Unreadable(ENCODED if encoded else "the answer is not HTTP") from exc
    except (aiohttp.ClientError, OSError) as exc:
        raise Unreachable("the connection cannot be made, or broke") from exc
    except ValueError as exc:  # an address, or a header
        raise Unreachable("the address or the key cannot be used") from exc


BUFFER = 2**16  # bytes read ahead; aiohttp decompresses at most 2**18 at once
RECEIVED = 2**13  # bytes taken from a connection at once: heads are parsed as they are read


def open_session(
    headers: Mapping[str, str], before: aiohttp.ClientMiddlewareType, *, kept: bool
) -> aiohttp.ClientSession:
    """Open a session inside a running event loop.

    Args:
        headers: sent with every request.
        before: runs around every request that names nothing else to do so.
        kept: whether connections are kept. A request that reuses one appends to the list in its
            `trace_request_ctx`.
    """
    trace = aiohttp.TraceConfig()
    trace.on_connection_reuseconn.append(_note_reuse)
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(
            limit=0, force_close=not kept, socket_factory=_narrow_socket
        ),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers=headers,
        read_bufsize=BUFFER,
        middlewares=[before],
        trace_configs=[trace],
    )


def silence_library() -> None:
    """Keep aiohttp's client from logging what it receives, whatever else the process logs."""
    for name in ("aiohttp.client", "aiohttp.internal"):
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.level, logging.WARNING))


async def _note_reuse(
    _: aiohttp.ClientSession, context: Any, __: aiohttp.TraceConnectionReuseconnParams
) -> None:
    if context.trace_request_ctx is not None:
        context.trace_request_ctx.append(None)


class _NarrowSocket(socket.socket):
    """Receive little at once. A flood of interim answers is parsed in one go, and all other tasks
    wait meanwhile."""

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        return super().recv(min(size, RECEIVED), flags)

    def recv_into(self, buffer: Any, size: int = 0, flags: int = 0, /) -> int:
        most = size or memoryview(buffer).nbytes
        return super().recv_into(buffer, min(most, RECEIVED), flags)


def _narrow_socket(address: aiohttp.AddrInfoType) -> socket.socket:
    family, kind, protocol, *_ = address
    return _NarrowSocket(family, kind, protocol)


Inspector = Callable[[bytes | None], Awaitable[None]]
CONNECTING = aiohttp.ClientTimeout(total=None, sock_connect=10.0)  # `open` and `Reply` bound more
STREAM_BYTES = 64_000_000  # of a whole stream: 250,000 tokens of chat chunks
STREAM_TIMES = 12  # how many times the time between two events a whole stream may take


@dataclass(frozen=True)
class Limit:
    """Bound how much of an answer is read.

    Attributes:
        size: bytes, after decompression.
        marks: commas, colons and opening brackets, wherever they stand. The parser's work is
            bounded by them: it holds the interpreter for as long as it runs.
    """

    size: int
    marks: int


EVENT = Limit(1_000_000, 50_000)  # of a stream
SMALL = Limit(4_000_000, 200_000)  # an answer of a million characters, escaped
LARGE = Limit(16_000_000, 1_200_000)  # log probabilities of 4,096 tokens, vectors of 64 texts


class Patience:
    """Call a function if one of many waits takes too long. Use it in the loop that runs.

    A stream waits for each of its events. A timer for each of these waits would be cancelled a
    moment later; here one timer is set, and when it is due, it is set anew for the wait that then
    runs.

    Args:
        end: called when the deadline of a wait has passed.

    Attributes:
        deadline: of the wait that runs, on the loop's clock. Set it to None where the wait ends.
    """

    __slots__ = ("_end", "_loop", "_timer", "deadline")

    def __init__(self, end: Callable[[], None]) -> None:
        self.deadline: float | None = None
        self._end = end
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, deadline: float) -> None:
        """Begin a wait."""
        self.deadline = deadline
        if self._timer is None or deadline < self._timer.when():
            self._set(deadline)

    def close(self) -> None:
        """Cancel the timer, and forget the function: it may be a method of whoever waits, and the
        two would keep each other until the next garbage collection."""
        self.deadline = None
        self._end = _pass
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _set(self, deadline: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(deadline, self._check)

    def _check(self) -> None:
        self._timer = None
        if self.deadline is None:
            return
        if self.deadline > self._loop.time():
            self._set(self.deadline)
            return
        self.deadline = None
        self._end()


def _pass() -> None:
    pass


class Reply:
    """Read an answer whose head has arrived."""

    def __init__(self, response: aiohttp.ClientResponse, until: float, seconds: float) -> None:
        self._content = response.content
        self._until = until  # on the loop's clock: no part of the body is waited for any longer
        self._seconds = seconds  # for which the connection may stand still
        self.status = response.status
        self.retry_after = response.headers.get("Retry-After")
        kind = response.headers.get("Content-Type", "")
        self.is_json = kind.partition(";")[0].strip().lower() == "application/json"
        self._patience = Patience(self._give_up)

    @property
    def ok(self) -> bool:
        """Return whether the server fulfilled the request; a redirect is a failure."""
        return 200 <= self.status < 300

    async def read(self, limit: Limit) -> bytes:
        """Read the body. Raises `HttpError`."""
        data = bytearray()
        while chunk := await self._read_chunk():
            data += chunk
            if len(data) > limit.size:
                raise Unreadable(f"the answer is longer than {limit.size} bytes")
        return bytes(data)

    async def json(self, limit: Limit) -> Any:
        """Read the body as JSON. Raises `HttpError`."""
        return parse(await self.read(limit), limit)

    async def events(self, seconds: float) -> AsyncGenerator[bytes]:
        """Read the data of server-sent events; comments are no events.

        Args:
            seconds: how long the next event may take.

        Raises:
            HttpError: the connection breaks, an event or the stream is over its limit, or the
                next event does not come in time.
        """
        clock = asyncio.get_running_loop().time
        deadline = clock() + seconds
        received = size = 0
        rest = b""
        data: list[bytes] = []
        while chunk := await self._read_chunk(deadline):
            received += len(chunk)
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                line = line.removesuffix(b"\r")
                if line.startswith(b"data:"):
                    data.append(line[5:].removeprefix(b" "))
                    size += len(line)
                elif not line and data:
                    yield b"\n".join(data)
                    data, size = [], 0
                    deadline = clock() + seconds
            if size + len(rest) > EVENT.size or received > STREAM_BYTES:
                raise Unreadable("the stream, or an event of it, is too long")

    async def _read_chunk(self, deadline: float = math.inf) -> bytes:
        content, until = self._content, min(deadline, self._until)
        with map_errors():
            now = asyncio.get_running_loop().time()
            if now > until:  # what is always there is not waited for
                raise TimedOut(LATE)
            if chunk := content.read_nowait():
                if not content.is_eof():
                    await asyncio.sleep(0)  # a flood of events must not block other tasks
                return chunk
            if content.at_eof():
                return b""
            self._patience.begin(min(until, now + self._seconds))
            try:
                return await content.readany()
            except TimeoutError:  # aiohttp's own is also a connection error
                raise
            except (RuntimeError, aiohttp.ClientConnectionError) as exc:
                # RuntimeError is how aiohttp reports that the connection is gone
                raise CutShort(CUT) from exc
            finally:
                self._patience.deadline = None

    def _give_up(self) -> None:
        self._content.set_exception(TimedOut(LATE))

    def close(self) -> None:
        """Forget the timer."""
        self._patience.close()


class HttpClient:
    """Connect to one server.

    The client follows no redirect, keeps no cookie, reads no `.netrc`, and sends only the headers
    that it sets itself.

    Args:
        base_url: the URL to which every path is appended.
        key: sent as bearer token, unless the address itself holds a user; None is not sent.
        headers: further headers of every request.
        inspect: called with the finished body of every request before it is sent, including
            retries; with None for a body that is not plain bytes. An exception from it ends
            the request. Its time does not count against the server's.
        proxied: whether the environment's HTTP proxies are used.
        kept: whether connections are kept for the next request. A server may close a kept
            connection just as it is used again; the request is then sent again on a fresh one.
    """

    def __init__(
        self,
        base_url: str,
        *,
        key: str | None,
        headers: Mapping[str, str] = MappingProxyType({}),
        inspect: Inspector | None = None,
        proxied: bool = False,
        kept: bool = False,
    ) -> None:
        silence_library()
        self._base_url = base_url.rstrip("/")
        self._key = key if key is None else key.strip()
        self._headers = dict(headers)
        self._inspector = inspect
        self._proxied = proxied
        self._kept = kept
        self._sessions: dict[bool, aiohttp.ClientSession] = {}  # by whether connections are kept

    @asynccontextmanager
    async def open(
        self,
        path: str,
        body: bytes | None = None,
        *,
        seconds: float,
        streamed: bool = False,
        total: float | None = None,
        fresh: bool = False,
    ) -> AsyncIterator[Reply]:
        """Send a request (GET if there is no body) and hold its answer open.

        Args:
            path: appended to the base URL.
            body: JSON.
            seconds: for the whole exchange; for a stream, for its head and between two events.
            streamed: whether server-sent events are requested.
            total: seconds for a whole stream; None is `STREAM_TIMES` as long as for an event.
            fresh: whether to open a new connection.

        Raises:
            HttpError: also within the block, while the answer is read.
        """
        if total is None:
            total = seconds * STREAM_TIMES if streamed else seconds
        inspected = None
        if self._inspector is not None:
            inspected = body or b""
            await self._inspector(inspected)
        until = asyncio.get_running_loop().time() + total
        kept = self._kept and not fresh
        with map_errors():
            async with asyncio.timeout(seconds):
                response = await self._send(path, body, inspected, streamed=streamed, kept=kept)
        reply = Reply(response, until, seconds)
        try:
            if response.content.is_eof():  # the body is here
                yield reply
            else:
                with _end_with_connection(response):
                    yield reply
        finally:
            reply.close()
            response.close()

    async def aclose(self) -> None:
        """Close every connection."""
        for session in self._sessions.values():
            await session.close()

    async def _send(
        self,
        path: str,
        body: bytes | None,
        inspected: bytes | None,
        *,
        streamed: bool,
        kept: bool,
    ) -> aiohttp.ClientResponse:
        """Return the answer to a request; send it again if a kept connection died.

        Args:
            inspected: what was inspected of it; None if nothing was.
        """
        reused: list[None] = []
        try:
            return await self._open_session(kept=kept).request(
                "GET" if body is None else "POST",
                self._base_url + path,
                data=body,
                headers={"Accept": "text/event-stream" if streamed else "application/json"},
                proxy=self._proxy,
                allow_redirects=False,
                timeout=CONNECTING,
                trace_request_ctx=reused,
                middlewares=[partial(self._inspect, inspected)],
            )
        except aiohttp.ClientConnectionError as exc:
            if not reused or isinstance(exc, TimeoutError) or _has_answer_begun(exc):
                raise
        return await self._send(path, body, inspected, streamed=streamed, kept=False)

    def _open_session(self, *, kept: bool = False) -> aiohttp.ClientSession:
        """Return the session that keeps connections, or the one that does not. Each is made inside
        a running event loop."""
        if kept not in self._sessions:
            headers = {
                "Accept-Encoding": "identity",
                "User-Agent": "inferdpt",
                "Content-Type": "application/json",
                **self._headers,
            }
            if self._key is not None and "@" not in urlsplit(self._base_url).netloc:
                headers["Authorization"] = f"Bearer {self._key}"
            self._sessions[kept] = open_session(headers, partial(self._inspect, None), kept=kept)
        return self._sessions[kept]

    @cached_property
    def _proxy(self) -> str | None:
        """Return the proxy of the environment; raise `Unreachable` if it cannot be used."""
        return find_proxy(self._base_url) if self._proxied else None

    async def _inspect(
        self,
        inspected: bytes | None,
        request: aiohttp.ClientRequest,
        send: aiohttp.ClientHandlerType,
    ) -> aiohttp.ClientResponse:
        """Inspect a request at the last step before the socket, unless its bytes were inspected
        already."""
        if self._inspector is not None:
            body: bytes | None = b""  # no body
            if not isinstance(request.body, bytes):
                plain = isinstance(request.body, BytesPayload)
                body = await request.body.as_bytes() if plain else None
            if body is None or body != inspected:
                await self._inspector(body)
        return await send(request)


def parse(data: bytes, limit: Limit) -> Any:
    """Parse JSON, see `load`.

    Raises:
        Unreadable: it is not JSON, nested too deeply, or has more parts than the limit allows.
    """
    if sum(map(data.count, (b",", b":", b"[", b"{"))) > limit.marks:
        raise Unreadable("the answer has too many parts")
    try:
        return load(data)
    except (ValueError, RecursionError):
        raise Unreadable("the answer is not JSON") from None


@contextmanager
def _end_with_connection(response: aiohttp.ClientResponse) -> Iterator[None]:
    """Stop reading a body when its connection is gone. If a body breaks HTTP's rules, aiohttp
    closes the connection and leaves the reader waiting."""
    connection, content = response.connection, response.content
    protocol = None if connection is None else connection.protocol
    if protocol is None:  # the body is here
        yield
        return

    def end(_: object = None) -> None:
        if not content.is_eof() and content.exception() is None:
            content.set_exception(Unreadable("the answer is not HTTP"))

    closed = protocol.closed
    if closed is None:
        end()
        yield
        return
    closed.add_done_callback(end)
    try:
        yield
    finally:
        closed.remove_done_callback(end)


def _has_answer_begun(exc: Exception) -> bool:
    """Tell if part of an answer's head had arrived when the connection ended."""
    return isinstance(exc, aiohttp.ServerDisconnectedError) and not isinstance(exc.message, str)


def find_proxy(url: str) -> str | None:
    """Return the HTTP proxy that the environment names for an address.

    Raises:
        Unreachable: the proxy is not an HTTP proxy, or not an address.
    """
    parts = urlsplit(url)
    if proxy_bypass(parts.hostname or ""):
        return None
    named = getproxies()
    found = named.get(parts.scheme) or named.get("all")
    if not found:
        return None
    found = found if "://" in found else f"http://{found}"
    try:
        scheme = urlsplit(found).scheme
    except ValueError:
        scheme = ""
    if scheme not in ("http", "https"):
        raise Unreachable("the environment names a proxy that is not an HTTP proxy")
    return found
