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

FALSE_ALARM = 1e-9  # probability that an honest draw is refused by the kept-words rule
_RELEASABLE = LAYOUT | set("0123456789")


def too_many_kept(kept: int, rates: Sequence[float] | NDArray[Any]) -> bool:
    """Whether `kept` unchanged words are more than the channel explains.

    Chernoff's bound for a sum of independent indicators with mean μ = Σ rates:
    Pr[sum ≥ c] ≤ e^{c − μ}·(μ/c)^c. A channel of rate 1 may keep everything.
    """
    mean = float(np.sum(rates))
    if kept == 0 or kept <= mean:
        return False
    if mean == 0:
        return True
    return kept - mean + kept * math.log(mean / kept) < math.log(FALSE_ALARM)


def check_letters(text: str, words: Sequence[str]) -> None:
    """The text holds released words, digits and layout, and nothing else.

    Raises:
        ReleaseError: it holds more, or less.
    """
    if "".join(c for c in text if c not in _RELEASABLE) != "".join(words):
        raise ReleaseError("a released text holds more than released words")


def check_words(mechanism: Mechanism, places: NDArray[np.int32], words: Sequence[str]) -> None:
    """One released word for each private one (`places` in V), and not too many unchanged.

    Raises:
        ReleaseError: the numbers differ, or more words are kept than the channel explains.
    """
    if len(places) != len(words):
        raise ReleaseError("a released text does not belong to its document")
    known = mechanism.table.vocabulary.words
    kept = sum(known[place] == word for place, word in zip(places.tolist(), words, strict=True))
    if too_many_kept(kept, mechanism.keep_rate(places)):
        raise ReleaseError("the mechanism left too many words unchanged")
