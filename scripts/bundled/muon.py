"""Muon: momentum whose updates are made near-orthogonal.

torch's own implementation multiplies in bfloat16. A processor without units for it emulates this,
which takes most of the time of a step. This implementation multiplies in the model's type.
"""

# mypy: disable-error-code="misc, unused-ignore"

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from bundled.model import HALF

__all__ = ["Muon"]

# Keller Jordan's quintic: steep at zero, so that five iterations bring every singular value
# near one. https://kellerjordan.github.io/posts/muon/
QUINTIC = (3.4445, -4.7750, 2.0315)
ITERATIONS = 5
MOMENTUM = 0.95
RMS = 0.2  # of an update, as AdamW's are, so that both take rates of one size


class Muon(torch.optim.Optimizer):
    """Optimize matrices by Nesterov momentum with decoupled weight decay."""

    def __init__(self, matrices: Iterable[Tensor], lr: float, weight_decay: float) -> None:
        super().__init__(matrices, {"lr": lr, "weight_decay": weight_decay})

    def step(self) -> None:  # type: ignore[override]
        """Update every matrix that has a gradient once."""
        with torch.no_grad():
            for group in self.param_groups:
                for matrix in group["params"]:
                    if matrix.grad is not None:
                        self._update(matrix, group["lr"], group["weight_decay"])

    def _update(self, matrix: Tensor, rate: float, weight_decay: float) -> None:
        mean = self.state[matrix].setdefault("mean", torch.zeros_like(matrix))
        mean.lerp_(matrix.grad, 1 - MOMENTUM)
        update = orthogonalize(matrix.grad.lerp(mean, MOMENTUM))
        matrix.mul_(1 - rate * weight_decay)
        matrix.add_(update, alpha=-rate * RMS * max(matrix.shape) ** 0.5)


def orthogonalize(matrix: Tensor) -> Tensor:
    """Return a matrix near UVᵀ of the matrix's singular value decomposition: its singular values
    are near one."""
    a, b, c = QUINTIC
    wide = matrix.T if matrix.shape[0] > matrix.shape[1] else matrix
    x = (wide / wide.norm().clamp(min=1e-7)).to(HALF)
    for _ in range(ITERATIONS):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return (x.T if matrix.shape[0] > matrix.shape[1] else x).to(matrix.dtype)
