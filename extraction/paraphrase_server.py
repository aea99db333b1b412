"""A paraphraser behind the local server's `/v1/completions`.

Clipping takes a vLLM that runs `extraction.vllm_clip`. A server without it would ignore what it
is asked in silence, so it has to prove that it clips: once on public text, and then token by
token in every answer (see `_check_proof`).
"""

from __future__ import annotations

import asyncio
import logging
import math
from typing import Any

import numpy as np

from extraction.backend import Usage
from extraction.clip import Decoding
from extraction.errors import (
    ClippingNotProved,
    LocalModelError,
    LocalModelRefused,
    LocalModelUnavailable,
)
from extraction.openai_server import Continuation, OpenAIServer
from extraction.paraphrase import Paraphrase, prompt_for
from extraction.vllm_clip import Wish
from perturb import DocumentTooLong, secure_generator

__all__ = ["ServerParaphraser"]

logger = logging.getLogger("inferdpt.local")
EXACT = 1e-5  # of a log probability: float32, printed and read again
BYTES = 256  # no tokenizer has fewer tokens; the probe shows how many there are at least
# Everything that could act on the logits is stated, so that no default of the server's or of the
# model's own generation settings takes its place.
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
_PROBE = prompt_for("The weather in spring is mild.")
_NOT_PROVED = (
    "the local server did not prove that it clips logits: start vLLM with "
    "VLLM_USE_V2_MODEL_RUNNER=0 in its environment and "
    "--logits-processors extraction.vllm_clip:ClipLogits --logprobs-mode processed_logprobs"
)
_TOO_LONG = "a text and its paraphrase do not fit the local model's context"


class ServerParaphraser:
    """Paraphrases with the local server's model.

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
    ) -> Paraphrase:
        del rng  # the noise is drawn where the logits are
        if decoding.bounds is None:
            [answer], usage = await self._ask([prompt], max_tokens, _unclipped(decoding))
        else:
            await self.prove()
            wish = _wish(decoding)
            try:
                [answer], usage = await self._ask([prompt], max_tokens, _clipped(wish))
                _check_proof(wish, [answer], usage)
            except LocalModelError:
                self._proved = False
                raise
            if usage.prompt_tokens + max_tokens > self._context:
                # vLLM lowers the cap to the room there is, which depends on the document: a
                # paraphrase that does end in time is refused as well.
                raise DocumentTooLong(_TOO_LONG)
        if usage.completion_tokens > max_tokens:
            raise LocalModelUnavailable("the local server drew more tokens than it was asked for")
        return Paraphrase(answer.text.strip(), usage.completion_tokens)

    async def prove(self) -> None:
        """Have the server prove on public text that it clips, before any document goes there;
        once, until a proof fails. It also shows how many tokens its model has at least, and how
        many fit its context.

        Raises:
            ClippingNotProved: it does not clip.
            LocalModelError: it does not answer.
        """
        async with self._proving:
            if self._proved:
                return
            wish = _wish(Decoding(bounds=(0.0, 0.0)))
            answers, usage = await self._ask([_PROBE] * _PROBES, 1, _clipped(wish))
            _check_proof(wish, answers, usage)
            self._context = await self._server.context_tokens() or 0
            if not self._context:
                raise LocalModelUnavailable("the local server does not tell its context")
            self.vocabulary_size = max(BYTES, *(_token_id(answer) + 1 for answer in answers))
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


def _unclipped(decoding: Decoding) -> dict[str, Any]:
    """Plain sampling with the server's own noise: nothing is promised of it."""
    return {"temperature": decoding.temperature, "top_k": decoding.top_k or 0}


def _wish(decoding: Decoding) -> Wish:
    """The decoding, with a fresh number that only a server at work can answer with."""
    return Wish(decoding, float(secure_generator().uniform(0.55, 0.95)))


def _clipped(wish: Wish) -> dict[str, Any]:
    return {
        "temperature": 0.0,
        "logprobs": 0,
        "return_tokens_as_token_ids": True,
        "vllm_xargs": wish.argument(),
    }


def _token_id(answer: Continuation) -> int:
    """The one token of an answer, which vLLM writes `token_id:N`."""
    name = answer.logprobs[0][0].removeprefix("token_id:")
    if not name.isdecimal():
        raise _not_proved()
    return int(name)


def _not_proved() -> ClippingNotProved:
    """Clients are told that the local model is not available; the operator, why."""
    logger.error(_NOT_PROVED)
    return ClippingNotProved(_NOT_PROVED)


def _check_proof(wish: Wish, answers: list[Continuation], usage: Usage) -> None:
    """Every token has to have the log probability that was asked for. A server that does not
    run the processor does not know it: ln p is uniform enough for one token of an honest model
    to come within EXACT of it with probability below 1e-4, and the probe has 32 tokens.

    Raises:
        ClippingNotProved: one has another, or none is told.
    """
    told = [[value for _, value in answer.logprobs] for answer in answers]
    counted = sum(map(len, told)) == usage.completion_tokens and all(told)
    expected = math.log(wish.mark)
    if not counted or any(abs(value - expected) > EXACT for row in told for value in row):
        raise _not_proved()
