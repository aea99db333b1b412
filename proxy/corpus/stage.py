"""Sanitize a block of records: the one step of a run that every engine spreads over processes.

A document's noise is a keyed function of the store's secret, the sanitizer, and the document's id
and text (HMAC-SHA-256 keys AES-128 in counter mode). A document that is drawn again, after a crash
or in another run, gets the same release, so nothing more is revealed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from perturb import (
    DocumentOptions,
    PerturbError,
    Resources,
    Sanitizer,
    keyed_generator,
    load_table,
    sanitizer_class,
)
from perturb.release import Link
from perturb.vocabulary.vocabulary import Variant
from perturb.work import remember_texts
from proxy.corpus.inputs.records import OURS
from proxy.storage.digests import digest, find_channel
from proxy.storage.ledger import price

__all__ = ["RESULT", "Recipe", "Stage"]

REASONS = {
    "DocumentTooLong": "the text has more tokens than limits.document_tokens",
    "ExpressionTimeout": "an expression of the operator ran out of time on the text",
    "RefusedPart": "the text holds a part of a type whose action is refuse",
    "ReleaseError": "the check before the release failed",
}
# A document's outcome: its receipt, and its price (see `proxy.storage.ledger.Price`).
RESULT = pa.schema(
    [
        ("released", pa.large_string()),
        ("epsilon", pa.float64()),
        ("epsilon_nominal", pa.float64()),
        ("unit", pa.string()),
        ("mechanism", pa.string()),
        ("outcome", pa.string()),
        (f"{OURS}reason", pa.string()),
        (f"{OURS}key", pa.binary(32)),
        (f"{OURS}tokens", pa.int64()),
        (f"{OURS}unbounded", pa.int64()),
        (f"{OURS}proved", pa.float64()),
        (f"{OURS}nominal", pa.float64()),
        (f"{OURS}count", pa.int64()),
        (f"{OURS}each", pa.float64()),
        (f"{OURS}narrow", pa.bool_()),
    ]
)
TRIAL = "A trial of the sanitizer, on a public sentence."


@dataclass(frozen=True)
class Recipe:
    """Hold what a sanitizer is built from, in each worker.

    Attributes:
        mechanism, epsilon, parameters: name it.
        table: path of the embedding table; None is the bundled one.
        vocabulary: of the bundled table.
        options: the treatment of tokens outside the vocabulary.
        max_tokens: longer documents, in cl100k tokens, are refused.
    """

    mechanism: str
    epsilon: float = 6.0
    parameters: Mapping[str, Any] = field(default_factory=dict)
    table: str | None = None
    vocabulary: Variant = "clean"
    options: DocumentOptions = field(default_factory=DocumentOptions)
    max_tokens: int | None = None

    def build(self) -> Sanitizer:
        """Build the sanitizer, and release a public sentence with it, which warms it up.

        Raises:
            PerturbError: a parameter breaks its rule, a file cannot be loaded, or the sanitizer
                needs a server.
        """
        kind = sanitizer_class(self.mechanism)
        parameters = kind.check_parameters(epsilon=self.epsilon, **self.parameters)
        table = load_table(self.table, self.vocabulary)
        made = kind.build(
            parameters, Resources(table=table, options=self.options, max_tokens=self.max_tokens)
        )
        made.verify(TRIAL, made.perturb(TRIAL))
        return made


class Stage:
    """Sanitize blocks of records. Build it once in a process.

    Args:
        sanitizer: releases the documents.
        key: the key of all draws. Whoever has it and a document's id can test a guess of its
            text against the release.
    """

    def __init__(self, sanitizer: Sanitizer, key: bytes) -> None:
        self._sanitizer = sanitizer
        self._key = key
        self._channel = find_channel(sanitizer)

    def __call__(self, records: pa.Table) -> pa.Table:
        """Return the table with the columns of `RESULT` in the place of texts and problems."""
        given = (records[OURS + name].to_pylist() for name in ("text", "id", "owner", "problem"))
        rows = [self._release(*row) for row in zip(*given, strict=True)]
        result = pa.Table.from_pylist(rows, RESULT)
        for name in ("text", "problem"):
            records = records.drop_columns(OURS + name)
        for column in result.schema:
            records = records.append_column(column, result[column.name])
        return records

    def _release(
        self, text: str | None, id: str, owner: str, problem: str | None
    ) -> dict[str, Any]:
        """Return the values of `RESULT` for a document; the rest is null."""
        if text is None:
            kind, _, reason = (problem or "").partition(": ")
            return {"outcome": kind, f"{OURS}reason": reason}
        key = digest(self._key, "draw", self._channel, id, text)
        try:
            with remember_texts():
                made = self._sanitizer.perturb(text, keyed_generator(key), link=self._link(owner))
                self._sanitizer.verify(text, made)
        except PerturbError as exc:
            kind = type(exc).__name__
            return _fail(kind, key)
        except Exception:  # of a plug-in, say: its message may hold the text
            return _fail("Failed", key)
        cost = price(self._sanitizer, made)
        receipt = made.receipt
        proved = receipt.epsilon_per_document
        row = {
            "released": made.text,
            "epsilon": proved if math.isfinite(proved) else None,
            "epsilon_nominal": receipt.epsilon_nominal,
            "unit": receipt.unit,
            "mechanism": receipt.mechanism,
            "outcome": "released",
            f"{OURS}key": key,
            f"{OURS}tokens": cost.tokens,
            f"{OURS}unbounded": cost.unbounded,
            f"{OURS}proved": cost.proved,
            f"{OURS}nominal": cost.nominal,
            f"{OURS}count": cost.count,
        }
        if cost.channel is not None:
            row[f"{OURS}each"] = cost.channel.epsilon
            row[f"{OURS}narrow"] = cost.channel.bounded_range
        return row

    def _link(self, owner: str) -> Link:
        """Return the noise of an entity by its raw text: the same in all texts of an owner, so
        that many texts are no better for averaging than one."""

        def generator(entity: str) -> np.random.Generator:
            return keyed_generator(digest(self._key, "entity", self._channel, owner, entity))

        return generator


def _fail(kind: str, key: bytes) -> dict[str, Any]:
    reason = REASONS.get(kind, "the sanitizer failed on the text")
    return {"outcome": kind, f"{OURS}reason": reason, f"{OURS}key": key}
