"""Measure the similarity of documents and perturbed documents, and the leakage of generations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.context import Context
from benchmarks.harness.experiment import Experiment, Outcome, mean
from benchmarks.harness.markdown import (
    format_figure,
    format_percent,
    format_point,
    format_table,
)
from benchmarks.harness.records import Case, Estimate, Record
from benchmarks.harness.texts import Point, generate_texts, list_points
from benchmarks.metrics.utility import bleu, cosines
from benchmarks.utility.quality import bert_score, overlap, split_words
from perturb import Perturber

__all__ = ["Assumption1", "Leakage", "Similarity", "correlate", "expected_share"]

NGRAMS = (1, 2, 3)
RESAMPLES = 2000
CONTROLS = {"random": "random words to the remote", "raw": "the raw document"}


class Similarity(Experiment):
    """Compare documents with perturbed documents, for every mechanism."""

    name = "similarity"
    about = "document against perturbed document: cosine, BLEU, BERTScore"

    def cases(self, context: Context) -> Iterable[Case]:
        return context.suite.cases()

    def measure(self, case: Case, context: Context) -> Outcome:
        rng, suite = context.rng(self.name, case), context.suite
        raw = [s.prefix for s in context.samples(case["dataset"])[: suite.answers]]
        perturber = Perturber(context.mechanism(case["mechanism"], case["epsilon"]))
        sent = [perturber.perturb(text, rng).text for text in raw]
        scores: dict[str, NDArray[np.float64]] = {"bleu": bleu(sent, raw)}
        answered = {subject.label for subject, _ in suite.points(pipeline=True)}
        if case["mechanism"] in answered:  # BERTScore takes as long as all the rest
            vectors = context.prefix_tokens(case["dataset"])
            pairs = zip(context.token_vectors(sent), vectors, strict=True)
            scores["bert_score"] = np.array([bert_score(a, b) for a, b in pairs])
        for name in dict.fromkeys([suite.encoder, *suite.encoders]):
            encode = context.encoder(name)
            scores[f"cosine {name}"] = cosines(encode(raw), encode(sent))
        values = {name: mean(found, rng) for name, found in scores.items()}
        return Outcome({**values, "tokens": suite.tokens})

    def render(self, records: Sequence[Record], figure: str | None = None) -> Iterable[str]:
        if not records:
            return
        names = [name for name in records[0].values if name.startswith("cosine")]
        rows = [
            [
                *format_point(r.case),
                r.case["dataset"],
                *(format_figure(r.values[name], 2) for name in names),
                format_figure(r.values["bert_score"], 2) if "bert_score" in r.values else "",
                format_figure(r.values["bleu"], 2),
            ]
            for r in records
        ]
        head = ["mechanism", "ε", "set", *names, "BERTScore", "BLEU"]
        yield f"### Document and perturbed document\n\n{format_table(head, rows)}"

    @classmethod
    def read_cosine(cls, record: Record) -> Estimate:
        """Return the cosine by the suite's own encoder, which comes first."""
        found: Estimate = next(v for n, v in record.values.items() if n.startswith("cosine"))
        return found


class Leakage(Experiment):
    """Compare raw documents with the remote's generations. The arm `random` shows the level of
    chance, and `raw` that of a remote that knows everything."""

    name = "leakage"
    about = "raw document against perturbed generation: shared n-grams (1, 2, 3) and cosine"

    def cases(self, context: Context) -> Iterable[Case]:
        for point in list_points(context):
            if point.arm in ("pipeline", "random", "raw"):
                for dataset in context.suite.datasets:
                    yield {**point.case, "dataset": dataset}

    def measure(self, case: Case, context: Context) -> Outcome:
        rng, dataset = context.rng(self.name, case), case["dataset"]
        texts = generate_texts(context, Point.from_case(case), dataset)
        raw = [s.prefix for s in context.samples(dataset)[: len(texts)]]
        seen = [text.generation or "" for text in texts]
        values: dict[str, Any] = {
            f"overlap {n}": mean(
                np.array([overlap(r, s, n) for r, s in zip(raw, seen, strict=True)]), rng
            )
            for n in NGRAMS
        }
        values["cosine"] = mean(cosines(context.encode(raw), context.encode(seen)), rng)
        return Outcome({**values, "encoder": context.suite.encoder})

    def render(self, records: Sequence[Record], figure: str | None = None) -> Iterable[str]:
        rows = [
            [
                *(
                    format_point(r.case)
                    if "mechanism" in r.case
                    else [CONTROLS[r.case["arm"]], ""]
                ),
                r.case["dataset"],
                *(format_percent(r.values[f"overlap {n}"]) for n in NGRAMS),
                format_figure(r.values["cosine"]),
            ]
            for r in records
        ]
        if rows:
            head = ["mechanism", "ε", "set", "words", "pairs", "triples", "cosine"]
            yield (
                "### Leakage in the remote's generation\n\n"
                "Per cent of the raw document's n-grams that occur in the generation, and the "
                "cosine of the two.\n\n" + format_table(head, rows)
            )


