"""A table stored as its difference from another table, of the same embedding over another V.

Two vocabularies that share nearly all words share nearly all vectors and lists. `pack` keeps the
part of the second table that the first lacks; `unpack` restores the second table, to the bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.errors import TableError

__all__ = ["pack", "unpack"]

Arrays = Mapping[str, NDArray[Any]]
NEW = np.iinfo(np.uint16).max  # in place of a row number: the base does not have this word


def pack(table: Arrays, base: Arrays, rows: NDArray[np.uint16]) -> dict[str, NDArray[Any]]:
    """Return the arrays that `unpack` needs beside `base` to restore the arrays of `table`.

    Args:
        table, base: the arrays of two tables (`perturb.vocabulary.table_check.ARRAYS`).
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
