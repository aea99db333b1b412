"""What is left of a text: of a document once it is perturbed, and of a generation's words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.context import Context
from benchmarks.experiment import Experiment, Found, mean
from benchmarks.quality import bert_score, overlap, words
from benchmarks.records import Case, Estimate
from benchmarks.texts import Point, generated, points
from benchmarks.utility import bleu, cosines
from perturb import Perturber

__all__ = ["Assumption1", "Leakage", "Similarity", "correlation", "expected_share"]

NGRAMS = (1, 2, 3)
RESAMPLES = 2000


class Similarity(Experiment):
    """Documents against perturbed documents, for every mechanism."""

    name = "similarity"
    about = "document against perturbed document: cosine, BLEU, BERTScore"

    def cases(self, context: Context) -> Iterable[Case]:
        return context.suite.cases()

    def measure(self, case: Case, context: Context) -> Found:
        rng, suite = context.rng(self.name, case), context.suite
        raw = [s.prefix for s in context.samples(case["dataset"])[: suite.answers]]
        perturber = Perturber(context.mechanism(case["mechanism"], case["epsilon"]))
        sent = [perturber.perturb(text, rng).text for text in raw]
        scores: dict[str, NDArray[np.float64]] = {"bleu": bleu(sent, raw)}
        answered = {subject.label for subject, _ in suite.points(pipeline=True)}
        if case["mechanism"] in answered:  # it takes as long as all the rest
            vectors = context.prefix_tokens(case["dataset"])
            pairs = zip(context.token_vectors(sent), vectors, strict=True)
            scores["bert_score"] = np.array([bert_score(a, b) for a, b in pairs])
        for name in dict.fromkeys([suite.encoder, *suite.encoders]):
            encode = context.encoder(name)
            scores[f"cosine {name}"] = cosines(encode(raw), encode(sent))
        values = {name: mean(found, rng) for name, found in scores.items()}
        return Found({**values, "tokens": suite.tokens})


class Leakage(Experiment):
    """Raw documents against what the remote wrote; `random` and `raw` tell what is chance and
    what a remote that knows everything writes."""

    name = "leakage"
    about = "raw document against perturbed generation: shared n-grams (1, 2, 3) and cosine"

    def cases(self, context: Context) -> Iterable[Case]:
        for point in points(context):
            if point.arm in ("pipeline", "random", "raw"):
                for dataset in context.suite.datasets:
                    yield {**point.case, "dataset": dataset}

    def measure(self, case: Case, context: Context) -> Found:
        rng, dataset = context.rng(self.name, case), case["dataset"]
        texts = generated(context, Point.of(case), dataset)
        raw = [s.prefix for s in context.samples(dataset)[: len(texts)]]
        seen = [text.generation or "" for text in texts]
        values: dict[str, Any] = {
            f"overlap {n}": mean(
                np.array([overlap(r, s, n) for r, s in zip(raw, seen, strict=True)]), rng
            )
            for n in NGRAMS
        }
        values["cosine"] = mean(cosines(context.encode(raw), context.encode(seen)), rng)
        return Found({**values, "encoder": context.suite.encoder})


class Assumption1(Experiment):
    """InferDPT's Assumption 1: the larger ε, the more of a perturbed generation's words are words
    that generations of the raw text have, too."""

    name = "assumption1"
    about = "share of the perturbed generation's words in the Expected set of raw generations"

    def cases(self, context: Context) -> Iterable[Case]:
        for label in dict.fromkeys(s.label for s, _ in context.suite.points(pipeline=True)):
            for dataset in context.suite.datasets:
                yield {"mechanism": label, "dataset": dataset}

    def measure(self, case: Case, context: Context) -> Found:
        rng, dataset = context.rng(self.name, case), case["dataset"]
        expected: dict[str, set[str]] = {}
        for text in generated(context, Point("expected"), dataset):
            expected.setdefault(text.id, set()).update(words(text.generation or ""))

        def shares(point: Point) -> NDArray[np.float64]:
            found = [t for t in generated(context, point, dataset) if t.id in expected]
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
            values["correlation"] = correlation(np.array(grid), rows, rng)
        return Found({**values, "draws": context.suite.expected_draws})


def expected_share(generation: str, expected: set[str]) -> float:
    """The share of a generation's words, repeats counted, that are in a set; 0 without words."""
    found = words(generation)
    return sum(word in expected for word in found) / len(found) if found else 0.0


def correlation(
    epsilons: NDArray[np.floating], shares: NDArray[np.floating], rng: np.random.Generator
) -> Estimate:
    """Pearson's r of ε, (k,), and the shares, (k, texts), over all pairs, with its 95 % percentile
    bootstrap interval over texts; 0 where all shares are equal."""

    def r(rows: NDArray[np.floating]) -> float:
        if np.ptp(rows) == 0:
            return 0.0
        return float(np.corrcoef(np.repeat(epsilons, rows.shape[1]), rows.ravel())[0, 1])

    count = shares.shape[1]
    draws = [r(shares[:, rng.integers(count, size=count)]) for _ in range(RESAMPLES)]
    low, high = np.quantile(draws, [0.025, 0.975])
    return Estimate(r(shares), float(low), float(high), count)
