"""The experiments there are, in the order they run."""

from __future__ import annotations

from benchmarks.attacks.contextual import Contextual
from benchmarks.attacks.gpt import GptInference
from benchmarks.attacks.masked import InputInference
from benchmarks.channel_figures import ChannelFigures
from benchmarks.experiment import Experiment

__all__ = ["experiments"]


def experiments() -> dict[str, Experiment]:
    """Every experiment by name."""
    return {
        found.name: found
        for found in (ChannelFigures(), Contextual(), InputInference(), GptInference())
    }
