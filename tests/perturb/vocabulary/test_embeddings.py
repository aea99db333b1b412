"""Reading and writing tables: a round trip, and every kind of damage refused."""

from __future__ import annotations

import dataclasses
import io
import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiktoken

from perturb import EmbeddingTable, TableError, load_table
from perturb.vocabulary.embeddings import (
    ARRAYS,
    BUNDLED_PAPER,
    BUNDLED_TABLE,
    save_table,
    table_digest,
)

Side = dict[str, Any]
Arrays = dict[str, np.ndarray]


@pytest.fixture
def saved(toy: EmbeddingTable, tmp_path: Path) -> Path:
    """The toy table on disk, as a path without suffix."""
    save_table(toy, tmp_path / "toy")
    return tmp_path / "toy"


def rewrite(
    stem: Path,
    side: Callable[[Side], Any] = lambda side: None,
    arrays: Callable[[Arrays], Any] = lambda arrays: None,
    raw: Callable[[bytes], bytes] | None = None,
) -> None:
    """Change the files and make the hash right again: only the named fault is left."""
    npz, note = stem.with_name(stem.name + ".npz"), stem.with_name(stem.name + ".json")
    with np.load(npz) as file:
        held = dict(file)
    arrays(held)
    buffer = io.BytesIO()
    np.savez(buffer, **held)
    data = buffer.getvalue()
    data = raw(data) if raw else data
    npz.write_bytes(data)
    said = json.loads(note.read_text())
    side(said)
    said["sha256"] = table_digest(data, said)
    note.write_text(json.dumps(said))


def test_round_trip_keeps_everything(toy: EmbeddingTable, tmp_path: Path) -> None:
    digest = save_table(toy, tmp_path / "deep" / "er" / "toy")
    table = load_table(tmp_path / "deep" / "er" / "toy")
    for name in ARRAYS:
        one, other = getattr(toy, name), getattr(table, name)
        assert one.dtype == other.dtype
        assert (one == other).all()
    assert table.diameter == toy.diameter
    assert table.calibration == toy.calibration
    assert table.provenance == toy.provenance
    assert table.vocabulary.words == toy.vocabulary.words
    file = (tmp_path / "deep" / "er" / "toy.npz").read_bytes()
    side = json.loads((tmp_path / "deep" / "er" / "toy.json").read_text())
    assert table.sha256 == digest == side["sha256"] == table_digest(file, side)
    assert len(table) == 600


@pytest.mark.parametrize("suffix", ["", ".npz", ".json"])
def test_path_may_name_either_file(suffix: str, saved: Path) -> None:
    assert len(load_table(f"{saved}{suffix}")) == 600


def test_name_may_hold_dots(toy: EmbeddingTable, tmp_path: Path) -> None:
    save_table(toy, tmp_path / "toy.v1.2")
    assert sorted(os.listdir(tmp_path)) == ["toy.v1.2.json", "toy.v1.2.npz"]
    assert len(load_table(tmp_path / "toy.v1.2")) == 600


def test_saving_twice_gives_the_same_hash(toy: EmbeddingTable, tmp_path: Path) -> None:
    assert save_table(toy, tmp_path / "one") == save_table(toy, tmp_path / "two")


def test_bundled_table_says_where_it_comes_from(bundled: EmbeddingTable) -> None:
    assert len(bundled) == 11_000
    assert bundled.vectors.shape == (11_000, 384)
    assert bundled.neighbours.shape == (11_000, 512)
    assert set(bundled.provenance) == {"model", "licence", "created"}
    assert bundled.provenance["model"] == "sentence-transformers/all-MiniLM-L6-v2"
    assert bundled.provenance["licence"] == "Apache-2.0"
    for stem in (BUNDLED_TABLE, BUNDLED_PAPER):
        side = json.loads(stem.with_name(f"{stem.name}.json").read_text())
        assert side["vocabulary"]["encoding"] == "cl100k_base"
        assert side["dimension"] == 384


def test_distances_are_euclidean(toy: EmbeddingTable) -> None:
    wide = toy.vectors.astype(np.float64)
    for word in (0, 299, 599):
        expected = [float(np.linalg.norm(row - wide[word])) for row in wide]
        assert toy.distances(word) == pytest.approx(expected, abs=1e-12)
        assert toy.distances(word)[word] == 0.0


