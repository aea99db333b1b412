"""Measure the quality of the answers and the remote's contribution to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.context import Context
from benchmarks.harness.experiment import Experiment, Outcome, mean
from benchmarks.harness.markdown import format_figure, format_table
from benchmarks.harness.records import Case, Estimate, Record
from benchmarks.harness.texts import Arm, Point, generate_texts, list_points
from benchmarks.metrics.utility import cosines, diversities
from benchmarks.utility.quality import mauve

__all__ = ["Lift", "Utility", "compare_scores"]

# The contrasts: the pipeline against no remote and against a remote that gets no information, and
# the best possible remote against none.
CONTRASTS: tuple[tuple[Arm, Arm], ...] = (
    ("pipeline", "local"),
    ("pipeline", "random"),
    ("oracle", "local"),
)
TITLES: dict[str, str] = {
    "pipeline": "**the pipeline**",
    "oracle": "oracle remote",
    "random": "random words to the remote",
    "local": "local model alone",
    "raw": "remote alone, not private",
}
ENOUGH = 200  # texts of a set: MAUVE makes a tenth as many clusters
COARSE = (
    " MAUVE is coarse on so few texts: it makes one cluster of every ten, its intervals hold the "
    "clusters fixed, and another run may lie outside them."
)


class Utility(Experiment):
    """Measure the answers of every point and of the controls."""

    name = "utility"
    about = "diversity, MAUVE, coherence and similarity of the answers: method × dataset × ε"

    def cases(self, context: Context) -> Iterable[Case]:
        for point in list_points(context):
            for dataset in context.suite.datasets:
                yield {**point.case, "dataset": dataset}

    def measure(self, case: Case, context: Context) -> Outcome:
        dataset, rng = case["dataset"], context.rng(self.name, case)
        answers = [text.answer for text in generate_texts(context, Point.from_case(case), dataset)]
        references = [s.continuation for s in context.samples(dataset)[: len(answers)]]
        scores = _score(context, Point.from_case(case), dataset)
        return Outcome(
            {
                "diversity": mean(diversities(answers), rng),
                "mauve": mauve(context.features(references), context.features(answers), rng),
                **{name: mean(values, rng) for name, values in scores.items()},
                "words": mean(np.array([len(a.split()) for a in answers], dtype=float), rng),
                "encoder": context.suite.encoder,
                "features": context.suite.features,
                **_name_models(context),
            }
        )

    def render(self, records: Sequence[Record], figure: str | None = None) -> Iterable[str]:
        if not records:
            return
        yield (
            "### Answers\n\n"
            "In the form of InferDPT's tables III and IV: continuations of the prefixes. "
            "*Diversity* and *MAUVE* as published, *coherence* the cosine of answer and prefix, "
            "*similarity* that of answer and reference. The controls: the local model alone; the "
            "remote shown random words; the remote shown the raw prefix; and an *oracle remote*, "
            "which continues the raw prefix perfectly and is then perturbed: no remote can help "
            "more." + (COARSE if records[0].values["mauve"].n < ENOUGH else "")
        )
        for dataset in dict.fromkeys(r.case["dataset"] for r in records):
            rows = [
                [
                    *_format_arm(r.case),
                    format_figure(r.values["diversity"], 2),
                    format_figure(r.values["mauve"], 2),
                    format_figure(r.values["coherence"]),
                    format_figure(r.values["similarity"]),
                ]
                for r in records
                if r.case["dataset"] == dataset
            ]
            head = ["method", "ε", "diversity", "MAUVE", "coherence", "similarity"]
            texts = records[0].values["diversity"].n
            yield f"**{dataset}**, {texts} texts\n\n{format_table(head, rows)}"

    @classmethod
    def read_similarities(cls, records: Sequence[Record], **case: object) -> list[Estimate]:
        """Return the similarity of the answers to the references, one figure per set.

        Args:
            records: of a run.
            case: a mechanism and its ε for the pipeline; nothing for the local model alone.
        """
        arm: Arm = "pipeline" if case else "local"
        return [r.values["similarity"] for r in cls.select(records, arm=arm, **case)]


class Lift(Experiment):
    """Compare one arm's answers with another's, text by text."""

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

    def measure(self, case: Case, context: Context) -> Outcome:
        dataset = case["dataset"]
        first = _score(context, Point.from_case(case), dataset)
        second = _score(context, Point(case["minus"]), dataset)
        rng = context.rng(self.name, case)
        return Outcome(
            {
                **compare_scores(first, second, rng),
                "encoder": context.suite.encoder,
                **_name_models(context),
            }
        )

    def render(self, records: Sequence[Record], figure: str | None = None) -> Iterable[str]:
        rows = [
            [
                *_format_arm(r.case),
                TITLES[r.case["minus"]],
                r.case["dataset"],
                format_figure(r.values["similarity"], sign=True),
                "yes" if r.values["shown"]["similarity"] else "no",
                format_figure(r.values["coherence"], sign=True),
            ]
            for r in records
        ]
        if rows:
            head = ["answers", "ε", "minus", "set", "similarity", "shown", "coherence"]
            yield (
                "### What the remote adds\n\n"
                "Differences between two kinds of answers, text by text. *Shown* is `yes` if the "
                "interval of the similarity to the reference excludes zero. Otherwise no "
                "difference was shown.\n\n" + format_table(head, rows)
            )

    @classmethod
    def render_advice(cls, records: Sequence[Record]) -> Iterable[str]:
        """Yield advice on whether to call the remote, from the models of this run."""
        found = cls.select(records, arm="pipeline", minus="local")
        helps = [
            f"`{r.case['mechanism']}` {r.case['epsilon']:g} on {r.case['dataset']}: "
            + format_figure(r.values["similarity"], sign=True)
            for r in found
            if r.values["similarity"].low > 0
        ]
        if helps:
            yield (
                f"**Does the remote help?** In {len(helps)} of {len(found)} cases "
                "the answer came closer to the reference than the local model's own: "
                + "; ".join(helps)
                + ". In all other cases use `local_only`, which leaks nothing."
            )
        elif found:
            yield (
                "**Does the remote help?** With the models of this run, none of "
                f"{len(found)} cases shows an answer closer to the reference than the local "
                "model's own: every interval of the difference contains zero or lies below it. "
                "With models like these, use `local_only`, which leaks nothing."
            )


def _format_arm(case: Case) -> list[str]:
    """Return the cells that name an arm with its mechanism, and its ε."""
    label = f"`{case['mechanism']}`" if "mechanism" in case else ""
    epsilon = f"{case['epsilon']:g}" if "epsilon" in case else ""
    return [", ".join(filter(None, (TITLES[case["arm"]], label))), epsilon]


def compare_scores(
    first: dict[str, NDArray[np.float64]],
    second: dict[str, NDArray[np.float64]],
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Return the mean differences by measure, over the same texts in the same order, with their
    paired bootstrap intervals; `shown` says of each whether its interval excludes zero."""
    found: dict[str, Estimate] = {
        name: mean(values - second[name], rng) for name, values in first.items()
    }
    return {**found, "shown": {name: not e.low <= 0 <= e.high for name, e in found.items()}}


def _score(context: Context, point: Point, dataset: str) -> dict[str, NDArray[np.float64]]:
    """Return one value per text: the cosine of the answer with the prefix, and with the
    reference."""
    texts = generate_texts(context, point, dataset)
    samples = context.samples(dataset)[: len(texts)]
    answers = context.encode([text.answer for text in texts])
    return {
        "coherence": cosines(context.encode([s.prefix for s in samples]), answers),
        "similarity": cosines(context.encode([s.continuation for s in samples]), answers),
    }


def _name_models(context: Context) -> dict[str, str]:
    """Return the models that wrote the texts."""
    suite = context.suite
    roles = {"remote": suite.remote, "local": suite.local}
    return {role: found.model if found else "bundled" for role, found in roles.items()}
