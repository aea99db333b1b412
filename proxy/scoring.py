"""Answer requests for a prompt's own log probabilities: by the local model, and nothing is sent.

Evaluation harnesses send them to `/v1/completions`: `echo` with `logprobs`, and one token or none
to generate.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from extraction.backends.base import Backend, Scores, Scoring, Usage
from extraction.codec import dump
from extraction.errors import CannotScore, LocalModelError, LocalModelRefused
from extraction.extractor import gather
from perturb import Sanitizer
from perturb.work import offload
from proxy.errors import ApiError, bad_request, from_local, unsupported
from proxy.pipeline.plan import make_receipt
from proxy.requests.protocol import CompletionRequest

__all__ = ["check_scoring", "score", "wants_scores", "write_scores"]

Prompts = list[str] | list[list[int]]


def wants_scores(request: CompletionRequest) -> bool:
    """Tell if a request asks for the log probabilities of its prompts."""
    return bool(request.echo) and request.logprobs is not None


def check_scoring(request: CompletionRequest, *, allowed: bool) -> Prompts:
    """Return the prompts of a request that wants scores. Token ids stay ids: they are the local
    model's own.

    Args:
        allowed: whether the operator serves such requests (`local.score_prompts`).

    Raises:
        ApiError: 400, the operator does not, or a field breaks its rule.
    """
    if not allowed:
        raise unsupported("echo", "the operator does not serve it with 'logprobs'")
    if request.max_tokens not in (0, 1):
        raise bad_request(
            "'max_tokens' must be 0 or 1 where 'echo' and 'logprobs' ask for the prompt's own log "
            "probabilities: nothing is sent to the remote for them.",
            param="max_tokens",
            code="invalid_value",
        )
    if request.stream:
        raise unsupported("stream", "log probabilities of prompts are not streamed")
    if request.choices > 1:
        raise unsupported("n", "a prompt has its log probabilities once")
    given = request.prompt
    prompts: Any = given
    if isinstance(given, str) or (given and isinstance(given[0], int)):
        prompts = [given]
    if not prompts or not all(prompts):
        raise bad_request("'prompt' must not be empty.", param="prompt", code="invalid_value")
    return prompts  # type: ignore[no-any-return]


async def score(backend: Backend, request: CompletionRequest, prompts: Prompts) -> list[Scores]:
    """Score the prompts of a request with the local model.

    Raises:
        ApiError: 400, the local model cannot; or it failed.
    """
    if not isinstance(backend, Scoring):
        raise unsupported("echo", "the local model does not tell a prompt's log probabilities")
    top, generate = request.logprobs or 0, request.max_tokens == 1
    try:
        jobs = [backend.score(prompt, top=top, generate=generate) for prompt in prompts]
        return await gather(jobs)
    except LocalModelError as exc:
        raise _map_error(exc) from exc


def _map_error(error: LocalModelError) -> ApiError:
    refused = isinstance(error, LocalModelRefused) and not error.too_long
    if refused or isinstance(error, CannotScore):
        return unsupported("echo", f"with 'logprobs', {error}")
    return from_local(error)


async def write_scores(
    request: CompletionRequest, found: Sequence[Scores], sanitizer: Sanitizer
) -> bytes:
    """Write the answer in the form of completions, with the receipt of a request of which nothing
    was sent."""
    usage = sum((each.usage for each in found), Usage())
    answer: dict[str, Any] = {
        "id": f"cmpl-{secrets.token_hex(12)}",
        "object": "text_completion",
        "created": int(time.time()),
        "model": request.model,
        "choices": [_render(index, scores) for index, scores in enumerate(found)],
        "usage": {
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        },
    }
    level = request.inferdpt.receipt
    if level != "none":
        outcomes = [("scored", "whole")] * len(found)
        answer["inferdpt"] = make_receipt(level, sanitizer, [], outcomes, sent_to=None)  # type: ignore[arg-type]
    return await offload(False, dump, answer)


def _render(index: int, scores: Scores) -> dict[str, Any]:
    ends = accumulate(map(len, scores.tokens), initial=0)
    return {
        "index": index,
        "text": scores.text,
        "logprobs": {
            "tokens": scores.tokens,
            "token_logprobs": scores.logprobs,
            "top_logprobs": scores.top,
            "text_offset": [end for _, end in zip(scores.tokens, ends, strict=False)],
        },
        "finish_reason": scores.finish_reason,
    }
