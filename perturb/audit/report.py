"""The audit of a mechanism over its table: its true guarantee, and its leakage.

`audit` reads the whole channel P(y | x); a mechanism whose channel is not computed is sampled
(`perturb.audit.sampled`). Every figure carries the bounds on its error.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from perturb.audit.channel import (
    ChannelSums,
    Forms,
    PairFigures,
    Progress,
    compare_pairs,
    public_sample,
    read_channel,
)
from perturb.audit.figures import (
    Audit,
    Figure,
    WorstWords,
    describe_mechanism,
    entropy,
    prior_of,
    state_guarantee,
)
from perturb.audit.sampled import audit_sampled
from perturb.files import Checkpoint
from perturb.mechanisms.base import Bounds, Mechanism
from perturb.mechanisms.scored import LARGEST_EXPONENT

__all__ = ["Audit", "Figure", "WorstWords", "audit"]

ROUNDING = 1e-9  # of a logarithm of two float64 probabilities, generously
SIZE_SHARES = {"min": 0.0, "5 %": 0.05, "median": 0.5, "95 %": 0.95, "max": 1.0}


def audit(
    mechanism: Mechanism,
    prior: Literal["uniform", "unigram"] = "unigram",
    progress: Progress = lambda done, total: None,
    *,
    sums: ChannelSums | None = None,
    checkpoint: Checkpoint | None = None,
) -> Audit:
    """Audit a mechanism over its whole vocabulary.

    Args:
        mechanism: the mechanism to audit.
        prior: the distribution of x; `unigram` is that of the bundled corpus counts.
        progress: called with (done, total).
        sums: the sums of its channel under the prior, if `read_channel` has computed them.
        checkpoint: keeps what is finished; of a run with this mechanism and prior.

    Raises:
        ParameterError: no such prior.
    """
    if mechanism.drawn_by is not None:
        inner = audit(mechanism.drawn_by, prior, progress, sums=sums, checkpoint=checkpoint)
        return _adapt_audit(mechanism, inner)
    if not mechanism.exact:
        return audit_sampled(mechanism, prior, progress, checkpoint)
    pi = prior_of(mechanism, prior)
    forms = Forms(mechanism.table.vocabulary.words)
    sums = sums or read_channel(mechanism, pi, forms, progress, checkpoint=checkpoint)
    bounds = mechanism.bounds()
    epsilon, worst, notes = _find_epsilon(mechanism, bounds, sums)
    examined = _select_words(mechanism, worst)
    rows, row_error = mechanism.channel(examined)
    pairs = compare_pairs(mechanism.table, examined, rows, mechanism.epsilon)
    delta = _bound_delta(mechanism, epsilon, pairs, row_error)
    if bounds is not None:
        low = max(delta.low, bounds.least_delta(examined, rows, row_error))
        delta = Figure(low, low, min(1.0, bounds.proved_delta))
    t = sums.mean_error
    # |H(p) − H(q)| ≤ t·log2(m − 1) + h(t) at total variation t (Audenaert 2007); below, twice as
    # many bits, for H(Y) and for H(Y | X)
    drift = t * math.log2(max(2, len(pi) - 1)) + entropy(np.array([t, 1 - t]))
    conditional = float(pi @ sums.entropy)
    information = max(0.0, entropy(sums.output) - conditional)
    words = mechanism.table.vocabulary.words
    return Audit(
        **describe_mechanism(mechanism),
        prior=prior,
        method=f"all rows of the channel, each within {sums.error:.2g} in total variation",
        statement=state_guarantee(mechanism, epsilon),
        epsilon=epsilon,
        worst=worst and WorstWords(*(words[i] for i in worst)),
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
        posterior=_find_posterior(sums, pi),
        cosine=Figure.within(float(pi @ sums.cosine), 2 * t, -1.0, 1.0),
        sizes=_compute_sizes(bounds, sums),
        notes=notes,
        kept_by_word=sums.kept,
    )


def _adapt_audit(mechanism: Mechanism, inner: Audit) -> Audit:
    """Return the audit of a mechanism from the audit of the one that draws for it."""
    notes = (*inner.notes, *mechanism.audit_notes)
    statement = mechanism.guarantee.statement
    return replace(inner, **describe_mechanism(mechanism), statement=statement, notes=notes)


Triple = tuple[int, int, int]


def _find_epsilon(
    mechanism: Mechanism, bounds: Bounds | None, sums: ChannelSums
) -> tuple[Figure, Triple | None, tuple[str, ...]]:
    """Return max_y ln(max_x P(y|x) / min_x P(y|x)), its words (x, x', y), and notes on it."""
    t = sums.error
    with np.errstate(divide="ignore"):
        ratios = np.log(sums.highest) - np.log(sums.lowest)
        ratios[sums.highest == 0] = 0.0  # a word that nothing releases
        least_ratios = np.log(np.maximum(sums.highest - t, 0)) - np.log(sums.lowest + t)
    y = int(np.argmax(ratios))
    triple = (int(sums.highest_at[y]), int(sums.lowest_at[y]), y)
    if bounds is not None:
        # The quadrature has a largest radius and the noise has none, so its zeros prove nothing.
        least, x, other = bounds.least_epsilon()
        y = int(np.argmax(least_ratios))
        seen = float(least_ratios[y])
        note = (
            "ε is a proved lower bound: P(x|x) from below against the tail of the radius from "
            "above; the true one may be larger",
        )
        if least >= seen:
            return Figure(least, least, math.inf), (x, other, x), note
        note = ("ε is a lower bound: the computed probabilities less their error",)
        seen = max(seen, 0.0)
        return (
            Figure(seen, seen, math.inf),
            (int(sums.highest_at[y]), int(sums.lowest_at[y]), y),
            note,
        )
    if sums.lowest[y] > 0:
        value = float(ratios[y])
        low = max(0.0, (float(np.max(least_ratios)) if t else value) - ROUNDING)
        high = value + ROUNDING if t == 0 else math.inf
        return Figure(value, low, high), triple, ()
    if mechanism.guarantee.kind == "none":
        note = ("some released word has probability zero from some token and not from another",)
        return Figure(math.inf, math.inf, math.inf), triple, note
    low = float(np.log(sums.highest[y]) - np.log(np.finfo(np.float64).smallest_subnormal))
    note = ("ε is a lower bound: the smallest probabilities are below double precision",)
    return Figure(low, low, math.inf), triple, note


def _select_words(mechanism: Mechanism, worst: Triple | None) -> NDArray[np.int64]:
    """Return the words that are compared in pairs."""
    return np.unique(
        np.append(public_sample(mechanism.table), worst[:2] if worst else []).astype(int)
    )


def _bound_delta(
    mechanism: Mechanism, epsilon: Figure, pairs: PairFigures, row_error: float
) -> Figure:
    """Return δ at the nominal ε, bounded from below by the examined pairs and from above by
    proof."""
    nominal = mechanism.epsilon
    low = pairs.delta - row_error * (1 + math.exp(min(nominal, LARGEST_EXPONENT)))
    # An e^ε beyond float64 was clipped, and the figure of the pairs is no lower bound.
    low = min(1.0, max(0.0, low)) if nominal <= LARGEST_EXPONENT else 0.0
    # P ≤ e^ε'·P' gives Σ max(0, P − e^ε·P') ≤ 1 − e^{ε − ε'}
    high = -math.expm1(min(0.0, nominal - epsilon.high))
    if mechanism.guarantee.kind == "ldp" and epsilon.low <= mechanism.guarantee.epsilon:
        low = high = 0.0
    return Figure(low, low, max(low, high))


def _find_posterior(sums: ChannelSums, pi: NDArray[np.float64]) -> Figure:
    """Return max_{x,y} π(x)P(y|x)/q(y)."""
    released = sums.output > 0
    joint, output = sums.joint[released], sums.output[released]
    t = sums.error
    value = float((joint / output).max())
    if t == 0:
        return Figure(value, value, value)
    low = float((np.maximum(joint - t * pi.max(), 0) / (output + t)).max())
    return Figure(value, low, 1.0)


def _compute_sizes(bounds: Bounds | None, sums: ChannelSums) -> dict[str, int]:
    """Return the quantiles over x of the number of words that can be released."""
    shares = np.array(list(SIZE_SHARES.values()))
    if bounds is not None:
        found = bounds.list_sizes(shares)
    else:
        found = np.quantile(sums.support, shares, method="nearest").astype(np.int64)
    return dict(zip(SIZE_SHARES, found.tolist(), strict=True))
