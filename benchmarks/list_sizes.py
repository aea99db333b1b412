"""How many words RANTEXT's random list holds: the distribution of |C_r| / |V| against ε."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from benchmarks.context import Context
from benchmarks.experiment import Experiment, Found
from benchmarks.records import Case
from perturb.rantext import RanText
from perturb.rantext_bounds import list_sizes

__all__ = ["ListSizes"]

LEVELS = np.linspace(0, 1, 101)


class ListSizes(Experiment):
    """Quantiles over the radius and over x uniform in V (InferDPT, figure 4).

    Values:
        levels: of the quantiles, 0 to 1.
        shares: |C_r| / |V| at each level.
    """

    name = "list_sizes"
    about = "the size of RANTEXT's candidate lists, as a share of V"

    def cases(self, context: Context) -> Iterable[Case]:
        for subject, epsilon in context.suite.points():
            if subject.mechanism == RanText.name:
                yield {"mechanism": subject.label, "epsilon": epsilon}

    def measure(self, case: Case, context: Context) -> Found:
        mechanism = context.mechanism(case["mechanism"], case["epsilon"])
        assert isinstance(mechanism, RanText)
        sizes = list_sizes(mechanism, LEVELS)
        shares = sizes / len(mechanism.table)
        return Found({"levels": LEVELS.round(2).tolist(), "shares": shares.round(6).tolist()})
