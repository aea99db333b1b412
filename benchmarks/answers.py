"""How good the answers are, and whether the remote has anything to do with it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.context import Context
from benchmarks.experiment import Experiment, Found, mean
from benchmarks.quality import mauve
from benchmarks.records import Case, Estimate
from benchmarks.texts import Arm, Point, generated, points
from benchmarks.utility import cosines, diversities

__all__ = ["Lift", "Utility", "lift"]

# What stands against what: the pipeline against no remote and against a remote that was told
# nothing, and the best remote there could be against none.
CONTRASTS: tuple[tuple[Arm, Arm], ...] = (
    ("pipeline", "local"),
    ("pipeline", "random"),
    ("oracle", "local"),
)


class Utility(Experiment):
    """The answers of every point, and of the controls."""

    name = "utility"
    about = "diversity, MAUVE, coherence and similarity of the answers: method × dataset × ε"

    def cases(self, context: Context) -> Iterable[Case]:
        for point in points(context):
            for dataset in context.suite.datasets:
                yield {**point.case, "dataset": dataset}

    def measure(self, case: Case, context: Context) -> Found:
        dataset, rng = case["dataset"], context.rng(self.name, case)
        answers = [text.answer for text in generated(context, Point.of(case), dataset)]
        references = [s.continuation for s in context.samples(dataset)[: len(answers)]]
        scores = _scores(context, Point.of(case), dataset)
        return Found(
            {
                "diversity": mean(diversities(answers), rng),
                "mauve": mauve(context.features(references), context.features(answers), rng),
                **{name: mean(values, rng) for name, values in scores.items()},
                "words": mean(np.array([len(a.split()) for a in answers], dtype=float), rng),
                "encoder": context.suite.encoder,
                "features": context.suite.features,
                **_models(context),
            }
        )


class Lift(Experiment):
    """One arm's answers less another's, text by text."""

    name = "lift"
    about = "what the remote adds: the pipeline against the local model alone, and other controls"

    def cases(self, context: Context) -> Iterable[Case]:
        for subject, epsilon in context.suite.points(pipeline=True):
            for first, second in CONTRASTS:
                for dataset in context.suite.datasets:
                    yield {
                        "arm": first,
                        "minus": second,
                        "mechanism": subject.label,
                        "epsilon": epsilon,
                        "dataset": dataset,
                    }

    def measure(self, case: Case, context: Context) -> Found:
        dataset = case["dataset"]
        first = _scores(context, Point.of(case), dataset)
        second = _scores(context, Point(case["minus"]), dataset)
        rng = context.rng(self.name, case)
        return Found(
            {
                **lift(first, second, rng),
                "encoder": context.suite.encoder,
                **_models(context),
            }
        )


def lift(
    first: dict[str, NDArray[np.float64]],
    second: dict[str, NDArray[np.float64]],
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Mean differences by measure, over the same texts in the same order, with their paired
    bootstrap intervals; `shown` says of each whether its interval leaves out zero."""
    found: dict[str, Estimate] = {
        name: mean(values - second[name], rng) for name, values in first.items()
    }
    return {**found, "shown": {name: not e.low <= 0 <= e.high for name, e in found.items()}}


def _scores(context: Context, point: Point, dataset: str) -> dict[str, NDArray[np.float64]]:
    """One value a text: cosine of the answer with the prefix, and with the reference."""
    texts = generated(context, point, dataset)
    samples = context.samples(dataset)[: len(texts)]
    answers = context.encode([text.answer for text in texts])
    return {
        "coherence": cosines(context.encode([s.prefix for s in samples]), answers),
        "similarity": cosines(context.encode([s.continuation for s in samples]), answers),
    }


def _models(context: Context) -> dict[str, str]:
    """Who wrote the texts."""
    suite = context.suite
    roles = {"remote": suite.remote, "local": suite.local}
    return {role: found.model if found else "bundled" for role, found in roles.items()}
