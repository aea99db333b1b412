"""The lists of nearest words against a plain sort of exact distances."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from perturb import TableError, load_table
from perturb.testing.tables import PROVENANCE, load_test_table, random_rows
from perturb.vocabulary.embeddings import save_table
from perturb.vocabulary.neighbours import GRID, NEIGHBOURS, find_neighbours, round_rows
from perturb.vocabulary.table_build import build_table_from_rows, normalize_rows
from perturb.vocabulary.words import load_vocabulary
from tests.tables import bundled_table


def sort_plainly(vectors: NDArray[np.float16], x: int) -> list[int]:
    """Return every word by exact integer distance from x; x first, ties by rank."""
    wide = vectors.astype(np.longdouble)  # in 64 bits every sum here is exact
    squares = ((wide - wide[x]) ** 2).sum(axis=1).tolist()
    return sorted(range(len(vectors)), key=lambda y: (y != x, squares[y], y))


@pytest.mark.parametrize("name", ["toy", "lattice", "pair", "small"])
@pytest.mark.parametrize("rounded", [False, True])
def test_lists_are_those_of_a_plain_sort(name: str, rounded: bool) -> None:
    vectors = load_test_table(name).vectors
    vectors = round_rows(vectors) if rounded else vectors
    lists = find_neighbours(vectors)
    assert lists.shape == (len(vectors), min(NEIGHBOURS, len(vectors)))
    for x in range(0, len(vectors), 97):
        assert lists[x].tolist() == sort_plainly(vectors, x)[: lists.shape[1]]


def test_bundled_words_are_on_the_grid_and_their_lists_exact() -> None:
    table = bundled_table("words")
    steps = table.vectors.astype(np.float64) * GRID
    assert (steps == np.rint(steps)).all()
    assert np.linalg.norm(table.vectors.astype(np.float64), axis=1) == pytest.approx(1, abs=5e-3)
    wide = steps.astype(np.int64)
    for x in (0, 1, 4321, 10_999):
        squares = ((wide - wide[x]) ** 2).sum(axis=1)
        squares[x] = -1
        nearest = np.lexsort((np.arange(11_000), squares))
        assert table.neighbours[x].tolist() == nearest[:512].tolist()


def test_table_without_lists_is_read_with_them(tmp_path: Path) -> None:
    words = load_vocabulary("words", 600)
    rows = round_rows(normalize_rows(random_rows(words, 8, 3)))
    table = build_table_from_rows(words, rows, provenance=PROVENANCE)
    save_table(table, tmp_path / "whole")
    save_table(table, tmp_path / "lean", lists=False)
    assert (tmp_path / "lean.npz").stat().st_size < (tmp_path / "whole.npz").stat().st_size
    for name in ("whole", "lean"):
        read = load_table(tmp_path / name, "words")
        assert (read.neighbours == table.neighbours).all()
        assert (read.spread == table.spread).all()
    save_table(load_test_table("toy"), tmp_path / "toy")
    with pytest.raises(TableError, match="set `vocabulary: clean`"):
        load_table(tmp_path / "toy", "words")
