"""Find values by the names of their columns and labels: cells of tables, forms, and literals in
what programs read."""

from __future__ import annotations

from perturb.selective.patterns.tables.cells import find_cells, is_header
from perturb.selective.patterns.tables.columns import CELL_TYPES, names_nobody

__all__ = ["CELL_TYPES", "find_cells", "is_header", "names_nobody"]
