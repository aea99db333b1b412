"""Convert a GGUF file to a model folder for transformers and vLLM.

    python -m extraction.bundled.dequantize FOLDER
    vllm serve FOLDER --max-model-len 1024

The weights equal those that llama.cpp computes with: each is the float32 that its eight bits
encode.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extraction.errors import ModelFileError
from perturb.install import install_command

__all__ = ["main", "read_gguf", "write_hf"]

MODEL = Path(__file__).with_name("model.gguf")

# llama.cpp's name of a layer's tensor → transformers'.
LAYER_TENSORS = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
TENSORS = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
}
# llama.cpp's name of a sampling default → transformers'.
SAMPLING = {
    "temp": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "penalty_repeat": "repetition_penalty",
}

Weights = dict[str, NDArray[np.float32]]


def read_gguf(path: Path) -> tuple[dict[str, Any], Weights]:
    """Return the metadata, and the weights by transformers' names, dequantized to float32.

    Raises:
        ModelFileError: no such file, or not a Llama with a byte-level BPE tokenizer.
    """
    import gguf

    if not path.is_file():
        raise ModelFileError(f"no model file at {path}")
    try:
        reader = gguf.GGUFReader(path)
    except (ValueError, IndexError) as exc:
        raise ModelFileError(f"{path} is not a GGUF file") from exc
    facts = {name: field.contents() for name, field in reader.fields.items()}
    for key, expected in (("general.architecture", "llama"), ("tokenizer.ggml.model", "gpt2")):
        if facts.get(key) != expected:
            raise ModelFileError(f"{path}: {key} must be {expected!r}, got {facts.get(key)!r}")
    weights: Weights = {}
    for tensor in reader.tensors:
        values = gguf.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        weights[_rename(tensor.name)] = values
    for name, heads in (("q_proj", "head_count"), ("k_proj", "head_count_kv")):
        for key in weights:
            if f".{name}." in key:
                weights[key] = _split_heads(weights[key], facts[f"llama.attention.{heads}"])
    return facts, weights


def write_hf(model: Path, folder: Path) -> None:
    """Write the model of a GGUF file as configuration, weights, tokenizer and generation defaults.

    Raises:
        ModelFileError: as `read_gguf`.
    """
    from safetensors.numpy import save_file

    facts, weights = read_gguf(model)
    folder.mkdir(parents=True, exist_ok=True)
    tokens = facts["tokenizer.ggml.tokens"]
    end = facts["tokenizer.ggml.eos_token_id"]
    files = {
        "config.json": _build_config(facts, tied="lm_head.weight" not in weights),
        "generation_config.json": {
            "do_sample": True,
            "eos_token_id": end,
            "pad_token_id": end,
            **{
                theirs: facts[key]
                for ours, theirs in SAMPLING.items()
                if (key := f"general.sampling.{ours}") in facts
            },
        },
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "eos_token": tokens[end],
            "pad_token": tokens[end],
            "model_max_length": facts["llama.context_length"],
            "clean_up_tokenization_spaces": False,
            "chat_template": facts["tokenizer.chat_template"],
        },
    }
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content, indent=2) + "\n")
    (folder / "tokenizer.json").write_text(_build_tokenizer(facts))
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def main(arguments: list[str] | None = None) -> None:
    """Read the command line and write the folder."""
    parser = argparse.ArgumentParser(prog="extraction.bundled.dequantize", description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder to write; created if missing")
    parser.add_argument("--model", type=Path, default=MODEL, help="a GGUF file (the bundled one)")
    options = parser.parse_args(arguments)
    try:
        write_hf(options.model, options.folder)
    except ImportError:
        sys.exit(f"needs gguf, safetensors and tokenizers: {install_command('train')}")
    except ModelFileError as exc:
        sys.exit(str(exc))
    print(f"{options.folder}: for transformers, or vllm serve {options.folder}")


def _rename(theirs: str) -> str:
    stem, _, kind = theirs.rpartition(".")
    if stem in TENSORS:
        return f"{TENSORS[stem]}.{kind}"
    _, layer, part = stem.split(".")
    return f"model.layers.{layer}.{LAYER_TENSORS[part]}.{kind}"


def _split_heads(matrix: NDArray[np.float32], heads: int) -> NDArray[np.float32]:
    """Reorder the rows of each head. llama.cpp rotates neighbouring rows against each other,
    transformers rotates halves: the rotation is the same after this."""
    rows, columns = matrix.shape
    pairs = matrix.reshape(heads, rows // heads // 2, 2, columns)
    return np.ascontiguousarray(pairs.swapaxes(1, 2).reshape(rows, columns))


def _build_config(facts: dict[str, Any], *, tied: bool) -> dict[str, Any]:
    heads = facts["llama.attention.head_count"]
    end = facts["tokenizer.ggml.eos_token_id"]
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": len(facts["tokenizer.ggml.tokens"]),
        "hidden_size": facts["llama.embedding_length"],
        "intermediate_size": facts["llama.feed_forward_length"],
        "num_hidden_layers": facts["llama.block_count"],
        "num_attention_heads": heads,
        "num_key_value_heads": facts["llama.attention.head_count_kv"],
        "head_dim": facts["llama.embedding_length"] // heads,
        "max_position_embeddings": facts["llama.context_length"],
        "rms_norm_eps": facts["llama.attention.layer_norm_rms_epsilon"],
        "rope_theta": facts["llama.rope.freq_base"],
        "hidden_act": "silu",
        "tie_word_embeddings": tied,
        "attention_bias": False,
        "mlp_bias": False,
        "bos_token_id": None,
        "eos_token_id": end,
        "pad_token_id": end,
        "torch_dtype": "float32",
    }


def _build_tokenizer(facts: dict[str, Any]) -> str:
    """Return byte-level BPE with GPT-2's splitting rule, as JSON of the tokenizers package."""
    import gguf
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    tokens = facts["tokenizer.ggml.tokens"]
    merges = [tuple(merge.split(" ")) for merge in facts["tokenizer.ggml.merges"]]
    tokenizer = Tokenizer(models.BPE({token: i for i, token in enumerate(tokens)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    control = int(gguf.TokenType.CONTROL)
    kinds = facts["tokenizer.ggml.token_type"]
    tokenizer.add_special_tokens(
        [
            AddedToken(token, special=True, normalized=False)
            for token, kind in zip(tokens, kinds, strict=True)
            if kind == control
        ]
    )
    written: str = tokenizer.to_str()
    return written


if __name__ == "__main__":
    main()
