"""The base of sanitizers that pass documents on to another sanitizer."""

from __future__ import annotations

from abc import abstractmethod
from typing import Literal

import numpy as np

from perturb.release import EMPTY, Known, Link, Perturbation, Unit
from perturb.sanitizer import Marking, Sanitizer

__all__ = ["Delegating"]


class Delegating(Sanitizer):
    """Pass every document on to the sanitizer `_treatment`."""

    @property
    @abstractmethod
    def _treatment(self) -> Sanitizer:
        """Return the sanitizer that treats the documents."""

    @property
    def divisible(self) -> bool:
        return self._treatment.divisible

    @property
    def restorable(self) -> bool:
        return self._treatment.restorable

    @property
    def shows(self) -> Literal["text", "words", "passages"]:
        return self._treatment.shows

    @property
    def marking(self) -> Marking | None:
        return self._treatment.marking

    def perturb(
        self,
        text: str,
        rng: np.random.Generator | None = None,
        *,
        link: Link | None = None,
        known: Known = EMPTY,
    ) -> Perturbation:
        return self._treatment.perturb(text, rng, link=link, known=known)

    def verify(self, raw: str, released: Perturbation) -> None:
        self._treatment.verify(raw, released)

    def units(self, text: str, least: int | None = None) -> list[Unit]:
        return self._treatment.units(text, least)

    def findings(self, text: str) -> Known:
        return self._treatment.findings(text)

    def index_known(self, known: Known) -> Known:
        return self._treatment.index_known(known)

    def known_in(self, text: str, known: Known) -> Known:
        return self._treatment.known_in(text, known)

    def secrets(
        self, raw: str, released: Perturbation, *, unrepeatable: bool = False
    ) -> tuple[str, ...]:
        return self._treatment.secrets(raw, released, unrepeatable=unrepeatable)
