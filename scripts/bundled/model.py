"""A small Llama in torch, written for two CPU cores; it uses bfloat16 where that is fast.

Parameters have the names of transformers' LlamaForCausalLM, so a checkpoint of it is a
state_dict of this.
"""

# Types may be checked without torch: its classes are then Any.
# mypy: disable-error-code="misc, unused-ignore"

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

__all__ = ["Architecture", "Llama", "learnt_loss", "log_probabilities", "weighted_loss"]

# Where the processor has no units for it, bfloat16 is emulated, far slower than float32.
FAST = torch.cpu.get_capabilities()
HALF = torch.bfloat16 if FAST.get("amx_bf16") or FAST.get("avx512_bf16") else torch.float32
LOSS_BLOCK = 1024  # positions whose logits are held at once: they stay in the cache


@dataclass(frozen=True)
class Architecture:
    """Hold the sizes, under the names of transformers' LlamaConfig."""

    vocab_size: int = 8192
    hidden_size: int = 384
    intermediate_size: int = 1024
    num_hidden_layers: int = 4
    num_attention_heads: int = 3
    max_position_embeddings: int = 1024
    rms_norm_eps: float = 1e-5
    rope_theta: float = 10000.0

    @property
    def head_dim(self) -> int:
        """Return the width of one attention head; vLLM requires 32 or more."""
        return self.hidden_size // self.num_attention_heads

    def to_dict(self) -> dict[str, Any]:
        """Return the sizes, JSON-ready."""
        return {**asdict(self), "head_dim": self.head_dim}


class Linear(nn.Module):
    """Apply a linear map without bias, multiplied in `HALF`."""

    def __init__(self, inputs: int, outputs: int, scale: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs) * scale)

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x.to(HALF), self.weight.to(HALF))


class Norm(nn.Module):
    """Apply root-mean-square normalization with a gain."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.weight.shape, self.weight, self.eps)


class Attention(nn.Module):
    """Apply causal multi-head attention with rotary positions."""

    def __init__(self, a: Architecture, scale: float) -> None:
        super().__init__()
        size = a.hidden_size
        self.heads = a.num_attention_heads
        self.q_proj = Linear(size, size, scale)
        self.k_proj = Linear(size, size, scale)
        self.v_proj = Linear(size, size, scale)
        self.o_proj = Linear(size, size, scale / (2 * a.num_hidden_layers) ** 0.5)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        batch, length, size = x.shape
        x = x.to(HALF)
        q, k, v = (
            p(x).view(batch, length, self.heads, -1).transpose(1, 2)
            for p in (self.q_proj, self.k_proj, self.v_proj)
        )
        out = F.scaled_dot_product_attention(
            _rotate(q, cos, sin), _rotate(k, cos, sin), v, is_causal=True
        )
        return self.o_proj(out.transpose(1, 2).reshape(batch, length, size))


class MLP(nn.Module):
    """Apply SwiGLU."""

    def __init__(self, a: Architecture, scale: float) -> None:
        super().__init__()
        self.gate_proj = Linear(a.hidden_size, a.intermediate_size, scale)
        self.up_proj = Linear(a.hidden_size, a.intermediate_size, scale)
        self.down_proj = Linear(
            a.intermediate_size, a.hidden_size, scale / (2 * a.num_hidden_layers) ** 0.5
        )

    def forward(self, x: Tensor) -> Tensor:
        x = x.to(HALF)
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    """Apply attention and MLP, each around a residual in float32."""

    def __init__(self, a: Architecture, scale: float = 0.03) -> None:
        super().__init__()
        self.input_layernorm = Norm(a.hidden_size, a.rms_norm_eps)
        self.self_attn = Attention(a, scale)
        self.post_attention_layernorm = Norm(a.hidden_size, a.rms_norm_eps)
        self.mlp = MLP(a, scale)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), cos, sin)
        return x + self.mlp(self.post_attention_layernorm(x))


class Llama(nn.Module):
    """Map token ids (batch, length) → hidden states (batch, length, hidden_size), float32."""

    def __init__(self, architecture: Architecture, *, compiled: bool = False) -> None:
        super().__init__()
        a = self.architecture = architecture
        self.model = nn.ModuleDict(
            {
                "embed_tokens": nn.Embedding(a.vocab_size, a.hidden_size),
                "layers": nn.ModuleList(Layer(a) for _ in range(a.num_hidden_layers)),
                "norm": Norm(a.hidden_size, a.rms_norm_eps),
            }
        )
        nn.init.normal_(self.embedding, std=0.02)
        # One compiled layer serves all of them: they differ in parameters only.
        self.run_layer = torch.compile(_run_layer, dynamic=False) if compiled else _run_layer

    @property
    def embedding(self) -> Tensor:
        """Return the token embeddings, which are also the output weights."""
        weight: Tensor = self.model["embed_tokens"].weight  # type: ignore[assignment]
        return weight

    def forward(self, ids: Tensor) -> Tensor:
        a = self.architecture
        rates = a.rope_theta ** (-torch.arange(0, a.head_dim, 2) / a.head_dim)
        angles = torch.outer(torch.arange(ids.shape[1]), rates)
        cos, sin = angles.cos().to(HALF), angles.sin().to(HALF)
        x = self.model["embed_tokens"](ids)
        for layer in self.model["layers"]:  # type: ignore[union-attr]
            x = self.run_layer(layer, x, cos, sin)
        hidden: Tensor = self.model["norm"](x)
        return hidden


def learnt_loss(hidden: Tensor, embedding: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
    """Return the mean cross-entropy (nats) of the targets by their weights; targets of weight 0
    are skipped."""
    return weighted_loss(hidden, embedding, targets, weights / weights.sum())


def weighted_loss(hidden: Tensor, embedding: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
    """Return Σ weight × cross-entropy (nats) of the targets; a weight may be negative."""
    flat = weights.flatten()
    chosen = flat.nonzero().squeeze(1)
    states = hidden.flatten(0, 1).index_select(0, chosen)
    loss: Tensor = _BlockwiseLoss.apply(
        states, embedding, targets.flatten()[chosen], flat[chosen].float()
    )
    return loss


def log_probabilities(
    hidden: Tensor, embedding: Tensor, targets: Tensor, chosen: Tensor
) -> Tensor:
    """Return for each row the log-probability (nats) of its chosen targets, (batch,), as a
    constant."""
    hidden, embedding = hidden.detach(), embedding.detach()
    places = chosen.flatten().nonzero().squeeze(1)
    states, wanted = hidden.flatten(0, 1)[places], targets.flatten()[places]
    table, rows = embedding.to(HALF), places // hidden.shape[1]
    out = torch.zeros(len(hidden))
    for start in range(0, len(places), LOSS_BLOCK):
        block = slice(start, start + LOSS_BLOCK)
        logits = (states[block].to(HALF) @ table.T).float()
        found = logits.gather(1, wanted[block, None])[:, 0] - logits.logsumexp(dim=1)
        out.index_add_(0, rows[block], found)
    return out


def _rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Apply rotary positions, in the halves order of transformers."""
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)


