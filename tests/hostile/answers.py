"""Answers of well-behaved upstreams, as bytes to be sent or to be broken."""

from __future__ import annotations

import json
from typing import Any

from tests.servers import WORDS, chunk, completion

__all__ = ["MODELS", "TEXT", "chat", "embeddings", "frame", "http", "sse", "stream_frames"]

TEXT = "".join(WORDS)


def http(
    body: bytes = b"",
    *headers: str,
    status: str = "200 OK",
    content_type: str = "application/json",
    length: bool = True,
) -> bytes:
    """Return a response; without its length it ends where the connection does."""
    lines = [f"HTTP/1.1 {status}", f"content-type: {content_type}"]
    lines += [f"content-length: {len(body)}"] if length else ["connection: close"]
    return "\r\n".join([*lines, *headers, "", ""]).encode("latin-1") + body


def chat(text: str = TEXT, **over: Any) -> bytes:
    """Return a chat completion's body; `over` replaces its fields."""
    return json.dumps({**completion(text), **over}).encode()


def frame(data: Any) -> bytes:
    """Return one event of a stream."""
    return b"data: " + json.dumps(data).encode() + b"\n\n"


def stream_frames() -> list[bytes]:
    """Return the events of a good stream."""
    usage = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}
    return [
        frame(chunk({"role": "assistant", "content": ""})),
        *(frame(chunk({"content": word})) for word in WORDS),
        frame(chunk({}, "stop")),
        frame({**chunk({}), "choices": [], "usage": usage}),
        b"data: [DONE]\n\n",
    ]


def sse(*frames: bytes) -> bytes:
    """Return a stream's response that ends where the connection does."""
    return http(b"".join(frames), content_type="text/event-stream", length=False)


MODELS = http(
    json.dumps(
        {
            "object": "list",
            "data": [
                {
                    "id": "fake",
                    "object": "model",
                    "created": 1,
                    "owned_by": "x",
                    "max_model_len": 4096,
                }
            ],
        }
    ).encode()
)


def embeddings(count: int) -> bytes:
    """Return the answer to a request for the vectors of so many texts."""
    data = [{"object": "embedding", "index": i, "embedding": [0.1, 0.2]} for i in range(count)]
    usage = {"prompt_tokens": count, "total_tokens": count}
    return http(json.dumps({"object": "list", "data": data, "usage": usage}).encode())
