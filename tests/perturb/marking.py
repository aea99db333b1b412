"""A perturber of `selective` whose policy marks what a test says."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

from perturb import DocumentOptions, Perturber, Span
from perturb.selective.sanitizer import Selective, SelectiveParameters
from tests.tables import bundled_table

TABLE = bundled_table()
TEXT = (
    "Dear Dr. Müller, the patient Anna Schmidt of 12 Baker Street wrote from "
    "anna.schmidt82@example.com and called +49 (0)30 1234567 on 12 May 2024. Her card is "
    "4095-2609-9393-4932, the account GB82WEST12345698765432, and Anna Schmidt likes tea."
)


def words(actions: Mapping[str, str] = MappingProxyType({}), **more: Any) -> dict[str, Any]:
    """Parameters: what the patterns find, capitalised names among it, every word drawn anew."""
    return {"policy": "regex", **more, "actions": {"*": "replace", **actions}}


WORDS = words()


class Fixed:
    """A policy that marks given parts."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self.spans = tuple(spans)

    def find(self, text: str) -> Sequence[Span]:
        return self.spans


@cache
def built(parameters: SelectiveParameters) -> Perturber:
    return Perturber(Selective(TABLE, parameters))


def selective(**parameters: Any) -> Perturber:
    """Build a perturber that draws words by the patterns, where the parameters do not say."""
    if parameters.get("policy") != "all":
        actions = {"*": "replace", **dict(parameters.get("actions", ()))}
        parameters = {"policy": "regex", **parameters, "actions": tuple(sorted(actions.items()))}
    return built(SelectiveParameters(**parameters))


def fixed(spans: Iterable[Span], options: DocumentOptions | None = None, **more: Any) -> Perturber:
    """A perturber with its own policy: it shares the inner mechanism of `selective`."""
    mechanism = copy.copy(selective(**more).mechanism)
    assert isinstance(mechanism, Selective)
    mechanism._policies = [Fixed(spans)]
    return Perturber(mechanism, options)


def marked(text: str, *parts: str) -> Perturber:
    """A perturber whose policy marks these parts of a text, at their first place."""
    return fixed(Span(text.index(p), text.index(p) + len(p), "X") for p in parts)
