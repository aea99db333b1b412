"""A paraphraser in this process, which draws the tokens of a transformers model one by one.

The `generate` method of transformers is not used. Its warpers come from the model's own settings,
and its noise from torch's generator, which is predictable. Here the clipped logits go straight to
a draw in integers, and nothing else can act on them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extraction.dp_prompt.clip import Decoding, make_clamp_processor
from extraction.dp_prompt.paraphrase import Paraphrase
from extraction.errors import LocalModelUnavailable
from perturb import DocumentTooLong, secure_generator
from perturb.install import install_command

__all__ = ["TransformersParaphraser", "load_model"]

UNLIMITED = 10**9  # tokenizers without a limit state an astronomic one


def load_model(name: str) -> tuple[Any, Any]:
    """Load a model, causal or encoder-decoder, in evaluation mode, and its tokenizer; on the GPU
    if there is one.

    Args:
        name: a folder or a name on the Hugging Face hub. Code that comes with it is not run.

    Raises:
        LocalModelUnavailable: transformers is missing or the model cannot be loaded.
    """
    try:
        import torch
        from transformers import (
            AutoConfig,
            AutoModelForCausalLM,
            AutoModelForSeq2SeqLM,
            AutoTokenizer,
        )
    except ImportError as exc:
        raise LocalModelUnavailable(
            f"a model in this process needs transformers: {install_command('paraphrase')}"
        ) from exc
    try:
        config = AutoConfig.from_pretrained(name)
        kind = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
        model = kind.from_pretrained(name)
        tokenizer = AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError) as exc:
        raise LocalModelUnavailable(f"no model that transformers can load at {name}") from exc
    model.to("cuda" if torch.cuda.is_available() else "cpu")
    return model.eval(), tokenizer


class TransformersParaphraser:
    """Paraphrase with a transformers model, one document at a time. Several at once would only
    share its processors, and each holds a cache. Threads and event loops may share it.

    Args:
        name: the model's name in messages.
        model, tokenizer: from `load_model`.

    Raises:
        LocalModelUnavailable: the model names no end token.
    """

    def __init__(self, name: str, model: Any, tokenizer: Any) -> None:
        self._name = name
        self._model = model
        self._tokenizer = tokenizer
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="paraphrase")
        config = model.config.get_text_config()
        self.vocabulary_size = int(config.vocab_size)
        limits = (getattr(config, "max_position_embeddings", None), tokenizer.model_max_length)
        self._context = min([n for n in limits if n and n < UNLIMITED], default=None)
        ends = model.generation_config.eos_token_id
        self._ends = set(ends if isinstance(ends, list) else [ends]) - {None}
        if not self._ends:
            raise LocalModelUnavailable(f"the model {name} names no end token")

    def identity(self) -> dict[str, Any]:
        return {"engine": "transformers", "model": self._name}

    async def generate(
        self,
        prompt: str,
        decoding: Decoding,
        max_tokens: int,
        rng: np.random.Generator | None = None,
        *,
        public: str | None = None,
    ) -> Paraphrase:
        rng = rng or secure_generator()
        try:
            return await asyncio.get_running_loop().run_in_executor(
                self._worker, self._generate, prompt, decoding, max_tokens, rng, public
            )
        except (IndexError, RuntimeError, ValueError) as exc:  # torch's, and ours about logits
            raise LocalModelUnavailable(
                f"the paraphrasing model failed ({type(exc).__name__})"
            ) from exc

    def _generate(
        self,
        prompt: str,
        decoding: Decoding,
        max_tokens: int,
        rng: np.random.Generator,
        public: str | None,
    ) -> Paraphrase:
        bounds = None if decoding.centred else decoding.bounds
        sources = [self._iterate_logits(prompt, bounds, max_tokens)]
        if decoding.centred:
            if public is None:
                raise ValueError("centred clipping needs a public prompt")
            # passes of its own, not a batch with the document's: nothing in them depends on it
            sources.append(self._iterate_logits(public, None, max_tokens))
        rows = [next(source) for source in sources]
        drawn = [decoding.draw(rows[0], rng, *rows[1:])]
        while len(drawn) < max_tokens and drawn[-1] not in self._ends:
            rows = [source.send(drawn[-1]) for source in sources]
            drawn.append(decoding.draw(rows[0], rng, *rows[1:]))
        text = self._tokenizer.decode(drawn, skip_special_tokens=True)
        return Paraphrase(text.strip(), len(drawn))

    def _iterate_logits(
        self, prompt: str, bounds: tuple[float, float] | None, room: int
    ) -> Generator[NDArray[np.float32], int, None]:
        """Yield the logits (m,) of the next token, clipped if there are bounds. Each token that
        is sent in yields the logits of the one after it."""
        import torch

        clamp = make_clamp_processor(bounds) if bounds is not None else lambda _, scores: scores
        model, state = self._model, {}
        feed = self._tokenizer(prompt, return_tensors="pt").input_ids.to(model.device)
        self._check_room(feed.shape[1], room)
        name = "input_ids"
        with torch.inference_mode():
            if model.config.is_encoder_decoder:
                state["encoder_outputs"] = model.get_encoder()(feed)
                name = "decoder_input_ids"
                start = model.generation_config.decoder_start_token_id
                feed = torch.tensor([[start]], device=model.device)
        while True:
            with torch.inference_mode():
                step = model(**state, **{name: feed}, use_cache=True)
                row = clamp(feed, step.logits[:, -1])[0].float().cpu().numpy()
            token = yield row
            state["past_key_values"] = step.past_key_values
            feed = torch.tensor([[token]], device=model.device)

    def _check_room(self, prompt: int, room: int) -> None:
        """Refuse a document that does not fit. Cutting it, or ending the paraphrase early for lack
        of room, would be another channel."""
        if self._context is None:
            return
        limit = self._context
        if not self._model.config.is_encoder_decoder:
            limit -= room
        if prompt > limit:
            raise DocumentTooLong(
                f"a text and its prompt must have <= {limit} tokens of the paraphrasing model, "
                f"got {prompt}"
            )
