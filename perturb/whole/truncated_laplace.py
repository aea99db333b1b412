"""truncated_laplace: the text's vector, clipped and noised, and the public passage next to it.

The baseline of Meehan, Mrini and Chaudhuri (ACL 2022, "Sentence-level Privacy for Document
Embeddings"), on integers. With public bounds a_j <= b_j the text's vector becomes whole numbers
v_j in [a_j, b_j]. Two texts differ by at most S = Σ (b_j − a_j) in the sum of |v_j − v'_j|.
Discrete Laplace noise of scale t = S/ε on each v_j gives every integer vector z

    P(z | x)/P(z | x') = exp((Σ |z_j − v'_j| − |z_j − v_j|)/t) <= exp(S/t) = e^ε,

exactly: ε, S and t are rational and the sampler rounds nothing (perturb.whole.discrete_laplace).
The encoder, the rounding to integers and the bounds may be anything; the passage is computed from
z alone. The ratio e^ε is not rational, so there is no certificate of it in integers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.errors import ParameterError
from perturb.registry import register
from perturb.vocabulary.table_build import unit_rows
from perturb.vocabulary.vocabulary import Vocabulary
from perturb.whole.codebook import Codebook
from perturb.whole.discrete_laplace import draw_discrete_laplace
from perturb.whole.encoder import AsyncEncoder, Encoder
from perturb.whole.passage_sanitizer import CodebookParameters, PassageSanitizer

__all__ = ["Grid", "TruncatedLaplace", "TruncatedLaplaceParameters", "measure_grid"]

STEPS = 256  # of the grid in a coordinate's range, on average: finer than any noise used here
FARTHEST = 1 << 500  # steps of a noised vector: its length stays finite at any ε
COLUMNS = 16  # of the codebook's vectors that are read at a time


@dataclass(frozen=True, kw_only=True)
class TruncatedLaplaceParameters(CodebookParameters):
    """The parameters, validated.

    Attributes:
        epsilon: ε of the whole text.
        codebook: path of a codebook; None is the bundled one.
        quantile: the central share of the codebook's values to which a coordinate is clipped.
    """

    quantile: float = 0.75

    def __post_init__(self) -> None:
        super().__post_init__()
        share = self.quantile
        if isinstance(share, bool) or not isinstance(share, (int, float)):
            raise ParameterError(f"quantile must be a number, got {type(share).__name__}")
        if not 0 < share < 1:
            raise ParameterError(f"quantile must be > 0 and < 1, got {share:g}")


@dataclass(frozen=True)
class Grid:
    """The public integers that a vector is clipped to.

    Attributes:
        step: the width of one step.
        low, high: the range of each coordinate in steps, int64 (d,), low <= high.
    """

    step: float
    low: NDArray[np.int64]
    high: NDArray[np.int64]

    @property
    def sensitivity(self) -> int:
        """Return S, the largest Σ |v_j − v'_j| of two clipped vectors."""
        return int((self.high - self.low).sum())

    def clip(self, vector: NDArray[np.floating[Any]]) -> NDArray[np.int64]:
        """Return a vector (d,) in steps, clipped, int64 (d,). Any vector is in range afterwards,
        also one with values that are no numbers."""
        values = np.nan_to_num(np.asarray(vector, dtype=np.float64))
        near = np.clip(values, (self.low - 1) * self.step, (self.high + 1) * self.step)
        return np.clip(np.rint(near / self.step), self.low, self.high).astype(np.int64)


@lru_cache(maxsize=4)
def measure_grid(codebook: Codebook, quantile: float) -> Grid:
    """Return the grid of a codebook: its coordinates' central quantiles, in steps."""
    edges = ((1 - quantile) / 2, (1 + quantile) / 2)
    bounds = []
    for start in range(0, codebook.vectors.shape[1], COLUMNS):
        block = codebook.vectors[:, start : start + COLUMNS] * codebook.scales[:, None]
        bounds.append(np.quantile(block, edges, axis=0, method="inverted_cdf"))
    low, high = np.concatenate(bounds, axis=1).astype(np.float64)
    step = float((high - low).mean()) / STEPS or 1.0
    return Grid(step, np.rint(low / step).astype(np.int64), np.rint(high / step).astype(np.int64))


