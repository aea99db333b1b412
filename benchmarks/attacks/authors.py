"""Author identification from perturbed texts, static and adaptive (Utpala et al. 2023, §4).

The static attacker learned each author's way of writing from raw texts. The adaptive attacker
knows the mechanism and learned from texts perturbed with it. Each classifies unseen texts by
n-grams or by sentence embeddings.

F1_c = 2·TP/(predicted + actual) of author c; macro-F1 is its mean over the authors. A classifier
that ignores the text and names c with its share π_c has F1_c = 2nπ_c²/(2nπ_c) = π_c in expected
counts, a macro-F1 of 1/C for C authors with any shares. `random_f1` is the exact expectation for
n texts, which lies a little below.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.context import Context
from benchmarks.harness.datasets import DataError, read_authored
from benchmarks.harness.experiment import ALPHA, Experiment, Outcome
from benchmarks.harness.markdown import format_figure, format_point, format_table
from benchmarks.harness.records import Case, Estimate, Record
from perturb import Perturber
from perturb.audit.intervals import require_scipy
from perturb.errors import MissingPackage
from perturb.install import install_command

__all__ = [
    "Authors",
    "assign_folds",
    "bootstrap_f1",
    "build_classifier",
    "estimate_f1",
    "estimate_gain",
    "macro_f1",
    "predict",
    "random_f1",
    "train",
]

FOLDS = 5
RESAMPLES = 2_000
WORDS = (1, 2)  # n-grams, whole words
CHARACTERS = (2, 4)  # and of characters within words, with case
KINDS = ("text", "embedding")  # the input of a classifier: n-grams, or sentence embeddings
PENALTY = 0.3  # C of the linear SVM: slightly the best of .1, .3, 1 on raw texts

Classes = NDArray[np.integer[Any]]
Inputs = NDArray[Any]  # (n,) texts or (n, d) embeddings


# -- figures --------------------------------------------------------------------------------


def macro_f1(actual: Classes, predicted: Classes, classes: int) -> NDArray[np.float64]:
    """Return macro-F1, 0 to 1: the mean over the classes 0 … classes − 1 of 2·TP/(predicted +
    actual), which is 0 for a class that neither array has. Both arrays are int (..., n); the
    result has one figure for each leading index, (...)."""
    shape = actual.shape[:-1]
    rows = int(np.prod(shape))
    base = np.arange(rows)[:, None] * classes
    flat = [(base + x.reshape(rows, -1)) for x in (actual, predicted)]
    right = np.where(flat[0] == flat[1], flat[0], rows * classes)  # misses share one more bin
    there, named, hits = (
        np.bincount(x.ravel(), minlength=rows * classes)[: rows * classes] for x in (*flat, right)
    )
    scores: NDArray[np.float64] = 2 * hits / np.maximum(there + named, 1)
    means: NDArray[np.float64] = scores.reshape(*shape, classes).mean(axis=-1)
    return means


def random_f1(counts: Sequence[int]) -> float:
    """Return the expected macro-F1, 0 to 1, of a blind guess that names each class with its share;
    `counts` is the number of texts in each class.

    With n_c of n texts, M ~ Bin(n, n_c/n) are named c, and of those M·n_c/n are right on
    average, so E[F1_c] = 2·(n_c/n)·E[M/(M + n_c)].

    Raises:
        MissingPackage: SciPy is not installed.
    """
    binomial, n = require_scipy().binom, sum(counts)
    named = np.arange(n + 1)
    scores = [
        2 * c / n * float(binomial.pmf(named, n, c / n) @ (named / (named + c)))
        for c in counts
        if c
    ]
    return sum(scores) / len(counts)


def bootstrap_f1(
    actual: Classes, predicted: Sequence[Classes], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the macro-F1 of several predictions of the same texts over one set of resampled
    texts: (len(predicted), RESAMPLES). Each column has the same texts in all rows, so differences
    are paired."""
    classes = int(actual.max()) + 1
    chosen = rng.integers(len(actual), size=(RESAMPLES, len(actual)))
    return np.array([macro_f1(actual[chosen], p[chosen], classes) for p in predicted])


