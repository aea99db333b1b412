"""A paraphraser behind the local server's `/v1/completions`.

Clipping needs a vLLM that runs `extraction.dp_prompt.vllm_clip`. A server without it would
silently ignore the request, so it must prove that it clips: once on public text, and then token
by token in every answer (see `_check_proof`).
"""

from __future__ import annotations

import asyncio
import logging
import math
from typing import Any

import numpy as np

from extraction.backends.base import Usage
from extraction.backends.openai_server import Continuation, OpenAIServer
from extraction.dp_prompt.clip import Decoding
from extraction.dp_prompt.paraphrase import Paraphrase, build_prompt
from extraction.dp_prompt.vllm_clip import ClipRequest
from extraction.errors import (
    ClippingNotProved,
    LocalModelError,
    LocalModelRefused,
    LocalModelUnavailable,
)
from perturb import DocumentTooLong, secure_generator

__all__ = ["ServerParaphraser"]

logger = logging.getLogger("inferdpt.local")
EXACT = 1e-5  # of a log probability: float32, printed and read again
BYTES = 256  # no tokenizer has fewer tokens; the probe gives a better lower bound
# Every option that could act on the logits is set here, so that neither a default of the server
# nor the model's own generation settings apply.
_PLAIN: dict[str, Any] = {
    "top_p": 1.0,
    "top_k": 0,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "n": 1,
    "echo": False,
    "skip_special_tokens": True,
}
_PROBES = 32  # one-token answers to a public prompt, drawn uniformly (b1 = b2)
_PROBE = build_prompt("The weather in spring is mild.")
_NOT_PROVED = (
    "the local server did not prove that it clips logits: start vLLM with "
    "VLLM_USE_V2_MODEL_RUNNER=0 in its environment and "
    "--logits-processors extraction.dp_prompt.vllm_clip:ClipLogits "
    "--logprobs-mode processed_logprobs"
)
_TOO_LONG = "a text and its paraphrase do not fit the local model's context"


class ServerParaphraser:
    """Paraphrase with the local server's model.

    Args:
        server: the local server; the paraphraser does not close it.
    """

    def __init__(self, server: OpenAIServer) -> None:
        self.vocabulary_size = BYTES
        self._server = server
        self._context = 0
        self._proved = False
        self._proving = asyncio.Lock()

    def identity(self) -> dict[str, Any]:
        return {"engine": "server", "model": self._server.model or ""}

    async def generate(
        self,
        prompt: str,
        decoding: Decoding,
        max_tokens: int,
        rng: np.random.Generator | None = None,
        *,
        public: str | None = None,
    ) -> Paraphrase:
        del rng  # the noise is drawn where the logits are
        if decoding.centred or public is not None:
            raise LocalModelUnavailable(
                "a server does not keep the generations for two prompts in step, so logits cannot "
                "be clipped around those of the public prompt; use the engine transformers"
            )
        if decoding.bounds is None:
            [answer], usage = await self._ask([prompt], max_tokens, _build_plain_options(decoding))
        else:
            await self.prove()
            request = _make_clip_request(decoding)
            try:
                options = _build_clip_options(request)
                [answer], usage = await self._ask([prompt], max_tokens, options)
                _check_proof(request, [answer], usage)
            except LocalModelError:
                self._proved = False
                raise
            if usage.prompt_tokens + max_tokens > self._context:
                # vLLM lowers the cap to the room that is left, which depends on the document. A
                # paraphrase that ends in time is refused as well.
                raise DocumentTooLong(_TOO_LONG)
        if usage.completion_tokens > max_tokens:
            raise LocalModelUnavailable("the local server drew more tokens than allowed")
        return Paraphrase(answer.text.strip(), usage.completion_tokens)

    async def prove(self) -> None:
        """Prove on public text that the server clips, before any document goes there. The proof is
        made once and repeated after a failure. It also yields a lower bound on the size of the
        model's vocabulary, and the size of its context.

        Raises:
            ClippingNotProved: it does not clip.
            LocalModelError: it does not answer.
        """
        async with self._proving:
            if self._proved:
                return
            request = _make_clip_request(Decoding(bounds=(0.0, 0.0)))
            answers, usage = await self._ask([_PROBE] * _PROBES, 1, _build_clip_options(request))
            _check_proof(request, answers, usage)
            self._context = await self._server.context_tokens() or 0
            if not self._context:
                raise LocalModelUnavailable("the local server does not report its context size")
            self.vocabulary_size = max(BYTES, *(_read_token_id(answer) + 1 for answer in answers))
            self._proved = True

    async def _ask(
        self, prompts: list[str], max_tokens: int, options: dict[str, Any]
    ) -> tuple[list[Continuation], Usage]:
        try:
            return await self._server.continue_text(
                prompts, {**_PLAIN, "max_tokens": max_tokens, **options}
            )
        except LocalModelRefused as exc:
            if exc.too_long:
                raise DocumentTooLong(_TOO_LONG) from exc
            raise


def _build_plain_options(decoding: Decoding) -> dict[str, Any]:
    """Return the options of plain sampling with the server's own noise, which guarantees
    nothing."""
    return {"temperature": decoding.temperature, "top_k": decoding.top_k or 0}


def _make_clip_request(decoding: Decoding) -> ClipRequest:
    """Return a request with a fresh mark, which only a server with the processor can report."""
    return ClipRequest(decoding, float(secure_generator().uniform(0.55, 0.95)))


def _build_clip_options(request: ClipRequest) -> dict[str, Any]:
    return {
        "temperature": 0.0,
        "logprobs": 0,
        "return_tokens_as_token_ids": True,
        "vllm_xargs": request.to_arguments(),
    }


def _read_token_id(answer: Continuation) -> int:
    """Return the id of the one token of an answer, which vLLM writes as `token_id:N`."""
    name = answer.logprobs[0][0].removeprefix("token_id:")
    if not (name.isdecimal() and len(name) < 10):
        raise _make_error()
    return int(name)


def _make_error() -> ClippingNotProved:
    """Return the error for clients, and log the reason for the operator."""
    logger.error(_NOT_PROVED)
    return ClippingNotProved(_NOT_PROVED)


def _check_proof(request: ClipRequest, answers: list[Continuation], usage: Usage) -> None:
    """Check that every token has the requested log probability. A server that does not
    run the processor does not know it: ln p is uniform enough for one token of an honest model to
    come within EXACT of it with probability below 1e-4, and the probe has 32 tokens.

    Raises:
        ClippingNotProved: a token has another one, or none is reported.
    """
    reported = [[value for _, value in answer.logprobs] for answer in answers]
    counted = sum(map(len, reported)) == usage.completion_tokens and all(reported)
    expected = math.log(request.mark)
    if not counted or any(abs(value - expected) > EXACT for row in reported for value in row):
        raise _make_error()
