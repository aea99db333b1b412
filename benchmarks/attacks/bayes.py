"""The best context-free attack: Bayes' rule on the exact channel and a unigram prior."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from benchmarks.attacks.bounds import largest_success, measure_bounded
from benchmarks.attacks.likelihood import load_channel
from benchmarks.attacks.word_attack import WordAttack
from benchmarks.harness.context import Context
from benchmarks.harness.experiment import Outcome
from benchmarks.harness.markdown import format_bound, format_percent
from benchmarks.harness.records import Case, Estimate, Record

__all__ = ["Bayes"]

ROUNDING = 1e-9  # of sums in double precision, generously


class Bayes(WordAttack):
    """Guess x̂(y) = argmax over forms of Σ π(x)P(y | x) for the words of a set.

    Values:
        success: on the set's words, see `bounds.measure_bounded`.
        vulnerability: its exact success on words drawn from π, as `channel` reports it.
    """

    name = "bayes"
    about = "the Bayes-optimal context-free attack: exact channel, unigram prior"
    columns = ("Bayes, no context", "allowed", "Bayes, each word once", "allowed")
    legend = (
        "*Bayes* knows the exact channel and the general frequencies of words; no attacker with "
        "only this knowledge does better on average. *Allowed* is the largest success that the "
        "proof permits any Bayes attack on these words; an attack beyond it fails the run. *Each "
        "word once* counts only the first place of each word, where frequent words help less."
    )
    strongest_value = "success"

    def cases(self, context: Context) -> Iterable[Case]:
        return context.suite.cases()

    def measure(self, case: Case, context: Context) -> Outcome:
        label, epsilon, dataset = case["mechanism"], case["epsilon"], case["dataset"]
        mechanism = context.mechanism(label, epsilon)
        channel = load_channel(mechanism)
        releases = context.releases(label, epsilon, dataset)
        raw = context.forms.group[np.concatenate([release.raw for release in releases])]
        released = np.concatenate([release.released for release in releases])
        right = channel.sums.joint_forms_at[released] == raw
        found = measure_bounded("success", right, raw, mechanism.guarantee)
        breaches = found.breaches
        expected, error = float(channel.sums.joint_forms.sum()), channel.sums.mean_error
        prior = float(np.bincount(context.forms.group, channel.prior).max())
        if mechanism.guarantee.kind != "none":
            allowed = largest_success(mechanism.guarantee.epsilon, prior)
            if expected - error > allowed + ROUNDING:
                breaches += (
                    f"the Bayes attack's exact success {expected:.6g} is above the proved "
                    f"{allowed:.6g}",
                )
        vulnerability = Estimate(
            expected, max(0.0, expected - error), min(1.0, expected + error), 1
        )
        return Outcome({**found.values, "vulnerability": vulnerability}, breaches)

    def render_cells(self, record: Record) -> list[str]:
        values = record.values
        return [
            format_percent(values["success"]),
            format_bound(values["success_bound"]),
            format_percent(values["success_once"]),
            format_bound(values["success_once_bound"]),
        ]

    @classmethod
    def read_blind_success(cls, records: Sequence[Record]) -> float:
        """Return the share of words that a blind guess reads, over all sets."""
        sets = {r.case["dataset"]: r.values for r in cls.select(records)}
        words = sum(v["success"].n for v in sets.values())
        read: float = sum(v["success"].n * v["success_blind"] for v in sets.values()) / words
        return read
