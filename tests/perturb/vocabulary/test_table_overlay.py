"""Tables written as what differs from another one: the same to the bit, and damage refused."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiktoken
from numpy.typing import NDArray

from perturb import EmbeddingTable, TableError, Vocabulary, load_table
from perturb.testing.tables import PROVENANCE, random_rows
from perturb.vocabulary.embeddings import (
    ARRAYS,
    BUNDLED_PAPER,
    BUNDLED_TABLE,
    NEW,
    pack,
    save_table,
    table_digest,
    unpack,
)
from perturb.vocabulary.table_build import build_table, normalize_rows
from tests.tables import bundled_table

SIZE = 1500  # 2 of the strings before are on the exclusion list
Pair = tuple[EmbeddingTable, EmbeddingTable]


@pytest.fixture(scope="module")
def pair(encoding: tiktoken.Encoding) -> Pair:
    """One embedding over both vocabularies: the paper's table and the clean one."""
    paper, clean = (Vocabulary(encoding, SIZE, variant) for variant in ("paper", "clean"))
    raw = random_rows(paper, 6, 3)
    at = {word: i for i, word in enumerate(paper.words + paper.others)}
    other = raw[[at[word] for word in clean.words + clean.others]]
    return (
        build_table(paper, raw, provenance=PROVENANCE),
        build_table(clean, other, provenance=PROVENANCE),
    )


