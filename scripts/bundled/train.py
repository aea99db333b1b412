"""Train the model: two rounds of phases, Muon for matrices, AdamW for the rest."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from tqdm import tqdm

from bundled.model import Llama, learnt_loss
from bundled.muon import Muon
from bundled.packing import Encoded, Tokens, pack_rows

__all__ = ["FIRST", "SECOND", "Descent", "History", "Settings", "batch", "train", "validate"]


Optimizers = list[tuple[torch.optim.Optimizer, float]]  # each with its highest rate


@dataclass(frozen=True, kw_only=True)
class Descent:
    """Hold the settings of a descent. Rates rise over `warmup`, a share of the round, and fall
    along a cosine to `last_rate` of the highest; gradients are no longer than `clip`."""

    warmup: float = 0.02
    last_rate: float = 0.03
    clip: float = 1.0
    seed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the settings, JSON-ready."""
        return asdict(self)

    def descend(self, model: Llama, optimizers: Optimizers, progress: float) -> None:
        """Take one step, at this share of the round, along the gradients that the model holds."""
        torch.nn.utils.clip_grad_norm_(model.parameters(), self.clip)
        for optimizer, rate in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = rate * self._scale(progress)
            optimizer.step()
        model.zero_grad()

    def _scale(self, progress: float) -> float:
        if progress < self.warmup:
            return max(progress / self.warmup, 0.01)
        cosine = 0.5 * (1 + math.cos(math.pi * progress))
        return self.last_rate + (1 - self.last_rate) * cosine


@dataclass(frozen=True, kw_only=True)
class Settings(Descent):
    """Hold the shape of a round; `phases` are (end as a share of the round, row length, share of
    rows with conversations)."""

    phases: tuple[tuple[float, int, float], ...]
    steps: int
    matrix_rate: float
    other_rate: float
    tokens_per_step: int = 8192
    weight_decay: float = 0.05


# English first, in short rows, where attention costs less.
FIRST = Settings(
    phases=((0.25, 256, 0.0), (0.85, 512, 0.70), (1.00, 1024, 0.70)),
    steps=2800,
    matrix_rate=5e-3,
    other_rate=3e-3,
)
# Then the pipeline's two roles, with the model's own output among the conversations.
SECOND = Settings(
    phases=((1.00, 640, 0.95),),
    steps=1000,
    matrix_rate=2e-3,
    other_rate=1.2e-3,
)


@dataclass
class History:
    """Record the measurements of a training run."""

    losses: list[float] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    tokens: int = 0
    learnt: int = 0

    def extend(self, later: History) -> None:
        """Append the measurements of a later round."""
        self.losses += later.losses
        self.lengths += later.lengths
        self.tokens += later.tokens
        self.learnt += later.learnt


