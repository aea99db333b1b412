"""Measure clip bounds for DP-Prompt on public text.

Bounds are parameters of the guarantee. Bounds taken from private text would reveal something
about it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from extraction.dp_prompt.paraphrase import build_prompt
from perturb import ParameterError

__all__ = ["LogitStatistics", "measure_bounds"]

RULES = ("minmax", "mean_std")
WIDTH = 4.0  # standard deviations above the mean (Meisenbacher & Matthes 2024)
PIECE = 200  # tokens of public text paraphrased as one document


@dataclass
class LogitStatistics:
    """Accumulate the minimum, maximum, mean and standard deviation of logits. Values that are not
    finite are left out: −∞ marks tokens that a model rules out."""

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0
    least: float = math.inf
    greatest: float = -math.inf

    def add(self, logits: NDArray[Any]) -> None:
        """Add an array of logits of any shape, by Chan et al.'s update: no large sums cancel."""
        values = np.asarray(logits, dtype=np.float64)
        values = values[np.isfinite(values)]
        if not values.size:
            return
        mean, total = float(values.mean()), self.count + values.size
        shift = mean - self.mean
        self.squares += float(((values - mean) ** 2).sum())
        self.squares += shift * shift * self.count * values.size / total
        self.mean += shift * values.size / total
        self.count = total
        self.least = min(self.least, float(values.min()))
        self.greatest = max(self.greatest, float(values.max()))

    @property
    def std(self) -> float:
        """Return the standard deviation of all logits as one population."""
        return math.sqrt(self.squares / self.count) if self.count else math.nan

    def bounds(self, rule: Literal["minmax", "mean_std"]) -> tuple[float, float]:
        """Return (b1, b2) by a rule. `minmax`: the smallest and the largest logit (Utpala et al.
        2023). `mean_std`: the mean and the mean + 4 standard deviations (Meisenbacher & Matthes
        2024).

        Raises:
            ParameterError: no rule has that name, or there is nothing to measure.
        """
        if rule not in RULES:
            raise ParameterError(f"rule must be one of {', '.join(RULES)}")
        if not self.squares > 0:
            raise ParameterError("text must give logits that differ")
        if rule == "minmax":
            return self.least, self.greatest
        return self.mean, self.mean + WIDTH * self.std


def measure_bounds(model: Any, tokenizer: Any, texts: Iterable[str]) -> LogitStatistics:
    """Measure the logits of a model on public texts, as if each piece of them paraphrased itself.

    A text is cut into pieces of 200 tokens. Each piece is put into DP-Prompt's prompt and follows
    it in place of a generated paraphrase. The logits of the whole vocabulary are measured at every
    place of the piece, the end token's included.

    Args:
        model, tokenizer: from `extraction.dp_prompt.paraphrase_transformers.load_model`.
        texts: public text.
    """
    import torch

    found = LogitStatistics()
    for text in texts:
        tokens = tokenizer(text, add_special_tokens=False).input_ids
        for start in range(0, len(tokens), PIECE):
            piece = tokens[start : start + PIECE]
            document = build_prompt(tokenizer.decode(piece, skip_special_tokens=True))
            prompt = tokenizer(document).input_ids
            with torch.inference_mode():
                found.add(_read_logits(model, prompt, piece))
    return found


def _read_logits(model: Any, prompt: list[int], piece: list[int]) -> NDArray[np.float32]:
    """Return the logits before each token of the piece and after the last, (len(piece) + 1, m)."""
    import torch

    def tensor(tokens: list[int]) -> Any:
        return torch.tensor([tokens], device=model.device)

    if model.config.is_encoder_decoder:
        start = model.generation_config.decoder_start_token_id
        out = model(input_ids=tensor(prompt), decoder_input_ids=tensor([start, *piece])).logits
    else:
        out = model(input_ids=tensor(prompt + piece)).logits[:, len(prompt) - 1 :]
    rows: NDArray[np.float32] = out[0].float().cpu().numpy()
    return rows
