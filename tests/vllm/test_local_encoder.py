"""`inferdpt table build --encoder`: a real sentence-transformers model, a small one made
here. It stands in this tier because this is the environment that has torch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from perturb import Perturber, get_mechanism, load_table, seeded_generator
from perturb.errors import TableError
from perturb.vocabulary.embed import local_encoder
from proxy.cli.main import main

pytestmark = pytest.mark.vllm
DIMENSION = 24


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of one layer over a character vocabulary, with mean pooling."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("encoder")
    letters = [chr(c) for c in range(ord("a"), ord("z") + 1)]
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{c}" for c in letters)]
    (folder / "vocab.txt").write_text("\n".join(words))
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=DIMENSION,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
    )
    BertModel(config).save_pretrained(folder / "bert")
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder / "bert")
    transformer = Transformer(str(folder / "bert"), max_seq_length=64)
    model = SentenceTransformer(modules=[transformer, Pooling(DIMENSION)], device="cpu")
    model.save(str(folder / "model"))
    return folder / "model"


def test_the_command_builds_a_table_that_both_mechanisms_use(
    encoder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "tiny"
    build = ["embeddings", "build", "--encoder", str(encoder), "--out", str(out)]
    assert main([*build, "--size", "400", "--batch", "8192", "--name", "tiny"]) == 0
    assert "400 words, 24 dimensions" in capsys.readouterr().out
    table = load_table(out)
    assert table.provenance["model"] == "tiny"
    rows = local_encoder(str(encoder))(table.vocabulary.words[:5])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    assert np.abs(rows - table.vectors[:5]).max() < 2e-3
    for name in ("rantext", "rantext_ldp"):
        perturber = Perturber(get_mechanism(name, table, epsilon=6))
        done = perturber.perturb("A letter about the house.", seeded_generator(1))
        assert len(done.words) == done.receipt.released == 5
    assert not out.with_name("tiny.partial").exists()


def test_a_folder_that_is_no_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="cannot load the encoder"):
        local_encoder(str(tmp_path / "nothing"))
