"""The encoder of MiniLM with the forms of words as a further input, and a classifier of tokens."""

# mypy: disable-error-code="misc, unused-ignore"

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention

from perturb.selective.token_model import FORMS

__all__ = ["HEADS", "Classifier", "load_minilm"]

WIDTH, INNER, HEADS, VOCABULARY, POSITIONS = 384, 1536, 12, 30_522, 512
DROPOUT = 0.1
EPSILON = 1e-12


class Layer(nn.Module):
    """Apply one layer of BERT."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, EPSILON)
        self.up = nn.Linear(WIDTH, INNER)
        self.down = nn.Linear(INNER, WIDTH)
        self.last_norm = nn.LayerNorm(WIDTH, EPSILON)
        self.drop = nn.Dropout(DROPOUT)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return (b, n, width) for (b, n, width); the mask (b, 1, 1, n) is true at tokens."""
        b, n, _ = x.shape
        query, key, value = (
            part.view(b, n, HEADS, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1)
        )
        seen = scaled_dot_product_attention(query, key, value, attn_mask=mask)
        seen = self.out(seen.transpose(1, 2).reshape(b, n, WIDTH))
        x = self.norm(x + self.drop(seen))
        changed: Tensor = self.last_norm(x + self.drop(self.down(gelu(self.up(x)))))
        return changed


class Classifier(nn.Module):
    """Score the labels of every token."""

    def __init__(self, layers: int, labels: int) -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Embedding(POSITIONS, WIDTH)
        self.forms = nn.Embedding(len(FORMS), WIDTH)
        self.norm = nn.LayerNorm(WIDTH, EPSILON)
        self.layers = nn.ModuleList(Layer() for _ in range(layers))
        self.labels = nn.Linear(WIDTH, labels)
        self.drop = nn.Dropout(DROPOUT)

    def forward(self, ids: Tensor, forms: Tensor, mask: Tensor) -> Tensor:
        """Return scores (b, n, labels) for ids and forms (b, n); the mask is true at tokens."""
        places = torch.arange(ids.shape[1])
        x = self.words(ids) + self.positions(places) + self.forms(forms)
        x = self.drop(self.norm(x))
        for layer in self.layers:
            x = layer(x, mask[:, None, None, :])
        scores: Tensor = self.labels(self.drop(x))
        return scores


def load_minilm(path: Path, layers: int, labels: int) -> Classifier:
    """Return a classifier that begins as the first layers of the encoder in a safetensors file."""
    from safetensors.torch import load_file

    stored = {name.removeprefix("bert."): value for name, value in load_file(path).items()}
    model = Classifier(layers, labels)
    state = dict(model.state_dict())
    kind = stored["embeddings.token_type_embeddings.weight"][0]
    state["words.weight"] = stored["embeddings.word_embeddings.weight"]
    state["positions.weight"] = stored["embeddings.position_embeddings.weight"]
    state["forms.weight"] = kind.repeat(len(FORMS), 1)
    for end in ("weight", "bias"):
        state[f"norm.{end}"] = stored[f"embeddings.LayerNorm.{end}"]
        for i in range(layers):
            old, new = f"encoder.layer.{i}.", f"layers.{i}."
            qkv = [stored[f"{old}attention.self.{n}.{end}"] for n in ("query", "key", "value")]
            state[f"{new}qkv.{end}"] = torch.cat(qkv)
            state[f"{new}out.{end}"] = stored[f"{old}attention.output.dense.{end}"]
            state[f"{new}norm.{end}"] = stored[f"{old}attention.output.LayerNorm.{end}"]
            state[f"{new}up.{end}"] = stored[f"{old}intermediate.dense.{end}"]
            state[f"{new}down.{end}"] = stored[f"{old}output.dense.{end}"]
            state[f"{new}last_norm.{end}"] = stored[f"{old}output.LayerNorm.{end}"]
    model.load_state_dict(state)
    return model