@pytest.fixture(scope="module")
def folder(pair: Pair, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the clean table over the paper's. Tests change copies of them."""
    made = tmp_path_factory.mktemp("overlay")
    paper, clean = pair
    save_table(paper, made / BUNDLED_PAPER.name)
    save_table(clean, made / "mine", base=load_table(made / BUNDLED_PAPER.name, "paper"))
    return made


@pytest.fixture
def saved(folder: Path, tmp_path: Path) -> Path:
    """The clean table on disk over the paper's, as a path without suffix."""
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    return tmp_path / "mine"


def arrays_of(table: EmbeddingTable) -> dict[str, NDArray[Any]]:
    return {name: getattr(table, name) for name in ARRAYS}


def rows_of(table: EmbeddingTable, base: EmbeddingTable) -> NDArray[np.uint16]:
    place = {word: i for i, word in enumerate(base.vocabulary.words)}
    return np.array([place.get(word, NEW) for word in table.vocabulary.words], dtype=np.uint16)


@pytest.mark.parametrize("turned", [False, True])
def test_unpack_gives_what_was_packed(pair: Pair, turned: bool) -> None:
    base, table = pair[::-1] if turned else pair
    assert set(table.vocabulary.words) != set(base.vocabulary.words)
    packed = pack(arrays_of(table), arrays_of(base), rows_of(table, base))
    again = unpack(packed, arrays_of(base))
    for name in ARRAYS:
        assert again[name].dtype == arrays_of(table)[name].dtype
        assert (again[name] == arrays_of(table)[name]).all()
    assert len(packed["vectors"]) == len(packed["lists"]) == 2
    assert packed["added"].size < table.neighbours.size / 20


def test_round_trip_over_a_base(pair: Pair, saved: Path) -> None:
    table = load_table(saved)
    for name in ARRAYS:
        assert (getattr(table, name) == getattr(pair[1], name)).all()
    assert table.calibration == pair[1].calibration
    assert table.vocabulary.words == pair[1].vocabulary.words
    side = json.loads(saved.with_suffix(".json").read_text())
    data = saved.with_suffix(".npz").read_bytes()
    assert table.sha256 == side["sha256"] == table_digest(data, side)
    assert side["vocabulary"]["exclusions"] == 1
    assert len(data) < saved.with_name("minilm.npz").stat().st_size / 5


def test_strings_outside_keep_their_nearest_word(bundled: EmbeddingTable) -> None:
    """A string outside both vocabularies maps as before, unless its word is on the list or a
    word that moved up is nearer. Two spellings of one string lie between two words that are
    equally near up to rounding."""
    paper = bundled_table("paper")
    before = {
        word: paper.vocabulary.words[i]
        for word, i in zip(paper.vocabulary.others, paper.nearest, strict=True)
    }
    new = set(bundled.vocabulary.words) - set(paper.vocabulary.words)
    moved = [
        word
        for word, i in zip(bundled.vocabulary.others, bundled.nearest, strict=True)
        if word in before
        and before[word] in bundled.vocabulary.words
        and bundled.vocabulary.words[i] not in new | {before[word]}
    ]
    assert moved == ["gross", "Gross"]


def test_table_of_another_embedding_is_not_packed(pair: Pair, tmp_path: Path) -> None:
    paper, clean = pair
    other = build_table(
        clean.vocabulary, random_rows(clean.vocabulary, 6, 9), provenance=PROVENANCE
    )
    save_table(paper, tmp_path / BUNDLED_PAPER.name)
    with pytest.raises(TableError, match="do not have the same embedding"):
        save_table(other, tmp_path / "mine", base=load_table(tmp_path / "minilm", "paper"))
    assert not (tmp_path / "mine.npz").exists()


def test_rows_are_scaled_and_rounded() -> None:
    rows = normalize_rows(np.array([[3.0, 4.0], [0.0, -2.0]]))
    assert rows.dtype == np.float16
    assert rows.tolist() == [[np.float16(0.6), np.float16(0.8)], [0.0, -1.0]]


@pytest.mark.parametrize(
    ("stem", "asked", "held"),
    [(BUNDLED_TABLE, "paper", "clean"), (BUNDLED_PAPER, "clean", "paper")],
)
def test_table_of_the_other_vocabulary_is_refused(stem: Path, asked: Any, held: str) -> None:
    with pytest.raises(TableError, match=f"made for the vocabulary '{held}', not '{asked}'"):
        load_table(stem, asked)


# Damage


def test_missing_base_is_refused(saved: Path) -> None:
    saved.with_name("minilm.npz").unlink()
    with pytest.raises(TableError, match="both minilm.npz and minilm.json must be there"):
        load_table(saved)


def test_damaged_base_is_refused(saved: Path) -> None:
    path = saved.with_name("minilm.npz")
    data = bytearray(path.read_bytes())
    data[5000] ^= 1
    path.write_bytes(data)
    with pytest.raises(TableError, match=r"minilm.npz or minilm.json is damaged"):
        load_table(saved)


def test_other_base_is_refused(pair: Pair, saved: Path, encoding: tiktoken.Encoding) -> None:
    vocabulary = pair[0].vocabulary
    other = build_table(vocabulary, random_rows(vocabulary, 6, 9), provenance=PROVENANCE)
    save_table(other, saved.with_name("minilm"))
    with pytest.raises(TableError, match="mine was made over another minilm"):
        load_table(saved)


def test_base_with_a_base_is_refused(saved: Path) -> None:
    for suffix in ("npz", "json"):
        shutil.copy(saved.with_suffix(f".{suffix}"), saved.with_name(f"minilm.{suffix}"))
    with pytest.raises(TableError, match="minilm is a base and cannot have one"):
        load_table(saved)


def change(name: str, make: Callable[[NDArray[Any]], NDArray[Any]]) -> Any:
    return lambda arrays: arrays.update({name: make(arrays[name])})


def set_first(value: int) -> Callable[[NDArray[Any]], NDArray[Any]]:
    return lambda array: np.concatenate([np.array([value], dtype=array.dtype), array[1:]])


FAULTS = {
    "rows-short": change("rows", lambda a: a[:-1]),
    "rows-outside": change("rows", set_first(SIZE)),
    "rows-new": change("rows", set_first(NEW)),
    "rows-turned": change("rows", lambda a: a[::-1].copy()),
    "vectors-short": change("vectors", lambda a: a[:-1]),
    "vectors-narrow": change("vectors", lambda a: a[:, :-1]),
    "lists-short": change("lists", lambda a: a[1:]),
    "lists-outside": change("lists", lambda a: a + np.uint16(SIZE)),
    "counts-more": change("counts", lambda a: a + np.uint16(1)),
    "counts-short": change("counts", lambda a: a[:-1]),
    "counts-signed": change("counts", lambda a: -a.astype(np.int64)),
    "places-outside": change("places", lambda a: a + np.uint16(512)),
    "places-first": change("places", lambda a: a * np.uint16(0)),
    "added-short": change("added", lambda a: a[:-1]),
    "added-known": change("added", lambda a: a * np.uint16(0)),
    "spread-other": change("spread", lambda a: a + np.uint16(1)),
    "nearest-outside": change("nearest", lambda a: a + np.uint16(SIZE)),
    "gone": lambda arrays: arrays.pop("places"),
}


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_arrays_that_do_not_fit_are_refused(fault: str, saved: Path) -> None:
    """With the hash made right again: only the named fault is left."""
    npz, note = saved.with_suffix(".npz"), saved.with_suffix(".json")
    with np.load(npz) as file:
        arrays = dict(file)
    FAULTS[fault](arrays)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    side = json.loads(note.read_text())
    side["sha256"] = table_digest(buffer.getvalue(), side)
    npz.write_bytes(buffer.getvalue())
    note.write_text(json.dumps(side))
    with pytest.raises(TableError):
        load_table(saved)
