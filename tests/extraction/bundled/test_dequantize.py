"""The bundled file read for transformers and vLLM. That they compute the same is shown in
tests/vllm/test_bundled_model.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import gguf
import numpy as np
import pytest
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from extraction.bundled.dequantize import main, read_gguf, write_hf
from extraction.errors import ModelFileError
from perturb.install import install_command
from tests.extraction.backends.test_llama_server import MODEL, post, running

TEXTS = (
    "The harbour wasn't quiet: it's 3.14 miles long, they'd said.",
    "  two blanks,\ttabs\n\nand lines \n",
    "naïve café, Ελλάδα, 東京, 🙂",
    "<|user|>Hello<|end|><|assistant|>",
    "x" * 40 + " 1234567 ... !!! don't DON'T",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("model")
    write_hf(MODEL, made)
    return made


@pytest.fixture(scope="module")
def server() -> Iterator[int]:
    with running() as (_, port):
        yield port


def test_weights_fit_the_config(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    weights = load_file(folder / "model.safetensors")
    size, inner = config["hidden_size"], config["intermediate_size"]
    assert weights["model.embed_tokens.weight"].shape == (config["vocab_size"], size)
    for layer in range(config["num_hidden_layers"]):
        prefix = f"model.layers.{layer}"
        assert weights[f"{prefix}.self_attn.q_proj.weight"].shape == (size, size)
        assert weights[f"{prefix}.mlp.down_proj.weight"].shape == (size, inner)
        assert weights[f"{prefix}.input_layernorm.weight"].shape == (size,)
    assert len(weights) == 2 + 9 * config["num_hidden_layers"]
    assert all(np.isfinite(values).all() for values in weights.values())
    assert config["head_dim"] >= 32  # the least that vLLM serves


@pytest.mark.parametrize("text", TEXTS)
def test_tokenizer_cuts_text_as_llama_cpp_does(server: int, folder: Path, text: str) -> None:
    status, answer = post(server, "/tokenize", {"content": text, "parse_special": True})
    assert status == 200
    ours = Tokenizer.from_file(str(folder / "tokenizer.json")).encode(text).ids
    assert ours == json.loads(answer)["tokens"]


def test_chat_template_and_sampling_are_the_file_s_own(folder: Path) -> None:
    facts, _ = read_gguf(MODEL)
    tokenizer = json.loads((folder / "tokenizer_config.json").read_text())
    generation = json.loads((folder / "generation_config.json").read_text())
    assert tokenizer["chat_template"] == facts["tokenizer.chat_template"]
    assert generation["temperature"] == facts["general.sampling.temp"] == 0.5


@pytest.mark.parametrize("content", [b"", b"GGUF", b"no model at all, but long enough to be read"])
def test_a_file_that_is_no_gguf_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "wrong.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"wrong\.gguf is not a GGUF file"):
        read_gguf(path)


def test_another_architecture_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.gguf"
    writer = gguf.GGUFWriter(str(path), "mamba")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(ModelFileError, match="general.architecture must be 'llama', got 'mamba'"):
        read_gguf(path)


def test_command_says_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no model file at"):
        main([str(tmp_path / "out"), "--model", str(tmp_path / "none.gguf")])


def test_command_names_the_missing_packages(tmp_path: Path) -> None:
    (tmp_path / "gguf.py").write_text("raise ImportError('gguf')\n")
    done = subprocess.run(
        [sys.executable, "-m", "extraction.bundled.dequantize", str(tmp_path / "out")],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}:{MODEL.parents[2]}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert install_command("train") in done.stderr
