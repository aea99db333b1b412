"""Membership inference, which asks whether a text was among the demonstrations of a prompt.

The attacker sees what the remote sees, with synthetic demonstrations, and uses the likelihood
ratio, which no test beats (Neyman and Pearson 1933). There are two games, each with as many
members as non-members; the attacker knows the mechanism, its exact channel, and the law of the
demonstrations:

- `word`: the whole prompt is known except one word, which is the candidate's or another one. The
  two prompts are neighbours, so ε bounds how well they can be distinguished.
- `text`: only the candidate is known; it is one of the k demonstrations or none of them. The two
  cases differ in n words, and n·ε is a useful bound only for tiny ε.

ε-LDP allows TPR ≤ min(e^ε·FPR, 1 − e^(−ε)·(1 − FPR)) (Kairouz, Oh and Viswanath 2015). The area
under that curve is s = e^ε/(1 + e^ε): with its corner at FPR 1 − s, the two triangles and the
rectangle are s(1 − s)/2 + s − s(1 − s)/2. It is e^ε·p/(1 + (e^ε − 1)·p) at the prior p = 1/2, too:
the bound for the share of right answers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.attacks.bounds import largest_success
from benchmarks.attacks.demonstrations import Channel, Population, build_population
from benchmarks.harness.context import Context
from benchmarks.harness.experiment import Experiment, Outcome, success
from benchmarks.harness.markdown import (
    format_bound,
    format_figure,
    format_percent,
    format_point,
    format_table,
)
from benchmarks.harness.records import Case, Estimate, Record
from perturb import Mechanism, mechanism_class
from perturb.audit.intervals import clopper_pearson

__all__ = [
    "Membership",
    "Scores",
    "compute_figures",
    "find_breaches",
    "play_text_game",
    "play_word_game",
    "score_texts",
    "tpr_bound",
]

DEMONSTRATIONS = 4  # in a prompt
WORD_TRIALS = 2_000
TEXT_TRIALS = 400  # each draws 3 prompts of 4 demonstrations of 13 words
FPR = 0.01
CERTAIN = 1e-6  # upper bound on the probability of blaming a sound mechanism

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Scores:
    """Hold the attacker's scores, all (trials,) and independent of each other; a higher score
    means a member.

    Attributes:
        members, others: the scores in the two cases.
        held_out: the scores of more non-members, which set the threshold.
        apart: the number of words in which the two cases differ.
    """

    members: Array
    others: Array
    held_out: Array
    apart: int


def tpr_bound(epsilon: float, fpr: float) -> float:
    """Return the largest TPR that ε-LDP allows at an FPR, 0 to 1."""
    least = math.exp(-epsilon)
    linear = fpr / least if fpr < least else 1.0
    return min(linear, 1 - least * (1 - fpr))


def play_word_game(
    mechanism: Mechanism,
    source: Population,
    channel: Channel,
    rng: np.random.Generator,
    trials: int,
) -> Scores:
    """Play the game: is the one unknown word the candidate's, or its neighbour's?"""

    def scores(member: bool) -> Array:
        candidate, neighbour = source.neighbours(trials, rng)
        released = mechanism.draw(candidate if member else neighbour, rng).words
        return _subtract(channel.words(candidate, released), channel.words(neighbour, released))

    return Scores(scores(True), scores(False), scores(False), 1)


def score_texts(
    channel: Channel, candidate: NDArray[np.integer], released: NDArray[np.integer]
) -> Array:
    """Return log P(prompt | the candidate is one of the k) / P(prompt | it is not), the log of the
    mean over the k of P(y_j | candidate)/P(y_j). Candidates int (trials, n), prompts int (trials,
    k, n) → (trials,)."""
    each = _subtract(
        channel.words(candidate[:, None], released).sum(axis=-1),
        channel.demonstrations(released),
    )
    mixed: Array = np.logaddexp.reduce(each, axis=1) - math.log(released.shape[1])
    return mixed


def play_text_game(
    mechanism: Mechanism,
    source: Population,
    channel: Channel,
    rng: np.random.Generator,
    trials: int,
) -> Scores:
    """Play the game: is the candidate one of the DEMONSTRATIONS, or drawn independently of them?
    In the second case it may equal one by chance."""

    def scores(member: bool) -> Array:
        raw = source.draw(trials * DEMONSTRATIONS, rng)
        prompts = raw.reshape(trials, DEMONSTRATIONS, source.length)
        candidate = prompts[:, 0] if member else source.draw(trials, rng)
        released = mechanism.draw(raw.ravel(), rng).words.reshape(prompts.shape)
        return score_texts(channel, candidate, released)

    return Scores(scores(True), scores(False), scores(False), source.length)


def _subtract(one: Array, other: Array) -> Array:
    """Return one − other of log-likelihoods; 0 where the channel wrongly rules out both."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(one) & np.isneginf(other), 0.0, one - other)


