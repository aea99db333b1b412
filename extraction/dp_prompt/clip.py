"""Compute next-token weights by DP-Prompt's rules (clip, temperature, top-k), and draw from them.

Both the weights and the draw are in integers, so the bound on their ratio holds exactly: floating
point shapes the distribution between the bounds and cannot leave them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb import ParameterError
from perturb.install import install_command

__all__ = ["Decoding", "compute_temperature", "make_clamp_processor"]

ROOM = 2**62  # the largest sum of the weights of one vocabulary: it fits int64
ROUND_UP = 1.0 + 1e-12  # more than the relative error of one exp and one product


@dataclass(frozen=True, kw_only=True)
class Decoding:
    """Define how a token is drawn from the model's logits.

    Attributes:
        temperature: T > 0.
        bounds: (b1, b2), b1 <= b2, to which every logit is clipped; None clips nothing.
        top_k: the number of largest logits that may be drawn; None allows the whole vocabulary.
            It is refused together with bounds: the k tokens would depend on the document.
        centred: whether the bounds are for the difference between a logit and the public one, of
            the same prompt without the document (after InvisibleInk, Vinod et al. 2025).
    """

    temperature: float = 1.0
    bounds: tuple[float, float] | None = None
    top_k: int | None = None
    centred: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.temperature) and self.temperature > 0):
            raise ParameterError(f"temperature must be > 0 and finite, got {self.temperature:g}")
        if self.bounds is not None:
            low, high = self.bounds
            if not (math.isfinite(low) and math.isfinite(high) and low <= high):
                raise ParameterError("bounds must be two finite numbers, the lower one first")
            if self.top_k is not None:
                raise ParameterError("top_k must not be set where logits are clipped")
        elif self.centred:
            raise ParameterError("bounds must be set where logits are clipped around public ones")
        if self.top_k is not None and self.top_k < 1:
            raise ParameterError(f"top_k must be >= 1, got {self.top_k}")

    @property
    def epsilon(self) -> float:
        """Return ε = 2(b2 − b1)/T; ∞ without bounds. For any two lists of logits, the
        probabilities of a token differ by a factor of at most e^ε (Utpala et al. 2023, theorem
        1)."""
        if self.bounds is None:
            return math.inf
        return 2 * (self.bounds[1] - self.bounds[0]) / self.temperature

    def weights(
        self, logits: NDArray[Any], public: NDArray[Any] | None = None
    ) -> NDArray[np.int64]:
        """Return integer weights of the next token: (m,) logits → int64 (m,), P(v) = w_v / Σw.

        With bounds every weight lies in [least, most] with most/least <= e^{ε/2}, rounded
        towards privacy: `least` is never below 1, which can only bring probabilities closer.
        Centred weights are such a weight times a factor that the public logits alone decide.

        Args:
            logits: of the prompt with the document.
            public: of the prompt without it, where the decoding is centred.

        Raises:
            ValueError: a logit is not a number, or none of those that decide is finite.
        """
        values = _read_numbers(logits)
        if self.centred:
            if public is None:
                raise ValueError("centred clipping needs public logits")
            return self._weigh_around(values, _read_numbers(public))
        most = ROOM // len(values)
        if self.bounds is not None:
            return self._weigh_clipped(values, most)
        weights = _weigh(values, _find_greatest(values), self.temperature, most)
        if self.top_k is not None and self.top_k < len(weights):
            weights[np.argpartition(-values, self.top_k)[self.top_k :]] = 0
        return weights

    def _weigh_clipped(self, values: NDArray[np.float64], most: int) -> NDArray[np.int64]:
        """Return weights from `least` to `most` of values that are clipped to the bounds."""
        assert self.bounds is not None
        low, high = self.bounds
        least = min(most, max(1, math.ceil(most * math.exp(-self.epsilon / 2) * ROUND_UP)))
        weights = _weigh(np.clip(values, low, high), high, self.temperature, most)
        return np.clip(weights, least, most)

    def _weigh_around(
        self, values: NDArray[np.float64], public: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Return the weights of public logits times the clipped ones of the differences.

        A token whose public weight rounds to 0 is drawn for no document. So no ratio of two
        documents' weights is above most/least.
        """
        assert self.bounds is not None
        most = math.isqrt(ROOM // len(values))
        base = _weigh(public, _find_greatest(public), self.temperature, most)
        with np.errstate(invalid="ignore"):
            moved = np.nan_to_num(values - public, nan=self.bounds[0])  # -inf less -inf
        return base * self._weigh_clipped(moved, most)

    def draw(
        self,
        logits: NDArray[Any],
        rng: np.random.Generator,
        public: NDArray[Any] | None = None,
    ) -> int:
        """Draw one token by `weights`: one uniform integer below their sum, and a search."""
        sums = np.cumsum(self.weights(logits, public))
        return int(np.searchsorted(sums, rng.integers(sums[-1]), side="right"))

    def bound_probability(self, share: float) -> float:
        """Return the largest possible probability of a set of tokens that is a share s/m of V,
        in (0, 1]: 1/(1 + (m/s − 1)e^{−ε/2}); 1 without bounds, and where public logits decide."""
        if self.centred:
            return 1.0
        return 1.0 / (1.0 + (1.0 / share - 1.0) * math.exp(-self.epsilon / 2))


def _read_numbers(logits: NDArray[Any]) -> NDArray[np.float64]:
    values: NDArray[np.float64] = np.asarray(logits, dtype=np.float64)
    if np.isnan(values).any():
        raise ValueError("the model gave a logit that is not a number")
    return values


def _find_greatest(values: NDArray[np.float64]) -> float:
    high = float(values.max())
    if not math.isfinite(high):
        raise ValueError("the model gave no finite logit")
    return high


def _weigh(
    values: NDArray[np.float64], high: float, temperature: float, most: int
) -> NDArray[np.int64]:
    """Return ⌊most·e^{(value − high)/T}⌋, from 0 to `most` for values up to `high`."""
    weights = np.floor(float(most) * np.exp((values - high) / temperature))
    return np.clip(weights.astype(np.int64), 0, most)


def compute_temperature(bounds: tuple[float, float], epsilon: float) -> float:
    """Return T = 2(b2 − b1)/ε, the temperature at which a clipped token is ε-LDP."""
    return 2 * (bounds[1] - bounds[0]) / epsilon


def make_clamp_processor(bounds: tuple[float, float]) -> Any:
    """Return a transformers `LogitsProcessor` that clips scores to the bounds.

    Raises:
        ParameterError: transformers is not installed.
    """
    try:
        import torch
        from transformers import LogitsProcessor
    except ImportError as exc:
        raise ParameterError(
            f"clipping in this process needs transformers: {install_command('paraphrase')}"
        ) from exc

    class Clamp(LogitsProcessor):  # type: ignore[misc]
        def __call__(self, input_ids: Any, scores: Any) -> Any:
            del input_ids
            return torch.clamp(scores.float(), *bounds)

    return Clamp()
