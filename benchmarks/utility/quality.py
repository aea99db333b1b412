"""Measures of generated text, by vectors and shared words: MAUVE, BERTScore, n-gram overlap."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.records import Estimate
from benchmarks.metrics.utility import unit_rows
from perturb.errors import MissingPackage, ParameterError
from perturb.install import install_command

__all__ = ["bert_score", "mauve", "overlap", "split_words"]

SCALE = 5  # mauve-text's default
CURVE = 25  # points of the divergence curve; also the default
RESAMPLES = 400
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def mauve(p: NDArray[np.floating], q: NDArray[np.floating], rng: np.random.Generator) -> Estimate:
    """Return the MAUVE of two sets of texts by their features, (n, d) and (k, d): 0 to 1, higher
    is closer (Pillutla et al. 2021, arXiv:2102.01454), by mauve-text with its defaults.

    The defaults take n/10 clusters: below some hundred texts the figure is coarse. The 95 %
    interval resamples each set's cluster counts with the clusters held fixed; resampling only
    ever adds differences, so it is widened to hold the figure itself.

    Raises:
        ParameterError: not two matrices of one width with two rows or more.
        MissingPackage: mauve-text is not installed.
    """
    if p.ndim != 2 or q.ndim != 2 or p.shape[1] != q.shape[1] or min(len(p), len(q)) < 2:
        raise ParameterError(f"p and q must be (n, d), n >= 2, got {p.shape} and {q.shape}")
    try:
        from mauve import compute_mauve
        from mauve.compute_mauve import get_divergence_curve_for_multinomials as curve
        from threadpoolctl import threadpool_limits
    except ImportError:
        raise MissingPackage(f"MAUVE needs mauve-text: {install_command('bench')}") from None
    with _silence_stderr(), threadpool_limits(1):  # threads would only wait for each other
        found = compute_mauve(
            p_features=p,
            q_features=q,
            mauve_scaling_factor=SCALE,
            divergence_curve_discretization_size=CURVE,
        )
    weights = np.linspace(1e-6, 1 - 1e-6, CURVE)
    draws = [
        _integrate(
            curve(
                rng.multinomial(len(p), found.p_hist) / len(p),
                rng.multinomial(len(q), found.q_hist) / len(q),
                weights,
                SCALE,
            )
        )
        for _ in range(RESAMPLES)
    ]
    value = min(float(found.mauve), 1.0)  # rounding may pass 1 a little
    low, high = np.quantile(draws, [0.025, 0.975])
    return Estimate(value, min(float(low), value), max(float(min(high, 1.0)), value), len(q))


def _integrate(curve: NDArray[np.floating]) -> float:
    """Return the area under a divergence curve: the mean over both ways of integrating it."""
    x, y = curve.T
    first, second = np.argsort(x), np.argsort(y)
    one = np.trapezoid(y[first], x[first])
    other = np.trapezoid(x[second], y[second])
    return float(one + other) / 2


@contextmanager
def _silence_stderr() -> Iterator[None]:
    """Send standard error to the null device: faiss warns there about every set below 39 texts per
    cluster."""
    kept = os.dup(2)
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def bert_score(hypothesis: NDArray[np.floating], reference: NDArray[np.floating]) -> float:
    """Return the BERTScore F1 of two texts by their token vectors, (n, d) and (k, d): −1 to 1
    (Zhang et al. 2020, arXiv:1904.09675, eq. 1), without idf weights and without rescaling."""
    similarity = unit_rows(hypothesis) @ unit_rows(reference).T
    precision, recall = similarity.max(axis=1).mean(), similarity.max(axis=0).mean()
    total = precision + recall
    return float(2 * precision * recall / total) if total else 0.0


def split_words(text: str) -> list[str]:
    """Split a text into words in lower case: runs of letters and digits, with apostrophes inside
    them."""
    return WORD.findall(text.lower())


def overlap(raw: str, seen: str, n: int) -> float:
    """Return the share of a raw text's different word n-grams that another text holds, 0 to 1; 0
    where the raw text has none."""
    own = _list_ngrams(split_words(raw), n)
    return len(own & _list_ngrams(split_words(seen), n)) / len(own) if own else 0.0


def _list_ngrams(tokens: Sequence[str], n: int) -> set[tuple[str, ...]]:
    return set(zip(*(tokens[start:] for start in range(n)), strict=False))
