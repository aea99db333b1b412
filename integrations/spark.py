"""Sanitize a data frame of Spark with a pandas UDF.

    sanitize = make_sanitizer("rantext_ldp", epsilon=8)
    made = frame.withColumn("made", sanitize("text", "note", "patient"))
    safe = made.select("note", "patient", "made.*")

The workers need the packages `inferdpt[corpus]` and `pandas`, and this file.
"""

from __future__ import annotations

from typing import Any

from proxy.corpus.columns import build_column_sanitizer
from proxy.corpus.inputs.records import Columns

__all__ = ["SCHEMA", "make_sanitizer"]

SCHEMA = (
    "released string, epsilon double, epsilon_nominal double, unit string, mechanism string, "
    "outcome string"
)


def make_sanitizer(
    mechanism: str = "rantext_ldp",
    *,
    epsilon: float = 6.0,
    key: bytes | None = None,
    **parameters: Any,
) -> Any:
    """Make a pandas UDF of three columns: text, id and owner.

    It returns a struct of the columns that `inferdpt corpus run` adds.

    Each worker builds the mechanism once for a task. A document that Spark computes again gets the
    same release.

    Args:
        mechanism: of any sanitizer that needs no local model.
        epsilon: of one unit of the mechanism.
        key: the key of all draws, 32 bytes or more; None takes the store's secret. It is sent to
            the workers.
        parameters: the mechanism's own.

    Raises:
        PerturbError: a parameter breaks its rule.
        ConfigError: there is no secret.
    """
    import pandas as pd
    from pyspark.sql.functions import pandas_udf

    columns = Columns("text", "id", "owner")
    sanitizer = build_column_sanitizer(mechanism, epsilon, parameters, columns, key)

    def sanitize(texts: Any, ids: Any, owners: Any) -> Any:
        return sanitizer.release(*map(_list_values, (texts, ids, owners))).to_pandas()

    # Spark reads the kind of UDF from the annotations, which must be types here, not their names.
    series = dict.fromkeys(("texts", "ids", "owners"), pd.Series)
    sanitize.__annotations__ = {**series, "return": pd.DataFrame}
    return pandas_udf(sanitize, SCHEMA)


def _list_values(series: Any) -> list[Any]:
    """Return the values of a series, with None in the place of missing ones."""
    values: list[Any] = series.astype(object).where(series.notna(), None).tolist()
    return values
