"""The bundled table, read once a process: reading and checking it takes longer than most tests."""

from __future__ import annotations

from functools import cache

from perturb import EmbeddingTable, load_table

__all__ = ["bundled_table"]


@cache
def bundled_table() -> EmbeddingTable:
    """Return the bundled table. Tests of reading it call `load_table`."""
    return load_table()
