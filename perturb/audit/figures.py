"""The figures of an audit, and the facts that every audit states about its mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.display import show_rows
from perturb.errors import ParameterError
from perturb.mechanisms.base import Mechanism
from perturb.release import format_lower, format_upper
from perturb.vocabulary.frequencies import unigram_prior

__all__ = [
    "PRIORS",
    "Audit",
    "Figure",
    "WorstWords",
    "describe_mechanism",
    "entropy",
    "prior_of",
    "state_guarantee",
]

PRIORS = ("uniform", "unigram")


@dataclass(frozen=True)
class Figure:
    """A figure and the interval that it lies in. The ends are equal if the figure is exact up
    to the rounding of double precision; the upper end is ∞ if there is no upper bound.

    >>> print(Figure(0.5, 0.5, 0.5), Figure.within(0.5, 0.01), Figure(6.2, 6.2, math.inf))
    0.5 0.5 ± 0.01 >= 6.2
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        """Write `0.52`, `0.52 ± 0.01`, `>= 0.52`, `<= 0.52` or `0.3 to 0.5`, in four digits."""
        if math.isinf(self.low):
            return "∞"
        if self.high - self.low <= 1e-6:
            return f"{self.value:.4g}"
        if math.isinf(self.high):
            return f">= {format_lower(self.low, 4)}"
        if self.low == 0 and self.value in (0, self.high):
            return f"<= {format_upper(self.high, 4)}"
        if self.value == self.low:
            return f"{self.low:.4g} to {self.high:.4g}"
        error = max(self.high - self.value, self.value - self.low)
        return f"{self.value:.4g} ± {error:.2g}"

    @classmethod
    def within(
        cls, value: float, error: float, low: float = 0.0, high: float = math.inf
    ) -> Figure:
        """Return value ± error, clipped to the range from `low` to `high`."""
        return cls(value, max(low, value - error), min(high, value + error))


@dataclass(frozen=True)
class WorstWords:
    """Name the words that need the largest ε: y is most likely from x and least likely from
    `other`."""

    x: str
    other: str
    y: str


