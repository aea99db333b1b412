"""The list of experiments, in the order in which they run."""

from __future__ import annotations

from benchmarks.attacks.authors import Authors
from benchmarks.attacks.averaging import Averaging
from benchmarks.attacks.bayes import Bayes
from benchmarks.attacks.exposure import Exposure
from benchmarks.attacks.gpt import GptInference
from benchmarks.attacks.in_context.contextual import Contextual
from benchmarks.attacks.in_context.masked import InputInference
from benchmarks.attacks.inversion import Inversion
from benchmarks.attacks.membership import Membership
from benchmarks.harness.experiment import Experiment
from benchmarks.utility.answers import Lift, Utility
from benchmarks.utility.channel_figures import ChannelFigures
from benchmarks.utility.documents import Assumption1, Leakage, Similarity
from benchmarks.utility.list_sizes import ListSizes
from benchmarks.utility.vocabularies import Vocabularies
from benchmarks.whole.guided import Guided
from benchmarks.whole.released import Released
from benchmarks.whole.synthesis import Synthesis
from benchmarks.whole.which_document import WhichDocument
from benchmarks.whole.word_sets import WordSets
from benchmarks.whole.worth import Worth

__all__ = ["list_experiments"]


def list_experiments() -> dict[str, Experiment]:
    """Return every experiment by name."""
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
        Vocabularies(),
        WhichDocument(),
        WordSets(),
        Released(),
        Worth(),
        Guided(),
        Synthesis(),
    )
    return {experiment.name: experiment for experiment in found}
