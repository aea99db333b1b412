"""Models small enough that every paraphrase can be enumerated, and the exact laws of theirs."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extraction.dp_prompt.clip import Decoding
from extraction.dp_prompt.paraphrase import build_prompt
from extraction.dp_prompt.paraphrase_transformers import TransformersParaphraser, load_model

SPECIAL = ("<unk>", "<s>", "</s>")
WORDS = ("alpha", "beta", "gamma", "delta", "salary", "Document", "Paraphrase", ":")
SIZE = len(SPECIAL) + len(WORDS)
END = 2
CAP = 3
CONTEXT = 64
BOUNDS = (-1.0, 1.0)
CLIPPED = Decoding(temperature=2.0, bounds=BOUNDS)  # ε = 2 a token
CENTRED = Decoding(temperature=2.0, bounds=BOUNDS, centred=True)
PAIRS = (
    ("alpha beta gamma", "delta delta salary"),
    ("", "salary"),
    ("alpha", "alpha alpha alpha alpha alpha alpha alpha alpha"),
    # What follows is like an instruction to a model that listens: nothing but clipping helps.
    ("alpha Paraphrase of the document : alpha alpha", "beta Paraphrase of the document : beta"),
)


def save(folder: Path, kind: str) -> str:
    """A model with random weights, large enough for logits far apart."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import (
        LlamaConfig,
        LlamaForCausalLM,
        PreTrainedTokenizerFast,
        T5Config,
        T5ForConditionalGeneration,
    )

    words = Tokenizer(
        models.WordLevel({w: i for i, w in enumerate((*SPECIAL, *WORDS))}, unk_token="<unk>")
    )
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    words.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 1)]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words,
        unk_token="<unk>",
        bos_token="<s>",
        eos_token="</s>",
        model_max_length=CONTEXT,
    )
    torch.manual_seed(1)
    ids = {"bos_token_id": 1, "eos_token_id": END, "pad_token_id": END}
    if kind == "causal":
        model: Any = LlamaForCausalLM(
            LlamaConfig(
                vocab_size=SIZE,
                hidden_size=32,
                intermediate_size=64,
                num_hidden_layers=2,
                num_attention_heads=2,
                max_position_embeddings=CONTEXT,
                initializer_range=0.6,
                **ids,
            )
        )
    else:
        model = T5ForConditionalGeneration(
            T5Config(
                vocab_size=SIZE,
                d_model=32,
                d_kv=16,
                d_ff=64,
                num_layers=2,
                num_heads=2,
                decoder_start_token_id=END,
                initializer_factor=4.0,
                tie_word_embeddings=False,
                **ids,
            )
        )
        with torch.no_grad():
            model.lm_head.weight.normal_(0, 0.6)
    # A model's own settings, which `generate` would follow: here they act on nothing.
    model.generation_config.update(do_sample=True, top_k=2, top_p=0.5, repetition_penalty=3.0)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module", params=["causal", "seq2seq"])
def engine(request: Any, tmp_path_factory: Any) -> TransformersParaphraser:
    name = save(tmp_path_factory.mktemp(request.param), request.param)
    return TransformersParaphraser(name, *load_model(name))


def paths(length: int) -> list[tuple[int, ...]]:
    """Every sequence of `length` tokens without an end token."""
    return list(itertools.product([t for t in range(SIZE) if t != END], repeat=length))


def logits(engine: TransformersParaphraser, document: str) -> dict[tuple[int, ...], Any]:
    """The raw logits after every prefix of fewer than CAP tokens, from one pass over whole
    sequences."""
    import torch

    model, tokenizer = engine._model, engine._tokenizer
    found: dict[tuple[int, ...], Any] = {}
    prompt = tokenizer(build_prompt(document), return_tensors="pt").input_ids
    tails = torch.tensor(paths(CAP - 1))
    with torch.inference_mode():
        if model.config.is_encoder_decoder:
            starts = torch.full((len(tails), 1), END)
            out = model(
                input_ids=prompt.expand(len(tails), -1),
                decoder_input_ids=torch.cat([starts, tails], dim=1),
            ).logits
        else:
            whole = torch.cat([prompt.expand(len(tails), -1), tails], dim=1)
            out = model(input_ids=whole).logits[:, prompt.shape[1] - 1 :]
    for row, tail in zip(out.float().numpy(), tails.tolist(), strict=True):
        for size in range(CAP):
            found[tuple(tail[:size])] = row[size]
    return found


Rows = dict[tuple[int, ...], Any]


def weigh(decoding: Decoding, rows: Rows, public: Rows | None, prefix: tuple[int, ...]) -> Any:
    return decoding.weights(rows[prefix], None if public is None else public[prefix])


def law(
    decoding: Decoding, rows: Rows, public: Rows | None = None
) -> dict[tuple[int, ...], Fraction]:
    """The exact probability of every paraphrase, as sequences of tokens."""
    out: dict[tuple[int, ...], Fraction] = {}

    def walk(prefix: tuple[int, ...], mass: Fraction) -> None:
        if prefix and (prefix[-1] == END or len(prefix) == CAP):
            out[prefix] = mass
            return
        weights = weigh(decoding, rows, public, prefix).tolist()
        for token, weight in enumerate(weights):
            walk((*prefix, token), mass * Fraction(weight, sum(weights)))

    walk((), Fraction(1))
    return out


def worst(decoding: Decoding, first: Rows, second: Rows, public: Rows | None = None) -> float:
    """The largest |ln P(v | x, z) / P(v | x', z)| over all tokens v and prefixes z."""
    found = 0.0
    for prefix in first:
        one, other = (weigh(decoding, rows, public, prefix) for rows in (first, second))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.log(one / one.sum()) - np.log(other / other.sum())
        found = max(found, np.abs(ratio[~np.isnan(ratio)]).max())
    return float(found)
