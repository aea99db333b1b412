"""Serve a remote that knows a public collection: an OpenAI-compatible server for benchmarks.

It writes nothing of its own. It answers with the passage of the collection that is nearest to the
text that it is shown, or with the passage that follows that one. It stands for the knowledge of a
large model, which knows subjects but not the continuation of a private text.

    python -m benchmarks.harness.knowing_remote --codebook FILE --port 8080
    python -m benchmarks.harness.knowing_remote --texts FILE.jsonl --port 8080
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
from aiohttp import web

from benchmarks.harness.datasets import DataError
from benchmarks.harness.stack import build_completion, extract_document
from benchmarks.harness.suite import Endpoint
from perturb import PerturbError
from perturb.vocabulary.vocabulary import encode_text, load_encoding
from perturb.whole.codebook import Codebook, load_codebook
from perturb.whole.encoder import Encoder, load_encoder, load_static
from perturb.whole.passages import split_passages
from proxy.local import HOST

__all__ = ["MODEL", "follow_nearest", "main", "run_knowing_remote", "say_nearest"]

MODEL = "knowing-remote"
Knowledge = Callable[[str], str]


def say_nearest(book: Codebook) -> Knowledge:
    """Return the knowledge that answers with a codebook's nearest passage, by its own encoder."""
    encode = load_encoder(str(book.facts["encoder"].get("encoder", "")))

    def answer(text: str) -> str:
        return book.passage(int(np.argmax(book.similarities(encode([text])[0]))))

    return answer


def follow_nearest(texts: Iterable[str], encode: Encoder) -> Knowledge:
    """Return the knowledge that answers with what follows the nearest passage of public texts.

    Raises:
        DataError: no text has two passages.
    """
    passages: list[str] = []
    following: list[str] = []
    for text in texts:
        parts = list(split_passages(text))
        passages += parts[:-1]
        following += parts[1:]
    if not passages:
        raise DataError("a remote that follows passages needs a text of two passages or more")
    vectors = encode(passages)

    def answer(text: str) -> str:
        return following[int(np.argmax(vectors @ encode([text])[0]))]

    return answer


@asynccontextmanager
async def run_knowing_remote(knowledge: Knowledge, port: int = 0) -> AsyncIterator[Endpoint]:
    """Serve on loopback; yield the endpoint.

    Args:
        knowledge: maps the text that the remote is shown to its answer.
        port: 0 takes a free one.
    """
    app = web.Application()
    app.router.add_get("/v1/models", _list_models)

    async def complete(request: web.Request) -> web.Response:
        return await _complete(request, knowledge)

    app.router.add_post("/v1/chat/completions", complete)
    run = web.AppRunner(app, access_log=None)
    try:
        await run.setup()
        await web.TCPSite(run, HOST, port).start()
        yield Endpoint(base_url=f"http://{HOST}:{run.addresses[0][1]}/v1", model=MODEL)
    finally:
        await run.cleanup()


async def _list_models(request: web.Request) -> web.Response:
    del request
    model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "benchmarks"}
    return web.json_response({"object": "list", "data": [model]})


async def _complete(request: web.Request, knowledge: Knowledge) -> web.Response:
    try:
        body: dict[str, Any] = await request.json()
        prompt = body["messages"][-1]["content"]
        if not isinstance(prompt, str):
            raise TypeError
    except (ValueError, KeyError, IndexError, TypeError):
        return _refuse("messages must end with one whose content is a string")
    if body.get("stream"):
        return _refuse("stream must be false: this server answers at once")
    text = await asyncio.to_thread(knowledge, extract_document(prompt))
    limit = body.get("max_completion_tokens") or body.get("max_tokens")
    if limit:
        text = load_encoding().decode(encode_text(text)[:limit].tolist())
    return web.json_response(build_completion(text) | {"model": MODEL})


def _refuse(message: str) -> web.Response:
    error = {"message": message, "type": "invalid_request_error"}
    return web.json_response({"error": error}, status=400)


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until interrupted; return the exit status, 2 for bad input."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.harness.knowing_remote",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--codebook", type=Path, help="answer with its nearest passage")
    source.add_argument(
        "--texts",
        type=Path,
        help="JSONL with `text`: answer with what follows the nearest passage",
    )
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one (0)")
    args = parser.parse_args(arguments)
    try:
        if args.codebook:
            knowledge = say_nearest(load_codebook(args.codebook))
        else:
            knowledge = follow_nearest(_read_texts(args.texts), load_static())
        asyncio.run(_serve(knowledge, args.port))
    except (DataError, PerturbError) as exc:
        print(f"knowing_remote: {exc}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        pass
    return 0


def _read_texts(path: Path) -> list[str]:
    try:
        lines = path.read_text("utf-8").split("\n")
        return [str(json.loads(line)["text"]) for line in lines if line.strip()]
    except OSError as exc:
        raise DataError(f"{path}: cannot be read ({exc.strerror})") from exc
    except (ValueError, KeyError, TypeError) as exc:
        raise DataError(f"{path}: not lines of text, {type(exc).__name__}") from None


async def _serve(knowledge: Knowledge, port: int) -> None:
    async with run_knowing_remote(knowledge, port) as endpoint:
        print(f"a remote that knows a public collection: {endpoint.base_url}", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    sys.exit(main())
