"""Randomness: NumPy generators over AES-128 in counter mode, keyed by the operating system.

NumPy's own bit generators are fast but predictable from their output, so none of them may
draw privacy noise. A mechanism is handed a generator and never makes one.
"""

from __future__ import annotations

import secrets

import numpy as np
from randomgen import AESCounter

__all__ = ["keyed_generator", "secure_generator", "seeded_generator"]


def secure_generator() -> np.random.Generator:
    """Return a generator under a fresh 128-bit key from the operating system.

    A generator is made for each document, so two documents share no state and no lock.
    """
    return np.random.Generator(AESCounter(key=secrets.randbits(128)))


def keyed_generator(key: bytes) -> np.random.Generator:
    """Return the generator under a secret key (its first 128 bits): equal keys give equal noise,
    which is how one entity keeps one replacement."""
    return np.random.Generator(AESCounter(key=int.from_bytes(key[:16], "big")))


def seeded_generator(seed: int) -> np.random.Generator:
    """Return a reproducible generator, for tests and experiments: its noise protects nothing."""
    return np.random.Generator(AESCounter(seed=seed))
