"""The rules a released text has to meet, whatever drew it: read from the finished text.

The guard of the proxy asks for them before anything is sent, so a broken mechanism, a stale
release or a mixed-up text stops here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.errors import ReleaseError
from perturb.mechanism import Mechanism
from perturb.vocabulary import LAYOUT

__all__ = ["check_letters", "check_words", "too_many_kept"]

FALSE_ALARM = 1e-9  # probability that an honest draw is refused by a kept rule
_RELEASABLE = LAYOUT | set("0123456789")


def too_many_kept(kept: int, rates: Sequence[float] | NDArray[Any]) -> bool:
    """Whether `kept` unchanged words or characters are more than the channel explains.

    Hoeffding's bound (1963, theorem 1) for a sum of n independent indicators with mean rate p:
    Pr[sum ≥ a·n] ≤ e^{−n·KL(a‖p)} for a > p. A channel of rate 1 may keep everything.
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
    """The text holds released words, digits and layout, and nothing else.

    Raises:
        ReleaseError: it holds more, or less.
    """
    if "".join(c for c in text if c not in _RELEASABLE) != "".join(words):
        raise ReleaseError("a released text holds more than released words")


def check_words(mechanism: Mechanism, places: NDArray[np.int32], words: Sequence[str]) -> None:
    """One released word of V for each private one (`places` in V), and not too many unchanged.

    Raises:
        ReleaseError: the numbers differ, a word is not in V, or more words are kept than the
            channel explains.
    """
    if len(places) != len(words):
        raise ReleaseError("a released text does not belong to its document")
    known = mechanism.table.vocabulary.words
    if not set(words).issubset(known):
        raise ReleaseError("a released word is not in the vocabulary")
    kept = sum(known[place] == word for place, word in zip(places.tolist(), words, strict=True))
    if too_many_kept(kept, mechanism.keep_rate(places)):
        raise ReleaseError("the mechanism left too many words unchanged")
