"""Define an experiment: it measures cases and renders its own section of the report."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.context import Context
from benchmarks.harness.records import Case, Estimate, Record, select
from perturb.audit.intervals import bootstrap_mean, clopper_pearson

__all__ = ["Experiment", "Outcome", "mean", "success"]

ALPHA = 0.05


@dataclass(frozen=True)
class Outcome:
    """Hold the outcome of one case: figures by name, and a sentence for every breached bound."""

    values: dict[str, Any]
    breaches: tuple[str, ...] = field(default=())


class Experiment(ABC):
    """Measure one kind of figure and render it.

    No code outside the class reads the names of its values.

    Attributes:
        name: as on the command line and in the records.
        about: one line for `list`.
    """

    name: ClassVar[str]
    about: ClassVar[str]

    @abstractmethod
    def cases(self, context: Context) -> Iterable[Case]:
        """Yield the cases to measure under a suite, JSON-ready, each sufficient on its own."""

    @abstractmethod
    def measure(self, case: Case, context: Context) -> Outcome:
        """Measure one case. Randomness comes from `context.rng(self.name, case)` alone."""

    @abstractmethod
    def render(self, records: Sequence[Record], figure: str | None = None) -> Iterable[str]:
        """Yield the Markdown blocks of this experiment's section; none without records.

        Args:
            records: of this experiment, in the order they were measured.
            figure: the file that `draw` filled, relative to the page.
        """

    def draw(self, canvas: Any, records: Sequence[Record]) -> bool:
        """Draw this experiment's figure on a matplotlib figure; return whether it has one."""
        del canvas, records
        return False

    @classmethod
    def select(cls, records: Iterable[Record], **case: object) -> list[Record]:
        """Return this experiment's records whose case has these values."""
        return select(records, cls.name, **case)


def success(hits: int, trials: int) -> Estimate:
    """Return a success rate with its 95 % Clopper–Pearson interval."""
    low, high = clopper_pearson(hits, trials, ALPHA)
    return Estimate(hits / trials, low, high, trials)


def mean(values: NDArray[np.floating], rng: np.random.Generator) -> Estimate:
    """Return the mean of one value per text with its 95 % bootstrap interval."""
    found = bootstrap_mean(values, rng, level=1 - ALPHA)
    return Estimate(found.mean, found.low, found.high, len(values))
