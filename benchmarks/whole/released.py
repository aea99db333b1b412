"""Compare documents with the texts that leave in their place, for sanitizers of every kind."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from benchmarks.harness.context import Context
from benchmarks.harness.experiment import Experiment, Outcome, mean
from benchmarks.harness.markdown import format_figure, format_point, format_table
from benchmarks.harness.records import Case, Record
from benchmarks.metrics.utility import cosines
from benchmarks.whole.sanitizers import build_sanitizer, list_points

__all__ = ["Released"]


class Released(Experiment):
    """Measure the cosine of a prefix, or its continuation, and one release of the prefix.

    Values:
        document, continuation: the mean cosines by the suite's encoder.
        epsilon: proved for the replacement of a whole prefix, the mean over texts; None if
            nothing is proved.
    """

    name = "released"
    about = "what leaves for a whole document: cosine to the document and to its continuation"

    def cases(self, context: Context) -> Iterable[Case]:
        for label, epsilon in list_points(context):
            for dataset in context.suite.datasets:
                yield {"mechanism": label, "epsilon": epsilon, "dataset": dataset}

    def measure(self, case: Case, context: Context) -> Outcome:
        rng = context.rng(self.name, case)
        sanitizer = build_sanitizer(context, case["mechanism"], case["epsilon"])
        samples = context.samples(case["dataset"])[: context.suite.whole.texts]
        made = [sanitizer.perturb(s.prefix, rng) for s in samples]
        sent = context.encode([each.text for each in made])
        raw = context.encode([s.prefix for s in samples])
        truth = context.encode([s.continuation for s in samples])
        proved = float(np.mean([each.receipt.epsilon_per_document for each in made]))
        return Outcome(
            {
                "document": mean(cosines(raw, sent), rng),
                "continuation": mean(cosines(truth, sent), rng),
                "epsilon": proved if math.isfinite(proved) else None,
                "encoder": context.suite.encoder,
            }
        )

    def render(self, records: Sequence[Record], figure: str | None = None) -> Iterable[str]:
        if not records:
            return
        points: dict[tuple[str, ...], dict[str, Record]] = {}
        for record in records:
            row = points.setdefault(tuple(format_point(record.case)), {})
            row[record.case["dataset"]] = record
        sets = list(dict.fromkeys(r.case["dataset"] for r in records))
        rows = [
            [
                *point,
                _format_epsilon(list(row.values())),
                *(_format_pair(row.get(dataset)) for dataset in sets),
            ]
            for point, row in points.items()
        ]
        texts = records[0].values["document"].n
        yield (
            "### What leaves\n\n"
            "Cosine of the released text to the document, with its 95 % interval, and after the "
            f"stroke to the document's true continuation; {texts} prefixes a set. `corpus`: "
            "a codebook made of the corpus.\n\n"
            + format_table(["mechanism", "ε", "proved ε of the text", *sets], rows)
        )

    @classmethod
    def read_epsilon(cls, records: Sequence[Record], label: str, epsilon: float) -> float | None:
        """Return the ε that is proved for a whole prefix, the mean over sets; None if nothing is
        proved or measured."""
        found = [
            r.values["epsilon"] for r in cls.select(records, mechanism=label, epsilon=epsilon)
        ]
        return None if not found or None in found else float(np.mean(found))


def _format_epsilon(records: Sequence[Record]) -> str:
    found = [r.values["epsilon"] for r in records]
    return "none" if None in found else f"{np.mean(found):.0f}"


def _format_pair(record: Record | None) -> str:
    if record is None:
        return ""
    document, truth = record.values["document"], record.values["continuation"]
    return f"{format_figure(document, 2)} / {truth.value:.2f}"
