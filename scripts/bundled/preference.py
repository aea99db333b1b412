"""Run the third round, which makes those of the model's own answers likelier that are nearer to
the truth.

A loss by tokens does not tell a model that its answer has strayed from the topic. Direct
preference optimization (Rafailov et al., 2023, eq. 7) does. For a prompt with a better answer w
and a worse one l, and π₀ the model before the round, it lowers

    −log σ(β Δ),  Δ = log π(w) − log π₀(w) − log π(l) + log π₀(l).

Its gradient is that of a cross-entropy in which each token of w has the weight β σ(−β Δ), and each
of l the negative of it. The true answer is learnt alongside, which keeps the answers English.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812
from tqdm import trange

from bundled.model import Llama, log_probabilities, weighted_loss
from bundled.pairs import LENGTH, Pair
from bundled.train import Descent, batch

__all__ = ["THIRD", "Preferences", "prefer", "weigh_targets"]


@dataclass(frozen=True, kw_only=True)
class Preferences(Descent):
    """Hold the settings of the round. `prompts` are answered `answers` times and make `pairs`
    each; `truth` is the weight of the true answer's mean loss beside a pair's."""

    prompts: int
    answers: int = 8
    pairs: int = 2
    beta: float = 0.1
    truth: float = 0.3
    pairs_per_step: int = 8
    rate: float = 1e-4
    warmup: float = 0.05
    last_rate: float = 0.1


THIRD = Preferences(prompts=1000)


def prefer(model: Llama, pairs: Sequence[Pair], settings: Preferences) -> list[float]:
    """Train one pass over the pairs, in place; return −log σ(β Δ) before each step.

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
        before = [
            _measure_margins(model, model(rows[0]), *rows[1:]) for rows in map(_batch_pairs, steps)
        ]
    adam = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.98), weight_decay=0.0)
    losses: list[float] = []
    bar = trange(len(steps), unit="step")
    for step in bar:
        inputs, targets, weights = _batch_pairs(steps[step])
        hidden = model(inputs)
        delta = _measure_margins(model, hidden, targets, weights) - before[step]
        counted = weigh_targets(weights, delta, settings)
        weighted_loss(hidden, model.embedding, targets, counted).backward()
        settings.descend(model, [(adam, settings.rate)], step / len(steps))
        losses.append(-F.logsigmoid(settings.beta * delta).mean().item())
        bar.set_postfix_str(f"loss {np.mean(losses[-25:]):.3f}", refresh=False)
    return losses


def weigh_targets(weights: Tensor, delta: Tensor, settings: Preferences) -> Tensor:
    """Return the weight of each target in a cross-entropy whose gradient is that of the round's
    loss.

    Args:
        weights: of the better, the worse and the true answers, (3 n, length).
        delta: Δ of each pair, (n,).
        settings: β, and the weight of the true answers.
    """
    better, worse, truth = weights.chunk(3)
    pull = settings.beta * torch.sigmoid(-settings.beta * delta)[:, None] / len(delta)
    return torch.cat((pull * better, -pull * worse, settings.truth * truth / truth.sum()))


def _measure_margins(model: Llama, hidden: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
    """Return log π(w) − log π(l) of each pair, from the rows' hidden states."""
    two = 2 * len(targets) // 3
    found = log_probabilities(hidden[:two], model.embedding, targets[:two], weights[:two] > 0)
    return found[: two // 2] - found[two // 2 :]


def _batch_pairs(pairs: Sequence[Pair]) -> tuple[Tensor, Tensor, Tensor]:
    """Return inputs, targets and weights: the better answers, then the worse, then the true
    ones."""
    rows = [getattr(pair, name) for name in ("better", "worse", "truth") for pair in pairs]
    return batch(rows, LENGTH)
