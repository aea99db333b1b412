"""Derive bounds on attacks from a proved guarantee; a success beyond its bound is a breach.

An attack names an answer set S(y) for each released word y (one form of a word, or the forms of
K words) and succeeds if the raw word is in it. The theorem that applies depends on the releases
that the attack uses.

Context-free: S is a fixed function of the one release y. Let the raw word X be one of the attacked
words, each equally likely, and p* the share of them that the best set of S's size covers: the
success of the best blind guess by someone who knows how often each word occurs among them. ε-LDP
gives P(y|S) ≤ e^ε·P(y|not S), so a posterior is at most e^ε·p/(1 + (e^ε − 1)·p) at p = π(S) ≤ p*:
this is `limit`. It is proved for the expected success on the very words that are attacked,
whatever prior the attack assumes. t fresh releases are one release at t·ε. The limit holds for any
words chosen independently of the releases, so `measure_bounded` also checks the first place of
each form alone: there p* is smallest, and the limit is tightest.

Contextual: S is a function of all releases of a text. The prior of a word given its context is
then that of the language, which nobody knows. A language model's blind success is below that of
the best guess, so a limit with it as p* is not a theorem, and a sound mechanism can exceed it (a
model that never names a word blindly may name it after a release). The theorem that holds needs no
prior: replace the release of the attacked word by that of a word drawn independently of it, run
the same attack again, and both its success and its failure fall by a factor of e^ε at most. That
is `contextual_limit`.

A metric guarantee is ε-LDP at ε times the largest distance, which is `Guarantee.epsilon`. If
nothing is proved the limit is 1 (also for `rantext`: its proved δ is 1 over the bundled table).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.experiment import Outcome, success
from perturb.audit.intervals import clopper_pearson
from perturb.release import Guarantee

__all__ = [
    "best_blind",
    "contextual_limit",
    "largest_success",
    "limit",
    "measure_bounded",
    "report_breach",
]

ALPHA = 1e-9  # upper bound on the probability of a false report, for each test


def largest_success(epsilon: float, prior: float) -> float:
    """Return e^ε·p/(1 + (e^ε − 1)·p) for ε >= 0 and a prior success p in [0, 1]."""
    if prior <= 0:
        return 0.0
    return 1 / (1 + (1 / prior - 1) * math.exp(-epsilon))


def best_blind(targets: NDArray[np.integer[Any]], answers: int = 1) -> float:
    """Return p*: the share of the targets, int (n,), that their `answers` most frequent values
    cover."""
    counts = np.sort(np.unique(targets, return_counts=True)[1])
    return float(counts[-answers:].sum() / len(targets))


def limit(guarantee: Guarantee, prior: float, releases: int = 1) -> float:
    """Return the largest expected success of a context-free attack; see the module.

    Args:
        guarantee: of one release.
        prior: p*, success without looking, in [0, 1].
        releases: how many fresh releases of each word were seen.
    """
    if guarantee.kind == "none":
        return 1.0
    return largest_success(releases * guarantee.epsilon, prior)


def contextual_limit(guarantee: Guarantee, hits: int, trials: int) -> float:
    """Return the largest expected success of any attack, contextual ones included; see the module.

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


def report_breach(attack: str, hits: int, trials: int, limit: float) -> tuple[str, ...]:
    """Report an attack that succeeded more often than a limit on its expected success allows,
    except with probability ALPHA. Returns one sentence, or nothing.

    Trials are independent but need not be identical: the tails of the number of hits are no
    heavier than those of the binomial with the same mean (Hoeffding 1956), on which Clopper and
    Pearson's interval rests.
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


def measure_bounded(
    name: str,
    right: NDArray[np.bool_],
    targets: NDArray[np.integer[Any]],
    guarantee: Guarantee,
    *,
    answers: int = 1,
    releases: int = 1,
) -> Outcome:
    """Measure a context-free attack's success and the limit that the guarantee sets on it.

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
        breaches += report_breach(label, hits, trials, bound)
    return Outcome(values, breaches)
