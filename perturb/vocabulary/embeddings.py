"""The embedding table: one file of arrays, and a JSON file that describes them.

`NAME.npz` holds the arrays that the mechanisms need; `NAME.json` holds their SHA-256, the
vocabulary they were made for, the model, its licence and the date. Everything in the files is
public. A table may be stored without its lists of nearest words, which are then computed from its
vectors (perturb.vocabulary.neighbours), or as its difference from another table beside it, its
base: two vocabularies that share nearly all words share nearly all vectors and lists. `pack` keeps
the part of a table that its base lacks; `unpack` restores the table, to the bit.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import zipfile
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.errors import TableError
from perturb.files import write_atomically
from perturb.vocabulary.neighbours import find_neighbours
from perturb.vocabulary.table import EmbeddingTable
from perturb.vocabulary.vocabulary import Variant
from perturb.vocabulary.words import load_vocabulary

__all__ = [
    "ARRAYS",
    "BUNDLED_PAPER",
    "BUNDLED_TABLE",
    "BUNDLED_WORDS",
    "EmbeddingTable",
    "check_table",
    "load_table",
    "pack",
    "save_table",
    "table_digest",
    "unpack",
]

ARRAYS = {  # name → (dtype, number of axes)
    "vectors": (np.float16, 2),
    "neighbours": (np.uint16, 2),
    "nearest": (np.uint16, 1),
    "spread": (np.uint16, 2),
    "radius": (np.float64, 1),
}


def check_table(table: EmbeddingTable) -> None:
    """Check every array of a table, its diameter and its calibration.

    Raises:
        TableError: one of them breaks its rule; the message says which.
    """
    for name, (dtype, axes) in ARRAYS.items():
        array = getattr(table, name)
        if array.dtype != dtype or array.ndim != axes:
            raise TableError(
                f"array {name!r} must be {np.dtype(dtype).name} with {axes} axes, "
                f"got {array.dtype} with {array.ndim}"
            )
        if 0 in array.shape:
            raise TableError(f"array {name!r} is empty")
    points = dict(table.calibration)
    if not {"2", "6", "10", "14"} <= set(points) or not all(
        math.isfinite(z) and z > 0 for z in points.values()
    ):
        raise TableError("the calibration must give z > 0 at ε = 2, 6, 10 and 14")
    if not (math.isfinite(table.diameter) and table.diameter > 0):
        raise TableError(f"the diameter must be > 0 and finite, got {table.diameter}")
    m = len(table.vocabulary)
    for name in ("vectors", "neighbours", "spread"):
        if len(getattr(table, name)) != m:
            raise TableError(f"array {name!r} must have one row for each of the {m} words")
    if len(table.nearest) != len(table.vocabulary.others):
        raise TableError("array 'nearest' must have one entry for each word outside V")
    if not np.isfinite(table.vectors).all() or not np.isfinite(table.radius).all():
        raise TableError("the table holds values that are not finite numbers")
    if (table.nearest >= m).any() or (table.neighbours >= m).any():
        raise TableError("the table points at words outside V")
    _check_lists(table)
    if (table.spread.sum(axis=1, dtype=np.int64) != m - 1).any():
        raise TableError("a row of 'spread' does not count every other word once")
    if not (table.radius > 0).all() or (np.diff(table.radius) < 0).any():
        raise TableError("array 'radius' must be positive and ascending")


def _check_lists(table: EmbeddingTable) -> None:
    """Check that every list of nearest words begins with its word and names no word twice."""
    words = table.vocabulary.words
    astray = np.flatnonzero(table.neighbours[:, 0] != np.arange(len(words)))
    if len(astray):
        x = int(astray[0])
        raise TableError(
            f"the list of {words[x]!r} must begin with the word itself, it begins with "
            f"{words[table.neighbours[x, 0]]!r}"
        )
    ordered = np.sort(table.neighbours, axis=1)
    again = np.argwhere(ordered[:, 1:] == ordered[:, :-1])
    if len(again):
        x, y = int(again[0, 0]), int(ordered[tuple(again[0])])
        raise TableError(
            f"the list of {words[x]!r} names {words[y]!r} twice: it is not a permutation"
        )


Arrays = Mapping[str, NDArray[Any]]
NEW = np.iinfo(np.uint16).max  # in place of a row number: the base does not have this word


def pack(table: Arrays, base: Arrays, rows: NDArray[np.uint16]) -> dict[str, NDArray[Any]]:
    """Return the arrays that `unpack` needs beside `base` to restore the arrays of `table`.

    Args:
        table, base: the arrays of two tables (`perturb.vocabulary.embeddings.ARRAYS`).
        rows: uint16 (m,), the row of the base that each word of the table has; NEW for none.

    Raises:
        TableError: the two tables were made from different embeddings.
    """
    old = rows != NEW
    lists = table["neighbours"][old]
    known = _rename(base["neighbours"], rows)
    added = np.array([~np.isin(row, own) for row, own in zip(lists, known, strict=True)])
    difference = table["spread"].copy()
    difference[old] -= base["spread"][rows[old]]  # modulo 2^16, so exact for either sign
    packed = {
        "rows": rows,
        "vectors": table["vectors"][~old],
        "lists": table["neighbours"][~old],
        "counts": added.sum(axis=1, dtype=np.uint16),
        "places": np.nonzero(added)[1].astype(np.uint16),
        "added": lists[added],
        "nearest": table["nearest"],
        "spread": difference,
        "radius": table["radius"],
    }
    again = unpack(packed, base)
    if any(again[name].tobytes() != table[name].tobytes() for name in again):
        raise TableError("the table and its base do not have the same embedding")
    return packed


def unpack(packed: Arrays, base: Arrays) -> dict[str, NDArray[Any]]:
    """Return the arrays of the table that was packed.

    Raises:
        IndexError, ValueError: the arrays do not fit each other.
    """
    rows, counts = packed["rows"], packed["counts"]
    old = rows != NEW
    own = rows[old]
    width = base["neighbours"].shape[1]
    if not len(packed["vectors"]) == len(packed["lists"]) == len(rows) - len(own):
        raise ValueError("there must be one vector and one list for each word beyond the base")
    vectors = np.empty((len(rows), base["vectors"].shape[1]), dtype=np.float16)
    vectors[old], vectors[~old] = base["vectors"][own], packed["vectors"]

    lists = _rename(base["neighbours"], rows)
    kept = lists != NEW
    kept &= np.cumsum(kept, axis=1, dtype=np.uint16) <= (width - counts)[:, None]
    added = np.zeros(lists.shape, dtype=np.bool_)
    added[np.repeat(np.arange(len(own)), counts), packed["places"]] = True
    merged = np.empty_like(lists)
    merged[added], merged[~added] = packed["added"], lists[kept]
    neighbours = np.empty((len(rows), width), dtype=np.uint16)
    neighbours[old], neighbours[~old] = merged, packed["lists"]

    spread = packed["spread"].copy()
    spread[old] += base["spread"][own]
    return {
        "vectors": vectors,
        "neighbours": neighbours,
        "nearest": packed["nearest"],
        "spread": spread,
        "radius": packed["radius"],
    }


def _rename(lists: NDArray[np.uint16], rows: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """Return the base's lists of the words that both tables have, renumbered to the places in the
    table; NEW for words that the table does not have."""
    old = rows != NEW
    names = np.full(NEW + 1, NEW, dtype=np.uint16)
    names[rows[old]] = np.flatnonzero(old)
    return np.asarray(names[lists[rows[old]]])


BUNDLED_PAPER = Path(__file__).parents[1] / "data" / "minilm"  # V exactly as InferDPT has it
BUNDLED_TABLE = BUNDLED_PAPER.with_name("minilm-clean")  # an overlay of it
BUNDLED_WORDS = BUNDLED_PAPER.with_name("minilm-words")  # without its lists
BUNDLED: dict[Variant, Path] = {
    "clean": BUNDLED_TABLE,
    "paper": BUNDLED_PAPER,
    "words": BUNDLED_WORDS,
}
FORMAT = 1
COMPUTED = "computed"  # the lists of nearest words of a table that is stored without them
# The errors of NumPy, zipfile and plain indexing on a malformed file.
_UNREADABLE = (
    AttributeError,
    EOFError,
    IndexError,
    KeyError,
    OverflowError,
    TypeError,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
)


def load_table(
    path: str | os.PathLike[str] | None = None, vocabulary: Variant = "clean"
) -> EmbeddingTable:
    """Read and verify a table. The bundled ones are read once a process.

    Args:
        path: with or without `.npz`/`.json`; None is the bundled table.
        vocabulary: the variant of V that the table must have been made for.

    >>> load_table().vectors.shape
    (11000, 384)

    Raises:
        TableError: a file is missing, damaged, made for another vocabulary, or its arrays
            do not fit each other.
    """
    if path is None:
        return _load_bundled(vocabulary)
    return _load(Path(path), vocabulary)


@cache
def _load_bundled(vocabulary: Variant) -> EmbeddingTable:
    return _load(BUNDLED[vocabulary], vocabulary)


def _load(path: Path, vocabulary: Variant) -> EmbeddingTable:
    stem = _strip_suffix(path)
    side, arrays = _read(stem)
    try:
        facts = side["vocabulary"]
        variant = _read_variant(facts)
        if variant != vocabulary:
            raise TableError(
                f"{stem.name} was made for the vocabulary {variant!r}, not {vocabulary!r}: set "
                f"`vocabulary: {variant}`, or build it again"
            )
        words = load_vocabulary(variant, int(facts["size"]))
        if facts["sha256"] != words.sha256 or facts.get("list") != words.facts.get("list"):
            raise TableError(f"{stem.name} was made for another vocabulary")
        table = EmbeddingTable(
            vocabulary=words,
            **arrays,
            diameter=float(side["diameter"]),
            calibration={f"{float(k):g}": float(v) for k, v in side["calibration"].items()},
            provenance={str(k): str(v) for k, v in side["provenance"].items()},
            sha256=side["sha256"],
        )
    except _UNREADABLE as exc:
        raise TableError(f"{stem.name} does not hold a complete embedding table") from exc
    check_table(table)
    return table


def save_table(
    table: EmbeddingTable,
    path: str | os.PathLike[str],
    *,
    base: EmbeddingTable | None = None,
    lists: bool = True,
) -> str:
    """Write `path`.npz and `path`.json, each complete or not at all; return the SHA-256.

    Args:
        table: the table to write.
        path: with or without `.npz`/`.json`.
        base: the table beside it named `minilm`; only the difference from it is written.
        lists: whether the lists of nearest words are written; computing them takes seconds at
            every load. A table with a base keeps them.

    Raises:
        TableError: the table breaks a rule, or its embedding is not that of the base.
    """
    check_table(table)
    stem = _strip_suffix(Path(path))
    stem.parent.mkdir(parents=True, exist_ok=True)
    buffer = io.BytesIO()
    arrays = {name: getattr(table, name) for name in ARRAYS}
    side: dict[str, Any] = {
        "format": FORMAT,
        "vocabulary": table.vocabulary.facts,
        "dimension": table.vectors.shape[1],
        "diameter": table.diameter,
        "calibration": dict(table.calibration),
        "provenance": dict(table.provenance),
    }
    if base is None and lists:
        np.savez(buffer, **arrays)
    elif base is None:
        side["lists"] = COMPUTED
        del arrays["neighbours"]
        np.savez_compressed(buffer, **arrays)
    else:
        side["base"] = base.sha256
        place = {word: i for i, word in enumerate(base.vocabulary.words)}
        rows = np.array([place.get(w, NEW) for w in table.vocabulary.words], dtype=np.uint16)
        own = {name: getattr(base, name) for name in ARRAYS}
        packed: dict[str, Any] = pack(arrays, own, rows)
        np.savez_compressed(buffer, **packed)
    data = buffer.getvalue()
    side["sha256"] = table_digest(data, side)
    write_atomically(stem.with_name(stem.name + ".npz"), data)
    write_atomically(
        stem.with_name(stem.name + ".json"), (json.dumps(side, indent=2) + "\n").encode()
    )
    return str(side["sha256"])


def table_digest(data: bytes, side: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the .npz file and of those facts of the side file that shape a
    channel. Tables with the same digest give the same channels.

    >>> side = {"diameter": 1.5, "provenance": {"created": "2026-01-01"}}
    >>> table_digest(b"", side) == table_digest(b"", {"diameter": 1.5})
    True
    """
    facts = {key: side.get(key) for key in ("vocabulary", "diameter", "calibration")}
    if "base" in side:
        facts["base"] = side["base"]
    digest = hashlib.sha256(data)
    digest.update(json.dumps(facts, sort_keys=True).encode())
    return digest.hexdigest()