def estimate_f1(actual: Classes, predicted: Classes, resampled: NDArray[np.float64]) -> Estimate:
    """Return macro-F1 with the percentile interval of its row of `bootstrap_f1`. The interval
    covers the choice of texts by the same authors; training and noise are held fixed."""
    low, high = np.quantile(resampled, [ALPHA / 2, 1 - ALPHA / 2])
    value = float(macro_f1(actual, predicted, int(actual.max()) + 1))
    return Estimate(value, float(low), float(high), len(actual))


def estimate_gain(
    value: Estimate,
    raw: Estimate,
    blind: float,
    resampled: NDArray[np.float64],
    resampled_raw: NDArray[np.float64],
) -> Estimate | None:
    """Return the relative gain γ = (F1 − blind)/(F1_raw − blind) with its paired bootstrap
    interval: the share of the information in raw texts, beyond chance, that perturbation
    preserves. 1 is no protection, 0 is complete protection. None where raw texts are not clearly
    above chance."""
    if raw.low <= blind:
        return None
    # A resample of raw texts at chance has no ratio; those above raw.low are all but 2.5 %.
    ratios = (resampled - blind) / np.maximum(resampled_raw - blind, 1e-9)
    low, high = np.quantile(ratios, [ALPHA / 2, 1 - ALPHA / 2])
    return Estimate((value.value - blind) / (raw.value - blind), float(low), float(high), value.n)


# -- the attackers --------------------------------------------------------------------------


def build_classifier(kind: str) -> Any:
    """Build an untrained linear SVM of one of KINDS: on TF-IDF of word and character n-grams, or
    on embeddings as they are.

    Raises:
        MissingPackage: scikit-learn is not installed.
    """
    try:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.pipeline import make_pipeline, make_union
        from sklearn.svm import LinearSVC
    except ImportError:
        raise MissingPackage(f"authors need scikit-learn: {install_command('bench')}") from None
    svm = LinearSVC(C=PENALTY, random_state=0)
    if kind == "embedding":
        return svm
    words = TfidfVectorizer(ngram_range=WORDS, sublinear_tf=True)
    characters = TfidfVectorizer(
        analyzer="char_wb", ngram_range=CHARACTERS, sublinear_tf=True, lowercase=False
    )
    return make_pipeline(make_union(words, characters), svm)


def assign_folds(actual: Classes, rng: np.random.Generator) -> Classes:
    """Return stratified folds, int (n,) from 0 to FOLDS − 1: the shuffled texts of each class are
    dealt out in turn."""
    fold = np.empty(len(actual), dtype=np.int64)
    dealt = 0
    for name in np.unique(actual):
        places = rng.permutation(np.flatnonzero(actual == name))
        fold[places] = (dealt + np.arange(len(places))) % FOLDS
        dealt += len(places)
    return fold


@dataclass(frozen=True)
class _RawTexts:
    """Hold raw texts, their authors as numbers, their folds, and the models trained on them.

    Attributes:
        inputs: the input of the classifier of each kind, (n, …).
        models: of each kind, one for each fold, trained on the others: the static attacker.
        predicted: the predictions of these models for the raw texts, int (n,).
    """

    texts: list[str]
    actual: Classes
    fold: Classes
    inputs: dict[str, Inputs]
    models: dict[str, list[Any]]
    predicted: dict[str, Classes]


def train(kind: str, inputs: Inputs, actual: Classes, fold: Classes) -> list[Any]:
    """Train one classifier for each fold, on all other folds."""
    return [
        build_classifier(kind).fit(inputs[fold != held], actual[fold != held])
        for held in range(FOLDS)
    ]


def predict(models: list[Any], inputs: Inputs, fold: Classes) -> Classes:
    """Predict the class of each text with the classifier that was trained without it, int (n,)."""
    predicted = np.empty(len(fold), dtype=np.int64)
    for held, model in enumerate(models):
        predicted[fold == held] = model.predict(inputs[fold == held])
    return predicted


