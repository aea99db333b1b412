"""vLLM's `/v1/completions` as `FakeServer` behaviours: with our logits processor and without."""

from __future__ import annotations

import math
import random
from typing import Any

from aiohttp import web

from tests.servers import FakeServer, answer

__all__ = ["PARAPHRASE", "clipping_vllm", "no_logprobs", "plain_vllm", "zeros_vllm"]

PARAPHRASE = "Somebody is paid and has a home"
VOCABULARY = 32_000


def _completion(body: dict[str, Any], tokens: list[list[tuple[int, float]]]) -> web.Response:
    choices = [
        {
            "index": i,
            "text": f" {PARAPHRASE}",
            "finish_reason": "length",
            "logprobs": {
                "tokens": [f"token_id:{token}" for token, _ in found],
                "token_logprobs": [value for _, value in found],
                "top_logprobs": None,
                "text_offset": [0] * len(found),
            }
            if "logprobs" in body
            else None,
        }
        for i, found in enumerate(tokens)
    ]
    size = sum(map(len, tokens))
    usage = {"prompt_tokens": 30, "completion_tokens": size, "total_tokens": 30 + size}
    return web.json_response(
        {
            "id": "x",
            "object": "text_completion",
            "created": 1,
            "model": "fake",
            "choices": choices,
            "usage": usage,
        }
    )


async def clipping_vllm(
    server: FakeServer, request: web.Request, body: dict[str, Any]
) -> web.StreamResponse:
    """Runs the processor: random tokens, each with the log probability that was asked for."""
    if "messages" in body:
        return await answer(server, request, body)
    mark = body["vllm_xargs"]["inferdpt_clip"][3] if "vllm_xargs" in body else 0.5
    return _completion(
        body,
        [
            [(random.randrange(VOCABULARY), math.log(mark)) for _ in range(body["max_tokens"])]
            for _ in body["prompt"]
        ],
    )


async def plain_vllm(
    server: FakeServer, request: web.Request, body: dict[str, Any]
) -> web.StreamResponse:
    """Ignores what it is asked: the same likely tokens every time."""
    if "messages" in body:
        return await answer(server, request, body)
    found = [(i, -0.3 - i / 10) for i in range(body["max_tokens"])]
    return _completion(body, [found for _ in body["prompt"]])


async def zeros_vllm(
    server: FakeServer, request: web.Request, body: dict[str, Any]
) -> web.StreamResponse:
    """Fills in zeros where it has no log probabilities."""
    found = [(i, 0.0) for i in range(body["max_tokens"])]
    return _completion(body, [found for _ in body["prompt"]])


async def no_logprobs(
    server: FakeServer, request: web.Request, body: dict[str, Any]
) -> web.StreamResponse:
    """Knows no log probabilities."""
    body = {name: value for name, value in body.items() if name != "logprobs"}
    return await plain_vllm(server, request, body)
