"""Run the real gateway in front of a remote on loopback, by default one that echoes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import ClientSession, ClientTimeout, web

from perturb import EmbeddingTable
from proxy.loopback import run_proxy

__all__ = ["CLAUDE", "MODEL", "Gateway", "Trip", "running_gateway", "serving", "write_completion"]

MODEL = "m"
CLAUDE = "claude"  # the model of a remote that speaks the Messages API
PIECE = 3  # characters of an event: replacements are cut
SECONDS = 600.0
_HEAD = {"id": "x", "created": 1, "model": MODEL}


@dataclass(frozen=True)
class Trip:
    """Hold a text's way out and back.

    Attributes:
        status: of HTTP.
        left: what the remote received; None if nothing left.
        back: what the client got for it.
        counted: whether the receipt counts something that did not come back.
    """

    status: int
    left: str | None
    back: str = ""
    counted: bool = False


@dataclass
class Gateway:
    """Send texts through a gateway.

    Attributes:
        url: of its API, with the version.
    """

    url: str
    session: ClientSession
    _received: list[str] = field(default_factory=list)

    async def send(self, text: str, *, stream: bool = False, **fields: Any) -> Trip:
        """Send a text as the only message of a chat; `fields` are the request's further ones. What
        left is known of a remote that echoes."""
        self._received.clear()
        message = {"role": "user", "content": text}
        body = {"model": MODEL, "messages": [message], "stream": stream, **fields}
        async with self.session.post(f"{self.url}/chat/completions", json=body) as reply:
            told = await reply.text()
        left = self._received[-1] if self._received else None
        if reply.status != 200:
            return Trip(reply.status, left)
        events = [line[6:] for line in told.splitlines() if line.startswith("data: {")]
        back, receipt = "", dict[str, Any]()
        for event in map(json.loads, events if stream else [told]):
            receipt = event.get("inferdpt") or receipt
            for choice in event["choices"]:
                back += choice["delta" if stream else "message"].get("content") or ""
        counted = receipt.get("unrestored", 0) + receipt.get("ambiguous", 0) > 0
        return Trip(reply.status, left, back, counted)


@asynccontextmanager
async def running_gateway(
    table: EmbeddingTable,
    parameters: Mapping[str, Any],
    remote: web.Application | None = None,
    secret: str | None = None,
) -> AsyncIterator[Gateway]:
    """Run a gateway with these `privacy.parameters` of `selective`, and its remote, on loopback.

    Args:
        remote: serves `/v1/chat/completions` for the model `m`, and `/v1/messages` for `claude`;
            None for one that echoes the last message of a chat.
        secret: see `run_proxy`.

    Raises:
        ConfigError, PerturbError: the parameters are not valid, or a package is missing.
    """
    received: list[str] = []
    async with serving(remote or _build_echo(received)) as base_url:
        known = {"base_url": base_url, "api_key": "none", "retries": 0}
        settings = {
            "server": {"ignore_unsupported_tools": True},
            "local": {"mode": "none"},
            "privacy": {"mechanism": "selective", "parameters": dict(parameters)},
            "remote": {**known, "send_seed": True, "models": {MODEL: MODEL}},
            "remotes": {CLAUDE: {**known, "api": "messages", "models": {CLAUDE: CLAUDE}}},
        }
        async with (
            run_proxy(table, settings, secret=secret) as url,
            ClientSession(timeout=ClientTimeout(SECONDS)) as session,
        ):
            yield Gateway(url, session, received)


@asynccontextmanager
async def serving(app: web.Application) -> AsyncIterator[str]:
    """Serve an application on loopback; yield its address with `/v1`."""
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


def write_completion(text: str) -> dict[str, Any]:
    """Return the answer of a chat."""
    message = {"role": "assistant", "content": text}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    return {**_HEAD, "object": "chat.completion", "choices": choices}


def _build_echo(received: list[str]) -> web.Application:
    async def answer(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        text = body["messages"][-1]["content"]
        received.append(text)
        if not body.get("stream"):
            return web.json_response(write_completion(text))
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        pieces = [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
        deltas = [{"role": "assistant", "content": piece} for piece in pieces]
        steps = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
        for choice in [*steps, {"index": 0, "delta": {}, "finish_reason": "stop"}]:
            event = {**_HEAD, "object": "chat.completion.chunk", "choices": [choice]}
            await response.write(b"data: " + json.dumps(event).encode() + b"\n\n")
        await response.write(b"data: [DONE]\n\n")
        return response

    app = web.Application(client_max_size=1 << 26)
    app.router.add_post("/v1/chat/completions", answer)
    return app
