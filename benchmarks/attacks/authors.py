"""Who wrote it? Author identification from perturbed texts, static and adaptive (Utpala et al.
2023, §4).

The static attacker learned each author's way of writing from raw texts; the adaptive one knows
the mechanism and learned from texts perturbed with it. Each does so from n-grams, or from
sentence embeddings, and is asked for texts that it has not seen.

F1_c = 2·TP/(predicted + actual) of author c, 1 being right always; macro-F1 is its mean over the
authors. A classifier that does not look at the text and names c with its share π_c finds
2nπ_c²/(2nπ_c) = π_c of expected counts, a macro-F1 of 1/C for C authors whatever their shares.
`random_f1` is the exact expectation for n texts, which lies a little below.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.context import Context
from benchmarks.datasets import DataError, read_authored
from benchmarks.experiment import ALPHA, Experiment, Found
from benchmarks.records import Case, Estimate
from perturb import Perturber
from perturb.errors import MissingPackage
from perturb.intervals import require_scipy

__all__ = [
    "Authors",
    "bootstrap_f1",
    "classifier",
    "f1_estimate",
    "folds",
    "gain",
    "macro_f1",
    "predict",
    "random_f1",
    "train",
]

FOLDS = 5
RESAMPLES = 2_000
WORDS = (1, 2)  # n-grams, whole words
CHARACTERS = (2, 4)  # and of characters within words, with case
KINDS = ("text", "embedding")  # what a classifier sees: n-grams, or sentence embeddings
PENALTY = 0.3  # C of the linear SVM: the best of .1, .3, 1 on raw texts, by little

Classes = NDArray[np.integer[Any]]
Inputs = NDArray[Any]  # (n,) texts or (n, d) embeddings


# -- figures --------------------------------------------------------------------------------


def macro_f1(actual: Classes, predicted: Classes, classes: int) -> NDArray[np.float64]:
    """Macro-F1, 0 to 1: the mean over all classes 0 … classes − 1 of 2·TP/(predicted + actual),
    which is 0 for a class that neither has. Both int (..., n); one figure for each leading
    index, (...)."""
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
    """The expected macro-F1, 0 to 1, of naming each class with its share, blindly; `counts` is
    how many texts each class has.

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
    """Macro-F1 of each of several predictions of the same texts, over one set of resampled
    texts: (len(predicted), RESAMPLES). Same columns, same texts, so differences are paired."""
    classes = int(actual.max()) + 1
    chosen = rng.integers(len(actual), size=(RESAMPLES, len(actual)))
    return np.array([macro_f1(actual[chosen], p[chosen], classes) for p in predicted])


def f1_estimate(actual: Classes, predicted: Classes, resampled: NDArray[np.float64]) -> Estimate:
    """Macro-F1 with the percentile interval of its row of `bootstrap_f1`: what other texts by
    the same authors would change. Training and noise are as they were."""
    low, high = np.quantile(resampled, [ALPHA / 2, 1 - ALPHA / 2])
    value = float(macro_f1(actual, predicted, int(actual.max()) + 1))
    return Estimate(value, float(low), float(high), len(actual))


def gain(
    value: Estimate,
    raw: Estimate,
    blind: float,
    resampled: NDArray[np.float64],
    resampled_raw: NDArray[np.float64],
) -> Estimate | None:
    """Relative gain γ = (F1 − blind)/(F1_raw − blind) with its paired bootstrap interval: the
    share that perturbation leaves of what raw texts give away beyond chance. 1 is no protection,
    0 is none of it left; None where raw texts themselves give away nothing for sure.
    """
    if raw.low <= blind:
        return None
    # A resample of raw texts at chance has no ratio; those above raw.low are all but 2.5 %.
    ratios = (resampled - blind) / np.maximum(resampled_raw - blind, 1e-9)
    low, high = np.quantile(ratios, [ALPHA / 2, 1 - ALPHA / 2])
    return Estimate((value.value - blind) / (raw.value - blind), float(low), float(high), value.n)


# -- the attackers --------------------------------------------------------------------------


