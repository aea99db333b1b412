"""deep_candidate: a public passage that is deep among the text's own sentences leaves instead.

After Meehan, Mrini and Chaudhuri (ACL 2022, "Sentence-level Privacy for Document Embeddings").
The unit is one sentence: two texts are neighbours if one comes from the other by replacing, adding
or removing a sentence, as `split_sentences` cuts them. The proof (`DepthLaw`) needs that
a sentence's projections depend on that sentence alone. So each sentence is encoded by itself: in a
batch, padding or rounding could make its vector depend on the others. A server may compute
requests together, so its embeddings are no encoder here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.errors import CodebookError, ParameterError
from perturb.proof import Progress, Proof, Worst
from perturb.registry import register
from perturb.release import format_upper
from perturb.rng import draw_below, seeded_generator
from perturb.vocabulary.table_build import unit_rows
from perturb.vocabulary.vocabulary import Vocabulary
from perturb.whole.choice import floor_exp
from perturb.whole.codebook import ROWS, Codebook
from perturb.whole.encoder import AsyncEncoder, Encoder
from perturb.whole.passage_sanitizer import SENT, CodebookParameters, PassageSanitizer

__all__ = [
    "DeepCandidate",
    "DeepCandidateParameters",
    "DepthLaw",
    "DepthProof",
    "fit_recoder",
    "measure_depths",
    "split_sentences",
]

_BETWEEN = re.compile(r"(?:(?<=[.!?])|(?<=[.!?][\"'”’)]))\s+(?=[\"'“‘(]?[A-Z0-9])")


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, in order, without the white space around them. A line break
    ends a sentence, too.

    >>> split_sentences("The sea rose. It fell again.\\n\\nAll was calm")
    ['The sea rose.', 'It fell again.', 'All was calm']
    """
    parts = (part.strip() for line in text.splitlines() for part in _BETWEEN.split(line))
    return [part for part in parts if part]


CLUSTERS = 256
PASSAGES = 16_384  # the first of the codebook: in the order of their SHA-256, a random sample
ROUNDS = 8  # of k-means
RIDGE = 0.1  # of the mean variance within clusters, added in every direction


