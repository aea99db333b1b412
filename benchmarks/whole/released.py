"""Compare documents with the texts that leave in their place, for sanitizers of every kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.harness.context import Context
from benchmarks.harness.experiment import Experiment, Outcome, mean
from benchmarks.harness.markdown import format_figure, format_point, format_table
from benchmarks.harness.records import Case, Record
from benchmarks.metrics.utility import cosines
from benchmarks.whole.sanitizers import build_sanitizer, list_points

__all__ = ["Released"]


class Released(Experiment):
    """Measure the cosine of a prefix, or its continuation, and one release of the prefix.

    Values: `document` and `continuation`, the mean cosines by the suite's encoder.
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
        sent = context.encode([sanitizer.perturb(s.prefix, rng).text for s in samples])
        raw = context.encode([s.prefix for s in samples])
        truth = context.encode([s.continuation for s in samples])
        return Outcome(
            {
                "document": mean(cosines(raw, sent), rng),
                "continuation": mean(cosines(truth, sent), rng),
                "unit": sanitizer.guarantee.unit,
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
                next(iter(row.values())).values["unit"],
                *(_format_pair(row.get(dataset)) for dataset in sets),
            ]
            for point, row in points.items()
        ]
        texts = records[0].values["document"].n
        yield (
            "### What leaves\n\n"
            "Cosine of the released text to the document and, after the stroke, to the document's "
            f"true continuation; {texts} prefixes a set, the document's 95 % interval in brackets. *ε of*: "
            "the unit that ε is given for. `corpus`: a codebook made of the corpus.\n\n"
            + format_table(["mechanism", "ε", "ε of", *sets], rows)
        )


def _format_pair(record: Record | None) -> str:
    if record is None:
        return ""
    document, truth = record.values["document"], record.values["continuation"]
    return f"{format_figure(document, 2)} / {truth.value:.2f}"
