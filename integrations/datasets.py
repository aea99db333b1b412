"""Sanitize a data set of Hugging Face's `datasets`.

    perturb = Perturb("rantext_ldp", epsilon=8, id="note")
    safe = dataset.map(perturb, batched=True)

In a copy of this file, choose another name: as `datasets.py` beside a script it would hide the
package.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from proxy.corpus.columns import build_column_sanitizer
from proxy.corpus.inputs.records import Columns

__all__ = ["Perturb"]


class Perturb:
    """Sanitize batches of a data set, for `Dataset.map(..., batched=True)`.

    The result has the data set's columns without the texts, and those of `inferdpt corpus run`:
    `released`, `epsilon`, `epsilon_nominal`, `unit`, `mechanism`, `outcome`. It can be pickled.
    Equal settings have equal fingerprints, so that `map` finds what it cached.

    Args:
        mechanism: of any sanitizer that needs no local model.
        epsilon: of one unit of the mechanism.
        text: the column of the texts.
        id: the column of the documents' ids, which must be unique and must not change.
        owner: the column of the persons they are about; with `selective`, an entity has one
            replacement in all documents of an owner.
        drop: further columns to leave out.
        key: the key of all draws, 32 bytes or more; None takes the store's secret.
        parameters: the mechanism's own.

    Raises:
        PerturbError: a parameter breaks its rule.
        ConfigError: there is no secret.
    """

    def __init__(
        self,
        mechanism: str = "rantext_ldp",
        *,
        epsilon: float = 6.0,
        text: str = "text",
        id: str = "id",
        owner: str | None = None,
        drop: Sequence[str] = (),
        key: bytes | None = None,
        **parameters: Any,
    ) -> None:
        columns = Columns(text, id, owner, tuple(drop))
        self._sanitizer = build_column_sanitizer(mechanism, epsilon, parameters, columns, key)

    def __call__(self, batch: pa.Table | Mapping[str, Iterable[Any]]) -> pa.Table:
        """Return a batch with its releases and without its texts.

        Args:
            batch: lists by column, or of a data set `.with_format("arrow")` a table, which keeps
                the exact types of other columns.
        """
        if not isinstance(batch, pa.Table):
            batch = pa.table({name: pa.array(list(batch[name])) for name in batch})
        return self._sanitizer.sanitize(batch)
