"""What a mechanism truly guarantees over its table, and how much of a text it gives away.

`audit` reads the whole channel P(y | x); a mechanism whose channel is not computed is sampled
(`perturb.audit_sampled`). Every figure carries what is known of its error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from perturb.channel import (
    LARGEST_EXPONENT,
    ChannelSums,
    Forms,
    PairFigures,
    Progress,
    compare_pairs,
    public_sample,
    read_channel,
)
from perturb.errors import ParameterError
from perturb.frequencies import unigram_prior
from perturb.mechanism import Mechanism
from perturb.rantext import RanText
from perturb.rantext_bounds import least_delta, least_epsilon, list_sizes
from perturb.selective import Selective

__all__ = ["Audit", "Figure", "Worst", "audit", "entropy", "prior_of", "statement", "subject"]

PRIORS = ("uniform", "unigram")
ROUNDING = 1e-9  # of a logarithm of two float64 probabilities, generously
SIZE_SHARES = {"min": 0.0, "5 %": 0.05, "median": 0.5, "95 %": 0.95, "max": 1.0}


@dataclass(frozen=True)
class Figure:
    """A figure and the interval it lies in: equal ends where it is computed exactly, up to the
    rounding of double precision; ∞ above where nothing bounds it."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        """`0.52`, `0.52 ± 0.01`, `>= 0.52`, `<= 0.52` or `0.3 to 0.5`, in four digits."""
        if math.isinf(self.low):
            return "∞"
        if self.high - self.low <= 1e-6:
            return f"{self.value:.4g}"
        if math.isinf(self.high):
            return f">= {self.low:.4g}"
        if self.low == 0 and self.value in (0, self.high):
            return f"<= {self.high:.4g}"
        if self.value == self.low:
            return f"{self.low:.4g} to {self.high:.4g}"
        error = max(self.high - self.value, self.value - self.low)
        return f"{self.value:.4g} ± {error:.2g}"

    @classmethod
    def within(
        cls, value: float, error: float, low: float = 0.0, high: float = math.inf
    ) -> Figure:
        """value ± error, cut to what it can be."""
        return cls(value, max(low, value - error), min(high, value + error))


@dataclass(frozen=True)
class Worst:
    """The words that need the largest ε: y is most likely from x and least likely from other."""

    x: str
    other: str
    y: str


@dataclass(frozen=True, kw_only=True)
class Audit:
    """Everything about one channel under one prior; probabilities are per released token.

    Attributes:
        mechanism, parameters, table: what was audited.
        words: |V|.
        prior: how x is drawn, `uniform` or `unigram` (the bundled corpus counts).
        method: how the figures were computed.
        kind, epsilon_nominal, epsilon_proved: of the mechanism's own guarantee.
        statement: one sentence on what holds.
        epsilon: the smallest ε for which it is ε-LDP; `low` is what is proved of it.
        worst: where that ε is needed.
        delta: the smallest δ for which it is (nominal ε, δ)-LDP.
        pairs: how many ordered pairs of words gave the lower end of `delta`, and `slope`.
        slope: metric mechanisms: the largest |ln P(y|x)/P(y|x')|/d(x, x') over those pairs, to
            be held against the nominal ε.
        kept, kept_forms: probability that the word itself is released; the word in any case.
        bayes, bayes_forms: success of the best guess of x from y, exact and up to case.
        prior_best, prior_best_forms: success of the best guess without y.
        information: I(X; Y) in bits.
        entropy_x, entropy_channel: H(X), H(Y | X) in bits.
        posterior: the largest P(x | y) there is.
        cosine: mean cosine of φ(x) and φ(y).
        sizes: quantiles over x of how many words can be released.
        notes: what a reader must know beside the figures.
        kept_by_word: P(x | x) by word, float64 (m,); empty where it was sampled.
    """

    mechanism: str
    parameters: dict[str, Any]
    table: str
    words: int
    prior: str
    method: str
    kind: str
    epsilon_nominal: float
    epsilon_proved: float
    statement: str
    epsilon: Figure
    worst: Worst | None
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
        """JSON-ready; an infinite number is the string "infinity"."""
        out: dict[str, Any] = {}
        for name in (f.name for f in fields(self) if f.name != "kept_by_word"):
            value = getattr(self, name)
            if isinstance(value, (Figure, Worst)):
                value = {f.name: getattr(value, f.name) for f in fields(value)}
                out[name] = {key: _finite(number) for key, number in value.items()}
            else:
                out[name] = list(value) if isinstance(value, tuple) else _finite(value)
        return out


def audit(
    mechanism: Mechanism,
    prior: Literal["uniform", "unigram"] = "unigram",
    progress: Progress = lambda done, total: None,
    *,
    sums: ChannelSums | None = None,
) -> Audit:
    """Audit a mechanism over its whole vocabulary; `progress` is called with (done, total).
    `sums` are those of its channel under the prior, where a pass was made already.

    Raises:
        ParameterError: no such prior.
    """
    if isinstance(mechanism, Selective):
        return _selective(mechanism, audit(mechanism.inner, prior, progress, sums=sums))
    if not mechanism.exact:
        from perturb.audit_sampled import audit_sampled

        return audit_sampled(mechanism, prior, progress)
    pi = prior_of(mechanism, prior)
    forms = Forms(mechanism.table.vocabulary.words)
    sums = sums or read_channel(mechanism, pi, forms, progress)
    epsilon, worst, notes = _smallest_epsilon(mechanism, sums)
    examined = _examined(mechanism, worst)
    rows, row_error = mechanism.channel(examined)
    pairs = compare_pairs(mechanism.table, examined, rows, mechanism.epsilon)
    delta = _delta(mechanism, epsilon, pairs, row_error)
    if isinstance(mechanism, RanText):
        low = max(delta.low, least_delta(mechanism, examined, rows, row_error))
        delta = Figure(low, low, min(1.0, mechanism.proved_delta))
    t = sums.mean_error
    # |H(p) − H(q)| ≤ t·log2(m − 1) + h(t) at total variation t (Audenaert 2007); here as many
    # bits again for H(Y)
    drift = t * math.log2(max(2, len(pi) - 1)) + entropy(np.array([t, 1 - t]))
    conditional = float(pi @ sums.entropy)
    information = max(0.0, entropy(sums.output) - conditional)
    words = mechanism.table.vocabulary.words
    return Audit(
        **subject(mechanism),
        prior=prior,
        method=f"all rows of the channel, each within {sums.error:.2g} in total variation",
        statement=statement(mechanism, epsilon),
        epsilon=epsilon,
        worst=worst and Worst(*(words[i] for i in worst)),
        delta=delta,
        pairs=pairs.pairs,
        slope=pairs.slope if mechanism.guarantee.kind == "metric" else None,
        kept=Figure.within(float(pi @ sums.kept), t, high=1.0),
        kept_forms=Figure.within(float(pi @ sums.kept_forms), t, high=1.0),
        bayes=Figure.within(float(sums.joint.sum()), t, high=1.0),
        bayes_forms=Figure.within(float(sums.joint_forms.sum()), t, high=1.0),
        prior_best=float(pi.max()),
        prior_best_forms=float(np.bincount(forms.group, pi).max()),
        information=Figure.within(information, 2 * drift, high=entropy(pi)),
        entropy_x=entropy(pi),
        entropy_channel=Figure.within(conditional, drift, high=math.log2(len(pi))),
        posterior=_posterior(sums, pi),
        cosine=Figure.within(float(pi @ sums.cosine), 2 * t, -1.0, 1.0),
        sizes=_sizes(mechanism, sums),
        notes=notes,
        kept_by_word=sums.kept,
    )


def _selective(mechanism: Selective, inner: Audit) -> Audit:
    """The audit of what happens to a word that the policy marks."""
    return replace(
        inner,
        **subject(mechanism),
        statement=mechanism.guarantee.statement,
        notes=(*inner.notes, "the figures are of a word that the policy marks; the rest is sent"),
    )


def subject(mechanism: Mechanism) -> dict[str, Any]:
    """What every audit says of its mechanism: which it is, and its own guarantee."""
    identity, guarantee = mechanism.identity(), mechanism.guarantee
    return {
        "mechanism": identity.pop("mechanism"),
        "table": identity.pop("table"),
        "parameters": identity,
        "words": len(mechanism.table),
        "kind": guarantee.kind,
        "epsilon_nominal": guarantee.nominal,
        "epsilon_proved": guarantee.epsilon,
    }


def prior_of(mechanism: Mechanism, prior: str) -> NDArray[np.float64]:
    """π over V by name, float64 (m,).

    Raises:
        ParameterError: no such prior.
    """
    if prior not in PRIORS:
        raise ParameterError(f"prior must be one of {', '.join(PRIORS)}")
    m = len(mechanism.table)
    return unigram_prior(mechanism.table.vocabulary) if prior == "unigram" else np.full(m, 1 / m)


def entropy(law: NDArray[np.float64]) -> float:
    """Shannon's entropy in bits."""
    some = law[law > 0]
    return float(-(some @ np.log2(some)))