def classifier(kind: str) -> Any:
    """An untrained linear SVM, of one of KINDS: on TF-IDF of word and character n-grams, or on
    embeddings as they are.

    Raises:
        MissingPackage: scikit-learn is not installed.
    """
    try:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.pipeline import make_pipeline, make_union
        from sklearn.svm import LinearSVC
    except ImportError:
        raise MissingPackage("authors need scikit-learn: pip install 'inferdpt[bench]'") from None
    svm = LinearSVC(C=PENALTY, random_state=0)
    if kind == "embedding":
        return svm
    words = TfidfVectorizer(ngram_range=WORDS, sublinear_tf=True)
    characters = TfidfVectorizer(
        analyzer="char_wb", ngram_range=CHARACTERS, sublinear_tf=True, lowercase=False
    )
    return make_pipeline(make_union(words, characters), svm)


def folds(actual: Classes, rng: np.random.Generator) -> Classes:
    """Stratified folds, int (n,) from 0 to FOLDS − 1: the texts of a class, shuffled, are dealt
    one after the other."""
    fold = np.empty(len(actual), dtype=np.int64)
    dealt = 0
    for name in np.unique(actual):
        places = rng.permutation(np.flatnonzero(actual == name))
        fold[places] = (dealt + np.arange(len(places))) % FOLDS
        dealt += len(places)
    return fold


@dataclass(frozen=True)
class _Raw:
    """Raw texts, their authors as numbers, their folds, and what was learned from them.

    Attributes:
        inputs: what the classifier of each kind sees, (n, …).
        models: of each kind, one for each fold, trained on the others: the static attacker.
        predicted: int (n,), what those say of the raw texts.
    """

    texts: list[str]
    actual: Classes
    fold: Classes
    inputs: dict[str, Inputs]
    models: dict[str, list[Any]]
    predicted: dict[str, Classes]


def train(kind: str, inputs: Inputs, actual: Classes, fold: Classes) -> list[Any]:
    """One classifier for each fold, trained on all other folds."""
    return [
        classifier(kind).fit(inputs[fold != held], actual[fold != held]) for held in range(FOLDS)
    ]


def predict(models: list[Any], inputs: Inputs, fold: Classes) -> Classes:
    """What is said of each text by the classifier that was trained without it, int (n,)."""
    predicted = np.empty(len(fold), dtype=np.int64)
    for held, model in enumerate(models):
        predicted[fold == held] = model.predict(inputs[fold == held])
    return predicted


class Authors(Experiment):
    """Static and adaptive attackers on n-grams and on embeddings, of the subjects that whole
    answers are generated for: every text is perturbed and encoded anew at each ε."""

    name = "authors"
    about = "author identification: macro-F1 of static and adaptive attackers against chance"

    def __init__(self) -> None:
        self._raw = lru_cache(maxsize=1)(self._learn)

    def cases(self, context: Context) -> Iterable[Case]:
        if context.authors is None:
            return
        for subject, epsilon in context.suite.points(pipeline=True):
            yield {"mechanism": subject.label, "epsilon": epsilon}

    def measure(self, case: Case, context: Context) -> Found:
        raw = self._raw(context)
        rng = context.rng(self.name, case)
        perturber = Perturber(context.mechanism(case["mechanism"], case["epsilon"]))
        inputs = _inputs([perturber.perturb(text, rng).text for text in raw.texts], context)
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
            name: f1_estimate(raw.actual, guesses, resampled[name])
            for name, guesses in predicted.items()
        }
        values: dict[str, Any] = {"blind": Estimate.exact(blind), **found}
        for kind in KINDS:
            for name in (f"static_{kind}", f"adaptive_{kind}"):
                base = f"raw_{kind}"
                values[f"gain_{name}"] = gain(
                    found[name], found[base], blind, resampled[name], resampled[base]
                )
        return Found(values)

    def _learn(self, context: Context) -> _Raw:
        """The first `answers` texts of every author, and the static attackers."""
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
        fold = folds(actual, context.rng(self.name, "folds"))
        inputs = _inputs(texts, context)
        models = {kind: train(kind, inputs[kind], actual, fold) for kind in KINDS}
        predicted = {kind: predict(models[kind], inputs[kind], fold) for kind in KINDS}
        return _Raw(texts, actual, fold, inputs, models, predicted)


def _inputs(texts: list[str], context: Context) -> dict[str, Inputs]:
    return {"text": np.array(texts, dtype=object), "embedding": context.encode(texts)}
