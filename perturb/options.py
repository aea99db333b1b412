"""The treatment of the tokens of a document that are not words of V."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from perturb.errors import ParameterError

__all__ = ["DocumentOptions"]


@dataclass(frozen=True, kw_only=True)
class DocumentOptions:
    """Choose the treatment of the tokens that are not in V.

    Attributes:
        oov: `map` replaces a string of letters by its nearest word of V, by a fixed public table,
            and perturbs that word; `drop` removes it (the paper).
        number: `random` draws every digit afresh and keeps their number; `drop` removes them.
        layout: `keep` keeps punctuation, blanks and newlines, which is readable and reveals the
            skeleton of the text; `drop` removes them (the paper).

    >>> DocumentOptions(layout="drop")
    DocumentOptions(oov='map', number='random', layout='drop')
    """

    oov: Literal["map", "drop"] = "map"
    number: Literal["random", "drop"] = "random"
    layout: Literal["keep", "drop"] = "keep"

    def __post_init__(self) -> None:
        rules = {"oov": ("map", "drop"), "number": ("random", "drop"), "layout": ("keep", "drop")}
        for field in fields(self):
            if getattr(self, field.name) not in rules[field.name]:
                raise ParameterError(f"{field.name} must be one of {', '.join(rules[field.name])}")
