"""The training loop: phases of growing length, Muon for matrices, AdamW for the rest."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from tqdm import tqdm

from bundled.model import Llama, learnt_loss
from bundled.packing import Encoded, Tokens, rows

__all__ = ["History", "Settings", "train", "validate"]


@dataclass(frozen=True)
class Settings:
    """What shapes a run; `phases` are (end as a share of the run, row length, share of rows
    with conversations). Short rows first: attention costs less and English is learnt all the
    same; conversations need the length. From `second_round` on, the conversations are those
    that hold the model's own output."""

    phases: tuple[tuple[float, int, float], ...] = (
        (0.25, 256, 0.0),
        (0.75, 512, 0.70),
        (0.90, 512, 0.80),
        (1.00, 1024, 0.80),
    )
    second_round: float = 0.75
    steps: int = 2800
    tokens_per_step: int = 8192
    matrix_rate: float = 5e-3
    other_rate: float = 3e-3
    weight_decay: float = 0.05
    warmup: float = 0.02
    last_rate: float = 0.03
    clip: float = 1.0
    seed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)


@dataclass
class History:
    """What was measured while training."""

    steps: list[int] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    tokens: int = 0
    learnt: int = 0


def train(
    model: Llama,
    plain: Tokens,
    conversations: list[Encoded],
    settings: Settings,
    second_round: Callable[[], list[Encoded]],
    *,
    done: int = 0,
) -> History:
    """Train in place for `settings.steps` steps.

    Args:
        model: its parameters are changed.
        plain: tokens of running text.
        conversations: those of the first round.
        settings: sizes, rates and the schedule.
        second_round: asked once, on the way, for the conversations of the rest of the run.
        done: steps of an earlier sitting, whose rows are drawn and counted only.
    """
    rng = np.random.default_rng(settings.seed)
    history, optimizers = History(), _optimizers(model, settings)
    starts = _shuffled_starts(len(plain), rng)
    stream: Iterator[Encoded] = iter(())
    phase, asked = -1, False
    with tqdm(total=settings.steps, unit="step") as bar:
        for step in range(settings.steps):
            progress = step / settings.steps
            if not asked and progress >= settings.second_round:
                conversations, asked, phase = second_round(), True, -1
            here = next(i for i, p in enumerate(settings.phases) if progress < p[0])
            _, length, share = settings.phases[here]
            if here != phase:
                talk, phase = _shuffled(conversations, rng), here
                stream = rows(length, starts, plain, talk, share, rng)
            inputs, targets, learn = _batch(stream, settings.tokens_per_step // length)
            history.tokens += inputs.numel()
            history.learnt += int(learn.sum())
            bar.update()
            if step < done:
                continue
            for optimizer, rate in optimizers:
                for group in optimizer.param_groups:
                    group["lr"] = rate * _schedule(progress, settings)
            loss = learnt_loss(model(inputs), model.embedding, targets, learn)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
            for optimizer, _ in optimizers:
                optimizer.step()
            model.zero_grad()
            history.steps.append(step)
            history.losses.append(loss.item())
            history.lengths.append(length)
            bar.set_postfix_str(f"loss {np.mean(history.losses[-50:]):.3f}", refresh=False)
    return history


def validate(
    model: Llama, plain: Tokens, conversations: dict[str, list[Encoded]], length: int = 512
) -> dict[str, float]:
    """Mean loss in nats a token: of plain text, and of the answers of each kind."""
    whole = plain[: (len(plain) - 1) // length * length + 1].astype(np.int64)
    inputs = torch.from_numpy(whole[:-1].reshape(-1, length))
    targets = torch.from_numpy(whole[1:].reshape(-1, length))
    out = {"plain": _mean_loss(model, inputs, targets, torch.ones_like(targets))}
    for kind, encoded in conversations.items():
        fitting = [e for e in encoded if len(e.tokens) <= length + 1]
        ids = np.zeros((len(fitting), length + 1), dtype=np.int64)
        learn = np.zeros((len(fitting), length + 1), dtype=np.int64)
        for i, e in enumerate(fitting):
            ids[i, : len(e.tokens)], learn[i, : len(e.tokens)] = e.tokens, e.learn
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
        chosen = learn[block].bool()
        n = int(chosen.sum())
        with torch.no_grad():
            loss = learnt_loss(model(inputs[block]), model.embedding, targets[block], chosen)
        total, count = total + n * loss.item(), count + n
    return total / count


def _batch(stream: Iterator[Encoded], count: int) -> tuple[Tensor, Tensor, Tensor]:
    taken = list(itertools.islice(stream, count))
    tokens = torch.from_numpy(np.stack([row.tokens for row in taken]).astype(np.int64))
    learn = torch.from_numpy(np.stack([row.learn for row in taken]))
    return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous(), learn[:, 1:].contiguous()


def _schedule(progress: float, settings: Settings) -> float:
    """Linear warm-up, then a cosine down to `last_rate`."""
    if progress < settings.warmup:
        return max(progress / settings.warmup, 0.01)
    cosine = 0.5 * (1 + math.cos(math.pi * progress))
    return settings.last_rate + (1 - settings.last_rate) * cosine


def _optimizers(model: Llama, settings: Settings) -> list[tuple[torch.optim.Optimizer, float]]:
    """Muon learns the matrices of the layers in about half the tokens AdamW takes; embeddings
    and gains are not matrices in its sense."""
    named = list(model.named_parameters())
    matrices = [p for n, p in named if p.ndim == 2 and "embed" not in n]
    others = [p for n, p in named if p.ndim != 2 or "embed" in n]
    muon = torch.optim.Muon(
        matrices,
        lr=settings.matrix_rate,
        weight_decay=settings.weight_decay,
        adjust_lr_fn="match_rms_adamw",
    )
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
