"""The embedding table: one file of arrays beside a JSON file that says what they are.

`NAME.npz` holds what the mechanisms need and `NAME.json` its SHA-256, the vocabulary it was
made for, the model, its licence and the date. Everything in the file is public.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.errors import TableError
from perturb.vocabulary import Vocabulary, load_encoding

__all__ = [
    "BUNDLED_TABLE",
    "EmbeddingTable",
    "load_table",
    "save_table",
    "table_digest",
    "write_atomically",
]

BUNDLED_TABLE = Path(__file__).parent / "data" / "minilm"
FORMAT = 1
# What NumPy, zipfile and plain indexing raise over a file of another shape.
_UNREADABLE = (
    AttributeError,
    EOFError,
    KeyError,
    OverflowError,
    TypeError,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
)
ARRAYS = {  # name → (dtype, number of axes)
    "vectors": (np.float16, 2),
    "neighbours": (np.uint16, 2),
    "nearest": (np.uint16, 1),
    "spread": (np.uint16, 2),
    "radius": (np.float64, 1),
}


@dataclass(frozen=True, eq=False)
class EmbeddingTable:
    """φ over V, and what is computed from φ once.

    With m = |V|, d the dimension, h = min(512, m):

    Attributes:
        vocabulary: the V that the rows stand for.
        vectors: float16 (m, d), φ, rows of length one up to rounding.
        neighbours: uint16 (m, h), row x: x itself, then the nearest words by exact distance,
            ties by rank (MECHANISMS: σ_x cut at h).
        nearest: uint16 (len(vocabulary.others),), the nearest word of V for every other
            string of letters: the public out-of-vocabulary map.
        spread: uint16 (m, bins), how many other words lie in each of `bins` equal distance
            bands of [0, diameter] around x.
        radius: float64 (q,), the quantiles (i + ½)/q of S = ‖(Δ_j E_j)_j‖, E_j standard
            exponential: RANTEXT's radius is S / z(ε).
        diameter: the largest distance between two words, rounded up.
        calibration: z at each target ε, see `perturb.rantext`.
        provenance: model, licence, created.
        sha256: the table's digest, see `table_digest`; empty for one that was never saved.
    """

    vocabulary: Vocabulary
    vectors: NDArray[np.float16]
    neighbours: NDArray[np.uint16]
    nearest: NDArray[np.uint16]
    spread: NDArray[np.uint16]
    radius: NDArray[np.float64]
    diameter: float
    calibration: Mapping[str, float]
    provenance: Mapping[str, str] = field(default_factory=dict)
    sha256: str = ""

    def __len__(self) -> int:
        return len(self.vectors)

    @cached_property
    def distance_factor(self) -> NDArray[np.float32]:
        """The columns (φ(y), 1, ‖φ(y)‖²), float32 (d + 2, m): a row (−2φ(x), ‖φ(x)‖², 1) times
        it is d(x, ·)²."""
        m, d = self.vectors.shape
        factor = np.empty((d + 2, m), dtype=np.float32)  # filled in place: it is the large one
        factor[:d] = self.vectors.T
        factor[d] = 1.0
        factor[d + 1] = np.einsum("ij,ij->j", factor[:d], factor[:d])
        return factor

    @cached_property
    def wide(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """φ and ‖φ(x)‖² in double precision, float64 (m, d) and (m,)."""
        vectors = self.vectors.astype(np.float64)
        return vectors, np.einsum("ij,ij->i", vectors, vectors)

    def distances(self, word: int) -> NDArray[np.float64]:
        """d(x, y) for every y of V, float64 (m,), in double precision."""
        difference = self.vectors.astype(np.float64) - self.vectors[word].astype(np.float64)
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", difference, difference)))

    @cached_property
    def spans(self) -> NDArray[np.float64]:
        """Δ_j = max φ_j − min φ_j, float64 (d,) (InferDPT, Algorithm 2)."""
        highest, lowest = self.vectors.max(axis=0), self.vectors.min(axis=0)
        return np.asarray(highest.astype(np.float64) - lowest.astype(np.float64))


def load_table(path: str | os.PathLike[str] = BUNDLED_TABLE) -> EmbeddingTable:
    """Read and verify a table; `path` with or without `.npz`/`.json`.

    Raises:
        TableError: a file is missing, damaged, made for another vocabulary, or its arrays
            do not fit each other.
    """
    stem = _stem(Path(path))
    try:
        side = json.loads(stem.with_name(stem.name + ".json").read_text("utf-8"))
        data = stem.with_name(stem.name + ".npz").read_bytes()
    except FileNotFoundError as exc:
        raise TableError(
            f"no embedding table at {stem}: both {stem.name}.npz and {stem.name}.json must be "
            "there (`inferdpt embeddings build` makes them)"
        ) from exc
    except (OSError, ValueError) as exc:
        raise TableError(f"cannot read the embedding table at {stem}") from exc
    if not isinstance(side, dict) or side.get("format") != FORMAT:
        raise TableError(f"{stem.name}.json is not an embedding table of format {FORMAT}")
    digest = table_digest(data, side)
    if digest != side.get("sha256"):
        raise TableError(
            f"{stem.name}.npz or {stem.name}.json is damaged, or they do not belong together: "
            "the SHA-256 differs"
        )
    try:
        vocabulary = Vocabulary(load_encoding(), int(side["vocabulary"]["size"]))
        if side["vocabulary"]["sha256"] != vocabulary.sha256:
            raise TableError(f"{stem.name} was made for another vocabulary")
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays = {name: file[name] for name in ARRAYS}
        table = EmbeddingTable(
            vocabulary=vocabulary,
            **arrays,
            diameter=float(side["diameter"]),
            calibration={f"{float(k):g}": float(v) for k, v in side["calibration"].items()},
            provenance={str(k): str(v) for k, v in side["provenance"].items()},
            sha256=digest,
        )
    except (*_UNREADABLE, OSError) as exc:
        raise TableError(f"{stem.name} does not hold a complete embedding table") from exc
    _check(table)
    return table


def save_table(table: EmbeddingTable, path: str | os.PathLike[str]) -> str:
    """Write `path`.npz and `path`.json, each complete or not at all; return the SHA-256."""
    _check(table)
    stem = _stem(Path(path))
    stem.parent.mkdir(parents=True, exist_ok=True)
    buffer = io.BytesIO()
    np.savez(buffer, **{name: getattr(table, name) for name in ARRAYS})
    data = buffer.getvalue()
    side: dict[str, Any] = {
        "format": FORMAT,
        "vocabulary": {
            "encoding": table.vocabulary.encoding.name,
            "size": len(table),
            "sha256": table.vocabulary.sha256,
        },
        "dimension": table.vectors.shape[1],
        "diameter": table.diameter,
        "calibration": dict(table.calibration),
        "provenance": dict(table.provenance),
    }
    side["sha256"] = table_digest(data, side)
    write_atomically(stem.with_name(stem.name + ".npz"), data)
    write_atomically(
        stem.with_name(stem.name + ".json"), (json.dumps(side, indent=2) + "\n").encode()
    )
    return str(side["sha256"])


def table_digest(data: bytes, side: Mapping[str, Any]) -> str:
    """SHA-256 over the .npz file and those facts of the side file that shape a channel: tables
    of one digest give the same channels."""
    facts = {key: side.get(key) for key in ("vocabulary", "diameter", "calibration")}
    digest = hashlib.sha256(data)
    digest.update(json.dumps(facts, sort_keys=True).encode())
    return digest.hexdigest()


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file complete or not at all: a temporary file beside it, then a rename."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name + ".")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _stem(path: Path) -> Path:
    return path.with_suffix("") if path.suffix in (".npz", ".json") else path


def _check(table: EmbeddingTable) -> None:
    """Refuse arrays of the wrong type, shape or content."""
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
    """Every list of nearest words begins with its word and names no word twice."""
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
            f"the list of {words[x]!r} names {words[y]!r} twice: it is no permutation"
        )