def _read(stem: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the side file of a table and its arrays, each verified by its SHA-256.

    Raises:
        TableError: as `load_table`.
    """
    try:
        side = json.loads(stem.with_name(stem.name + ".json").read_text("utf-8"))
        data = stem.with_name(stem.name + ".npz").read_bytes()
    except FileNotFoundError as exc:
        raise TableError(
            f"no embedding table at {stem}: both {stem.name}.npz and {stem.name}.json must be "
            "there (`inferdpt table build` makes them)"
        ) from exc
    except (OSError, ValueError) as exc:
        raise TableError(f"cannot read the embedding table at {stem}") from exc
    if not isinstance(side, dict) or side.get("format") != FORMAT:
        raise TableError(f"{stem.name}.json is not an embedding table of format {FORMAT}")
    if table_digest(data, side) != side.get("sha256"):
        raise TableError(
            f"{stem.name}.npz or {stem.name}.json is damaged, or they do not belong together: "
            "the SHA-256 differs"
        )
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            if "base" not in side:
                if side.get("lists") != COMPUTED:
                    return side, {name: file[name] for name in ARRAYS}
                own = {name: file[name] for name in ARRAYS if name != "neighbours"}
                return side, {**own, "neighbours": find_neighbours(own["vectors"])}
            if stem.name == BUNDLED_PAPER.name:
                raise TableError(f"{stem.name} is a base and cannot have one")
            base, arrays = _read(stem.with_name(BUNDLED_PAPER.name))
            if base["sha256"] != side["base"]:
                raise TableError(f"{stem.name} was made over another {BUNDLED_PAPER.name}")
            return side, unpack(file, arrays)
    except (*_UNREADABLE, OSError) as exc:
        raise TableError(f"{stem.name} does not hold a complete embedding table") from exc


def _read_variant(facts: Mapping[str, Any]) -> Variant:
    """Return the variant of V that a table was made for."""
    if "list" in facts:
        return "words"
    return "paper" if facts.get("exclusions") is None else "clean"


def _strip_suffix(path: Path) -> Path:
    return path.with_suffix("") if path.suffix in (".npz", ".json") else path
