"""Permute strings of a fixed form under a key, so that different strings stay different.

The strings of a form are put in a keyed order, and each gives the next one in it: a permutation
without a fixed point. The order is a Feistel network, as in FF1 (NIST SP 800-38G): the two halves
of a string are numbers, and a keyed function of one is added to the other in turns. Any round
function gives a permutation. Here it is BLAKE2b under a key that the link of the tenant draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from math import prod

from perturb.release import Link

__all__ = ["permute"]

ROUNDS = 10
WALK = 100_000  # steps to a string that passes: some checks let one in thousands pass
LISTED = 1000  # strings of a form whose order is written down: halves of one string mix nothing


def permute(
    text: str,
    alphabets: Sequence[str],
    link: Link,
    name: str,
    passes: Callable[[str], bool] = lambda text: True,
) -> Iterator[str]:
    """Yield the other strings of the form of `text`, each once.

    The first of them is a permutation: different strings give different strings. So is the
    second, and so on. The form has at least two strings that pass.

    Args:
        text: each character is one of the alphabet at its place.
        alphabets: one for each place, of distinct characters.
        link: draws the keys.
        name: of the form; equal where strings share a permutation.
        passes: holds for every string that is yielded, if it holds for `text`.
    """
    sizes = [len(alphabet) for alphabet in alphabets]
    digits = [alphabet.index(c) for c, alphabet in zip(text, alphabets, strict=True)]
    size, start = prod(sizes), _join(digits, sizes)
    filtered = passes(text)
    order: list[int] = []
    key, moduli = b"", (1, 1)
    if size <= LISTED:
        order = link(f"surrogate form {name}").permutation(size).tolist()
        place = order.index(start)
    else:
        half = (len(sizes) + 1) // 2
        moduli = (prod(sizes[:half]), prod(sizes[half:]))
        key = link(f"surrogate form {name}").bytes(32)
        place = _shuffle(start, moduli, key)
    failed = 0
    for step in range(1, size):
        following = (place + step) % size
        number = order[following] if order else _unshuffle(following, moduli, key)
        made = "".join(map(str.__getitem__, alphabets, _split(number, sizes)))
        if not filtered or passes(made):
            yield made
            failed = 0
        elif (failed := failed + 1) == WALK:
            return


def _shuffle(number: int, moduli: tuple[int, int], key: bytes) -> int:
    left, right = divmod(number, moduli[1])
    for turn in range(0, ROUNDS, 2):
        left = (left + _mix(key, turn, right)) % moduli[0]
        right = (right + _mix(key, turn + 1, left)) % moduli[1]
    return left * moduli[1] + right


def _unshuffle(number: int, moduli: tuple[int, int], key: bytes) -> int:
    left, right = divmod(number, moduli[1])
    for turn in range(ROUNDS - 2, -1, -2):
        right = (right - _mix(key, turn + 1, left)) % moduli[1]
        left = (left - _mix(key, turn, right)) % moduli[0]
    return left * moduli[1] + right


def _mix(key: bytes, turn: int, number: int) -> int:
    """Return a keyed function of a number: long enough that a modulus leaves no bias."""
    data = number.to_bytes(number.bit_length() // 8 + 1, "big")
    out = b""
    for block in range(len(data) // 48 + 1):
        head = turn.to_bytes(1, "big") + block.to_bytes(2, "big")
        out += blake2b(head + data, key=key).digest()
    return int.from_bytes(out, "big")


def _join(digits: Sequence[int], sizes: Sequence[int]) -> int:
    number = 0
    for digit, size in zip(digits, sizes, strict=True):
        number = number * size + digit
    return number


def _split(number: int, sizes: Sequence[int]) -> list[int]:
    digits = []
    for size in reversed(sizes):
        number, digit = divmod(number, size)
        digits.append(digit)
    return digits[::-1]
