"""Was this text among the demonstrations of the prompt? Membership inference from what the
remote sees (synthetic demonstrations), by the likelihood ratio, which no test beats (Neyman and
Pearson 1933).

Two games, each with as many members as non-members and an attacker who knows the mechanism, its
exact channel, and what demonstrations are made of:

- `word`: all of the prompt is known but one word, which is the candidate's or another one. Both
  prompts are neighbours, so ε bounds what can be told.
- `text`: only the candidate is known; it is one of the k demonstrations or none of them. The two
  cases differ by n words, and n·ε bounds so little that it says nothing but for tiny ε.

ε-LDP allows TPR ≤ min(e^ε·FPR, 1 − e^(−ε)·(1 − FPR)) (Kairouz, Oh and Viswanath 2015). The area
under that curve is s = e^ε/(1 + e^ε): with its corner at FPR 1 − s, the two triangles and the
rectangle are s(1 − s)/2 + s − s(1 − s)/2. It is e^ε·p/(1 + (e^ε − 1)·p) at the prior p = 1/2, too:
the bound for the share of right answers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.attacks.bounds import largest_success
from benchmarks.attacks.demonstrations import Channel, Population, population
from benchmarks.context import Context
from benchmarks.experiment import Experiment, Found, success
from benchmarks.records import Case, Estimate
from perturb import Mechanism, mechanism_class
from perturb.intervals import clopper_pearson

__all__ = [
    "Membership",
    "Scores",
    "breaches",
    "figures",
    "text_game",
    "text_scores",
    "tpr_bound",
    "word_game",
]

DEMONSTRATIONS = 4  # in a prompt
WORD_TRIALS = 2_000
TEXT_TRIALS = 400  # each draws 3 prompts of 4 demonstrations of 13 words
FPR = 0.01
CERTAIN = 1e-6  # how often a sound mechanism is blamed, at most

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Scores:
    """The attacker's scores, all (trials,) and independent of each other; higher says member.

    Attributes:
        members, others: in the two cases.
        held_out: of more non-members, to set the threshold by.
        apart: in how many words the two cases differ.
    """

    members: Array
    others: Array
    held_out: Array
    apart: int


def tpr_bound(epsilon: float, fpr: float) -> float:
    """The largest TPR that ε-LDP allows at an FPR, 0 to 1."""
    least = math.exp(-epsilon)
    linear = fpr / least if fpr < least else 1.0
    return min(linear, 1 - least * (1 - fpr))


def word_game(
    mechanism: Mechanism,
    source: Population,
    channel: Channel,
    rng: np.random.Generator,
    trials: int,
) -> Scores:
    """Is the one unknown word the candidate's, or its neighbour's?"""

    def scores(member: bool) -> Array:
        candidate, neighbour = source.neighbours(trials, rng)
        released = mechanism.draw(candidate if member else neighbour, rng).words
        return _ratio(channel.words(candidate, released), channel.words(neighbour, released))

    return Scores(scores(True), scores(False), scores(False), 1)


def text_scores(
    channel: Channel, candidate: NDArray[np.integer], released: NDArray[np.integer]
) -> Array:
    """log P(prompt | the candidate is one of the k) / P(prompt | it is not) = log of the mean over
    the k of P(y_j | candidate)/P(y_j): candidates int (trials, n), prompts int (trials, k, n) →
    (trials,)."""
    each = _ratio(
        channel.words(candidate[:, None], released).sum(axis=-1),
        channel.demonstrations(released),
    )
    mixed: Array = np.logaddexp.reduce(each, axis=1) - math.log(released.shape[1])
    return mixed


def text_game(
    mechanism: Mechanism,
    source: Population,
    channel: Channel,
    rng: np.random.Generator,
    trials: int,
) -> Scores:
    """Is the candidate one of the DEMONSTRATIONS, or drawn apart from them? By chance it may be
    equal to one then."""

    def scores(member: bool) -> Array:
        raw = source.draw(trials * DEMONSTRATIONS, rng)
        prompts = raw.reshape(trials, DEMONSTRATIONS, source.length)
        candidate = prompts[:, 0] if member else source.draw(trials, rng)
        released = mechanism.draw(raw.ravel(), rng).words.reshape(prompts.shape)
        return text_scores(channel, candidate, released)

    return Scores(scores(True), scores(False), scores(False), source.length)


def _ratio(one: Array, other: Array) -> Array:
    """one − other of log-likelihoods; 0 where the channel, wrongly, rules out both."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(one) & np.isneginf(other), 0.0, one - other)


