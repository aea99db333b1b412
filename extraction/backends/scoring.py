"""Score a prompt: the log probability of each of its tokens, given those before it.

vLLM answers that at once, where `echo` and `logprobs` are asked for. llama.cpp ignores `echo`, so
each token is asked for by itself: a bias makes it the one that is generated, and the reported log
probability is that of the model without the bias.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from extraction.backends.base import (
    Scores,
    Usage,
    read_count,
    read_finish_reason,
    read_list,
    read_logprob,
    read_object,
    read_text,
    read_usage,
)

__all__ = ["is_llama_cpp", "read_scores", "score_by_steps"]

Post = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]
FORCED = 10_000.0  # a bias that no logit outweighs
TOKEN_IDS = 2**31  # llama.cpp cuts off what is above


def is_llama_cpp(models: list[dict[str, Any]]) -> bool:
    """Tell if the list of a server's models is llama.cpp's."""
    return any(model.get("owned_by") == "llamacpp" for model in models)


def read_scores(answer: dict[str, Any], prompt: str | list[int]) -> Scores:
    """Read an answer of `/v1/completions` to one prompt with `echo` and `logprobs`.

    Raises:
        ValueError: it is of another form, or does not begin with the prompt: many servers ignore
            `echo`.
    """
    choice = read_object(read_list(answer.get("choices"))[0])
    told = read_object(choice.get("logprobs"))
    text = read_text(choice.get("text"))
    tokens = tuple(map(read_text, read_list(told.get("tokens"))))
    echoed = text.startswith(prompt) if isinstance(prompt, str) else len(tokens) >= len(prompt)
    values = read_list(told.get("token_logprobs"))
    tops = read_list(told.get("top_logprobs"))
    if not (tokens and echoed and len(tokens) == len(values) == len(tops)):
        raise ValueError("not the prompt's")
    return Scores(
        text=text,
        tokens=tokens,
        logprobs=(None, *map(read_logprob, values[1:])),  # nothing stands before the first
        top=(None, *map(_read_top, tops[1:])),
        finish_reason=read_finish_reason(choice.get("finish_reason")) or "length",
        usage=read_usage(answer.get("usage")) or Usage(len(tokens), 0),
    )


def _read_top(value: Any) -> dict[str, float]:
    return {read_text(token): read_logprob(found) for token, found in read_object(value).items()}


async def score_by_steps(
    post: Post, prompt: str | list[int], *, top: int, generate: bool
) -> Scores:
    """Score a prompt with a llama.cpp server, one request for each token.

    Args:
        post: sends a body to a path of the server and returns the answer.
        top: how many of the most likely tokens are named in each place.
        generate: whether the most likely next token follows the prompt.

    Raises:
        ValueError: an answer is of another form, or the server chose another token.
        LocalModelError: the server refused the prompt, or failed.
    """
    if isinstance(prompt, str):
        told = await post("/tokenize", {"content": prompt, "add_special": True})
        ids = [read_count(each) for each in read_list(told.get("tokens"))]
    else:
        ids = prompt
    if not ids or not all(0 <= each < TOKEN_IDS for each in ids):
        raise ValueError("not tokens")
    # The whole prompt comes first: a server that refuses it does so before anything else.
    following = await _step(post, ids, top)
    text = prompt if isinstance(prompt, str) else await _spell(post, ids)
    tokens, logprobs, tops = [await _spell(post, ids[:1])], [None], [None]
    steps = [(await _step(post, ids[:i], top, ids[i])) for i in range(1, len(ids))]
    if generate:
        steps.append(following)
        text += following[0]
    return Scores(
        text=text,
        tokens=(*tokens, *(token for token, _, _ in steps)),
        logprobs=(*logprobs, *(logprob for _, logprob, _ in steps)),
        top=(*tops, *(likely for _, _, likely in steps)),
        finish_reason="length",
        usage=Usage(len(ids), int(generate)),
    )


async def _spell(post: Post, ids: list[int]) -> str:
    return read_text((await post("/detokenize", {"tokens": ids})).get("content"))


async def _step(
    post: Post, ids: list[int], top: int, forced: int | None = None
) -> tuple[str, float, dict[str, float]]:
    """Return the token after some others, its log probability, and the most likely tokens with
    theirs, itself included."""
    body: dict[str, Any] = {
        "prompt": ids,
        "n_predict": 1,
        "n_probs": max(1, top),
        "temperature": 0,
        "samplers": ["temperature"],
        "cache_prompt": True,
    }
    if forced is not None:
        body["logit_bias"] = [[forced, FORCED]]
    told = await post("/completion", body)
    found = read_object(read_list(told.get("completion_probabilities"))[0])
    if forced is not None and found.get("id") != forced:
        raise ValueError("another token")
    token, logprob = read_text(found.get("token")), read_logprob(found.get("logprob"))
    others = [read_object(other) for other in read_list(found.get("top_logprobs"))[:top]]
    likely = {read_text(o.get("token")): read_logprob(o.get("logprob")) for o in others}
    return token, logprob, {token: logprob, **likely}