def compute_figures(scores: Scores, epsilon: float, rng: np.random.Generator) -> dict[str, Any]:
    """Return AUC, TPR and FPR of one game, and the bounds from a proved per-word ε; ∞ if none
    is proved.

    The AUC is the share of independent pairs of a member and a non-member that are ranked
    correctly, with ties broken by a fair coin, so that its interval is binomial. The threshold is
    the one that at most FPR of the held-out non-members pass; it is fixed before TPR and FPR are
    measured.
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


def find_breaches(values: dict[str, Any], epsilon: float) -> list[str]:
    """Report the figures of a game that exceed their bound by more than chance.

    A sound mechanism is blamed with probability CERTAIN at most, half of it for each figure.
    """
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
    """Play both games for every mechanism whose channel is computed exactly."""

    name = "membership"
    about = "was a text among the prompt's demonstrations? Likelihood ratio: AUC, TPR at 1 % FPR"

    def cases(self, context: Context) -> Iterable[Case]:
        for subject, epsilon in context.suite.points():
            if mechanism_class(subject.mechanism).exact:
                yield {"mechanism": subject.label, "epsilon": epsilon}

    def measure(self, case: Case, context: Context) -> Outcome:
        mechanism = context.mechanism(case["mechanism"], case["epsilon"])
        source = build_population(context.table.vocabulary)
        channel = Channel(mechanism, source)
        epsilon = mechanism.guarantee.epsilon
        rng = context.rng(self.name, case)
        values: dict[str, Any] = {"blind": Estimate.exact(0.5), "demonstrations": DEMONSTRATIONS}
        passed = []
        for name, play, trials in (
            ("word", play_word_game, WORD_TRIALS),
            ("text", play_text_game, TEXT_TRIALS),
        ):
            found = compute_figures(play(mechanism, source, channel, rng, trials), epsilon, rng)
            values |= {f"{name}_{figure}": value for figure, value in found.items()}
            passed += [
                f"{case['mechanism']} at {case['epsilon']:g}, {name}: {breach}"
                for breach in find_breaches(found, epsilon)
            ]
        return Outcome(values, tuple(passed))

    def render(self, records: Sequence[Record], figure: str | None = None) -> Iterable[str]:
        rows = [
            [
                *format_point(r.case),
                format_figure(r.values["word_auc"], 2),
                format_bound(r.values["word_auc_bound"].value, 1),
                format_percent(r.values["word_tpr"]),
                format_bound(r.values["word_tpr_bound"].value),
                format_figure(r.values["text_auc"], 2),
                format_percent(r.values["text_tpr"]),
            ]
            for r in records
        ]
        if rows:
            head = ["mechanism", "ε", "one word: AUC", "allowed", "found, %", "allowed, %"]
            yield (
                "### Was this text among the demonstrations?\n\n"
                "A prompt holds synthetic demonstrations; the attacker sees its release and has "
                "the exact likelihood ratio. *One word*: two candidates differ in a single word, "
                "which the proof for one token bounds. *Whole text*: they differ in all of their "
                "words, and no useful bound is proved. AUC 0.5 is chance; *found* is the share "
                "of members found at about 1 % false alarms.\n\n"
                + format_table([*head, "whole text: AUC", "found, %"], rows)
            )
