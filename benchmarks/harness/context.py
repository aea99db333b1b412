"""The context that experiments share: data, table, mechanisms, and the seed of every draw."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.datasets import Sample, digest, read_samples
from benchmarks.harness.records import Case
from benchmarks.harness.suite import Subject, Suite
from benchmarks.metrics.encoders import (
    Encoder,
    TokenEncoder,
    load_feature_encoder,
    load_sentence_encoder,
    load_token_encoder,
    memoize,
)
from perturb import (
    EmbeddingTable,
    Mechanism,
    TokenClass,
    get_mechanism,
    load_table,
    seeded_generator,
)
from perturb.audit.channel import Forms

__all__ = ["Context", "Release"]

MECHANISMS = 4  # built at a time


@dataclass(frozen=True)
class Release:
    """Hold the words of one text as places in V and the release of each: int (n,) both."""

    raw: NDArray[np.int32]
    released: NDArray[np.int32]


class Context:
    """Provide everything that experiments share; each part is made once, on first use.

    Args:
        suite: the configuration to measure.
        data: the folder of the sets, `<name>.jsonl`.
        corpus: xz-compressed JSONL of public text for the attackers' language models; None
            leaves out the experiments that need it.
        folder: of the run; generated texts are kept there.
        authors: JSONL of texts with their authors; None leaves out author identification.
    """

    def __init__(
        self,
        suite: Suite,
        data: Path,
        corpus: Path | None,
        folder: Path,
        *,
        authors: Path | None = None,
    ) -> None:
        self.suite, self.data, self.corpus, self.folder = suite, data, corpus, folder
        self.authors = authors
        self.samples = lru_cache(maxsize=None)(self._samples)
        self.releases = lru_cache(maxsize=None)(self._releases)
        self.mechanism = lru_cache(maxsize=MECHANISMS)(self._mechanism)
        self.prefix_tokens = lru_cache(maxsize=None)(self._prefix_tokens)
        self.encoder = lru_cache(maxsize=None)(_load_encoder)

    @cached_property
    def data_digest(self) -> str:
        """Return the SHA-256 of all data files, the corpus and the authors' texts included."""
        files = [self.data / f"{name}.jsonl" for name in self.suite.datasets]
        return digest([*files, *(path for path in (self.corpus, self.authors) if path)])

    @cached_property
    def table(self) -> EmbeddingTable:
        """Return the bundled embedding table."""
        return load_table()

    @cached_property
    def forms(self) -> Forms:
        """Return V grouped by form up to case: a guess in another case counts as right."""
        return Forms(self.table.vocabulary.words)

    @cached_property
    def encode(self) -> Encoder:
        """Return the suite's sentence encoder."""
        return self.encoder(self.suite.encoder)

    @cached_property
    def features(self) -> Encoder:
        """Return the encoder of the features that the suite's MAUVE clusters."""
        same = self.suite.features == self.suite.encoder == "minilm"
        return self.encode if same else memoize(load_feature_encoder(self.suite.features))

    @cached_property
    def token_vectors(self) -> TokenEncoder:
        """Return the encoder of the token vectors that the suite's BERTScore compares."""
        return load_token_encoder(self.suite.tokens)

    def rng(self, *parts: object) -> np.random.Generator:
        """Return a generator that depends on the suite's seed and `parts`, not earlier draws."""
        text = json.dumps([self.suite.seed, *map(str, parts)])
        return seeded_generator(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]))

    def _samples(self, dataset: str) -> list[Sample]:
        return read_samples(self.data / f"{dataset}.jsonl")

    def _prefix_tokens(self, dataset: str) -> list[NDArray[np.float32]]:
        """Return `token_vectors` of the answered prefixes of a set."""
        return self.token_vectors([s.prefix for s in self.samples(dataset)[: self.suite.answers]])

    def subject(self, case: Case) -> Subject:
        """Return the subject whose label a case names."""
        known = (*self.suite.subjects, *self.suite.whole.subjects)
        return next(s for s in known if s.label == case["mechanism"])

    def _mechanism(self, label: str, epsilon: float) -> Mechanism:
        subject = self.subject({"mechanism": label})
        return get_mechanism(subject.mechanism, self.table, epsilon=epsilon, **subject.parameters)

    def words(self, text: str) -> NDArray[np.int32]:
        """Return the words of a text that are in V, as places in V: int (n,). A string outside V
        is perturbed as its nearest word, so an attacker on V cannot name it."""
        vocabulary = self.table.vocabulary
        tokens = vocabulary.encode(text)
        is_word = vocabulary.classes[tokens] == TokenClass.WORD
        return np.asarray(vocabulary.index[tokens[is_word]], dtype=np.int32)

    def _releases(
        self, label: str, epsilon: float, dataset: str, *, draw: int = 0
    ) -> list[Release]:
        """Release each of the attacked prefixes of a set once; another `draw` is fresh noise."""
        mechanism = self.mechanism(label, epsilon)
        rng = self.rng("release", label, epsilon, dataset, draw)
        raw = [self.words(s.prefix) for s in self.samples(dataset)[: self.suite.texts]]
        lengths = np.cumsum([len(words) for words in raw])
        drawn = mechanism.draw(np.concatenate(raw), rng).words
        pieces = np.split(drawn, lengths[:-1])
        return [Release(words, piece) for words, piece in zip(raw, pieces, strict=True)]


def _load_encoder(name: str) -> Encoder:
    """Return a sentence encoder that encodes each text once."""
    return memoize(load_sentence_encoder(name))
