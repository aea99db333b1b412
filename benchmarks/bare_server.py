"""Serve chats with as little around the sanitizer as can be: the limit of a proxy in Python.

The server parses the body, sanitizes the last message, checks the release and makes both calls
with aiohttp. It keeps nothing, charges nothing and guards nothing, so it is no proxy to use.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import AsyncIterator, Sequence

import aiohttp
from aiohttp import web

from proxy.corpus.stage import Recipe

__all__ = ["build_server", "main"]

SESSION = web.AppKey("session", aiohttp.ClientSession)


def build_server(upstream: str, mechanism: str) -> web.Application:
    """Build the server.

    Args:
        upstream: the base URL of the remote and the local model.
        mechanism: the name of the sanitizer.
    """
    sanitizer = Recipe(mechanism).build()

    async def answer(request: web.Request) -> web.Response:
        body = json.loads(await request.read())
        raw = body["messages"][-1]["content"]
        made = sanitizer.perturb(raw)
        sanitizer.verify(raw, made)
        generation = await call(request, {**body, "messages": [_speak(made.text)]})
        told = await call(request, {**body, "messages": [_speak(f"{raw}\n\n{generation}")]})
        choice = {"index": 0, "message": {"role": "assistant", "content": told}}
        return web.json_response({"object": "chat.completion", "choices": [choice]})

    async def call(request: web.Request, body: object) -> str:
        url = f"{upstream}/chat/completions"
        async with request.app[SESSION].post(url, json=body) as response:
            told = json.loads(await response.read())
        content: str = told["choices"][0]["message"]["content"]
        return content

    async def connect(app: web.Application) -> AsyncIterator[None]:
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector) as session:
            app[SESSION] = session
            yield

    app = web.Application()
    app.cleanup_ctx.append(connect)
    app.router.add_post("/v1/chat/completions", answer)
    return app


def main(argv: Sequence[str] | None = None) -> None:
    """Serve until a signal comes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--upstream", required=True)
    parser.add_argument("--mechanism", default="rantext_ldp")
    args = parser.parse_args(argv)
    app = build_server(args.upstream, args.mechanism)
    web.run_app(app, host="127.0.0.1", port=args.port, access_log=None, print=None)


def _speak(content: str) -> dict[str, str]:
    return {"role": "user", "content": content}


if __name__ == "__main__":
    main()
