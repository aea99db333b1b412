"""Clip bounds: measured on public text, for the logits that the decoding clips."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from extraction.dp_prompt.clip_bounds import measure_bounds
from extraction.dp_prompt.paraphrase import build_prompt
from extraction.dp_prompt.paraphrase_transformers import TransformersParaphraser, load_model
from extraction.dp_prompt.sanitizer import PromptParameters
from extraction.errors import LocalModelUnavailable
from tests.proxy.cli.commands import run
from tests.vllm.small_paraphrasers import (
    BOUNDS,
    END,
    SIZE,
    WORDS,
    engine,
    save,
)

__all__ = ["engine"]

pytestmark = pytest.mark.vllm


def test_clip_bounds_are_those_of_the_logits_over_the_text(engine):
    text = " ".join(WORDS[:5] * 3)
    measured = measure_bounds(engine._model, engine._tokenizer, [text])
    rows = logits_over(engine, text)
    assert measured.count == rows.size == 16 * SIZE
    assert measured.bounds("minmax") == pytest.approx((rows.min(), rows.max()), abs=1e-5)
    expected = (rows.mean(), rows.mean() + 4 * rows.std())
    assert measured.bounds("mean_std") == pytest.approx(expected, abs=1e-4)


def test_long_public_text_is_measured_piece_by_piece(engine):
    short = " ".join(WORDS[:5] * 3)
    one = measure_bounds(engine._model, engine._tokenizer, [short])
    both = measure_bounds(engine._model, engine._tokenizer, [short, short])
    assert (both.count, both.mean) == (2 * one.count, pytest.approx(one.mean))


def logits_over(engine: TransformersParaphraser, text: str) -> Any:
    """The logits of every token of the text after the prompt that holds it, one prefix at a time
    and not in one pass."""
    import torch

    model, tokenizer = engine._model, engine._tokenizer
    prompt = tokenizer(build_prompt(text)).input_ids
    tokens = tokenizer(text, add_special_tokens=False).input_ids
    rows = []
    with torch.inference_mode():
        for size in range(len(tokens) + 1):
            if model.config.is_encoder_decoder:
                fed = torch.tensor([[END, *tokens[:size]]])
                out = model(input_ids=torch.tensor([prompt]), decoder_input_ids=fed)
            else:
                out = model(input_ids=torch.tensor([prompt + tokens[:size]]))
            rows.append(out.logits[0, -1].numpy())
    return np.array(rows)


def test_clip_bounds_command_prints_what_the_configuration_takes(tmp_path, capsys):
    name = save(tmp_path / "model", "causal")
    text = tmp_path / "public.txt"
    text.write_text("alpha beta gamma")
    args = ["clip-bounds", "--model", name, "--text", str(text), "--rule", "mean_std", "--json"]
    assert run(*args) == 0
    printed = capsys.readouterr()
    figures = json.loads(printed.out)
    low, high = figures["clip"]
    assert figures["epsilon_per_token_at_temperature"]["0.75"] == pytest.approx(
        2 * (high - low) / 0.75
    )
    assert PromptParameters(clip=figures["clip"], epsilon=6.0).clip == (low, high)
    assert "public text only" in printed.err
    assert run(*args[:-1]) == 0
    assert f"clip: [{low:.6g}, {high:.6g}]" in capsys.readouterr().out


def test_a_folder_without_a_model_is_named(tmp_path):
    with pytest.raises(LocalModelUnavailable, match=str(tmp_path)):
        load_model(str(tmp_path))


def test_clamping_processor_clips_scores():
    import torch

    from extraction.dp_prompt.clip import make_clamp_processor

    scores = torch.tensor([[-5.0, 0.5, 7.0, float("-inf")]])
    found = make_clamp_processor(BOUNDS)(torch.tensor([[0]]), scores)
    assert found.tolist() == [[-1.0, 0.5, 1.0, -1.0]]