@register
class TruncatedLaplace(PassageSanitizer):
    """Release the passage nearest to a text's noised vector.

    Args:
        codebook, encoder, vocabulary, max_tokens: see `PassageSanitizer`.
        parameters: ε, and the range that coordinates are clipped to.

    Raises:
        CodebookError: the codebook was made with another encoder.
        ParameterError: all the codebook's vectors are clipped to one point.
    """

    name = "truncated_laplace"
    summary = "the passage next to the text's noised vector; one ε for the whole text"
    about = (
        "The text's vector is clipped, coordinate by coordinate, to the central 75 % of the "
        "codebook's values, gets Laplace noise of scale (Σ widths)/ε in each coordinate, and the "
        "nearest public passage of the codebook leaves in the text's place (the baseline of "
        "Meehan, Mrini and Chaudhuri, ACL 2022). Clipping and noise are on whole numbers and the "
        "noise is drawn exactly, so the release is ε-LDP for the text as a whole. The noise grows "
        "with the number of coordinates: at ε below 100 the passage is almost random. For "
        "comparison with `surrogate` only."
    )
    parameter_type = TruncatedLaplaceParameters
    parameters: TruncatedLaplaceParameters

    def __init__(
        self,
        codebook: Codebook,
        encoder: Encoder | AsyncEncoder,
        parameters: TruncatedLaplaceParameters,
        vocabulary: Vocabulary,
        *,
        max_tokens: int | None = None,
    ) -> None:
        super().__init__(codebook, encoder, parameters, vocabulary, max_tokens=max_tokens)
        self.grid = measure_grid(codebook, parameters.quantile)
        if not self.grid.sensitivity:
            raise ParameterError(
                f"quantile must be larger for this codebook, got {parameters.quantile:g}: it "
                "clips all vectors to one point"
            )
        self.scale = self.grid.sensitivity / Fraction(parameters.epsilon)

    def state(self) -> str:
        return self.state_of_document("the noised vector and so the release are")

    def own_identity(self) -> dict[str, Any]:
        return {"quantile": self.parameters.quantile}

    def add_noise(
        self, clipped: NDArray[np.int64], rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Return a clipped vector with noise, in steps, float64 (d,). Numbers too large for
        float64 are rounded, or cut at FARTHEST, after the noise."""
        noised = [v + draw_discrete_laplace(self.scale, rng) for v in clipped.tolist()]
        return np.array([max(-FARTHEST, min(n, FARTHEST)) for n in noised], dtype=np.float64)

    def choose(self, vectors: NDArray[np.float32], rng: np.random.Generator) -> tuple[int, ...]:
        (vector,) = vectors
        (direction,) = unit_rows(self.add_noise(self.grid.clip(vector), rng)[None])
        near = self.codebook.similarities(direction.astype(np.float32))
        return (int(np.argmax(near)),)

    def figures(self) -> dict[str, Any]:
        epsilon, coordinates = self.parameters.epsilon, len(self.grid.low)
        scale = float(self.scale) * self.grid.step
        return {
            "passages": len(self.codebook),
            "coordinates": coordinates,
            "epsilon_proved": epsilon,
            "widths_together": self.grid.sensitivity * self.grid.step,
            "noise_scale": scale,
            "noise_length": scale * math.sqrt(2 * coordinates),  # that of a text's vector is 1
            "two_documents_told_apart": 1 / (1 + math.exp(-epsilon)),
            "one_of_1000_documents_named": 1 / (1 + 999 * math.exp(-epsilon)),
        }
