"""The bundled tables, read once a process: reading and checking one takes longer than a test."""

from __future__ import annotations

from functools import cache

from perturb import EmbeddingTable, load_table
from perturb.vocabulary.vocabulary import Variant

__all__ = ["bundled_table"]


@cache
def bundled_table(vocabulary: Variant = "clean") -> EmbeddingTable:
    """Return the bundled table of a variant of V. Tests of reading it call `load_table`."""
    return load_table(vocabulary=vocabulary)
