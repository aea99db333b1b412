"""Simulate rounds with the remote: it offers nearer passages, and one is chosen again each time.

A codebook that lacks the subject gives the first passage. In each round a remote that knows the
subject is shown what was released so far and offers passages near to it; a private choice keeps
the best of them. All choices are paid from one ε, so the rounds compete with one choice at the
whole ε.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.context import Context
from benchmarks.harness.experiment import Experiment, Outcome, mean
from benchmarks.harness.markdown import format_figure, format_table
from benchmarks.harness.records import Case, Record
from benchmarks.harness.suite import CORPUS
from benchmarks.metrics.utility import cosines
from benchmarks.whole.answers import choose_samples
from benchmarks.whole.collections import find_cover, make_codebook, make_covering
from perturb.whole.choice import PrivateChoice, choose_near_count, find_nearest
from perturb.whole.codebook import Codebook, load_codebook
from perturb.whole.encoder import load_static

__all__ = ["Guided", "choose_passage", "play_round"]

FIRST = 8.0  # ε of the choice before the rounds
ROUNDS = 2
OFFERED = 32  # passages a round
SPREAD = 4  # they are drawn from so many times as many, the nearest to the current one
TOTALS = (14.0, 18.0)
WAYS = {
    "without": "one choice, codebook without the subject",
    "rounds": "ε = 8 from that codebook, then two rounds",
    "covering": "one choice, codebook with the subject",
}


class Guided(Experiment):
    """Compare rounds with one choice at equal ε of the whole text.

    Values:
        truth: cosine of the last passage and the true continuation, by the suite's encoder.
        document: likewise of the passage and the document.
        reached: the share of texts for which the passage is of their own document.
    """

    name = "guided"
    about = "rounds with the remote against one private choice, at equal ε (simulated)"

    def cases(self, context: Context) -> Iterable[Case]:
        if context.corpus is None:
            return
        for epsilon in TOTALS:
            for way in WAYS:
                for dataset in context.suite.datasets:
                    if choose_samples(context, dataset):
                        yield {"way": way, "epsilon": epsilon, "dataset": dataset}

    def measure(self, case: Case, context: Context) -> Outcome:
        rng, way, total = context.rng(self.name, case), case["way"], case["epsilon"]
        samples = choose_samples(context, case["dataset"])
        vectors = load_static()([s.prefix for s in samples])
        covering = load_codebook(make_covering(context))
        lacking = load_codebook(make_codebook(context, CORPUS))
        chosen = []
        for vector in vectors:
            if way == "covering":
                chosen.append(covering.passage(choose_passage(covering, vector, total, rng)))
                continue
            first = choose_passage(lacking, vector, total if way == "without" else FIRST, rng)
            passage = lacking.passage(first)
            if way == "rounds":
                current = covering.find(passage)
                assert current is not None, "the covering codebook holds the other one"
                for _ in range(ROUNDS):
                    each = (total - FIRST) / ROUNDS
                    current = play_round(covering, current, vector, each, rng)
                passage = covering.passage(current)
            chosen.append(passage)
        found = context.encode(chosen)
        own = [passage == find_cover(s) for passage, s in zip(chosen, samples, strict=True)]
        truth = cosines(found, context.encode([s.continuation for s in samples]))
        document = cosines(found, context.encode([s.prefix for s in samples]))
        return Outcome(
            {
                "truth": mean(truth, rng),
                "document": mean(document, rng),
                "reached": float(np.mean(own)),
            }
        )

    def render(self, records: Sequence[Record], figure: str | None = None) -> Iterable[str]:
        rows = [
            [
                f"{r.case['epsilon']:g}",
                WAYS[r.case["way"]],
                r.case["dataset"],
                format_figure(r.values["truth"]),
                format_figure(r.values["document"]),
                f"{100 * r.values['reached']:.0f}",
            ]
            for r in records
        ]
        if rows:
            head = ["ε", "way", "set", "passage to the truth", "to the document", "reached, %"]
            yield (
                "### Rounds with the remote, simulated\n\n"
                "Rounds, in which a remote that knows the subject offers passages and a private "
                "choice keeps one, against one choice at the same ε of the whole text. The "
                f"remote offers {OFFERED} of the {SPREAD * OFFERED} passages nearest to the one "
                "that was released last. *Reached*: the passage is of the document itself.\n\n"
                + format_table(head, rows)
            )


def choose_passage(
    book: Codebook, vector: NDArray[np.float32], epsilon: float, rng: np.random.Generator
) -> int:
    """Return the place of a passage, by one private choice from a whole codebook."""
    exact = Fraction(epsilon)
    law = PrivateChoice(len(book), choose_near_count(book.profile, len(book), exact), exact)
    return law.draw(find_nearest(book.similarities(vector), law.near), rng)


def play_round(
    book: Codebook,
    current: int,
    vector: NDArray[np.float32],
    epsilon: float,
    rng: np.random.Generator,
) -> int:
    """Return the place of the passage that is kept of the current one and those offered.

    Args:
        book: the knowledge of the remote.
        current: the place of the passage that was released last; the offers depend on it alone.
        vector: of the private text.
        epsilon: of this choice.
        rng: for the offers and the choice.
    """
    row = book.vectors[current].astype(np.float32) * book.scales[current]
    near = find_nearest(book.similarities(row), min(SPREAD * OFFERED + 1, len(book)))
    near = near[near != current]
    offers = rng.choice(near, size=min(OFFERED, len(near)), replace=False)
    candidates = np.append(current, offers)
    rows = book.vectors[candidates].astype(np.float32) * book.scales[candidates][:, None]
    law = PrivateChoice(len(candidates), 1, Fraction(epsilon))
    return int(candidates[law.draw(find_nearest(rows @ vector, 1), rng)])
