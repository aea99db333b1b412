"""Next-token weights by DP-Prompt's rules: clip, temperature, top-k; and a draw by them.

The weights are integers and the draw is by integers, so the bound on their ratio holds as it is
computed: floating point shapes the distribution between the bounds and cannot leave them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb import ParameterError

__all__ = ["Decoding", "clamp_processor", "temperature_for"]

ROOM = 2**62  # the weights of one vocabulary sum to no more: int64 holds them
ROUND_UP = 1.0 + 1e-12  # more than the relative error of one exp and one product


@dataclass(frozen=True, kw_only=True)
class Decoding:
    """How a token is drawn from the model's logits.

    Attributes:
        temperature: T > 0.
        bounds: (b1, b2), b1 <= b2: every logit is clipped to them; None clips nothing.
        top_k: only the k largest logits may be drawn; None allows the whole vocabulary. With
            bounds it is refused: the k tokens would depend on the document.
    """

    temperature: float = 1.0
    bounds: tuple[float, float] | None = None
    top_k: int | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.temperature) and self.temperature > 0):
            raise ParameterError(f"temperature must be > 0 and finite, got {self.temperature:g}")
        if self.bounds is not None:
            low, high = self.bounds
            if not (math.isfinite(low) and math.isfinite(high) and low <= high):
                raise ParameterError("bounds must be two finite numbers, the lower one first")
            if self.top_k is not None:
                raise ParameterError("top_k must not be set where logits are clipped")
        if self.top_k is not None and self.top_k < 1:
            raise ParameterError(f"top_k must be >= 1, got {self.top_k}")

    @property
    def epsilon(self) -> float:
        """2(b2 − b1)/T: no two lists of logits give a token probabilities further apart than
        e^ε; ∞ without bounds. (Utpala et al. 2023, theorem 1.)"""
        if self.bounds is None:
            return math.inf
        return 2 * (self.bounds[1] - self.bounds[0]) / self.temperature

    def weights(self, logits: NDArray[Any]) -> NDArray[np.int64]:
        """Integer weights of the next token: (m,) logits → int64 (m,), P(v) = w_v / Σw.

        With bounds every weight lies in [least, most] with most/least <= e^{ε/2}, rounded
        towards privacy: least is never below 1, which can only bring probabilities closer.

        Raises:
            ValueError: a logit is not a number, or (without bounds) none is finite.
        """
        values = np.asarray(logits, dtype=np.float64)
        if np.isnan(values).any():
            raise ValueError("the model gave a logit that is not a number")
        most = ROOM // len(values)
        least = 0
        if self.bounds is not None:
            low, high = self.bounds
            values = np.clip(values, low, high)
            drop = math.exp(-self.epsilon / 2)
            least = min(most, max(1, math.ceil(most * drop * ROUND_UP)))
        else:
            high = float(values.max())
            if not math.isfinite(high):
                raise ValueError("the model gave no finite logit")
        weights = np.floor(float(most) * np.exp((values - high) / self.temperature))
        found = np.clip(weights.astype(np.int64), least, most)
        if self.top_k is not None and self.top_k < len(found):
            found[np.argpartition(-values, self.top_k)[self.top_k :]] = 0
        return found

    def draw(self, logits: NDArray[Any], rng: np.random.Generator) -> int:
        """One token by `weights`: one uniform integer below their sum, and a search."""
        sums = np.cumsum(self.weights(logits))
        return int(np.searchsorted(sums, rng.integers(sums[-1]), side="right"))

    def most_likely(self, share: float) -> float:
        """The most a set of tokens can get that is a share s/m of the vocabulary, in (0, 1]:
        1/(1 + (m/s − 1)e^{−ε/2}); 1 without bounds."""
        return 1.0 / (1.0 + (1.0 / share - 1.0) * math.exp(-self.epsilon / 2))


def temperature_for(bounds: tuple[float, float], epsilon: float) -> float:
    """T = 2(b2 − b1)/ε, with which a clipped token is ε-LDP."""
    return 2 * (bounds[1] - bounds[0]) / epsilon


def clamp_processor(bounds: tuple[float, float]) -> Any:
    """A transformers `LogitsProcessor` that clips scores to the bounds.

    Raises:
        ParameterError: transformers is not installed.
    """
    try:
        import torch
        from transformers import LogitsProcessor
    except ImportError as exc:
        raise ParameterError(
            "clipping in this process needs transformers: pip install 'inferdpt[paraphrase]'"
        ) from exc

    class Clamp(LogitsProcessor):  # type: ignore[misc]
        def __call__(self, input_ids: Any, scores: Any) -> Any:
            del input_ids
            return torch.clamp(scores.float(), *bounds)

    return Clamp()
