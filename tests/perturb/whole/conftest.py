"""A small encoder and a small codebook, made for the tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from perturb.whole.build import build_codebook
from perturb.whole.codebook import Codebook, load_codebook
from perturb.whole.encoder import StaticEncoder, load_static, read_tokens, save_static

SUBJECTS = ("river boat water", "engine wheel road", "bread oven flour", "court judge law")
PASSAGES = [
    f"Note {i} is about the {' and the '.join(subject.split())}."
    for i in range(40)
    for subject in SUBJECTS
]


@pytest.fixture(scope="session")
def encoder(tmp_path_factory) -> StaticEncoder:
    """Knows the subjects' words, in four directions; nothing else has a vector."""
    path: Path = tmp_path_factory.mktemp("encoder") / "toy.npz"
    rows = {}
    for axis, subject in enumerate(SUBJECTS):
        for token in read_tokens(subject).tolist():
            rows[token] = np.eye(8)[axis] + 0.1 * np.eye(8)[4 + axis % 4]
    save_static(path, np.array(list(rows)), np.array(list(rows.values())), np.full(8, 0.01))
    return load_static(path)


@pytest.fixture(scope="session")
def codebook(encoder, tmp_path_factory) -> Codebook:
    path: Path = tmp_path_factory.mktemp("codebook") / "toy.codebook"
    build_codebook(PASSAGES, path, encoder, licence="CC0", source="made for the tests")
    return load_codebook(path)