Triple = tuple[int, int, int]


def _smallest_epsilon(
    mechanism: Mechanism, sums: ChannelSums
) -> tuple[Figure, Triple | None, tuple[str, ...]]:
    """max_y ln(max_x P(y|x) / min_x P(y|x)), where, and what to know of it."""
    t = sums.error
    with np.errstate(divide="ignore"):
        ratios = np.log(sums.highest) - np.log(sums.lowest)
        ratios[sums.highest == 0] = 0.0  # a word that nothing releases
        surely = np.log(np.maximum(sums.highest - t, 0)) - np.log(sums.lowest + t)
    y = int(np.argmax(ratios))
    triple = (int(sums.highest_at[y]), int(sums.lowest_at[y]), y)
    if isinstance(mechanism, RanText):
        # A quadrature has a largest radius, the noise has none: its zeros are no evidence.
        least = least_epsilon(mechanism)
        y = int(np.argmax(surely))
        seen = float(surely[y])
        note = (
            "ε is a proved lower bound: P(x|x) from below against the tail of the radius from "
            "above; the true one may be larger",
        )
        if least.epsilon >= seen:
            return (
                Figure(least.epsilon, least.epsilon, math.inf),
                (least.x, least.other, least.x),
                note,
            )
        note = ("ε is a lower bound: the computed probabilities less their error",)
        seen = max(seen, 0.0)
        return (
            Figure(seen, seen, math.inf),
            (int(sums.highest_at[y]), int(sums.lowest_at[y]), y),
            note,
        )
    if sums.lowest[y] > 0:
        value = float(ratios[y])
        low = max(0.0, float(np.max(surely)) - ROUNDING) if t else max(0.0, value - ROUNDING)
        high = value + ROUNDING if t == 0 else math.inf
        return Figure(value, low, high), triple, ()
    if mechanism.guarantee.kind == "none":
        note = ("some released word has probability zero from some token and not from another",)
        return Figure(math.inf, math.inf, math.inf), triple, note
    low = float(np.log(sums.highest[y]) - np.log(np.finfo(np.float64).smallest_subnormal))
    note = ("ε is a lower bound: the smallest probabilities are below double precision",)
    return Figure(low, low, math.inf), triple, note


