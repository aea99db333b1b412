"""What a proved guarantee allows an attack: a success beyond it is a breach.

An attack names an answer set S(y) for each released word y (one form of a word, or the forms of
K words) and succeeds where the raw word is in it. Which statement is a theorem depends on what
the attack looks at.

Context-free, S a fixed function of the one release y. Let the raw word X be one of the attacked
words, each equally likely, and p* the share of them that the best set of S's size covers: the
success of the best guess without looking, made by someone who knows how often each word is among
them. ε-LDP gives P(y|S) ≤ e^ε·P(y|not S), so a posterior is at most e^ε·p/(1 + (e^ε − 1)·p) at
p = π(S) ≤ p*: this is `limit`, and it is proved of the expected success on the very words that
are attacked, whatever the attack believes. t fresh releases are one release at t·ε. It is true
of any words picked without looking at the releases, so `held` checks each form's first place
alone, too: there p* is as small as it can be, and the limit says most.

Contextual, S a function of all releases of a text. There the prior of a word given its context
is the language's, which nobody knows: a language model's success without looking is below that
of the best guess, so putting it for p* is no theorem, and a sound mechanism can pass it (a model
that never names a word blindly does so once it looks). What is a theorem needs no prior: replace
the release of the attacked word by that of a word drawn without regard to it, let the same
attack run again, and its success falls by a factor of e^ε at most, and its failure too. That is
`contextual_limit`.

A metric guarantee is ε-LDP at ε times the largest distance, which is `Guarantee.epsilon`. Where
none is proved (`rantext`, whose proved δ is 1 over the bundled table, among them) the limit is 1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.experiment import Found, success
from perturb.intervals import clopper_pearson
from perturb.mechanism import Guarantee

__all__ = ["best_blind", "breach", "contextual_limit", "held", "largest_success", "limit"]

ALPHA = 1e-9  # probability at most that a sound mechanism is said to be breached, each time


def largest_success(epsilon: float, prior: float) -> float:
    """e^ε·p/(1 + (e^ε − 1)·p) for ε >= 0 and a prior success p in [0, 1]."""
    if prior <= 0:
        return 0.0
    return 1 / (1 + (1 / prior - 1) * math.exp(-epsilon))


def best_blind(targets: NDArray[np.integer[Any]], answers: int = 1) -> float:
    """p*: the share of the targets, int (n,), that their `answers` most frequent values cover."""
    counts = np.sort(np.unique(targets, return_counts=True)[1])
    return float(counts[-answers:].sum() / len(targets))


def limit(guarantee: Guarantee, prior: float, releases: int = 1) -> float:
    """The largest expected success of a context-free attack; see the module.

    Args:
        guarantee: of one release.
        prior: p*, success without looking, in [0, 1].
        releases: how many fresh releases of each word were seen.
    """
    if guarantee.kind == "none":
        return 1.0
    return largest_success(releases * guarantee.epsilon, prior)


def contextual_limit(guarantee: Guarantee, hits: int, trials: int) -> float:
    """The largest expected success of any attack, contextual ones too; see the module.

    Args:
        guarantee: of one release.
        hits, trials: of the same attack on the same words, where the attacked word's release
            was replaced by that of a word drawn without regard to it. Trials are independent:
            attack one word a text, and each text once.
    """
    if guarantee.kind == "none":
        return 1.0
    blind = clopper_pearson(hits, trials, ALPHA)[1]
    shrink = math.exp(-guarantee.epsilon)
    return min(1 - shrink * (1 - blind), blind / shrink if blind < shrink else 1.0)


def breach(attack: str, hits: int, trials: int, limit: float) -> tuple[str, ...]:
    """A sentence where an attack succeeded more often than a limit on its expected success lets
    it, but for a probability of ALPHA; else nothing.

    Trials are independent and need not be alike: the number of hits has tails no heavier than
    the binomial one of their mean (Hoeffding 1956), which Clopper and Pearson's interval is of.
    """
    if limit >= 1:
        return ()
    low = clopper_pearson(hits, trials, ALPHA)[0]
    if low <= limit:
        return ()
    return (
        f"{attack}: {hits} of {trials} right, at least {low:.4g} but for a probability of "
        f"{ALPHA:g}, above the proved {limit:.4g}",
    )


def held(
    name: str,
    right: NDArray[np.bool_],
    targets: NDArray[np.integer[Any]],
    guarantee: Guarantee,
    *,
    answers: int = 1,
    releases: int = 1,
) -> Found:
    """A context-free attack's success, beside what the guarantee allows.

    Args:
        name: of the success among the values.
        right: whether each attacked word was named, bool (n,).
        targets: the forms of the attacked words, by number, int (n,).
        guarantee: of one release.
        answers: how many forms the attack may name for a word.
        releases: how many fresh releases of each word it saw.

    Returns:
        Values `name`, `name_blind` (p*) and `name_bound`; `name_once` and `name_once_bound` for
        the first place of each form alone.
    """
    values: dict[str, Any] = {}
    breaches: tuple[str, ...] = ()
    first = np.unique(targets, return_index=True)[1]
    for label, some in ((name, np.arange(len(targets))), (f"{name}_once", first)):
        hits, trials = int(right[some].sum()), len(some)
        blind = best_blind(targets[some], answers)
        bound = limit(guarantee, blind, releases)
        values |= {label: success(hits, trials), f"{label}_bound": bound}
        values |= {f"{label}_blind": blind} if label == name else {}
        breaches += breach(label, hits, trials, bound)
    return Found(values, breaches)
