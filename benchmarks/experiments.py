"""The experiments there are, in the order they run."""

from __future__ import annotations

from benchmarks.answers import Lift, Utility
from benchmarks.channel_figures import ChannelFigures
from benchmarks.documents import Assumption1, Leakage, Similarity
from benchmarks.experiment import Experiment

__all__ = ["experiments"]


def experiments() -> dict[str, Experiment]:
    """Every experiment by name."""
    found: tuple[Experiment, ...] = (
        ChannelFigures(),
        Similarity(),
        Utility(),
        Lift(),
        Leakage(),
        Assumption1(),
    )
    return {experiment.name: experiment for experiment in found}
