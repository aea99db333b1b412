"""Make few-shot examples of private texts: the texts themselves, public ones, sanitized ones, or
synthetic ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.metrics.encoders import Encoder
from perturb import EmbeddingTable, Perturber, Resources, Sanitizer, sanitizer_class
from perturb.mechanisms.base import Mechanism
from perturb.synthetic.limited_domain import LimitedDomain
from perturb.synthetic.synthesis import SynthesisPlan, divide_budget, synthesize
from perturb.synthetic.writers import PassageWriter
from perturb.whole.codebook import load_codebook
from perturb.whole.encoder import load_encoder

__all__ = ["DELTA", "SHOTS", "Made", "classify", "make_examples", "vote_privately"]

SHOTS = 2  # examples of each label
DELTA = 1e-6
SMOOTHING = 0.3
Texts = Mapping[str, Sequence[str]]  # by label


@dataclass(frozen=True)
class Made:
    """Hold examples, and the private texts that had a part in them, by label."""

    examples: Texts
    used: Texts


def make_examples(
    method: str, epsilon: float, private: Texts, table: EmbeddingTable, rng: np.random.Generator
) -> Made:
    """Make SHOTS examples of each label.

    Args:
        method: `private`, texts as they are; `public`, random passages; `synthesize`, perhaps
            with the number of candidates in its domain after a blank; or a sanitizer, which
            releases one text for each example.
        epsilon: of the method; unused by the first two.
        private: the private texts.
        table: for sanitizers of words.
        rng: every choice.
    """
    name, _, domain = method.partition(" ")
    if name == "synthesize":
        return Made(_synthesize(epsilon, int(domain) if domain else None, private, rng), private)
    if name == "public":
        book = load_codebook()
        drawn = {label: rng.choice(len(book), SHOTS, replace=False) for label in private}
        return Made(
            {label: [book.passage(int(i)) for i in places] for label, places in drawn.items()},
            private,
        )
    used = {
        label: [texts[i] for i in rng.choice(len(texts), SHOTS, replace=False)]
        for label, texts in private.items()
    }
    if name == "private":
        return Made(used, used)
    release = _build_release(name, epsilon, table, rng)
    return Made({label: [release(text) for text in texts] for label, texts in used.items()}, used)


def _synthesize(
    epsilon: float, domain: int | None, private: Texts, rng: np.random.Generator
) -> dict[str, list[str]]:
    book, encoder = load_codebook(), load_encoder()
    plan = SynthesisPlan(epsilon=epsilon, delta=DELTA, picks=SHOTS, population=64, domain=domain)
    made: dict[str, list[str]] = {}
    for label, texts in private.items():

        def choose(label: str | None) -> PassageWriter:
            del label
            return PassageWriter(book, encoder, SMOOTHING, rng)

        made[label] = [e.text for e in synthesize({label: texts}, plan, encoder, choose, rng)]
    return made


def _build_release(
    name: str, epsilon: float, table: EmbeddingTable, rng: np.random.Generator
) -> Callable[[str], str]:
    kind = sanitizer_class(name)
    built = kind.build(kind.check_parameters(epsilon=epsilon), Resources(table=table))
    sanitizer: Sanitizer = Perturber(built) if isinstance(built, Mechanism) else built
    return lambda text: sanitizer.perturb(text, rng).text


def classify(examples: Texts, texts: Sequence[str], encode: Encoder) -> list[str | None]:
    """Return the label whose examples' mean vector is nearest to each text; None where no label
    has examples."""
    shown = {label: encode(list(made)).mean(axis=0) for label, made in examples.items() if made}
    if not shown:
        return [None] * len(texts)
    labels = list(shown)
    means = np.array([shown[label] / max(np.linalg.norm(shown[label]), 1e-9) for label in labels])
    return [labels[i] for i in np.argmax(encode(list(texts)) @ means.T, axis=1)]


def vote_privately(
    epsilon: float,
    private: Texts,
    texts: Sequence[str],
    encode: Encoder,
    rng: np.random.Generator,
) -> list[str | None]:
    """Return the label of each text by a noisy vote, in the style of DP-ICL (Wu et al. 2024).

    Disjoint sets of SHOTS private texts of each label classify a text; a label is drawn with
    probability proportional to e^(ε₀·votes/2). Replacing, adding or removing a private text moves
    one vote, so that one answer is ε₀-bounded-range; all answers together have ε at DELTA.
    """
    order = {label: rng.permutation(len(own)) for label, own in private.items()}
    sets = min(map(len, private.values())) // SHOTS
    labels = list(private)
    votes: NDArray[np.int64] = np.zeros((len(texts), len(labels)), dtype=np.int64)
    for turn in range(sets):
        part = slice(SHOTS * turn, SHOTS * (turn + 1))
        shown = {label: [private[label][i] for i in order[label][part]] for label in labels}
        for row, label in enumerate(classify(shown, texts, encode)):
            votes[row, labels.index(str(label))] += 1
    shares = divide_budget(epsilon, DELTA, rounds=len(texts), picks=1, limited=False)
    law = LimitedDomain(shares.pick / 2, 1)
    return [labels[law.draw(row, rng)[0]] for row in votes]
