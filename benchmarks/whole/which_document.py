"""Name the document that was released, among many public ones, and tell two of them apart.

Every candidate is released once, and the attacker names the most likely one. If a proof holds for
the whole text, nobody names more than e^ε/(e^ε + N − 1) of N candidates: the posterior of each is
at most e^ε times as likely as that of any other. With N = 2 this is membership inference on a
whole text, and e^ε/(1 + e^ε) bounds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.attacks.bounds import largest_success, report_breach
from benchmarks.harness.context import Context
from benchmarks.harness.experiment import Experiment, Outcome, success
from benchmarks.harness.markdown import (
    format_bound,
    format_number,
    format_percent,
    format_point,
    format_table,
)
from benchmarks.harness.records import Case, Estimate, Record
from benchmarks.whole.linkage import (
    ChoiceLinkage,
    Linkage,
    build_linkage,
    has_linkage,
    list_candidates,
)
from benchmarks.whole.sanitizers import build_sanitizer, list_points, whole_epsilon

__all__ = ["WhichDocument", "find_exact", "measure_linkage", "play"]

NAMES = {"success": "bound", "pair": "pair_bound"}
ROUNDING = 1e-9  # of sums in double precision, generously


class WhichDocument(Experiment):
    """Measure the share of documents that an attacker with exact likelihoods names.

    Values:
        success: the share named among all candidates; equally likely ones count as one over
            their number.
        pair: the share named where the candidates are the document and one other.
        bound, pair_bound: the proved bounds; 1 if nothing is proved.
        exact: the expected share among all, where it is computed: `success` is a sample.
        pair_exact: likewise of two, the largest over random pairs.
        epsilon: proved for the whole text of `words` words; None if nothing is.
        unit: to which the proof refers.
    """

    name = "which_document"
    about = "which of 1,000 documents was released, and which of two: exact likelihoods"

    def cases(self, context: Context) -> Iterable[Case]:
        for label, epsilon in list_points(context):
            if has_linkage(context, label):
                yield {"mechanism": label, "epsilon": epsilon}

    def measure(self, case: Case, context: Context) -> Outcome:
        label, epsilon = case["mechanism"], case["epsilon"]
        words = context.suite.whole.words
        guarantee = build_sanitizer(context, label, epsilon).guarantee
        found = measure_linkage(
            build_linkage(context, label, epsilon),
            len(list_candidates(context)),
            whole_epsilon(guarantee, words),
            context.rng(self.name, case),
        )
        return Outcome({**found.values, "words": words, "unit": guarantee.unit}, found.breaches)

    def render(self, records: Sequence[Record], figure: str | None = None) -> Iterable[str]:
        rows = [
            [
                *format_point(r.case),
                "none" if r.values["epsilon"] is None else format_number(r.values["epsilon"]),
                format_percent(r.values["success"]),
                format_bound(r.values["bound"]),
                format_percent(r.values["pair"]),
                format_bound(r.values["pair_bound"]),
            ]
            for r in records
        ]
        if not rows:
            return
        first = records[0].values
        head = ["mechanism", "ε", "proved ε of the text", "named, %", "allowed, %"]
        yield (
            "### Which document was it?\n\n"
            f"An attacker sees one release and knows that it is of one of {first['documents']:,} "
            f"public texts of {first['words']} words. It knows the mechanism and names the most "
            "likely text. *Of two*: the other candidate is one text drawn at random; a blind "
            "guess is right in half of all cases.\n\n"
            + format_table([*head, "of two, %", "allowed, %"], rows)
        )

    @classmethod
    def read_named(cls, records: Sequence[Record], label: str, epsilon: float) -> Estimate | None:
        """Return the share of documents named among all candidates, computed or sampled; None if
        it is not measured."""
        for record in cls.select(records, mechanism=label, epsilon=epsilon):
            exact = record.values["exact"]
            found: Estimate = record.values["success"]
            return found if exact is None else Estimate.exact(exact, found.n)
        return None

    @classmethod
    def read_epsilon(cls, records: Sequence[Record], label: str, epsilon: float) -> float | None:
        """Return the ε that is proved for a whole text, whatever its length; None if nothing is,
        or it is not measured."""
        for record in cls.select(records, mechanism=label, epsilon=epsilon):
            if record.values["unit"] == "document":
                found: float | None = record.values["epsilon"]
                return found
        return None


def play(
    linkage: Linkage, count: int, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Release each of `count` candidates once; return whether it is named among all of them, and
    whether it is named beside one other, bool (count,) each."""
    named, told = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
    for place in range(count):
        release = linkage.release(place, rng)
        # Lexicographic: likelihood, then what may only decide between equals, then a fair coin.
        order = np.lexsort((rng.random(count), linkage.resolve(release), linkage.scores(release)))
        named[place] = order[-1] == place
        other = (place + 1 + int(rng.integers(count - 1))) % count
        ranks = np.argsort(order)
        told[place] = ranks[place] > ranks[other]
    return named, told


def measure_linkage(
    linkage: Linkage, count: int, epsilon: float | None, rng: np.random.Generator
) -> Outcome:
    """Measure both attacks and check them against the bounds.

    Args:
        linkage: of the candidates.
        count: of the candidates, N >= 2.
        epsilon: proved for the replacement of a whole text; None if nothing is.
        rng: for the releases, the other candidates and the coins.
    """
    named, told = play(linkage, count, rng)
    exact = find_exact(linkage, count, rng)
    values: dict[str, Any] = {}
    breaches: tuple[str, ...] = ()
    for name, right, prior in (("success", named, 1 / count), ("pair", told, 0.5)):
        hits, bound = int(right.sum()), 1.0 if epsilon is None else largest_success(epsilon, prior)
        values |= {name: success(hits, count), NAMES[name]: bound}
        breaches += report_breach(name, hits, count, bound)
        if exact and exact[name] > bound + ROUNDING:
            breaches += (f"{name}: the exact {exact[name]:.6g} is above the proved {bound:.6g}",)
    values |= {"exact": exact.get("success"), "pair_exact": exact.get("pair")}
    return Outcome({**values, "documents": count, "epsilon": epsilon}, breaches)


def find_exact(linkage: Linkage, count: int, rng: np.random.Generator) -> dict[str, float]:
    """Return the expected shares where they are computed: among all candidates, and the largest
    over as many random pairs as there are candidates."""
    if not isinstance(linkage, ChoiceLinkage):
        return {}
    first = rng.permutation(count)
    pairs = zip(first, np.roll(first, 1), strict=True)
    return {
        "success": linkage.success,
        "pair": max(linkage.pair_success(int(a), int(b)) for a, b in pairs),
    }
