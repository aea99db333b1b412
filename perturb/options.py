"""Choose how documents are treated: the tokens outside V, and what a key or a request asks for
beyond the configuration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Literal

from perturb.errors import ParameterError

__all__ = ["Demands", "DocumentOptions"]


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

    @property
    def reveals(self) -> tuple[str, ...]:
        """Return the facts about a text that every word-by-word release shows, whatever is drawn:
        its skeleton, which no ε covers.

        >>> DocumentOptions(layout="drop", number="drop").reveals
        ('how many words the text has',)
        """
        out = ["how many words the text has"]
        if self.layout == "keep":
            out.append("punctuation, blanks and line breaks, verbatim and in place")
        if self.number == "random":
            out.append("where numbers stand and how many digits they have")
        return tuple(out)


@dataclass(frozen=True, kw_only=True)
class Demands:
    """The options of a key or a request beyond the configuration. None of them marks less.

    Attributes:
        actions: pairs of a type of marked parts, or `*`, and an action that is not weaker, see
            `perturb.selective.actions`.
        deny: terms that are always marked.
        thresholds: pairs of a type and the probability from which the detector marks it, too.
    """

    actions: tuple[tuple[str, str], ...] = ()
    deny: tuple[str, ...] = ()
    thresholds: tuple[tuple[str, float], ...] = ()

    @classmethod
    def of(
        cls,
        actions: Mapping[str, str] | None,
        deny: Iterable[str] | None,
        thresholds: Mapping[str, float] | None,
    ) -> Demands:
        """Build demands from mappings and a list; None asks for nothing."""
        return cls(
            actions=tuple(sorted((actions or {}).items())),
            deny=tuple(deny or ()),
            thresholds=tuple(sorted((thresholds or {}).items())),
        )

    def only(self, name: str) -> Demands:
        """Return one of the attributes alone."""
        return Demands(**{name: getattr(self, name)})

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the attributes that ask for something."""
        return tuple(each.name for each in fields(self) if getattr(self, each.name))