def figures(scores: Scores, epsilon: float, rng: np.random.Generator) -> dict[str, Any]:
    """AUC, TPR and FPR of one game with what a proved per-word ε allows; ∞ where none is proved.

    The AUC is the share of independent pairs of a member and a non-member that are told apart,
    ties by a fair coin, so that its interval is a binomial's. The threshold is the one that at
    most FPR of the held-out non-members pass, and so fixed before TPR and FPR are measured.
    """
    members, others, trials = scores.members, scores.others, len(scores.members)
    won = (members > others) | ((members == others) & (rng.random(trials) < 0.5))
    threshold = np.sort(scores.held_out)[-1 - math.floor(FPR * len(scores.held_out))]
    whole = epsilon * scores.apart
    return {
        "auc": success(int(won.sum()), trials),
        "tpr": success(int((members > threshold).sum()), trials),
        "fpr": success(int((others > threshold).sum()), len(others)),
        "auc_bound": Estimate.exact(largest_success(whole, 0.5)),
        "tpr_bound": Estimate.exact(tpr_bound(whole, FPR)),
        "apart": scores.apart,
    }


def breaches(values: dict[str, Any], epsilon: float) -> list[str]:
    """What of `figures` passes its bound beyond chance: a sound mechanism is blamed with
    probability CERTAIN at most, half of it for each figure."""
    whole = epsilon * values["apart"]
    if math.isinf(whole):
        return []
    found = []
    low = _interval(values["auc"], CERTAIN)[0]
    if low > largest_success(whole, 0.5):
        found.append(f"AUC >= {low:.6g}, above the proved {largest_success(whole, 0.5):.6g}")
    low, high = _interval(values["tpr"], CERTAIN / 2)[0], _interval(values["fpr"], CERTAIN / 2)[1]
    if low > tpr_bound(whole, high):
        found.append(
            f"TPR >= {low:.6g} at FPR <= {high:.6g}, above the proved {tpr_bound(whole, high):.6g}"
        )
    return found


def _interval(found: Estimate, alpha: float) -> tuple[float, float]:
    return clopper_pearson(round(found.value * found.n), found.n, alpha)


class Membership(Experiment):
    """Both games for every mechanism whose channel is computed."""

    name = "membership"
    about = "was a text among the prompt's demonstrations? Likelihood ratio: AUC, TPR at 1 % FPR"

    def cases(self, context: Context) -> Iterable[Case]:
        for subject, epsilon in context.suite.points():
            if mechanism_class(subject.mechanism).exact:
                yield {"mechanism": subject.label, "epsilon": epsilon}

    def measure(self, case: Case, context: Context) -> Found:
        mechanism = context.mechanism(case["mechanism"], case["epsilon"])
        source = population(context.table.vocabulary)
        channel = Channel(mechanism, source)
        epsilon = mechanism.guarantee.epsilon
        rng = context.rng(self.name, case)
        values: dict[str, Any] = {"blind": Estimate.exact(0.5), "demonstrations": DEMONSTRATIONS}
        passed = []
        for name, play, trials in (
            ("word", word_game, WORD_TRIALS),
            ("text", text_game, TEXT_TRIALS),
        ):
            found = figures(play(mechanism, source, channel, rng, trials), epsilon, rng)
            values |= {f"{name}_{figure}": value for figure, value in found.items()}
            passed += [
                f"{case['mechanism']} at {case['epsilon']:g}, {name}: {breach}"
                for breach in breaches(found, epsilon)
            ]
        return Found(values, tuple(passed))
