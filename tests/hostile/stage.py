"""A proxy between two scripted upstreams, and what every test asks of it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from tests.hostile import tally
from tests.hostile.child import Child
from tests.hostile.upstream import Upstream, answer
from tests.proxy.conftest import MODEL

__all__ = ["Answer", "Stage", "Unfit", "chat_body", "send"]


class Unfit(AssertionError):
    """The proxy stalled, grew or died."""


def chat_body(text: str = "The board met on Monday.", **over: Any) -> dict[str, Any]:
    """Return a chat request."""
    return {"model": MODEL, "messages": [{"role": "user", "content": text}], **over}


@dataclass(frozen=True)
class Answer:
    """An answer of the proxy, read whole. `error` is that of its body or of its stream."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def error(self) -> dict[str, Any] | None:
        texts = [self.body]
        if self.status == 200:
            texts = [line[6:] for line in self.body.splitlines() if line.startswith(b"data: {")]
        for text in texts:
            found = _object(text)
            error = found.get("error") or (found if found.get("type") == "error" else None)
            if isinstance(error, dict):
                return error
        return None

    @property
    def served(self) -> bool:
        return self.status == 200 and self.error is None

    def check_shape(self) -> None:
        """Fail unless the answer is one of the proxy's, and an error one in OpenAI's shape, or in
        Anthropic's with the header of its API."""
        assert self.headers.get("x-request-id", "").startswith("req_"), (
            self.status,
            self.body[:200],
        )
        if self.status < 400:
            return
        body = _object(self.body)
        error = body.get("error")
        assert isinstance(error, dict), f"{self.status} is not in OpenAI's shape"
        if "request-id" in self.headers:
            assert set(body) == {"type", "error", "request_id"}
            assert set(error) == {"message", "type"}
        else:
            assert set(error) == {"message", "type", "param", "code"}
        assert isinstance(error["message"], str)
        assert isinstance(error["type"], str)
        assert all(isinstance(error.get(name), str | None) for name in ("param", "code"))


def _object(text: bytes) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


async def send(
    session: aiohttp.ClientSession, url: str, body: Any = None, *, method: str = "POST", **how: Any
) -> Answer:
    """Send one request; a body that is not bytes goes as JSON."""
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", **how.pop("headers", {})}
    async with session.request(method, url, data=data, headers=headers, **how) as response:
        return Answer(
            response.status,
            {name.lower(): value for name, value in response.headers.items()},
            await response.read(),
        )


@dataclass
class Stage:
    """To be used as a context. `child` is alive whenever it is asked for."""

    folder: Path
    settings: dict[str, Any] = field(default_factory=dict)
    remote: Upstream = field(default_factory=Upstream)
    local: Upstream = field(default_factory=Upstream)
    _child: Child | None = None
    _stack: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Stage:
        self._stack.enter_context(self.remote)
        self._stack.enter_context(self.local)
        return self

    def __exit__(self, *_: object) -> None:
        if self._child is not None:
            self._child.kill()
        self._stack.close()

    @property
    def child(self) -> Child:
        if self._child is None:
            urls = {"remote": self.remote.base_url, "local": self.local.base_url}
            self._child = Child(self.folder, settings=self.settings, **urls)
        if not self._child.alive:
            self._child.start()
        return self._child

    def restart(self) -> None:
        """Replace a proxy that hangs or holds too much; upstreams behave again."""
        self.remote.script = self.local.script = self.local.models = answer
        if self._child is not None:
            self._child.kill()

    @contextmanager
    def bounded(self) -> Iterator[None]:
        """Fail if the proxy stalls, grows or dies in the block; it is replaced then."""
        child = self.child
        watch, start = child.watch, time.monotonic()
        assert watch is not None
        try:
            yield
            stall, peak = watch.worst(start), watch.peak
            if not child.alive:
                raise Unfit("the proxy died")
            if stall > tally.STALL:
                raise Unfit(f"/health took {stall:.1f} s longer than idle")
            if peak > tally.MEMORY:
                raise Unfit(f"the proxy held {peak / 2**20:.0f} MB")
        except (Unfit, OSError, TimeoutError, aiohttp.ClientError):
            self.restart()
            raise