class Assumption1(Experiment):
    """Test InferDPT's Assumption 1: the larger ε, the more words a perturbed generation shares
    with generations of the raw text."""

    name = "assumption1"
    about = "share of the perturbed generation's words in the Expected set of raw generations"

    def cases(self, context: Context) -> Iterable[Case]:
        for label in dict.fromkeys(s.label for s, _ in context.suite.points(pipeline=True)):
            for dataset in context.suite.datasets:
                yield {"mechanism": label, "dataset": dataset}

    def measure(self, case: Case, context: Context) -> Outcome:
        rng, dataset = context.rng(self.name, case), case["dataset"]
        expected: dict[str, set[str]] = {}
        for text in generate_texts(context, Point("expected"), dataset):
            expected.setdefault(text.id, set()).update(split_words(text.generation or ""))

        def shares(point: Point) -> NDArray[np.float64]:
            found = [t for t in generate_texts(context, point, dataset) if t.id in expected]
            return np.array([expected_share(t.generation or "", expected[t.id]) for t in found])

        label = case["mechanism"]
        grid = [e for s, e in context.suite.points(pipeline=True) if s.label == label]
        rows = np.array([shares(Point("pipeline", label, epsilon)) for epsilon in grid])
        values: dict[str, Any] = {
            f"share at {epsilon:g}": mean(row, rng)
            for epsilon, row in zip(grid, rows, strict=True)
        }
        values["share at random"] = mean(shares(Point("random")), rng)
        if len(grid) > 1:
            values["correlation"] = correlate(np.array(grid), rows, rng)
        return Outcome({**values, "draws": context.suite.expected_draws})

    def render(self, records: Sequence[Record], figure: str | None = None) -> Iterable[str]:
        if not records:
            return
        names = [name for name in records[0].values if name.startswith("share at")]
        rows = [
            [
                f"`{r.case['mechanism']}`",
                r.case["dataset"],
                *(format_percent(r.values[name]) for name in names),
                format_figure(r.values["correlation"], 2) if "correlation" in r.values else "",
            ]
            for r in records
        ]
        head = ["mechanism", "set", *(n.replace("share at", "ε =") for n in names), "correlation"]
        yield (
            "### InferDPT's assumption 1\n\n"
            "Per cent of the words of the perturbed generation that also occur in generations of "
            "the raw prefix, and the correlation of that share with ε. *Random*: the remote was "
            "shown random words.\n\n" + format_table(head, rows)
        )


def expected_share(generation: str, expected: set[str]) -> float:
    """Return the share of a generation's words, repeats counted, that are in a set; 0 without
    words."""
    found = split_words(generation)
    return sum(word in expected for word in found) / len(found) if found else 0.0


def correlate(
    epsilons: NDArray[np.floating], shares: NDArray[np.floating], rng: np.random.Generator
) -> Estimate:
    """Return Pearson's r of ε, (k,), and the shares, (k, texts), over all pairs, with its 95 %
    percentile bootstrap interval over texts; 0 where all shares are equal."""

    def r(rows: NDArray[np.floating]) -> float:
        if np.ptp(rows) == 0:
            return 0.0
        return float(np.corrcoef(np.repeat(epsilons, rows.shape[1]), rows.ravel())[0, 1])

    count = shares.shape[1]
    draws = [r(shares[:, rng.integers(count, size=count)]) for _ in range(RESAMPLES)]
    low, high = np.quantile(draws, [0.025, 0.975])
    return Estimate(r(shares), float(low), float(high), count)
