"""Tables shared by the tests of the perturbation layer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import tiktoken

from perturb import EmbeddingTable, Vocabulary, load_table
from perturb.table_build import build_table
from perturb.vocabulary import load_encoding
from tests.perturb.random_embeddings import PROVENANCE, random_rows


@pytest.fixture(scope="session")
def encoding() -> tiktoken.Encoding:
    return load_encoding()


@pytest.fixture(scope="session")
def vocabulary(bundled: EmbeddingTable) -> Vocabulary:
    """V at its default size."""
    return bundled.vocabulary


@pytest.fixture(scope="session")
def bundled() -> EmbeddingTable:
    return load_table()


@pytest.fixture(scope="session")
def toy(encoding: tiktoken.Encoding) -> EmbeddingTable:
    """600 words in 8 dimensions: larger than the table of nearest words, so there is a tail."""
    vocabulary = Vocabulary(encoding, 600)
    return build_table(vocabulary, random_rows(vocabulary, 8, 1), provenance=PROVENANCE)


@pytest.fixture(scope="session")
def small(encoding: tiktoken.Encoding) -> EmbeddingTable:
    """60 words in 4 dimensions, for references that take their time."""
    vocabulary = Vocabulary(encoding, 60)
    return build_table(vocabulary, random_rows(vocabulary, 4, 8), provenance=PROVENANCE)


@pytest.fixture(scope="session")
def lattice(encoding: tiktoken.Encoding) -> EmbeddingTable:
    """560 words on 80 directions: every word shares its vector with others, and ties abound."""
    vocabulary = Vocabulary(encoding, 560)
    rows = len(vocabulary) + len(vocabulary.others)
    embeddings = np.random.default_rng(2).integers(-1, 2, (rows, 4)).astype(np.float64)
    embeddings[~embeddings.any(axis=1)] = 1.0
    return build_table(vocabulary, embeddings, provenance=PROVENANCE)


@pytest.fixture(scope="session")
def skewed(encoding: tiktoken.Encoding) -> EmbeddingTable:
    """600 words in 8 dimensions that vary 12 times as much along one axis as along another."""
    vocabulary = Vocabulary(encoding, 600)
    rows = random_rows(vocabulary, 8, 6) * np.geomspace(1, 12, 8)
    return build_table(vocabulary, rows, provenance=PROVENANCE)


@pytest.fixture(scope="session")
def pair(encoding: tiktoken.Encoding) -> EmbeddingTable:
    """The smallest V there can be: two words."""
    vocabulary = Vocabulary(encoding, 2)
    return build_table(vocabulary, random_rows(vocabulary, 3, 3), provenance=PROVENANCE)


@pytest.fixture(scope="session")
def tables(
    bundled: EmbeddingTable,
    toy: EmbeddingTable,
    lattice: EmbeddingTable,
    skewed: EmbeddingTable,
    pair: EmbeddingTable,
) -> Callable[[str], EmbeddingTable]:
    """A table by its name, for parametrised tests."""
    found = {"bundled": bundled, "toy": toy, "lattice": lattice, "skewed": skewed, "pair": pair}
    return found.__getitem__