def _examined(mechanism: Mechanism, worst: Triple | None) -> NDArray[np.int64]:
    """The words of which all pairs are compared."""
    return np.unique(
        np.append(public_sample(mechanism.table), worst[:2] if worst else []).astype(int)
    )


def _delta(mechanism: Mechanism, epsilon: Figure, pairs: PairFigures, row_error: float) -> Figure:
    """δ at the nominal ε, from below by the pairs looked at and from above by proof."""
    nominal = mechanism.epsilon
    low = pairs.delta - row_error * (1 + math.exp(min(nominal, LARGEST_EXPONENT)))
    # e^ε beyond float64 was cut, and what was computed bounds nothing from below
    low = min(1.0, max(0.0, low)) if nominal <= LARGEST_EXPONENT else 0.0
    # P ≤ e^ε'·P' gives Σ max(0, P − e^ε·P') ≤ 1 − e^{ε − ε'}
    high = -math.expm1(min(0.0, nominal - epsilon.high))
    if mechanism.guarantee.kind == "ldp" and epsilon.low <= mechanism.guarantee.epsilon:
        low = high = 0.0
    return Figure(low, low, max(low, high))


def _posterior(sums: ChannelSums, pi: NDArray[np.float64]) -> Figure:
    """max_{x,y} π(x)P(y|x)/q(y)."""
    released = sums.output > 0
    joint, output = sums.joint[released], sums.output[released]
    t = sums.error
    value = float((joint / output).max())
    if t == 0:
        return Figure(value, value, value)
    low = float((np.maximum(joint - t * pi.max(), 0) / (output + t)).max())
    return Figure(value, low, 1.0)


def _sizes(mechanism: Mechanism, sums: ChannelSums) -> dict[str, int]:
    shares = np.array(list(SIZE_SHARES.values()))
    if isinstance(mechanism, RanText):
        found = list_sizes(mechanism, shares)
    else:
        found = np.quantile(sums.support, shares, method="nearest").astype(np.int64)
    return dict(zip(SIZE_SHARES, found.tolist(), strict=True))


def statement(mechanism: Mechanism, epsilon: Figure) -> str:
    """The guarantee in one sentence, and what the channel says of it."""
    guarantee = mechanism.guarantee
    if guarantee.kind != "none" and epsilon.low > guarantee.epsilon:
        return (
            f"the claim of ε = {guarantee.epsilon:g} does not hold: the channel is not ε-LDP for "
            f"any ε below {epsilon.low:.6g}"
        )
    if guarantee.kind == "ldp" or epsilon.low == 0:
        return guarantee.statement
    if math.isinf(epsilon.low):
        return f"{guarantee.statement}; for no finite ε is it ε-LDP over this table"
    if math.isinf(epsilon.high):
        return (
            f"{guarantee.statement}; for no ε below {epsilon.low:.4g} is it ε-LDP over this table"
        )
    return (
        f"{guarantee.statement}; over this table it is {epsilon.value:.4g}-LDP per token, and for "
        "no smaller ε"
    )


def _finite(value: Any) -> Any:
    if isinstance(value, float) and math.isinf(value):
        return "infinity"
    return value