def train(
    model: Llama,
    plain: Tokens,
    conversations: list[Encoded],
    settings: Settings,
) -> History:
    """Train one round, in place, for `settings.steps` steps.

    Args:
        model: its parameters are changed.
        plain: tokens of running text.
        conversations: gone through in random order, again and again.
        settings: sizes, rates and the schedule.
    """
    rng = np.random.default_rng(settings.seed)
    history, optimizers = History(), _build_optimizers(model, settings)
    starts = _shuffle_starts(len(plain), rng)
    stream: Iterator[Encoded] = iter(())
    phase = -1
    with tqdm(total=settings.steps, unit="step") as bar:
        for step in range(settings.steps):
            progress = step / settings.steps
            here = next(i for i, p in enumerate(settings.phases) if progress < p[0])
            _, length, share = settings.phases[here]
            if here != phase:
                talk, phase = _shuffle(conversations, rng), here
                stream = pack_rows(length, starts, plain, talk, share, rng)
            taken = itertools.islice(stream, settings.tokens_per_step // length)
            inputs, targets, weights = batch(list(taken), length)
            history.tokens += inputs.numel()
            history.learnt += int((weights > 0).sum())
            loss = learnt_loss(model(inputs), model.embedding, targets, weights)
            loss.backward()
            settings.descend(model, optimizers, progress)
            history.losses.append(loss.item())
            history.lengths.append(length)
            bar.set_postfix_str(f"loss {np.mean(history.losses[-50:]):.3f}", refresh=False)
            bar.update()
    return history


def validate(
    model: Llama, plain: Tokens, conversations: dict[str, list[Encoded]], length: int = 512
) -> dict[str, float]:
    """Return the mean loss in nats per token, each counted once: of plain text, and of the answers
    of each kind."""
    whole = plain[: (len(plain) - 1) // length * length + 1].astype(np.int64)
    inputs = torch.from_numpy(whole[:-1].reshape(-1, length))
    targets = torch.from_numpy(whole[1:].reshape(-1, length))
    out = {"plain": _measure_loss(model, inputs, targets, torch.ones_like(targets))}
    for kind, encoded in conversations.items():
        fitting = [e for e in encoded if len(e.tokens) <= length + 1]
        inputs, targets, weights = batch(fitting, length)
        out[kind] = _measure_loss(model, inputs, targets, weights > 0)
    return out


def _measure_loss(
    model: Llama, inputs: Tensor, targets: Tensor, learn: Tensor, rows_at_once: int = 16
) -> float:
    """Return the mean loss. Rows that do not fill a batch are left out: a compiled layer takes one
    shape."""
    total, count = 0.0, 0
    rows_at_once = min(rows_at_once, len(inputs))
    for start in range(0, len(inputs) - rows_at_once + 1, rows_at_once):
        block = slice(start, start + rows_at_once)
        chosen = learn[block].float()
        n = int(chosen.sum())
        with torch.no_grad():
            loss = learnt_loss(model(inputs[block]), model.embedding, targets[block], chosen)
        total, count = total + n * loss.item(), count + n
    return total / count


def batch(encoded: Sequence[Encoded], length: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return inputs, targets (one further) and the targets' weights, (n, length) each; shorter
    rows are padded with weight 0."""
    tokens = np.zeros((len(encoded), length + 1), dtype=np.int64)
    weights = np.zeros((len(encoded), length + 1), dtype=np.float32)
    for i, e in enumerate(encoded):
        tokens[i, : len(e.tokens)], weights[i, : len(e.tokens)] = e.tokens, e.weights
    ids, counted = torch.from_numpy(tokens), torch.from_numpy(weights)
    return ids[:, :-1].contiguous(), ids[:, 1:].contiguous(), counted[:, 1:].contiguous()


def _build_optimizers(model: Llama, settings: Settings) -> Optimizers:
    """Return Muon for the matrices of the layers, which it learns in about half the tokens that
    AdamW needs, and AdamW for embeddings and gains, which are not matrices in its sense."""
    named = list(model.named_parameters())
    matrices = [p for n, p in named if p.ndim == 2 and "embed" not in n]
    others = [p for n, p in named if p.ndim != 2 or "embed" in n]
    muon = Muon(matrices, lr=settings.matrix_rate, weight_decay=settings.weight_decay)
    adam = torch.optim.AdamW(others, lr=settings.other_rate, betas=(0.9, 0.98), weight_decay=0.0)
    return [(muon, settings.matrix_rate), (adam, settings.other_rate)]


def _shuffle_starts(total: int, rng: np.random.Generator) -> Iterator[int]:
    """Yield offsets into the plain text, spread evenly: a fixed stride in random order."""
    stride = 256
    while True:
        places: NDArray[np.int64] = rng.permutation(total // stride) * stride
        yield from (int(p) + int(rng.integers(stride)) for p in places)


def _shuffle(items: list[Encoded], rng: np.random.Generator) -> Iterator[Encoded]:
    while True:
        yield from (items[i] for i in rng.permutation(len(items)))
