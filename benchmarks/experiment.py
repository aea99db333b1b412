"""What an experiment is, and the figures it is made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.context import Context
from benchmarks.records import Case, Estimate
from benchmarks.utility import bootstrap_mean
from perturb.intervals import clopper_pearson

__all__ = ["Experiment", "Found", "mean", "success"]

ALPHA = 0.05


@dataclass(frozen=True)
class Found:
    """What one case gave: figures by name, and a sentence for every proved bound it passed."""

    values: dict[str, Any]
    breaches: tuple[str, ...] = field(default=())


class Experiment(ABC):
    """One kind of measurement.

    Attributes:
        name: as on the command line and in the records.
        about: one line for `list`.
    """

    name: ClassVar[str]
    about: ClassVar[str]

    @abstractmethod
    def cases(self, context: Context) -> Iterable[Case]:
        """What to measure under a suite; JSON-ready, and each enough to measure it alone."""

    @abstractmethod
    def measure(self, case: Case, context: Context) -> Found:
        """Measure one case. Randomness comes from `context.rng(self.name, case)` alone."""


def success(hits: int, trials: int) -> Estimate:
    """A success rate with its 95 % Clopper–Pearson interval."""
    low, high = clopper_pearson(hits, trials, ALPHA)
    return Estimate(hits / trials, low, high, trials)


def mean(values: NDArray[np.floating], rng: np.random.Generator) -> Estimate:
    """The mean of one value a text with its 95 % bootstrap interval."""
    found = bootstrap_mean(values, rng, level=1 - ALPHA)
    return Estimate(found.mean, found.low, found.high, len(values))
