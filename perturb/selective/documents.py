"""Release documents with only their marked parts replaced, verify them and cut them into units."""

from __future__ import annotations

from dataclasses import asdict
from functools import cached_property, partial
from typing import Any

import numpy as np

from perturb.release import EMPTY, Guarantee, Known, Link, Perturbation, Unit
from perturb.rng import secure_generator
from perturb.sanitizer import DocumentOptions, Sanitizer
from perturb.selective.marked import MarkingMechanism
from perturb.selective.parts import KnownParts, find_known
from perturb.selective.policies import collect_parts
from perturb.selective.replace import make_text_link, refuse_parts, replace
from perturb.selective.surrogates.dates import SHIFTS, shift_date
from perturb.selective.surrogates.kinds import DATES, PERSONS
from perturb.selective.surrogates.names import name_words
from perturb.selective.values.part import read_value
from perturb.selective.verify import check_replaced, find_secrets
from perturb.units import build_skeleton, split_units
from perturb.vocabulary.frequencies import common_words
from perturb.work import keep_result

__all__ = ["PartByPart"]


class PartByPart(Sanitizer):
    """Replace the parts of documents that a mechanism marks.

    It is not divisible: the sensitive parts of one text depend on the other texts.
    """

    def __init__(
        self,
        mechanism: MarkingMechanism,
        options: DocumentOptions,
        max_tokens: int | None = None,
    ) -> None:
        self.name = mechanism.name
        self.options = options
        self.max_tokens = max_tokens
        self.vocabulary = mechanism.table.vocabulary
        self._marking = mechanism

    @property
    def guarantee(self) -> Guarantee:
        return self._marking.guarantee

    @property
    def restorable(self) -> bool:
        return True

    def identity(self) -> dict[str, Any]:
        return {**self._marking.identity(), **asdict(self.options)}

    def perturb(
        self,
        text: str,
        rng: np.random.Generator | None = None,
        *,
        link: Link | None = None,
        known: Known = EMPTY,
    ) -> Perturbation:
        rng = rng or secure_generator()
        self._check_length(text)
        spans = self._marking.spans(text, known) or ()
        refuse_parts(self._marking, text, spans)
        noise = (link or make_text_link(rng)) if self._marking.consistent else None
        return replace(text, spans, self._marking, self.options, rng, noise, known)

    def _check_length(self, text: str) -> None:
        if not self.vocabulary.fits(text, self.max_tokens):
            self.vocabulary.encode_once(text, at_most=self.max_tokens)

    def verify(self, raw: str, released: Perturbation) -> None:
        if not self._finder:
            self._verify(raw, released)
            return
        texts = raw, released.text, repr((released.words, released.replaced))
        keep_result(partial(self._verify, raw, released), f"verify {self._finder}", *texts)

    def _verify(self, raw: str, released: Perturbation) -> tuple[()]:
        spans = self._marking.spans(raw) or ()
        check_replaced(self._marking, self.options, raw, spans, released)
        return ()

    @cached_property
    def _finder(self) -> str:
        """Return the name of the marks and options; "" if the marks have none."""
        return self._marking.finder and f"{self._marking.finder} {self.options}"

    def units(self, text: str, least: int | None = None) -> list[Unit]:
        self._check_length(text)
        if least is None or text.count("\n") < 2:
            if text.strip() == text != "":
                return [Unit(text)]
            least = None
        return split_units(text, build_skeleton(text), least)

    def findings(self, text: str) -> Known:
        return collect_parts(text, self._marking.spans(text) or ())

    def index_known(self, known: Known) -> Known:
        return KnownParts(known, common_words(self.vocabulary))

    def known_in(self, text: str, known: Known) -> Known:
        if not isinstance(known, KnownParts):
            return find_known(text, known, common_words(self.vocabulary))
        if not self._finder:
            return self._find_known(text, known)

        def find_ranks() -> tuple[int, ...]:
            return known.rank(self._find_known(text, known))

        ranks = keep_result(find_ranks, f"known {self._finder}", text, known.digest)
        return known.choose(ranks)

    def _find_known(self, text: str, known: KnownParts) -> Known:
        found = known.find(text)
        if not self._marking.draws_names:
            return found
        named = [part for part, type_ in found.items() if type_ in PERSONS]
        return {**known.find_full_names(named), **found}

    def secrets(
        self, raw: str, released: Perturbation, *, unrepeatable: bool = False
    ) -> tuple[str, ...]:
        names = name_words() if self._marking.draws_names else frozenset[str]()
        entities = ((part.type, raw[part.start : part.end]) for part in released.replaced or ())
        values = frozenset(entity for type_, entity in entities if self._is_moved(type_, entity))
        return find_secrets(
            self._marking.table,
            raw,
            released,
            unrepeatable=unrepeatable,
            names=names,
            values=values,
        )

    def _is_moved(self, type_: str, entity: str) -> bool:
        """Tell if a part is released as a value or a date of its kind, which may be another's."""
        action = self._marking.action(type_)
        if action == "surrogate":
            return type_ in DATES and shift_date(entity, SHIFTS[0]) is not None
        return action == "value" and read_value(type_, entity) is not None