@dataclass(frozen=True, kw_only=True)
class Audit:
    """The figures of one channel under one prior; probabilities are per released token.

    Attributes:
        mechanism, parameters, table: the subject of the audit.
        vocabulary: the words of V, in a sentence.
        words: |V|.
        prior: the distribution of x, `uniform` or `unigram` (the bundled corpus counts).
        method: how the figures were computed.
        kind, unit, epsilon_nominal, epsilon_proved: of the mechanism's own guarantee.
        statement: the guarantee and the finding, in one sentence.
        epsilon: the smallest ε for which the channel is ε-LDP; `low` is the proved lower bound.
        worst: the words that need that ε.
        delta: the smallest δ for which the channel is (nominal ε, δ)-LDP.
        pairs: the number of ordered pairs of words behind `slope` and the lower end of `delta`.
        slope: metric mechanisms: the largest |ln P(y|x)/P(y|x')|/d(x, x') over those pairs, to
            compare with the nominal ε.
        kept, kept_forms: probability that the word itself is released; the word in any case.
        bayes, bayes_forms: success of the best guess of x from y, exact and up to case.
        prior_best, prior_best_forms: success of the best guess without y.
        information: I(X; Y) in bits.
        entropy_x, entropy_channel: H(X), H(Y | X) in bits.
        posterior: the largest P(x | y) over all x and y.
        cosine: mean cosine of φ(x) and φ(y).
        sizes: quantiles over x of the number of words that can be released.
        notes: remarks that a reader needs beside the figures.
        kept_by_word: P(x | x) by word, float64 (m,); empty where it was sampled.
    """

    mechanism: str
    parameters: dict[str, Any]
    table: str
    vocabulary: str
    words: int
    prior: str
    method: str
    kind: str
    unit: str
    epsilon_nominal: float
    epsilon_proved: float
    statement: str
    epsilon: Figure
    worst: WorstWords | None
    delta: Figure
    pairs: int
    slope: float | None
    kept: Figure
    kept_forms: Figure
    bayes: Figure
    bayes_forms: Figure
    prior_best: float
    prior_best_forms: float
    information: Figure
    entropy_x: float
    entropy_channel: Figure | None
    posterior: Figure | None
    cosine: Figure
    sizes: dict[str, int]
    notes: tuple[str, ...]
    kept_by_word: NDArray[np.float64] = field(repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the audit ready for JSON; an infinite number becomes the string "infinity"."""
        out: dict[str, Any] = {}
        for name in (f.name for f in fields(self) if f.name != "kept_by_word"):
            value = getattr(self, name)
            if isinstance(value, (Figure, WorstWords)):
                value = {f.name: getattr(value, f.name) for f in fields(value)}
                out[name] = {key: _name_infinity(number) for key, number in value.items()}
            else:
                out[name] = list(value) if isinstance(value, tuple) else _name_infinity(value)
        return out

    def rows(self) -> list[tuple[str, str]]:
        """Return the figures for a reader: names and values in order; empty rows divide groups."""
        settings = ", ".join(
            f"{key} = {_shorten(value)}" for key, value in self.parameters.items()
        )
        proved = "∞" if math.isinf(self.epsilon_proved) else format_upper(self.epsilon_proved)
        rows: list[tuple[str, object]] = [
            ("mechanism", f"{self.mechanism} ({settings})"),
            ("words", f"{self.words:,}, prior {self.prior}"),
            ("vocabulary", self.vocabulary),
            ("method", self.method),
            ("", ""),
            ("ε asked for", f"{self.epsilon_nominal:g} per {self.unit}"),
            ("ε proved", proved),
            ("smallest ε", self.epsilon),
        ]
        if self.worst:
            pair = f"{self.worst.x!r} against {self.worst.other!r}, seeing {self.worst.y!r}"
            rows.append(("  needed for", pair))
        rows += [("δ at ε asked for", self.delta)]
        if self.delta.low < self.delta.high:
            rows.append(("  from below by", f"{self.pairs:,} pairs of words"))
        if self.slope is not None:
            slope = f">= {self.slope:.4g} over {self.pairs:,} pairs of words"
            rows.append(("ε per unit distance", slope))
        guess, forms = self.prior_best, self.prior_best_forms
        rows += [
            ("", ""),
            ("word kept", self.kept),
            ("  in any case", self.kept_forms),
            ("word guessed", f"{self.bayes}   (without looking {guess:.4g})"),
            ("  up to case", f"{self.bayes_forms}   (without looking {forms:.4g})"),
            ("information", f"{self.information} bits of {self.entropy_x:.4g}"),
        ]
        if self.entropy_channel:
            rows.append(("entropy of the release", f"{self.entropy_channel} bits"))
        if self.posterior:
            sure = self.posterior
            known = "" if sure.low == sure.high else f" ({sure.low:.2g} to {sure.high:.2g})"
            rows.append(("largest posterior", f"{sure.value:.4g}{known}"))
        rows.append(("mean cosine", self.cosine))
        if self.sizes:
            sizes = ", ".join(f"{key} {value:,}" for key, value in self.sizes.items())
            rows.append(("words in the list", sizes))
        return [(name, str(value)) for name, value in rows]

    def _repr_html_(self) -> str:
        rows = [(name, value) for name, value in self.rows() if name]
        return show_rows([("statement", self.statement), *rows, ("notes", self.notes)])


def describe_mechanism(mechanism: Mechanism) -> dict[str, Any]:
    """Return the fields of an audit that describe its mechanism: identity and guarantee."""
    identity, guarantee = mechanism.identity(), mechanism.guarantee
    return {
        "mechanism": identity.pop("mechanism"),
        "table": identity.pop("table"),
        "parameters": identity,
        "vocabulary": mechanism.table.vocabulary.description,
        "words": len(mechanism.table),
        "kind": guarantee.kind,
        "unit": guarantee.unit,
        "epsilon_nominal": guarantee.nominal,
        "epsilon_proved": guarantee.epsilon,
    }


def prior_of(mechanism: Mechanism, prior: str) -> NDArray[np.float64]:
    """Return π over V by name, float64 (m,).

    >>> from perturb import get_mechanism
    >>> float(prior_of(get_mechanism("tem"), "uniform")[0]) == 1 / 11000
    True

    Raises:
        ParameterError: no such prior.
    """
    if prior not in PRIORS:
        raise ParameterError(f"prior must be one of {', '.join(PRIORS)}")
    m = len(mechanism.table)
    return unigram_prior(mechanism.table.vocabulary) if prior == "unigram" else np.full(m, 1 / m)


def entropy(law: NDArray[np.float64]) -> float:
    """Return Shannon's entropy in bits.

    >>> entropy(np.array([0.5, 0.5, 0.0]))
    1.0
    """
    positive = law[law > 0]
    return float(-(positive @ np.log2(positive)))


def state_guarantee(mechanism: Mechanism, epsilon: Figure) -> str:
    """Return one sentence with the guarantee and the smallest ε that the channel shows."""
    guarantee = mechanism.guarantee
    if guarantee.kind != "none" and epsilon.low > guarantee.epsilon:
        return (
            f"the claim of ε = {guarantee.epsilon:g} does not hold: the channel is not ε-LDP for "
            f"any ε below {format_lower(epsilon.low)}"
        )
    if guarantee.kind == "ldp" or epsilon.low == 0:
        return guarantee.statement
    if math.isinf(epsilon.low):
        return f"{guarantee.statement}; for no finite ε is it ε-LDP over this table"
    if math.isinf(epsilon.high):
        least = format_lower(epsilon.low, 4)
        return f"{guarantee.statement}; for no ε below {least} is it ε-LDP over this table"
    return (
        f"{guarantee.statement}; over this table it is {format_upper(epsilon.value, 4)}-LDP per "
        "token, and for no smaller ε"
    )


def _shorten(value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 24 else f"{text[:12]}…"


def _name_infinity(value: Any) -> Any:
    if isinstance(value, float) and math.isinf(value):
        return "infinity"
    return value
