"""Sanitize the texts of tables that other programs hold: data sets, data frames.

The releases are those of `inferdpt corpus run` for the same secret, mechanism, ids and texts. But
nothing is charged to the ledger.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from perturb import ParameterError
from proxy.config.settings import Limits
from proxy.corpus.inputs.records import ADDED, Columns, make_record, make_table
from proxy.corpus.stage import Recipe, Stage
from proxy.storage.digests import digest
from proxy.storage.opening import state_folder
from proxy.storage.secret import load_secret

__all__ = ["ColumnSanitizer", "build_column_sanitizer", "read_key"]


@dataclass(frozen=True)
class ColumnSanitizer:
    """Sanitize the texts of tables, each process with a stage of its own.

    It is pickled as its settings alone: equal settings give equal bytes, before and after the
    first call, so that caches recognise it. The pickle holds the key.

    Attributes:
        recipe: the sanitizer.
        columns: the columns of texts, ids and owners, and those that are left out.
        key: the key of all draws.
    """

    recipe: Recipe
    columns: Columns
    key: bytes = field(repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.recipe, self.columns, self.key)

    @cached_property
    def _stage(self) -> Stage:
        return Stage(self.recipe.build(), self.key)

    def release(self, texts: Iterable[Any], ids: Iterable[Any], owners: Iterable[Any]) -> pa.Table:
        """Return a row with the columns of `ADDED` for each document. One that cannot be released
        has its `outcome` alone."""
        rows = zip(texts, ids, owners, strict=True)
        columns = self.columns
        records = [make_record("", columns, text, name, owner) for text, name, owner in rows]
        return self._stage(make_table(records)).select(list(ADDED))

    def sanitize(self, table: pa.Table) -> pa.Table:
        """Return a table without the texts and with the columns of `ADDED`.

        Raises:
            ParameterError: a column is missing, or has the name of one that is added.
        """
        columns, names = self.columns, table.column_names
        for option in ("text", "id", "owner"):
            name = getattr(columns, option)
            if name is not None and name not in names:
                raise ParameterError(f"{option}: there is no column {name!r}")
        kept = [name for name in names if name != columns.text and name not in columns.drop]
        for name in kept:
            if name in ADDED:
                raise ParameterError(f"there is a column {name!r}, which is added: drop it")
        given = (_list_values(table, name) for name in (columns.text, columns.id, columns.owner))
        made = self.release(*given)
        result = table.select(kept).replace_schema_metadata()  # it may describe what is gone
        for name in ADDED:
            result = result.append_column(made.schema.field(name), made[name])
        return result


def _list_values(table: pa.Table, name: str | None) -> Sequence[Any]:
    values: list[Any] = [None] * len(table) if name is None else table[name].to_pylist()
    return values


def build_column_sanitizer(
    mechanism: str,
    epsilon: float,
    parameters: Mapping[str, Any],
    columns: Columns,
    key: bytes | None = None,
) -> ColumnSanitizer:
    """Build a sanitizer of columns, and check its parameters by a trial.

    Args:
        mechanism, epsilon, parameters: as `inferdpt corpus run` takes them.
        columns: `id` must be set: noise is drawn for an id and a text.
        key: the key of all draws, 32 bytes or more; None takes `read_key()`.

    Raises:
        PerturbError: a parameter breaks its rule.
        ConfigError: there is no secret.
    """
    if columns.id is None:
        raise ParameterError("id must name a column: noise is drawn for an id and a text")
    if key is not None and len(key) < 32:
        raise ParameterError(f"key must have >= 32 bytes, got {len(key)}")
    sorted_parameters = dict(sorted(parameters.items()))
    recipe = Recipe(mechanism, epsilon, sorted_parameters, max_tokens=Limits().document_tokens)
    made = ColumnSanitizer(recipe, columns, read_key() if key is None else key)
    made.release([], [], [])
    return made


def read_key() -> bytes:
    """Return the key that `inferdpt corpus run` draws with: of $INFERDPT_SECRET, else of the file
    `secret` in the state's folder.

    Raises:
        ConfigError: there is no secret.
    """
    return digest(load_secret(Path(state_folder(None), "secret"), create=False), "corpus")
