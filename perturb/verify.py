"""The rules that every released text must meet; they read the finished text.

The guard of the proxy applies them before anything is sent. They stop a broken mechanism, a stale
release or a mixed-up text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.channel import WordChannel
from perturb.errors import ReleaseError
from perturb.sanitizer import FALSE_ALARM
from perturb.vocabulary.vocabulary import LAYOUT

__all__ = ["check_letters", "check_words", "too_many_kept"]

_BETWEEN = "".join(sorted(LAYOUT)) + "0123456789"
_LETTERS = re.compile(f"[^{re.escape(_BETWEEN)}]+")
_ASCII_BETWEEN = _BETWEEN.encode("ascii", "ignore")


def too_many_kept(kept: int, rates: Sequence[float] | NDArray[Any]) -> bool:
    """Tell whether `kept` unchanged words or characters are more than the channel explains.
    `rates` holds the probability of each to stay unchanged. An honest draw is refused with
    probability at most `FALSE_ALARM`.

    Hoeffding's bound (1963, theorem 1) for a sum of n independent indicators with mean rate p:
    Pr[sum ≥ a·n] ≤ e^{−n·KL(a‖p)} for a > p. A channel of rate 1 may keep everything.

    >>> too_many_kept(3, [0.1] * 100)
    False
    >>> too_many_kept(60, [0.1] * 100)
    True
    """
    n, mean = len(rates), float(np.sum(rates))
    if kept == 0 or kept <= mean:
        return False
    if mean == 0:
        return True
    bound = kept * math.log(kept / mean)
    if kept < n:
        bound += (n - kept) * math.log((n - kept) / (n - mean))
    return -bound < math.log(FALSE_ALARM)


def check_letters(text: str, words: Sequence[str]) -> None:
    """Check that a text holds released words, digits and layout, and nothing else.

    >>> check_letters("On 12 tables.", ["On", "tables"])

    Raises:
        ReleaseError: it holds anything else, or a released word is missing.
    """
    # Most texts are ASCII between the words, which is fast: without it, only letters are left.
    letters = text.encode("utf-8", "surrogatepass").translate(None, _ASCII_BETWEEN)
    joined = "".join(words)
    if letters.isascii() and letters == joined.encode("utf-8", "surrogatepass"):
        return
    if "".join(_LETTERS.findall(text)) != joined:
        raise ReleaseError("a released text holds more than released words")


def check_words(mechanism: WordChannel, places: NDArray[np.int32], words: Sequence[str]) -> None:
    """Check that there is one released word of V for each private word (`places` in V), and that
    not too many words are unchanged.

    Raises:
        ReleaseError: the numbers differ, a word is not in V, or more words are kept than the
            channel explains.
    """
    if len(places) != len(words):
        raise ReleaseError("a released text does not belong to its document")
    known = mechanism.table.vocabulary.places
    try:
        released = np.fromiter(map(known.__getitem__, words), np.int32, len(words))
    except KeyError:
        raise ReleaseError("a released word is not in the vocabulary") from None
    if too_many_kept(int((released == places).sum()), mechanism.keep_rate(places)):
        raise ReleaseError("the mechanism left too many words unchanged")
