"""The experiments there are, in the order they run."""

from __future__ import annotations

from benchmarks.answers import Lift, Utility
from benchmarks.attacks.authors import Authors
from benchmarks.attacks.averaging import Averaging
from benchmarks.attacks.bayes import Bayes
from benchmarks.attacks.contextual import Contextual
from benchmarks.attacks.exposure import Exposure
from benchmarks.attacks.gpt import GptInference
from benchmarks.attacks.inversion import Inversion
from benchmarks.attacks.masked import InputInference
from benchmarks.attacks.membership import Membership
from benchmarks.channel_figures import ChannelFigures
from benchmarks.documents import Assumption1, Leakage, Similarity
from benchmarks.experiment import Experiment
from benchmarks.list_sizes import ListSizes

__all__ = ["experiments"]


def experiments() -> dict[str, Experiment]:
    """Every experiment by name."""
    found: tuple[Experiment, ...] = (
        ChannelFigures(),
        ListSizes(),
        Inversion(),
        Bayes(),
        Contextual(),
        InputInference(),
        GptInference(),
        Averaging(),
        Exposure(),
        Authors(),
        Membership(),
        Similarity(),
        Utility(),
        Lift(),
        Leakage(),
        Assumption1(),
    )
    return {experiment.name: experiment for experiment in found}
