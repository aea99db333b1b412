"""The best context-free attack there is: Bayes' rule on the exact channel and a unigram prior."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from benchmarks.attacks.bounds import held, largest_success
from benchmarks.attacks.likelihood import channel_of
from benchmarks.context import Context
from benchmarks.experiment import Experiment, Found
from benchmarks.records import Case, Estimate

__all__ = ["Bayes"]

ROUNDING = 1e-9  # of sums in double precision, generously


class Bayes(Experiment):
    """x̂(y) = argmax over forms of Σ π(x)P(y | x), tried on the words of a set.

    Values:
        success: on the set's words, see `bounds.held`.
        vulnerability: its exact success on words drawn from π, as `channel` reports it.
    """

    name = "bayes"
    about = "the Bayes-optimal context-free attack: exact channel, unigram prior"

    def cases(self, context: Context) -> Iterable[Case]:
        return context.suite.cases()

    def measure(self, case: Case, context: Context) -> Found:
        label, epsilon, dataset = case["mechanism"], case["epsilon"], case["dataset"]
        mechanism = context.mechanism(label, epsilon)
        channel = channel_of(mechanism)
        releases = context.releases(label, epsilon, dataset)
        raw = context.forms.group[np.concatenate([release.raw for release in releases])]
        released = np.concatenate([release.released for release in releases])
        right = channel.sums.joint_forms_at[released] == raw
        found = held("success", right, raw, mechanism.guarantee)
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
        return Found({**found.values, "vulnerability": vulnerability}, breaches)
