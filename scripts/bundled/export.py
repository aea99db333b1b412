"""The trained model on disk: one GGUF file, which `extraction.bundled.dequantize` reads back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from bundled.model import Architecture
from bundled.tokenizer import CHAT_TEMPLATE, END, SPECIAL

__all__ = ["SAMPLING", "Weights", "list_tokens", "write_gguf"]

Weights = dict[str, NDArray[np.float32]]

# Defaults a server may take from the file; small models loop without the penalty.
SAMPLING = {"temperature": 0.5, "top_p": 0.95, "top_k": 40, "repetition_penalty": 1.15}

# transformers' name of a layer's tensor → GGUF's.
LAYER_TENSORS = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def write_gguf(
    path: Path, weights: Weights, architecture: Architecture, tokenizer: Tokenizer
) -> None:
    """Write a llama-architecture GGUF file: matrices in Q8_0, gains in float32."""
    a = architecture
    partial = path.with_suffix(".partial")
    writer = gguf.GGUFWriter(str(partial), "llama")
    writer.add_name("InferDPT bundled demo model")
    writer.add_description("A stand-in for demonstrations and tests; see MODEL_CARD.md")
    writer.add_license("cc-by-sa-3.0")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)
    writer.add_vocab_size(a.vocab_size)
    writer.add_context_length(a.max_position_embeddings)
    writer.add_embedding_length(a.hidden_size)
    writer.add_block_count(a.num_hidden_layers)
    writer.add_feed_forward_length(a.intermediate_size)
    writer.add_head_count(a.num_attention_heads)
    writer.add_head_count_kv(a.num_attention_heads)
    writer.add_layer_norm_rms_eps(a.rms_norm_eps)
    writer.add_rope_dimension_count(a.head_dim)
    writer.add_rope_freq_base(a.rope_theta)
    writer.add_sampling_temp(SAMPLING["temperature"])
    writer.add_sampling_top_p(SAMPLING["top_p"])
    writer.add_sampling_top_k(int(SAMPLING["top_k"]))
    writer.add_sampling_penalty_repeat(SAMPLING["repetition_penalty"])
    _add_tokenizer(writer, tokenizer)
    for name, matrix in _gguf_tensors(weights, a).items():
        if matrix.ndim == 1:
            writer.add_tensor(name, matrix)
            continue
        kind = gguf.GGMLQuantizationType.Q8_0
        writer.add_tensor(name, gguf.quantize(matrix, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    partial.replace(path)


def list_tokens(tokenizer: Tokenizer) -> list[str]:
    """Return the vocabulary, ordered by id."""
    vocabulary: dict[str, int] = tokenizer.get_vocab()
    return sorted(vocabulary, key=vocabulary.__getitem__)


def _add_tokenizer(writer: gguf.GGUFWriter, tokenizer: Tokenizer) -> None:
    definition: dict[str, Any] = json.loads(tokenizer.to_str())
    tokens = list_tokens(tokenizer)
    merges = [m if isinstance(m, str) else " ".join(m) for m in definition["model"]["merges"]]
    normal, control = int(gguf.TokenType.NORMAL), int(gguf.TokenType.CONTROL)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([control if token in SPECIAL else normal for token in tokens])
    writer.add_token_merges(merges)
    end = tokens.index(END)
    writer.add_bos_token_id(end)
    writer.add_eos_token_id(end)
    writer.add_pad_token_id(end)
    writer.add_add_bos_token(False)
    writer.add_add_eos_token(False)
    writer.add_chat_template(CHAT_TEMPLATE)


def _gguf_tensors(weights: Weights, a: Architecture) -> Weights:
    out = {
        "token_embd.weight": weights["model.embed_tokens.weight"],
        "output_norm.weight": weights["model.norm.weight"],
    }
    for layer in range(a.num_hidden_layers):
        for theirs, ours in LAYER_TENSORS.items():
            tensor = weights[f"model.layers.{layer}.{theirs}.weight"]
            if ours in ("attn_q", "attn_k"):
                tensor = _interleave(tensor, a.num_attention_heads)
            out[f"blk.{layer}.{ours}.weight"] = tensor
    return out


def _interleave(matrix: NDArray[np.float32], heads: int) -> NDArray[np.float32]:
    """Reorder the rows of each head. transformers rotates halves against each other, llama.cpp
    neighbouring rows: the rotation is the same after this."""
    rows, columns = matrix.shape
    halves = matrix.reshape(heads, 2, rows // heads // 2, columns)
    return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(rows, columns))
