"""Guess words in context with a neural language model and the exact channel, by beam search.

The search maximises Σ log p_LM(x_i | text before) + log P(y_i | x_i) over the words x_1 … x_n; the
layout between the words is known and part of the text. All texts go through the model together,
one place at a time. A word of several tokens is no likelier than its first token, so only words
that could still enter the beam are read to their end. The result is the same as if all were.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from benchmarks.attacks.in_context.skeleton import Gap
from benchmarks.metrics.encoders import require_transformers

__all__ = ["CausalModel", "Lattice", "State", "decode"]

WIDTH = 4  # hypotheses a text


@dataclass(frozen=True)
class Lattice:
    """Hold the choices of the decoder for a text of n words.

    Attributes:
        gaps: (n,), the layout before each word.
        words: int (n, c), the candidates at each place: places in V.
        scores: float (n, c), log P(y | x) of each; −∞ for the impossible.
        spelling: V.
    """

    gaps: Sequence[Gap]
    words: NDArray[np.integer]
    scores: NDArray[np.floating]
    spelling: Sequence[str]

    @classmethod
    def from_best(
        cls,
        gaps: Sequence[Gap],
        others: NDArray[np.floating],
        likelihoods: NDArray[np.floating],
        spelling: Sequence[str],
        count: int,
    ) -> Lattice:
        """Build a lattice of the `count` words at every place with the largest others ·
        likelihood, (n, m) each."""
        count = min(count, others.shape[1])
        words = np.argpartition(-others * likelihoods, count - 1, axis=1)[:, :count]
        with np.errstate(divide="ignore"):
            scores = np.log(np.take_along_axis(likelihoods, words, axis=1).astype(np.float64))
        return cls(gaps, words, scores, spelling)


@dataclass(frozen=True)
class State:
    """Hold what a model has read in k rows.

    Attributes:
        cache: each layer's keys and values.
        mask: (k, length), which of the cache's places count; pieces differ in length.
        lengths: (k,), the number of places that count.
        following: float (k, v), ln p of every next token.
        gained: float (k,), ln p of the last piece, without its first token.
    """

    cache: list[tuple[Any, Any]]
    mask: Any
    lengths: Any
    following: NDArray[np.float32]
    gained: NDArray[np.float64]


class CausalModel:
    """Run a causal language model of transformers. Its tokenizer must read a text word by word,
    each with the blank before it (byte-level BPE: GPT-2, Llama 3, Qwen).

    Args:
        name: `bundled`, or a model on the Hugging Face hub or in a folder.

    Raises:
        MissingPackage: transformers or torch is not installed.
    """

    def __init__(self, name: str) -> None:
        transformers = require_transformers()
        with tempfile.TemporaryDirectory() as folder:
            source = name
            if name == "bundled":
                from extraction.bundled.dequantize import MODEL, write_hf

                write_hf(MODEL, Path(folder))
                source = folder
            self._model: Any = transformers.AutoModelForCausalLM.from_pretrained(source).eval()
            self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(source)

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a piece of text."""
        ids: list[int] = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    def start(self, pieces: Sequence[Sequence[int]]) -> State:
        """Start one row per piece: each reads the token that texts begin with, and its piece,
        which may be empty."""
        first = self._tokenizer.bos_token_id
        first = self._tokenizer.eos_token_id if first is None else first
        return self._read(None, [], [[first, *piece] for piece in pieces])

    def extend(
        self, state: State, rows: Sequence[int], pieces: Sequence[Sequence[int]]
    ) -> tuple[State, NDArray[np.float64]]:
        """Extend rows of a state, each with a piece of one token or more; a row may be extended
        several times. Returns the new state and ln p of every piece, (k,)."""
        read = self._read(state, rows, pieces)
        return read, read.gained + state.following[rows, [piece[0] for piece in pieces]]

    def _read(
        self, state: State | None, rows: Sequence[int], pieces: Sequence[Sequence[int]]
    ) -> State:
        import torch
        from transformers import DynamicCache

        k, longest = len(pieces), max(map(len, pieces))
        sizes = torch.tensor([len(piece) for piece in pieces])
        tokens = torch.tensor([[*piece, *[0] * (longest - len(piece))] for piece in pieces])
        mask = (torch.arange(longest) < sizes[:, None]).long()
        before = torch.zeros(k, dtype=torch.long)
        past = DynamicCache()
        real = mask
        if state is not None:
            at = torch.tensor(rows)
            before = state.lengths[at]
            mask = torch.cat([state.mask[at], mask], dim=1)
            for layer, (keys, values) in enumerate(state.cache):
                past.update(keys[at], values[at], layer)
        with torch.inference_mode():
            logits = self._model(
                input_ids=tokens,
                attention_mask=mask,
                position_ids=before[:, None] + torch.arange(longest),
                past_key_values=past,
                use_cache=True,
            ).logits
        logs = logits.float().log_softmax(-1)
        steps = logs[:, :-1].gather(2, tokens[:, 1:, None])[..., 0].double()
        return State(
            cache=[(layer.keys, layer.values) for layer in past.layers],
            mask=mask,
            lengths=before + sizes,
            following=logs[torch.arange(k), sizes - 1].numpy(),
            gained=(steps * real[:, 1:]).sum(1).numpy(),
        )