def _run_layer(layer: Layer, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    out: Tensor = layer(x, cos, sin)
    return out


def _logit_gradient(logits: Tensor, targets: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Return the weighted sum of the cross-entropies of rows of logits, and its gradient in the
    logits."""
    x = logits.float()
    top = x.amax(dim=1, keepdim=True)
    odds = (x - top).exp()
    mass = odds.sum(dim=1, keepdim=True)
    losses = mass.log() + top - x.gather(1, targets[:, None])
    right = torch.arange(x.shape[1])[None, :] == targets[:, None]
    gradient = weights[:, None] * (odds / mass - right.float())
    return (weights[:, None] * losses).sum(), gradient.to(logits.dtype)


_compiled_gradient = torch.compile(_logit_gradient, dynamic=False)


class _BlockwiseLoss(torch.autograd.Function):
    """Compute the cross-entropy of tied logits together with its gradient.

    The full logits would be hundreds of megabytes a step, written and read several times.
    """

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any, states: Tensor, embedding: Tensor, targets: Tensor, weights: Tensor
    ) -> Tensor:
        table, n = embedding.to(HALF), len(states)
        to_states = torch.empty_like(states)
        to_table = torch.zeros_like(embedding)
        total = torch.zeros(())
        for start in range(0, n, LOSS_BLOCK):
            block = slice(start, start + LOSS_BLOCK)
            part, y = states[block].to(HALF), targets[block]
            # A compiled function takes one shape: what is left at the end goes through it as is.
            gradient_of = _compiled_gradient if len(y) == LOSS_BLOCK else _logit_gradient
            loss, gradient = gradient_of(part @ table.T, y, weights[block])
            total += loss
            to_states[block] = (gradient @ table).float()
            to_table += (gradient.T @ part).float()
        ctx.save_for_backward(to_states, to_table)
        return total

    @staticmethod
    def backward(ctx: Any, output: Tensor) -> tuple[Tensor, Tensor, None, None]:  # type: ignore[override]
        to_states, to_table = ctx.saved_tensors
        return to_states.mul_(output), to_table.mul_(output), None, None