class Authors(Experiment):
    """Attack with static and adaptive classifiers on n-grams and on embeddings. The subjects are
    those that whole answers are generated for: every text is perturbed and encoded anew at each
    ε."""

    name = "authors"
    about = "author identification: macro-F1 of static and adaptive attackers against chance"

    def __init__(self) -> None:
        self._raw = lru_cache(maxsize=1)(self._learn)

    def cases(self, context: Context) -> Iterable[Case]:
        if context.authors is None:
            return
        for subject, epsilon in context.suite.points(pipeline=True):
            yield {"mechanism": subject.label, "epsilon": epsilon}

    def measure(self, case: Case, context: Context) -> Outcome:
        raw = self._raw(context)
        rng = context.rng(self.name, case)
        perturber = Perturber(context.mechanism(case["mechanism"], case["epsilon"]))
        inputs = _encode([perturber.perturb(text, rng).text for text in raw.texts], context)
        predicted = {f"raw_{kind}": raw.predicted[kind] for kind in KINDS}
        for kind in KINDS:
            adaptive = train(kind, inputs[kind], raw.actual, raw.fold)
            predicted[f"static_{kind}"] = predict(raw.models[kind], inputs[kind], raw.fold)
            predicted[f"adaptive_{kind}"] = predict(adaptive, inputs[kind], raw.fold)
        blind = random_f1(np.bincount(raw.actual).tolist())
        resampled = dict(
            zip(predicted, bootstrap_f1(raw.actual, list(predicted.values()), rng), strict=True)
        )
        found = {
            name: estimate_f1(raw.actual, guesses, resampled[name])
            for name, guesses in predicted.items()
        }
        values: dict[str, Any] = {"blind": Estimate.exact(blind), **found}
        for kind in KINDS:
            for name in (f"static_{kind}", f"adaptive_{kind}"):
                base = f"raw_{kind}"
                values[f"gain_{name}"] = estimate_gain(
                    found[name], found[base], blind, resampled[name], resampled[base]
                )
        return Outcome(values)

    def render(self, records: Sequence[Record], figure: str | None = None) -> Iterable[str]:
        if not records:
            return
        first = records[0].values
        names = [n for n in first if n.startswith(("static_", "adaptive_"))]
        before = ", ".join(
            f"{name.removeprefix('raw_')} {format_figure(value, 2)}"
            for name, value in first.items()
            if name.startswith("raw_")
        )
        rows = [
            [*format_point(r.case), *(format_figure(r.values[name], 2) for name in names)]
            for r in records
        ]
        head = ["mechanism", "ε", *(name.replace("_", ", ") for name in names)]
        yield (
            "### Author identification\n\n"
            "Macro-F1 of naming the author. *Static* attackers are trained on raw texts, "
            f"*adaptive* ones on perturbed texts. On raw texts: {before}; by chance "
            f"{format_figure(first['blind'], 2)}.\n\n" + format_table(head, rows)
        )

    def _learn(self, context: Context) -> _RawTexts:
        """Read the first `answers` texts of every author, and train the static attackers."""
        assert context.authors is not None
        by_author: dict[str, list[str]] = {}
        for entry in read_authored(context.authors):
            by_author.setdefault(entry.author, []).append(entry.text)
        for number, texts in enumerate(by_author.values(), 1):
            if len(texts) < FOLDS:
                raise DataError(
                    f"{context.authors}: every author needs >= {FOLDS} texts, number {number} has "
                    f"{len(texts)}"
                )
        chosen = [texts[: max(FOLDS, context.suite.answers)] for texts in by_author.values()]
        texts = [text for some in chosen for text in some]
        actual = np.repeat(np.arange(len(chosen)), [len(some) for some in chosen])
        fold = assign_folds(actual, context.rng(self.name, "folds"))
        inputs = _encode(texts, context)
        models = {kind: train(kind, inputs[kind], actual, fold) for kind in KINDS}
        predicted = {kind: predict(models[kind], inputs[kind], fold) for kind in KINDS}
        return _RawTexts(texts, actual, fold, inputs, models, predicted)


def _encode(texts: list[str], context: Context) -> dict[str, Inputs]:
    return {"text": np.array(texts, dtype=object), "embedding": context.encode(texts)}
