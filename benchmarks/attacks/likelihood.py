"""An attacker who knows the mechanism: how likely each raw word gives what was seen."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from perturb import Mechanism

__all__ = ["likelihood"]

ROWS = 512  # rows of the channel held at once: 45 MB at m = 11,000


def likelihood(mechanism: Mechanism, released: NDArray[np.integer]) -> NDArray[np.float32]:
    """P(y | x) of the exact channel for k released words y, int (k,), and every x of V:
    float32 (k, m)."""
    m = len(mechanism.table)
    out = np.empty((len(released), m), dtype=np.float32)

    def fill(start: int) -> None:
        words = np.arange(start, min(start + ROWS, m))
        out[:, words] = mechanism.channel(words)[0][:, released].T

    with ThreadPoolExecutor(os.cpu_count()) as pool:  # NumPy's long steps hold no lock
        list(pool.map(fill, range(0, m, ROWS)))
    return out
