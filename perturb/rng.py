"""Randomness: NumPy generators over AES-128 in counter mode, keyed by the operating system.

NumPy's own bit generators are fast, but predictable from their output, so none of them may draw
privacy noise. A mechanism receives a generator and never makes one.
"""

from __future__ import annotations

import secrets

import numpy as np
from randomgen import AESCounter

__all__ = [
    "draw_below",
    "keyed_generator",
    "renew_key",
    "secure_generator",
    "seeded_generator",
]


def secure_generator() -> np.random.Generator:
    """Return a generator under a fresh 128-bit key from the operating system.

    >>> secure_generator().integers(10) in range(10)
    True

    Each document, or the documents of one request, have a key of their own: requests share no
    noise, and threads no lock.
    """
    return np.random.Generator(AESCounter(key=secrets.randbits(128)))


def renew_key(rng: np.random.Generator) -> None:
    """Give a generator a fresh 128-bit key: the same as a new one, in a third of the time.

    >>> rng = secure_generator()
    >>> renew_key(rng)

    Args:
        rng: from `secure_generator`, and used by nobody else meanwhile.
    """
    rng.bit_generator.seed(key=secrets.randbits(128))  # type: ignore[attr-defined]


def keyed_generator(key: bytes) -> np.random.Generator:
    """Return the generator under a secret key (its first 128 bits). Equal keys give equal noise,
    so that an entity keeps the same replacement.

    >>> one, other = keyed_generator(bytes(16)), keyed_generator(bytes(16))
    >>> bool(one.integers(1000) == other.integers(1000))
    True
    """
    return np.random.Generator(AESCounter(key=int.from_bytes(key[:16], "big")))


def seeded_generator(seed: int) -> np.random.Generator:
    """Return a reproducible generator for tests and experiments. Its noise protects nothing.

    >>> bool(seeded_generator(1).integers(1000) == seeded_generator(1).integers(1000))
    True
    """
    return np.random.Generator(AESCounter(seed=seed))


def draw_below(limit: int, rng: np.random.Generator) -> int:
    """Return a uniform integer from 0 to `limit` − 1, for a limit of any size.

    Bits beyond the limit are drawn again, so every integer is exactly as likely as any other.

    >>> 0 <= draw_below(10**40, seeded_generator(1)) < 10**40
    True

    Raises:
        ValueError: limit < 1.
    """
    if limit < 1:
        raise ValueError(f"limit must be >= 1, got {limit}")
    bits = (limit - 1).bit_length()
    size = -(-bits // 8)
    while True:
        drawn = int.from_bytes(rng.bytes(size)) >> (8 * size - bits)
        if drawn < limit:
            return drawn