def decode(
    model: CausalModel, lattices: Sequence[Lattice], width: int = WIDTH
) -> list[NDArray[np.integer]]:
    """Find the likeliest words of each text by beam search, (n,), n > 0, with `width`
    hypotheses."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # for steps this small, threads would mostly wait for each other
    try:
        return _decode(model, lattices, width)
    finally:
        torch.set_num_threads(threads)


def _decode(
    model: CausalModel, lattices: Sequence[Lattice], width: int
) -> list[NDArray[np.integer]]:
    spell = lru_cache(maxsize=None)(model.encode)
    beams = [_Beam(lattice, spell, row) for row, lattice in enumerate(lattices)]
    state = model.start([spell(beam.layout(0)) for beam in beams])
    longest = max((len(lattice.gaps) for lattice in lattices), default=0)
    for i in tqdm(range(longest), desc="beam", unit="word", leave=False, disable=None):
        live = [beam for beam in beams if i < len(beam.lattice.gaps)]
        for beam in live:
            beam.score_candidates(i, state.following)
        _finish(model, state, live, width)
        chosen = [choice for beam in live for choice in beam.choose(width)]
        state, gained = model.extend(state, *zip(*chosen, strict=True))
        start = 0
        for beam in live:
            start += beam.move(start, gained)
    return [beam.words[beam.scores.argmax()] for beam in beams]


class _Beam:
    """Hold the hypotheses of one text: their rows of the state, scores (w,) and words (w, i)."""

    def __init__(self, lattice: Lattice, spell: Callable[[str], list[int]], row: int) -> None:
        self.lattice, self._spell = lattice, spell
        self.rows, self.scores = np.array([row]), np.zeros(1)
        self.words: NDArray[np.integer] = np.empty((1, 0), dtype=np.int64)

    def layout(self, i: int) -> str:
        """Return the known layout before word i, without its blank; empty after the last word."""
        return self.lattice.gaps[i].layout if i < len(self.lattice.gaps) else ""

    def score_candidates(self, i: int, following: NDArray[np.float32]) -> None:
        """Score every hypothesis with every candidate, (w, c): exactly where the word is one
        token, by an upper bound where it has several."""
        lattice, gap = self.lattice, self.lattice.gaps[i]
        # Released words are separated, even where the raw text joined them.
        blanks = (" ", "") if gap.apart and not gap.layout else (" " * gap.apart,)
        self._place, self._words = i, np.tile(lattice.words[i], len(blanks))
        self._pieces = [
            self._spell(blank + lattice.spelling[word])
            for blank in blanks
            for word in lattice.words[i]
        ]
        firsts = [piece[0] for piece in self._pieces]
        whole = np.array([len(piece) == 1 for piece in self._pieces])
        self._without = self.scores[:, None] + np.tile(
            lattice.scores[i], len(blanks)
        )  # the model's share is added later
        self.totals = self._without + following[self.rows][:, firsts]
        self._bounds = np.where(whole, -np.inf, self.totals)
        self.totals = np.where(whole, self.totals, -np.inf)

    def list_unread(self, width: int) -> list[tuple[int, list[int], float]]:
        """Return the next words that may still enter the beam, the likeliest first, because their
        scores exclude others. Each comes as the row it follows, its tokens, and the score so
        far."""
        least = (
            np.sort(self.totals, axis=None)[-width:][0] if self.totals.size >= width else -np.inf
        )
        order = np.argsort(-self._bounds, axis=None)[:width]
        self._reading = order[self._bounds.ravel()[order] > least]
        self._bounds.ravel()[self._reading] = -np.inf
        return [
            (self.rows[h], self._pieces[c], self._without[h, c])
            for h, c in zip(*np.divmod(self._reading, self.totals.shape[1]), strict=True)
        ]

    def enter(self, totals: NDArray[np.float64]) -> None:
        """Enter the totals of the words that `list_unread` returned."""
        self.totals.ravel()[self._reading] = totals

    def choose(self, width: int) -> list[tuple[int, list[int]]]:
        """Keep the best hypotheses. Returns for each the row and the tokens to read next: its word
        and the layout after it."""
        best = np.argsort(-self.totals, axis=None, kind="stable")[:width]
        parents, self._kept = np.divmod(
            best[np.isfinite(self.totals.ravel()[best])], self.totals.shape[1]
        )
        self.scores = self._without[parents, self._kept]
        chosen = self._words[self._kept]
        self.words = np.column_stack([self.words[parents], chosen])
        after = self._spell(self.layout(self._place + 1))
        return [
            (self.rows[parent], self._pieces[c] + after)
            for parent, c in zip(parents, self._kept, strict=True)
        ]

    def move(self, start: int, gained: NDArray[np.float64]) -> int:
        """Adopt the model's new rows and scores from `start` on; return the number of rows."""
        count = len(self.scores)
        self.rows = np.arange(start, start + count)
        self.scores = self.scores + gained[start : start + count]
        return count


def _finish(model: CausalModel, state: State, beams: Sequence[_Beam], width: int) -> None:
    """Read the words of several tokens to their ends, as long as any may enter its beam."""
    while any(jobs := [beam.list_unread(width) for beam in beams]):
        rows, pieces, without = zip(*chain.from_iterable(jobs), strict=True)
        read, gained = model.extend(state, rows, [piece[:-1] for piece in pieces])
        last = read.following[np.arange(len(rows)), [piece[-1] for piece in pieces]]
        stops = np.cumsum([len(job) for job in jobs])
        for beam, totals in zip(beams, np.split(without + gained + last, stops[:-1]), strict=True):
            beam.enter(totals)
