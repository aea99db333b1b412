"""Damage texts the way a remote model that saw scrambled words would."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bundled.corpus import split_sentences
from perturb import DocumentOptions, EmbeddingTable, Mechanism, Perturber, get_mechanism
from perturb.mechanisms.base import Draw, Words
from perturb.release import Guarantee

__all__ = ["Damager"]

# The mechanisms whose channel keeps enough to learn from at these ε, and how often each is drawn.
MECHANISMS: tuple[tuple[str, dict[str, str], int], ...] = (
    ("rantext", {}, 3),
    ("rantext_ldp", {}, 3),
    ("rantext_ldp", {"shape": "knn"}, 1),
    ("rantext_ldp", {"shape": "random_k"}, 1),
    ("custext", {}, 1),
)
EPSILONS = ((3.0, 1), (6.0, 2), (8.0, 2), (10.0, 3), (14.0, 1))
DRAWS_PER_WORD = 4  # how many releases of every word are drawn beforehand
LONGEST_RUN = 6  # words replaced or left alone together


class _Pooled(Mechanism):
    """Replay releases that another mechanism drew beforehand.

    Training needs millions of draws; a draw for each text would compute the same distances
    again and again. It is not registered, because it offers no privacy.
    """

    name = "pooled"
    summary = "replays draws"

    def __init__(self, inner: Mechanism, rng: np.random.Generator) -> None:
        super().__init__(inner.table, inner.parameters)
        self.inner = inner
        every = np.repeat(np.arange(len(inner.table), dtype=np.int32), DRAWS_PER_WORD)
        self.pool = inner.draw(every, rng).words.reshape(-1, DRAWS_PER_WORD)

    @property
    def guarantee(self) -> Guarantee:
        return self.inner.guarantee

    def draw(self, words: Words, rng: np.random.Generator) -> Draw:
        return Draw(self.pool[words, rng.integers(DRAWS_PER_WORD, size=len(words))])

    def channel(self, words: Words) -> tuple[NDArray[np.float64], float]:
        return self.inner.channel(words)

    def keep_rate(self, words: Words) -> NDArray[np.float64]:
        return self.inner.keep_rate(words)


class Damager:
    """Perturb prefixes and damage continuations with the project's own mechanisms."""

    def __init__(self, table: EmbeddingTable, rng: np.random.Generator) -> None:
        self.rng = rng
        layouts: list[Literal["keep", "drop"]] = ["keep", "keep", "keep", "drop"]
        self.perturbers = [
            Perturber(pooled, DocumentOptions(layout=layout))
            for name, parameters, often in MECHANISMS
            for epsilon, as_often in EPSILONS
            for pooled in [_Pooled(get_mechanism(name, table, epsilon=epsilon, **parameters), rng)]
            for layout in layouts
            for _ in range(often * as_often)
        ]

    def perturb(self, text: str) -> str:
        """Return the text as a remote receives it: every word through a mechanism chosen at
        random."""
        chosen = self.perturbers[self.rng.integers(len(self.perturbers))]
        return chosen.perturb(text, self.rng).text

    def damage(self, text: str, foreign: list[str]) -> str:
        """Return the text as a remote might have written it; `foreign` are sentences it might
        contain.

        The result ranges from undamaged (the remote guessed right) to entirely foreign (it guessed
        wrong).
        """
        kind = self.rng.random()
        if kind < 0.07:
            damaged = text
        elif kind < 0.14:
            damaged = " ".join(foreign)
        elif kind < 0.60:
            damaged = self.perturb(text)
        elif kind < 0.74:
            damaged = self._scramble_some(text)
        elif kind < 0.86:
            damaged = self._rearrange(text, foreign)
        else:
            damaged = self._rearrange(self._scramble_some(text), foreign)
        if self.rng.random() < 0.4:  # a remote that ran into its token limit
            words = damaged.split(" ")
            damaged = " ".join(words[: max(8, int(len(words) * self.rng.uniform(0.5, 1)))])
        return damaged.strip() or " ".join(foreign)

    def _scramble_some(self, text: str) -> str:
        """Pass a random share of the words, in short runs, through a mechanism."""
        share, words, out, at = self.rng.uniform(0.05, 0.9), text.split(" "), [], 0
        chosen = self.perturbers[self.rng.integers(len(self.perturbers))]
        while at < len(words):
            run = " ".join(words[at : at + int(self.rng.integers(1, LONGEST_RUN + 1))])
            at += run.count(" ") + 1
            out.append(chosen.perturb(run, self.rng).text if self.rng.random() < share else run)
        return " ".join(out)

    def _rearrange(self, text: str, foreign: list[str]) -> str:
        """Drop sentences, sometimes shuffle the rest, and insert foreign ones between them."""
        keep = self.rng.uniform(0.4, 1)
        kept = [s for s in split_sentences(text) if self.rng.random() < keep]
        if self.rng.random() < 0.5:
            self.rng.shuffle(kept)
        for sentence in foreign:
            if self.rng.random() < 0.4:
                kept.insert(int(self.rng.integers(len(kept) + 1)), sentence)
        return " ".join(kept)
