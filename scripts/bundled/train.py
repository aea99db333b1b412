"""The training loop: two rounds of phases, Muon for matrices, AdamW for the rest."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from tqdm import tqdm

from bundled.model import Llama, learnt_loss
from bundled.muon import Muon
from bundled.packing import Encoded, Tokens, rows

__all__ = ["FIRST", "SECOND", "History", "Settings", "schedule", "train", "validate"]


@dataclass(frozen=True)
class Settings:
    """What shapes a round; `phases` are (end as a share of the round, row length, share of
    rows with conversations)."""

    phases: tuple[tuple[float, int, float], ...]
    steps: int
    matrix_rate: float
    other_rate: float
    tokens_per_step: int = 8192
    weight_decay: float = 0.05
    warmup: float = 0.02
    last_rate: float = 0.03
    clip: float = 1.0
    seed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)


# English first, in short rows: attention costs less there.
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
    """What was measured while training."""

    steps: list[int] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    tokens: int = 0
    learnt: int = 0

    def extend(self, later: History) -> None:
        """Put a later round behind this one."""
        offset = len(self.steps)
        self.steps += [offset + step for step in later.steps]
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
    history, optimizers = History(), _optimizers(model, settings)
    starts = _shuffled_starts(len(plain), rng)
    stream: Iterator[Encoded] = iter(())
    phase = -1
    with tqdm(total=settings.steps, unit="step") as bar:
        for step in range(settings.steps):
            progress = step / settings.steps
            here = next(i for i, p in enumerate(settings.phases) if progress < p[0])
            _, length, share = settings.phases[here]
            if here != phase:
                talk, phase = _shuffled(conversations, rng), here
                stream = rows(length, starts, plain, talk, share, rng)
            inputs, targets, weights = _batch(stream, settings.tokens_per_step // length)
            history.tokens += inputs.numel()
            history.learnt += int((weights > 0).sum())
            now = schedule(progress, settings.warmup, settings.last_rate)
            for optimizer, rate in optimizers:
                for group in optimizer.param_groups:
                    group["lr"] = rate * now
            loss = learnt_loss(model(inputs), model.embedding, targets, weights)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
            for optimizer, _ in optimizers:
                optimizer.step()
            model.zero_grad()
            history.steps.append(step)
            history.losses.append(loss.item())
            history.lengths.append(length)
            bar.set_postfix_str(f"loss {np.mean(history.losses[-50:]):.3f}", refresh=False)
            bar.update()
    return history


def validate(
    model: Llama, plain: Tokens, conversations: dict[str, list[Encoded]], length: int = 512
) -> dict[str, float]:
    """Mean loss in nats a token, each counted once: of plain text, and of the answers of each
    kind."""
    whole = plain[: (len(plain) - 1) // length * length + 1].astype(np.int64)
    inputs = torch.from_numpy(whole[:-1].reshape(-1, length))
    targets = torch.from_numpy(whole[1:].reshape(-1, length))
    out = {"plain": _mean_loss(model, inputs, targets, torch.ones_like(targets))}
    for kind, encoded in conversations.items():
        fitting = [e for e in encoded if len(e.tokens) <= length + 1]
        ids = np.zeros((len(fitting), length + 1), dtype=np.int64)
        learn = np.zeros((len(fitting), length + 1), dtype=np.int64)
        for i, e in enumerate(fitting):
            ids[i, : len(e.tokens)], learn[i, : len(e.tokens)] = e.tokens, e.weights > 0
        tensors = (torch.from_numpy(a) for a in (ids[:, :-1], ids[:, 1:], learn[:, 1:]))
        out[kind] = _mean_loss(model, *tensors)
    return out


def _mean_loss(
    model: Llama, inputs: Tensor, targets: Tensor, learn: Tensor, rows_at_once: int = 16
) -> float:
    """Rows that do not fill a batch are left out: a compiled layer takes one shape."""
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


def _batch(stream: Iterator[Encoded], count: int) -> tuple[Tensor, Tensor, Tensor]:
    taken = list(itertools.islice(stream, count))
    tokens = torch.from_numpy(np.stack([row.tokens for row in taken]).astype(np.int64))
    weights = torch.from_numpy(np.stack([row.weights for row in taken]))
    return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous(), weights[:, 1:].contiguous()


def schedule(progress: float, warmup: float, last_rate: float) -> float:
    """Linear warm-up, then a cosine down to `last_rate`."""
    if progress < warmup:
        return max(progress / warmup, 0.01)
    cosine = 0.5 * (1 + math.cos(math.pi * progress))
    return last_rate + (1 - last_rate) * cosine


def _optimizers(model: Llama, settings: Settings) -> list[tuple[torch.optim.Optimizer, float]]:
    """Muon learns the matrices of the layers in about half the tokens AdamW takes; embeddings
    and gains are not matrices in its sense."""
    named = list(model.named_parameters())
    matrices = [p for n, p in named if p.ndim == 2 and "embed" not in n]
    others = [p for n, p in named if p.ndim != 2 or "embed" in n]
    muon = Muon(matrices, lr=settings.matrix_rate, weight_decay=settings.weight_decay)
    adam = torch.optim.AdamW(others, lr=settings.other_rate, betas=(0.9, 0.98), weight_decay=0.0)
    return [(muon, settings.matrix_rate), (adam, settings.other_rate)]


def _shuffled_starts(total: int, rng: np.random.Generator) -> Iterator[int]:
    """Offsets into the plain text, spread evenly: a fixed stride, gone through at random."""
    stride = 256
    while True:
        places: NDArray[np.int64] = rng.permutation(total // stride) * stride
        yield from (int(p) + int(rng.integers(stride)) for p in places)


def _shuffled(items: list[Encoded], rng: np.random.Generator) -> Iterator[Encoded]:
    while True:
        yield from (items[i] for i in rng.permutation(len(items)))
