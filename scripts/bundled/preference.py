"""The third round: of several answers of the model's own, the nearer to the truth become likelier.

A loss by tokens does not tell a model that its answer has strayed from the topic. Direct
preference optimization (Rafailov et al., 2023, eq. 7) does: for a prompt with a better answer w
and a worse one l, and π₀ the model before the round, it lowers

    −log σ(β Δ),  Δ = log π(w) − log π₀(w) − log π(l) + log π₀(l).

Its gradient is that of a cross-entropy in which each token of w counts β σ(−β Δ), and each of l
as much below zero. The true answer is learnt alongside, which keeps the answers English.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812
from tqdm import trange

from bundled.model import Llama, log_probabilities, weighted_loss
from bundled.pairs import LENGTH, Pair
from bundled.train import schedule

__all__ = ["THIRD", "Preferences", "counts", "prefer"]


@dataclass(frozen=True)
class Preferences:
    """What shapes the round. `prompts` are answered `answers` times, and make `pairs` each;
    `truth` is what the true answer's mean loss counts beside a pair's."""

    prompts: int
    answers: int = 8
    pairs: int = 2
    beta: float = 0.1
    truth: float = 0.3
    pairs_per_step: int = 8
    rate: float = 1e-4
    warmup: float = 0.05
    last_rate: float = 0.1
    clip: float = 1.0
    seed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)


THIRD = Preferences(prompts=1000)


def prefer(model: Llama, pairs: Sequence[Pair], settings: Preferences) -> list[float]:
    """One pass over the pairs, in place; −log σ(β Δ) in each step, before it.

    Raises:
        ValueError: there are fewer pairs than a step takes.
    """
    size = settings.pairs_per_step
    if len(pairs) < size:
        raise ValueError(f"a step takes {size} pairs, got {len(pairs)} in all")
    order = np.random.default_rng(settings.seed).permutation(len(pairs))
    steps = [[pairs[i] for i in order[at : at + size]] for at in range(0, len(order), size)]
    steps = [step for step in steps if len(step) == size]  # a compiled layer takes one shape
    with torch.no_grad():
        before = [_margins(model, model(rows[0]), rows) for rows in map(_rows, steps)]
    optimizer = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.98), weight_decay=0.0)
    losses: list[float] = []
    bar = trange(len(steps), unit="step")
    for step in bar:
        rows = ids, targets, weights = _rows(steps[step])
        hidden = model(ids)
        delta = _margins(model, hidden, rows) - before[step]
        counted = counts(weights, delta, settings)
        weighted_loss(hidden, model.embedding, targets, counted).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
        now = schedule(step / len(steps), settings.warmup, settings.last_rate)
        for group in optimizer.param_groups:
            group["lr"] = settings.rate * now
        optimizer.step()
        model.zero_grad()
        losses.append(-F.logsigmoid(settings.beta * delta).mean().item())
        bar.set_postfix_str(f"loss {np.mean(losses[-25:]):.3f}", refresh=False)
    return losses


def counts(weights: Tensor, delta: Tensor, settings: Preferences) -> Tensor:
    """What each target counts in a cross-entropy whose gradient is that of the round's loss.

    Args:
        weights: of the better, the worse and the true answers, (3 n, length).
        delta: Δ of each pair, (n,).
        settings: β, and what the true answers count.
    """
    better, worse, truth = weights.chunk(3)
    pull = settings.beta * torch.sigmoid(-settings.beta * delta)[:, None] / len(delta)
    return torch.cat((pull * better, -pull * worse, settings.truth * truth / truth.sum()))


def _margins(model: Llama, hidden: Tensor, rows: tuple[Tensor, Tensor, Tensor]) -> Tensor:
    """log π(w) − log π(l) of each pair, from the rows' hidden states."""
    _, targets, weights = rows
    two = 2 * len(targets) // 3
    found = log_probabilities(hidden[:two], model.embedding, targets[:two], weights[:two] > 0)
    return found[: two // 2] - found[two // 2 :]


def _rows(pairs: Sequence[Pair]) -> tuple[Tensor, Tensor, Tensor]:
    """Inputs, targets and weights: the better answers, then the worse, then the true ones."""
    encoded = [getattr(p, name) for name in ("better", "worse", "truth") for p in pairs]
    tokens = np.zeros((len(encoded), LENGTH + 1), dtype=np.int64)
    weights = np.zeros((len(encoded), LENGTH + 1), dtype=np.float32)
    for i, e in enumerate(encoded):
        tokens[i, : len(e.tokens)], weights[i, : len(e.tokens)] = e.tokens, e.weights
    ids, counted = torch.from_numpy(tokens), torch.from_numpy(weights)
    return ids[:, :-1].contiguous(), ids[:, 1:].contiguous(), counted[:, 1:].contiguous()
