"""Randomness: NumPy generators over AES-128 in counter mode, keyed by the operating system.

NumPy's own bit generators are fast but predictable from their output, so none of them may
draw privacy noise. A mechanism is handed a generator and never makes one.
"""

from __future__ import annotations

import secrets

import numpy as np
from randomgen import AESCounter

__all__ = ["secure_generator", "seeded_generator"]


def secure_generator() -> np.random.Generator:
    """Return a generator under a fresh 128-bit key from the operating system.

    A generator is made for each document, so two documents share no state and no lock.
    """
    return np.random.Generator(AESCounter(key=secrets.randbits(128)))


def seeded_generator(seed: int) -> np.random.Generator:
    """Return a reproducible generator, for tests and experiments: its noise protects nothing."""
    return np.random.Generator(AESCounter(seed=seed))