@lru_cache(maxsize=4)
def fit_recoder(codebook: Codebook, dimensions: int) -> NDArray[np.float32]:
    """Return the linear map to `dimensions` coordinates, float32 (d, dimensions).

    These are the directions in which passages on different subjects differ most.
    Sentences of one text and passages on its subject lie close together in these directions, so
    that passages can be deep among the sentences at all: in the encoder's own space hardly any is.
    The map is fitted to the codebook alone and affects only usefulness.

    Passages are clustered by k-means; the map is that of linear discriminant analysis: largest
    variance between clusters for the variance within.

    Args:
        codebook: the passages and their vectors.
        dimensions: from 1 to d.
    """
    rows = codebook.vectors[:PASSAGES].astype(np.float32) * codebook.scales[:PASSAGES, None]
    labels = _cluster(rows, max(2, min(CLUSTERS, len(rows) // 8)))
    centre, d = rows.mean(axis=0), rows.shape[1]
    between, within = np.zeros((d, d)), np.zeros((d, d))
    for label in np.unique(labels):
        members = rows[labels == label]
        mean = members.mean(axis=0)
        between += len(members) * np.outer(mean - centre, mean - centre)
        within += (members - mean).T @ (members - mean)
    within += np.eye(d) * (RIDGE * np.trace(within) / d + np.finfo(np.float32).tiny)
    values, vectors = np.linalg.eigh(within)
    whiten = vectors @ np.diag(values**-0.5) @ vectors.T
    _, directions = np.linalg.eigh(whiten @ between @ whiten)
    found: NDArray[np.float32] = (whiten @ directions[:, ::-1][:, :dimensions]).astype(np.float32)
    return found


def _cluster(rows: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """Return a cluster for each row of length 1, int64 (n,), by k-means on cosines from the first
    rows on."""
    means = rows[:count].copy()
    labels = np.zeros(len(rows), dtype=np.int64)
    for _ in range(ROUNDS):
        labels = np.argmax(rows @ means.T, axis=1)
        for label in np.unique(labels):
            means[label] = rows[labels == label].mean(axis=0)
        means = unit_rows(means).astype(np.float32)
    return labels


UNIT = 1 << 20  # B
LIMIT = {
    "x": "a text in which the candidate is one deeper, and every other one less deep",
    "x'": "the same text with another sentence in place of one",
    "y": "the candidate, in the limit of texts in which the others are far deeper",
}


def measure_depths(
    candidates: NDArray[np.float32], sentences: NDArray[np.float32]
) -> NDArray[np.int64]:
    """Return each candidate's approximate Tukey depth among a text's sentences, int64 (n,).

    On each of p lines, count the sentences on either side of the candidate, those at its place
    on both. The depth is the smallest of these 2p counts, from 0 to k (Meehan, Mrini and
    Chaudhuri 2022, section 4). A sentence is counted or not, so one sentence changes a depth by at
    most 1, wherever the projections lie.

    Args:
        candidates: projections on the p lines, (p, n).
        sentences: projections of the k sentences, (p, k).
    """
    k = sentences.shape[1]
    depths = np.full(candidates.shape[1], k, dtype=np.int64)
    for line, places in zip(candidates, np.sort(sentences, axis=1), strict=True):
        before = np.searchsorted(places, line, side="right")
        after = k - np.searchsorted(places, line, side="left")
        np.minimum(depths, np.minimum(before, after), out=depths)
    return depths


@dataclass(frozen=True)
class DepthLaw:
    """The law of one release, given the depths: deep candidates are likely, in integers.

    A candidate's depth is a whole number that changes by at most 1 if one sentence of the text is
    replaced, added or removed. Candidate c has the weight r^depth(c) with r = A/B <= e^(ε/2) and
    A, B whole numbers. One sentence changes each weight by a factor of at most r, up or down, and
    so their sum: no probability changes by more than r² <= e^ε. The draw uses integers only.

    Attributes:
        epsilon: ε of one sentence, exactly.
    """

    epsilon: Fraction

    @property
    def ratio(self) -> Fraction:
        """Return r, by which a candidate's weight grows with each step of its depth."""
        return Fraction(floor_exp(self.epsilon / 2, UNIT), UNIT)

    def weights(self, depths: NDArray[np.int64]) -> dict[int, int]:
        """Return the weight of a candidate by its depth: r^depth, times the same whole number for
        all, which cancels."""
        up, unit = self.ratio.as_integer_ratio()
        low, high = int(depths.min()), int(depths.max())
        found = np.unique(depths).tolist()
        return {depth: up ** (depth - low) * unit ** (high - depth) for depth in found}

    def draw(self, depths: NDArray[np.int64], rng: np.random.Generator) -> int:
        """Return a candidate, drawn by its weight.

        Args:
            depths: of the n >= 1 candidates, int (n,).
            rng: the noise.
        """
        weights = self.weights(depths)
        members = {depth: np.flatnonzero(depths == depth) for depth in weights}
        drawn = draw_below(sum(len(members[d]) * w for d, w in weights.items()), rng)
        for depth, weight in weights.items():
            mass = len(members[depth]) * weight
            if drawn < mass:
                return int(members[depth][drawn // weight])
            drawn -= mass
        raise AssertionError("the masses sum to the limit of the draw")


@dataclass(frozen=True)
class DepthProof(Proof):
    """Prove the ε of one sentence.

    Attributes:
        law: of the release.
        candidates: how many there are.
    """

    law: DepthLaw
    candidates: int
    method = (
        "whole weights r^depth: one sentence changes each depth by at most 1, so each weight and "
        "their sum by a factor of at most r, and a probability by at most r²; the ratio is that "
        "bound, which texts of growing length approach"
    )
    unit = "sentence"

    @property
    def vocabulary(self) -> str:
        return f"{self.candidates:,} public passages of a codebook"

    @property
    def size(self) -> int:
        return self.candidates

    def find_worst(self, progress: Progress) -> Worst:
        progress(1, 1)
        ratio = self.ratio_of(LIMIT)
        return Worst(LIMIT, ratio, ratio)

    def ratio_of(self, pair: Mapping[str, str]) -> Fraction:
        del pair  # it is the same for every candidate
        return self.law.ratio * self.law.ratio


LARGEST_EPSILON = 200.0
MOST = 1024  # lines
LINES_SEED = 2022  # the lines are public
# Of 0 to 32 dimensions and 4 to 32 lines, eight of each gave the nearest passages for 60 public
# texts of 6 to 20 sentences at ε = 8, 12 and 16.
DIMENSIONS = LINES = 8


@dataclass(frozen=True, kw_only=True)
class DeepCandidateParameters(CodebookParameters):
    """The parameters, validated.

    Attributes:
        epsilon: ε of one sentence, 0 < ε ≤ 200; a text of k sentences has kε.
        codebook: path of a codebook; None is the bundled one.
        projections: on how many random public lines depth is measured. More lines are nearer to
            Tukey's depth, and fewer passages are deep.
        dimensions: of the recoder that vectors go through first; 0 is no recoder.
    """

    projections: int = LINES
    dimensions: int = DIMENSIONS

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_count("projections", most=MOST)
        self.check_count("dimensions", least=0)
        if self.epsilon > LARGEST_EPSILON:
            raise ParameterError(
                f"epsilon must be <= {LARGEST_EPSILON:g} for deep_candidate, got {self.epsilon:g}"
            )


@register
class DeepCandidate(PassageSanitizer):
    """Release a passage that is deep among a text's sentences.

    Args:
        codebook, encoder, vocabulary, max_tokens: see `PassageSanitizer`.
        parameters: ε, lines and dimensions.

    Raises:
        CodebookError: the codebook was made with another encoder, or with a server's.
        ParameterError: the encoder has fewer dimensions.
    """

    name = "deep_candidate"
    summary = "a public passage deep among the text's sentences; ε for one sentence, proved"
    about = (
        "Candidates are the passages of a codebook. A candidate's score is its approximate Tukey "
        "depth among the text's own sentences, on a few public random lines and after a linear "
        "recoder fitted to the codebook; the exponential mechanism picks one, in integer weights "
        "(Meehan, Mrini and Chaudhuri, ACL 2022). ε is for replacing, adding or removing one "
        "sentence: a document of k sentences has kε. Certifiable. A text of two or three "
        "sentences gets an almost random passage. For comparison with `surrogate`, whose passages "
        "are nearer and whose ε is of the whole text."
    )
    parameter_type = DeepCandidateParameters
    certifiable = True
    bounded_range = True  # r^depth is an exponential mechanism: depths differ by -1 to 1
    grouped = True
    unit = "sentence"
    parameters: DeepCandidateParameters

    def __init__(
        self,
        codebook: Codebook,
        encoder: Encoder | AsyncEncoder,
        parameters: DeepCandidateParameters,
        vocabulary: Vocabulary,
        *,
        max_tokens: int | None = None,
    ) -> None:
        super().__init__(codebook, encoder, parameters, vocabulary, max_tokens=max_tokens)
        if not callable(encoder):
            raise CodebookError(
                "deep_candidate needs a codebook whose encoder runs in this process: a server may "
                "compute the vectors of several sentences together"
            )
        if parameters.dimensions > codebook.vectors.shape[1]:
            raise ParameterError(
                f"dimensions must be <= {codebook.vectors.shape[1]} for this codebook, "
                f"got {parameters.dimensions}"
            )
        self.law = DepthLaw(Fraction(parameters.epsilon))
        self._lines, self._candidates = _project_codebook(
            codebook, parameters.dimensions, parameters.projections
        )

    def state(self) -> str:
        epsilon = format_upper(self.parameters.epsilon)
        return (
            f"each sentence: ε = {epsilon}: the release is {epsilon}-DP with respect to "
            "replacing, adding or removing one sentence of the document, given the public "
            f"codebook; changing k sentences costs k times {epsilon}"
        )

    def own_identity(self) -> dict[str, Any]:
        return {
            "projections": self.parameters.projections,
            "dimensions": self.parameters.dimensions,
        }

    def depths(self, text: str) -> NDArray[np.int64]:
        """Return the depth of each candidate among a text's sentences, int64 (N,); 0 for all where
        there is no sentence."""
        return self._measure(self.encode(self.parts(text)))

    def parts(self, text: str) -> list[str]:
        """Return the text's sentences."""
        return split_sentences(text)

    def choose(self, vectors: NDArray[np.float32], rng: np.random.Generator) -> tuple[int, ...]:
        return (self.law.draw(self._measure(vectors), rng),)

    def _measure(self, vectors: NDArray[np.float32]) -> NDArray[np.int64]:
        if not len(vectors):
            return np.zeros(len(self.codebook), dtype=np.int64)
        # a product of matrices may round a row otherwise beside others; a value that is no
        # number would have no place in an order
        places = np.array([vector @ self._lines for vector in vectors])
        return measure_depths(self._candidates, np.nan_to_num(places.T))

    def count_units(self, text: str) -> int:
        """Return the number of sentences, and 1 where there is none: adding one costs ε."""
        return max(1, len(split_sentences(text)))

    def proof(self) -> DepthProof:
        return DepthProof(self.law, len(self.codebook))

    def figures(self) -> dict[str, Any]:
        ratio = self.proof().ratio_of({})
        return {
            "passages": len(self.codebook),
            "projections": self.parameters.projections,
            "dimensions": self.parameters.dimensions,
            "epsilon_proved": math.log(ratio),
            "weight_of_one_more_step": float(self.law.ratio),
            **self.bound_attacks(float(ratio)),
        }

    def reveals(self) -> tuple[str, ...]:
        return (
            SENT,
            "what the sentences have in common, and how many there are: ε hides one sentence "
            "among the others, and the text as a whole only ε times its sentences",
        )


@lru_cache(maxsize=4)
def _project_codebook(
    codebook: Codebook, dimensions: int, projections: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the map from vectors to places on the lines, float32 (d, p), and the candidates'
    places, float32 (p, N)."""
    d = codebook.vectors.shape[1]
    normal = seeded_generator(LINES_SEED).standard_normal((dimensions or d, projections))
    lines: NDArray[np.float32] = normal.astype(np.float32)
    if dimensions:
        lines = fit_recoder(codebook, dimensions) @ lines
    places = np.empty((projections, len(codebook)), dtype=np.float32)
    for start in range(0, len(codebook), ROWS):
        part = slice(start, start + ROWS)
        rows = codebook.vectors[part].astype(np.float32) * codebook.scales[part, None]
        places[:, part] = (rows @ lines).T
    return lines, places
