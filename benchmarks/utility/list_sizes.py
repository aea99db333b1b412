"""Measure the size of RANTEXT's random list: the distribution of |C_r| / |V| against ε."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from benchmarks.harness.context import Context
from benchmarks.harness.experiment import Experiment, Outcome
from benchmarks.harness.records import Case, Record

__all__ = ["ListSizes"]

LEVELS = np.linspace(0, 1, 101)


class ListSizes(Experiment):
    """Measure quantiles over the radius and over x uniform in V (InferDPT, figure 4).

    Values:
        levels: of the quantiles, 0 to 1.
        shares: |C_r| / |V| at each level.
    """

    name = "list_sizes"
    about = "the size of RANTEXT's candidate lists, as a share of V"

    def cases(self, context: Context) -> Iterable[Case]:
        for subject, epsilon in context.suite.points():
            if context.mechanism(subject.label, epsilon).bounds() is not None:
                yield {"mechanism": subject.label, "epsilon": epsilon}

    def measure(self, case: Case, context: Context) -> Outcome:
        mechanism = context.mechanism(case["mechanism"], case["epsilon"])
        bounds = mechanism.bounds()
        assert bounds is not None
        sizes = bounds.list_sizes(LEVELS)
        shares = sizes / len(mechanism.table)
        return Outcome({"levels": LEVELS.round(2).tolist(), "shares": shares.round(6).tolist()})

    def render(self, records: Sequence[Record], figure: str | None = None) -> Iterable[str]:
        if figure:
            yield (
                "### The size of the list of `rantext`\n\n"
                f"![list sizes]({figure})\n\nIn the form of InferDPT's figure 4, over the radius "
                "and over all words of the vocabulary."
            )

    def draw(self, canvas: Any, records: Sequence[Record]) -> bool:
        """Draw the distribution of the size of RANTEXT's list (InferDPT, figure 4)."""
        if not records:
            return False
        axes = canvas.subplots()
        for record in records:
            shares = [100 * share for share in record.values["shares"]]
            axes.plot(shares, record.values["levels"], label=f"ε = {record.case['epsilon']:g}")
        axes.set(
            xlabel="words in the list (% of the vocabulary)",
            ylabel="share of lists that are smaller",
            title="rantext: how many words can be released for one",
        )
        axes.legend(frameon=False)
        return True