def test_distances_of_pairs_and_their_bounds(toy: EmbeddingTable) -> None:
    listed = toy.neighbours.astype(int)
    for word in (0, 300, 599):
        plain = toy.distances(word)
        exact = toy.pair_squares(np.full(600, word), np.arange(600), np.float64)
        single = toy.pair_squares(np.full(600, word), np.arange(600), np.float32)
        assert exact == pytest.approx(plain**2, abs=1e-12)
        assert single == pytest.approx(plain**2, abs=1e-6)
        near = toy.near.shape[1]
        assert toy.near[word] == pytest.approx(plain[listed[word, :near]], abs=1e-12)
        rest = np.setdiff1d(np.arange(600), listed[word])
        assert (np.abs(single - exact) <= toy.pair_error).all()
        for square in (exact, single):
            assert (np.sqrt(square[listed[word, near:]]) >= toy.farther[word, 0]).all()
            assert (np.sqrt(square[rest]) >= toy.farther[word, 1]).all()
            assert (square[listed[word]] <= toy.listed_squares[word]).all()
        assert toy.lists(np.full(600, word), np.arange(600)).nonzero()[0].tolist() == sorted(
            listed[word]
        )
        counts = toy.count_nearer(np.full(3, word), np.array([0.0, toy.diameter, 99.0]))
        assert counts.tolist() == [1, 600, 600]


def test_spans_are_the_ranges_of_the_columns(toy: EmbeddingTable) -> None:
    columns = toy.vectors.astype(np.float64).T
    assert toy.spans.tolist() == [max(column) - min(column) for column in columns]


# Damage


@pytest.mark.parametrize("suffix", ["npz", "json"])
def test_missing_file_is_refused(suffix: str, saved: Path) -> None:
    saved.with_name(f"toy.{suffix}").unlink()
    with pytest.raises(TableError, match=r"no embedding table at .*both toy.npz and toy.json"):
        load_table(saved)


def test_folder_in_place_of_a_file_is_refused(saved: Path) -> None:
    saved.with_name("toy.npz").unlink()
    saved.with_name("toy.npz").mkdir()
    with pytest.raises(TableError, match="cannot read the embedding table"):
        load_table(saved)


@pytest.mark.parametrize("place", [0, 100, 5000, -1])
def test_flipped_byte_is_refused(place: int, saved: Path) -> None:
    path = saved.with_name("toy.npz")
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    with pytest.raises(TableError, match="SHA-256 differs"):
        load_table(saved)


def test_truncated_file_is_refused(saved: Path) -> None:
    path = saved.with_name("toy.npz")
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(TableError, match="SHA-256 differs"):
        load_table(saved)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[:-100],
        lambda data: data[: len(data) // 2],
        lambda data: b"",
        lambda data: b"PK\x03\x04 not a zip file",
        lambda data: b"something else entirely",
        lambda data: data[:3000] + bytes(200) + data[3200:],
    ],
    ids=["short", "half", "empty", "looks-like-zip", "foreign", "zeroed"],
)
def test_unreadable_archive_with_a_right_hash_is_refused(
    change: Callable[[bytes], bytes], saved: Path
) -> None:
    rewrite(saved, raw=change)
    with pytest.raises(TableError, match="toy does not hold a complete embedding table"):
        load_table(saved)


def test_single_array_file_is_refused(saved: Path) -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.ones(3))
    rewrite(saved, raw=lambda data: buffer.getvalue())
    with pytest.raises(TableError, match="does not hold a complete embedding table"):
        load_table(saved)


def test_pickled_array_is_refused(saved: Path) -> None:
    rewrite(saved, arrays=lambda a: a.update(radius=np.array([{}, []], dtype=object)))
    with pytest.raises(TableError, match="does not hold a complete embedding table"):
        load_table(saved)


@pytest.mark.parametrize("name", sorted(ARRAYS))
def test_foreign_archive_is_refused(name: str, saved: Path) -> None:
    rewrite(saved, arrays=lambda arrays: arrays.pop(name))
    with pytest.raises(TableError, match="does not hold a complete embedding table"):
        load_table(saved)


@pytest.mark.parametrize("text", ["[]", '"table"', "3", "null", "{}", '{"format": 2}'])
def test_other_json_is_refused(text: str, saved: Path) -> None:
    saved.with_name("toy.json").write_text(text)
    with pytest.raises(TableError, match=r"toy.json is not an embedding table of format 1"):
        load_table(saved)


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe\x00", b"not json"])
def test_broken_json_is_refused(data: bytes, saved: Path) -> None:
    saved.with_name("toy.json").write_bytes(data)
    with pytest.raises(TableError, match="cannot read the embedding table at"):
        load_table(saved)


@pytest.mark.parametrize("key", ["vocabulary", "diameter", "calibration", "provenance"])
@pytest.mark.parametrize("value", [None, "many", [], "missing"])
def test_incomplete_json_is_refused(key: str, value: Any, saved: Path) -> None:
    def change(side: Side) -> None:
        side.pop(key) if value == "missing" else side.update({key: value})

    rewrite(saved, side=change)
    with pytest.raises(TableError, match="toy does not hold a complete embedding table"):
        load_table(saved)


@pytest.mark.parametrize("size", [0, 1, 54_123, "x", None, float("inf")])
def test_impossible_vocabulary_size_is_refused(size: Any, saved: Path) -> None:
    rewrite(saved, side=lambda side: side["vocabulary"].update(size=size))
    with pytest.raises(TableError, match="toy does not hold a complete embedding table"):
        load_table(saved)


