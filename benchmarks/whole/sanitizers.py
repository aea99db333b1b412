"""Build the sanitizers whose releases of whole documents are measured."""

from __future__ import annotations

from functools import lru_cache

from benchmarks.harness.context import Context
from benchmarks.harness.suite import CORPUS
from benchmarks.whole.collections import make_codebook
from perturb import Mechanism, Perturber, Resources, Sanitizer, sanitizer_class
from perturb.release import Guarantee

__all__ = ["build_sanitizer", "draws_words", "list_points", "whole_epsilon"]


def list_points(context: Context) -> list[tuple[str, float]]:
    """Return the label and the ε of every sanitizer that can be built from the run's data."""
    return [
        (subject.label, epsilon)
        for subject, epsilon in context.suite.whole.points
        if context.corpus is not None or subject.parameters.get("codebook") != CORPUS
    ]


@lru_cache(maxsize=2)
def build_sanitizer(context: Context, label: str, epsilon: float) -> Sanitizer:
    """Build the sanitizer of texts that a label names."""
    if draws_words(context, label):
        return Perturber(context.mechanism(label, epsilon))
    subject = context.subject({"mechanism": label})
    parameters = dict(subject.parameters)
    if parameters.get("codebook") == CORPUS:
        parameters["codebook"] = str(make_codebook(context, CORPUS))
    kind = sanitizer_class(subject.mechanism)
    checked = kind.check_parameters(epsilon=epsilon, **parameters)
    return kind.build(checked, Resources(table=context.table))


def draws_words(context: Context, label: str) -> bool:
    """Tell whether a sanitizer draws each word by itself."""
    subject = context.subject({"mechanism": label})
    return issubclass(sanitizer_class(subject.mechanism), Mechanism)


def whole_epsilon(guarantee: Guarantee, words: int) -> float | None:
    """Return the ε that is proved for the replacement of a whole text of so many words; None if
    nothing is."""
    if guarantee.kind == "none":
        return None
    return guarantee.epsilon * (1 if guarantee.unit == "document" else words)
