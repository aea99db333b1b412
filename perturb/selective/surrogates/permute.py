"""Permute strings of a fixed form under a key, so that different strings stay different.

A Feistel network, as in FF1 (NIST SP 800-38G): the two halves of a string are numbers, and a keyed
function of one is added to the other in turns. Any round function gives a permutation. Here it is
BLAKE2b under a key that the link of the tenant draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from math import prod

from perturb.release import Link

__all__ = ["permute"]

ROUNDS = 10
WALK = 100_000  # steps to a string that passes: some checks let one in thousands pass


def permute(
    text: str,
    alphabets: Sequence[str],
    link: Link,
    name: str,
    passes: Callable[[str], bool] = lambda text: True,
) -> Iterator[str]:
    """Yield strings of the form of `text`, none of them `text` itself, each under another key.

    Under one key, different strings give different strings, except where a string would stay as it
    is. The form has at least two strings.

    Args:
        text: each character is one of the alphabet at its place.
        alphabets: one for each place, of distinct characters.
        link: draws the keys.
        name: of the form; equal where strings share a permutation.
        passes: holds for every string that is yielded, if it holds for `text`.
    """
    sizes = [len(alphabet) for alphabet in alphabets]
    half = (len(sizes) + 1) // 2
    digits = [alphabet.index(c) for c, alphabet in zip(text, alphabets, strict=True)]
    start = (_join(digits[:half], sizes[:half]), _join(digits[half:], sizes[half:]))
    moduli = (prod(sizes[:half]), prod(sizes[half:]))
    walks = WALK if passes(text) else 1
    turn = 0
    while True:
        key = link(f"surrogate form {name} {turn}").bytes(32)
        turn += 1
        place = start
        for _ in range(walks):  # the cycle of a string that passes leads back to it
            place = _shuffle(place, moduli, key)
            found = [*_split(place[0], sizes[:half]), *_split(place[1], sizes[half:])]
            made = "".join(alphabet[i] for i, alphabet in zip(found, alphabets, strict=True))
            if walks == 1 or passes(made):
                break
        else:
            continue
        if made != text:
            yield made


def _shuffle(place: tuple[int, int], moduli: tuple[int, int], key: bytes) -> tuple[int, int]:
    left, right = place
    for turn in range(0, ROUNDS, 2):
        left = (left + _mix(key, turn, right)) % moduli[0]
        right = (right + _mix(key, turn + 1, left)) % moduli[1]
    return left, right


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