@pytest.mark.parametrize("change", [{"size": 599}, {"sha256": "0" * 64}, {"sha256": None}])
def test_other_vocabulary_is_refused(change: Side, saved: Path) -> None:
    rewrite(saved, side=lambda side: side["vocabulary"].update(change))
    with pytest.raises(TableError, match="toy was made for another vocabulary"):
        load_table(saved)


@pytest.mark.parametrize(
    "change",
    [
        {"calibration": {}},
        {"calibration": {"2": 3.0}},
        {"calibration": {"2": 3.0, "6": 3.1, "10": 3.2, "fourteen": 3.3}},
        {"calibration": {"2": math.nan, "6": 3.1, "10": 3.2, "14": 3.3}},
        {"calibration": {"2": 3.0, "6": -3.1, "10": 3.2, "14": 3.3}},
        {"diameter": math.nan},
        {"diameter": math.inf},
        {"diameter": -1.0},
        {"diameter": 0.0},
    ],
    ids=str,
)
def test_useless_numbers_are_refused(change: Side, saved: Path) -> None:
    rewrite(saved, side=lambda side: side.update(change))
    with pytest.raises(TableError):
        load_table(saved)


def set_value(name: str, place: Any, value: Any) -> Callable[[Arrays], None]:
    def change(arrays: Arrays) -> None:
        arrays[name][place] = value

    return change


def replace(name: str, make: Callable[[Any], Any]) -> Callable[[Arrays], None]:
    return lambda arrays: arrays.update({name: make(arrays[name])})


FAULTS = {
    "vectors-dtype": (
        replace("vectors", lambda a: a.astype(np.float32)),
        "array 'vectors' must be float16 with 2 axes, got float32",
    ),
    "neighbours-dtype": (
        replace("neighbours", lambda a: a.astype(np.int64)),
        "array 'neighbours' must be uint16",
    ),
    "radius-axes": (
        replace("radius", lambda a: a[:, None]),
        "array 'radius' must be float64 with 1 axes, got float64 with 2",
    ),
    "vectors-short": (
        replace("vectors", lambda a: a[:-1]),
        "array 'vectors' must have one row for each of the 600 words",
    ),
    "neighbours-short": (replace("neighbours", lambda a: a[:-1]), "array 'neighbours' must have"),
    "spread-long": (
        replace("spread", lambda a: np.vstack([a, a[:1]])),
        "array 'spread' must have one row",
    ),
    "nearest-short": (replace("nearest", lambda a: a[1:]), "array 'nearest' must have one entry"),
    "vector-nan": (set_value("vectors", (3, 3), np.nan), "not finite"),
    "vector-inf": (set_value("vectors", (3, 3), np.inf), "not finite"),
    "radius-nan": (set_value("radius", 3, np.nan), "not finite"),
    "radius-zero": (set_value("radius", 0, 0.0), "'radius' must be positive and ascending"),
    "radius-empty": (replace("radius", lambda a: a[:0]), "'radius'"),
    "neighbours-empty": (replace("neighbours", lambda a: a[:, :0]), "'neighbours'"),
    "vectors-empty": (replace("vectors", lambda a: a[:, :0]), "'vectors'"),
    "radius-order": (set_value("radius", 9, 1e-9), "'radius' must be positive and ascending"),
    "nearest-outside": (set_value("nearest", 0, 600), "points at words outside V"),
    "neighbours-outside": (set_value("neighbours", (0, 5), 600), "points at words outside V"),
    "neighbours-twice": (
        set_value("neighbours", (7, 5), 7),
        "names 'H' twice: it is not a permutation",
    ),
    "neighbours-first": (
        lambda arrays: (
            arrays["neighbours"][9, :2].sort()
            or arrays.update(neighbours=arrays["neighbours"][:, ::-1])
        ),
        "must begin with the word itself",
    ),
    "spread-sum": (set_value("spread", (0, 0), 5000), "does not count every other word once"),
}


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_arrays_that_do_not_fit_are_refused(fault: str, saved: Path) -> None:
    change, said = FAULTS[fault]
    rewrite(saved, arrays=change)
    with pytest.raises(TableError) as caught:
        load_table(saved)
    assert said in str(caught.value)


def test_unsound_table_is_not_saved(toy: EmbeddingTable, tmp_path: Path) -> None:
    broken = dataclasses.replace(toy, neighbours=toy.neighbours[:, ::-1])
    with pytest.raises(TableError, match="begin with the word itself"):
        save_table(broken, tmp_path / "toy")
    assert os.listdir(tmp_path) == []


def test_load_makes_no_files(saved: Path, encoding: tiktoken.Encoding) -> None:
    before = sorted(os.listdir(saved.parent))
    load_table(saved)
    assert sorted(os.listdir(saved.parent)) == before == ["toy.json", "toy.npz"]
