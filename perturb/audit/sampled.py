"""The audit, by draws, of a mechanism whose channel has no closed form (Madlib, Mahalanobis).

The success of an attacker is bounded from both sides: from below by an attack that is carried out,
and from above by an attacker who sees the noisy vector z itself, before the choice of the nearest
word hides most of it.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.audit.channel import Forms, Progress, unit_vectors
from perturb.audit.figures import (
    Audit,
    Figure,
    describe_mechanism,
    entropy,
    prior_of,
    state_guarantee,
)
from perturb.audit.intervals import bernstein, clopper_pearson, require_scipy
from perturb.errors import ParameterError
from perturb.files import Checkpoint
from perturb.mechanisms.base import Mechanism, VectorNoise
from perturb.rng import seeded_generator
from perturb.vocabulary.table import EmbeddingTable

__all__ = ["audit_sampled"]

DRAWS = 1 << 17  # released words
VECTORS = 1 << 13  # noisy vectors that the stronger attacker sees
BLOCK = 512
SEED = 20250101  # the noise is public: everyone gets the same figures
ALPHA = 1e-3  # of each interval
PSEUDO = 64.0  # draws from the prior, added to the attacker's counts for each released word


def audit_sampled(
    mechanism: Mechanism, prior: str, progress: Progress, checkpoint: Checkpoint | None = None
) -> Audit:
    """Audit by Monte Carlo; every interval holds with probability 99.9 %.

    Raises:
        ParameterError: no such prior, or the density of the mechanism's noise is not known.
        MissingPackage: SciPy is not installed.
    """
    require_scipy()  # fail before the work, not after it
    noise = mechanism.vector_noise()
    if noise is None:
        raise ParameterError(f"{mechanism.name} can be neither computed nor sampled here")
    pi = prior_of(mechanism, prior)
    forms = Forms(mechanism.table.vocabulary.words)
    rng = seeded_generator(SEED)
    x = rng.choice(len(pi), size=DRAWS, p=pi)
    y = _draw_words(mechanism, x, rng, progress, checkpoint)
    unit = unit_vectors(mechanism.table)
    cosines = np.einsum("ij,ij->i", unit[x], unit[y], dtype=np.float64)
    seen, seen_forms, residual = _attack_vectors(
        mechanism.table, noise, pi, forms, rng, progress, checkpoint
    )
    of_form = np.asarray(np.bincount(forms.group, pi), dtype=np.float64)
    guarantee = mechanism.guarantee
    proved = guarantee.epsilon
    entropy_x = entropy(pi)
    # I(X; Y) ≤ I(X; Z) = H(X) − H(X | Z)
    information = entropy_x - max(0.0, bernstein(residual, math.log2(len(pi)), ALPHA)[0])
    epsilon = Figure(proved, 0.0, proved)
    return Audit(
        **describe_mechanism(mechanism),
        prior=prior,
        method=f"{DRAWS:,} draws and {VECTORS:,} noisy vectors; each interval holds at 99.9 %",
        statement=state_guarantee(mechanism, epsilon),
        epsilon=epsilon,
        worst=None,
        delta=Figure(0.0, 0.0, max(0.0, -math.expm1(guarantee.nominal - proved))),
        pairs=0,
        slope=None,
        kept=_estimate_share(x == y),
        kept_forms=_estimate_share(forms.group[x] == forms.group[y]),
        bayes=_attack(x, y, pi, seen),
        bayes_forms=_attack(forms.group[x], y, of_form, seen_forms),
        prior_best=float(pi.max()),
        prior_best_forms=float(of_form.max()),
        information=Figure(information, 0.0, information),
        entropy_x=entropy_x,
        entropy_channel=None,
        posterior=None,
        cosine=Figure(float(cosines.mean()), *bernstein(cosines, 2.0, ALPHA)),
        sizes={},
        notes=(
            "ε is the proved bound; the smallest ε that holds is not known",
            "Bayes success: the lower bound is an attack that learns from half of the draws and "
            "is carried out on the other half; the upper bound is an attacker who sees the noisy "
            "vector",
            "the mutual information is that of the word and the noisy vector: an upper bound",
        ),
        kept_by_word=np.empty(0),
    )


def _draw_words(
    mechanism: Mechanism,
    x: NDArray[np.int64],
    rng: np.random.Generator,
    progress: Progress,
    checkpoint: Checkpoint | None,
) -> NDArray[np.int64]:
    """Release a word for each of x, a block at a time."""
    y, first = np.zeros_like(x), 0
    if checkpoint and (kept := checkpoint.load("draws")):
        y, first = kept["y"], int(kept["done"])
        _restore_state(rng, str(kept["rng"]))
    for start in range(first, len(x), BLOCK):
        done = start + BLOCK
        y[start:done] = mechanism.draw(x[start:done], rng).words
        progress(min(done, len(x)), len(x) + VECTORS)
        if checkpoint and (checkpoint.due or done >= len(x)):
            checkpoint.save("draws", y=y, done=done, rng=_export_state(rng))
    return y


def _estimate_share(hit: NDArray[np.bool_]) -> Figure:
    hits = int(hit.sum())
    return Figure(hits / len(hit), *clopper_pearson(hits, len(hit), ALPHA))


def _attack(
    x: NDArray[np.int64], y: NDArray[np.int64], pi: NDArray[np.float64], seen: NDArray[np.float64]
) -> Figure:
    """Return the success of the best guess of x from y. A guess for each y is learnt from the
    first half of the draws, by count and prior, and tried on the second. `seen` holds the chances
    of an attacker who sees z."""
    half, n = len(x) // 2, len(pi)
    pairs, counts = np.unique(y[:half] * n + x[:half], return_counts=True)
    released, source = np.divmod(pairs, n)
    scores = counts + PSEUDO * pi[source]
    guess = np.full(int(y.max()) + 1, int(pi.argmax()))
    best = np.full(len(guess), PSEUDO * pi.max())
    for i in np.argsort(scores, kind="stable"):  # the highest score of a word is written last
        if scores[i] > best[released[i]]:
            guess[released[i]], best[released[i]] = source[i], scores[i]
    found = _estimate_share(guess[y[half:]] == x[half:])
    high = min(1.0, bernstein(seen, 1.0, ALPHA)[1])
    prior = float(pi.max())  # the guess without y is an attack too
    return Figure(max(found.value, prior), max(found.low, prior), max(high, found.low, prior))


def _attack_vectors(
    table: EmbeddingTable,
    noise: VectorNoise,
    pi: NDArray[np.float64],
    forms: Forms,
    rng: np.random.Generator,
    progress: Progress,
    checkpoint: Checkpoint | None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return, for each of VECTORS noisy vectors, the largest posterior of a word, the largest of a
    form, and the entropy of the posterior in bits, float64 (VECTORS,) each."""
    found, first = np.zeros((3, VECTORS)), 0
    x = rng.choice(len(pi), size=VECTORS, p=pi)
    log_prior = np.log(pi)
    if checkpoint and (kept := checkpoint.load("vectors")):
        found, first = kept["found"], int(kept["done"])
        _restore_state(rng, str(kept["rng"]))
    word, form, residual = found
    for start in range(first, VECTORS, BLOCK):
        block = x[start : start + BLOCK]
        noisy = table.vectors[block] + noise.noise(len(block), rng)
        logs = noise.log_density(noisy) + log_prior
        logs -= logs.max(axis=1, keepdims=True)
        posterior = np.exp(logs)
        posterior /= posterior.sum(axis=1, keepdims=True)
        here = slice(start, start + len(block))
        word[here] = posterior.max(axis=1)
        grouped = np.add.reduceat(posterior[:, forms.order], forms.starts, axis=1)
        form[here] = grouped.max(axis=1)
        logs = np.log2(posterior, out=np.zeros_like(posterior), where=posterior > 0)
        residual[here] = -np.einsum("ij,ij->i", posterior, logs)
        done = start + len(block)
        progress(DRAWS + done, DRAWS + VECTORS)
        if checkpoint and checkpoint.due:
            checkpoint.save("vectors", found=found, done=done, rng=_export_state(rng))
    return word, form, residual


def _export_state(rng: np.random.Generator) -> str:
    """Return the state of the generator as JSON: its seed is public."""

    def pack(array: NDArray[Any]) -> dict[str, Any]:
        return {"dtype": array.dtype.str, "array": array.tolist()}

    return json.dumps(rng.bit_generator.state, default=pack)


def _restore_state(rng: np.random.Generator, state: str) -> None:
    """Set the generator to a state that `_export_state` returned."""

    def unpack(value: dict[str, Any]) -> Any:
        return np.array(value["array"], value["dtype"]) if "array" in value else value

    rng.bit_generator.state = json.loads(state, object_hook=unpack)
