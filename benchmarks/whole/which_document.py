"""Name the document that was released, among many public ones, and tell two of them apart.

Every candidate is released once, and the attacker names the most likely one. If a proof holds for
the whole text, nobody names more than e^ε/(e^ε + N − 1) of N candidates: the posterior of each is
at most e^ε times as likely as that of any other. With N = 2 this is membership inference on a
whole text, and e^ε/(1 + e^ε) bounds it.

The attacker reads the bytes that are sent. Where words are drawn one by one, these hold the
skeleton of the text, which is the same in every release and outside ε. The bound then holds among
the candidates with one skeleton, and those with different skeletons are told apart for certain.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import asdict
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
    WordLinkage,
    build_linkage,
    has_linkage,
    list_candidates,
)
from benchmarks.whole.sanitizers import (
    build_sanitizer,
    draws_words,
    list_points,
    whole_epsilon,
)
from perturb import DocumentOptions, Perturber

__all__ = [
    "WhichDocument",
    "bound_successes",
    "find_exact",
    "is_default",
    "measure_linkage",
    "name_kinds",
    "play",
]

NAMES = {"success": "bound", "pair": "pair_bound"}
ROUNDING = 1e-9  # of sums in double precision, generously
LONG = 3  # times the words of the texts: longer texts, of which only the skeleton is read
SETTINGS = [
    {"layout": layout, "number": number}
    for layout, number in itertools.product(("keep", "drop"), ("random", "drop"))
]


class WhichDocument(Experiment):
    """Measure the share of documents that an attacker with exact likelihoods names.

    Values:
        success: the share named among all candidates; equally likely ones count as one over
            their number.
        pair: the share named where the candidates are the document and one other.
        bound, pair_bound: the proved bounds; 1 if nothing is proved.
        skeleton, skeleton_long: the share named by the skeleton alone, whatever ε, and that of
            texts of `LONG` times as many words; None if there are no such texts.
        exact: the expected share among all, where it is computed: `success` is a sample.
        pair_exact: likewise of two, the largest over random pairs.
        epsilon: proved for the whole text, its skeleton given; None if nothing is.
        unit: to which the proof refers.
    """

    name = "which_document"
    about = "which of 1,000 documents was released, and which of two: exact likelihoods"

    def cases(self, context: Context) -> Iterable[Case]:
        for label, epsilon in list_points(context):
            if has_linkage(context, label):
                for setting in SETTINGS if draws_words(context, label) else [{}]:
                    yield {"mechanism": label, "epsilon": epsilon, **setting}

    def measure(self, case: Case, context: Context) -> Outcome:
        label, epsilon = case["mechanism"], case["epsilon"]
        options = DocumentOptions(**{name: case[name] for name in SETTINGS[0] if name in case})
        linkage = build_linkage(context, label, epsilon, options)
        guarantee = build_sanitizer(context, label, epsilon).guarantee
        words = context.suite.whole.words
        more: dict[str, Any] = {"words": words, "unit": guarantee.unit}
        if isinstance(linkage, WordLinkage):
            words = int(linkage.counts.max())
            texts = [candidate.text for candidate in list_candidates(context, LONG)]
            long = WordLinkage(Perturber(context.mechanism(label, epsilon), options), texts)
            more["skeleton"] = name_kinds(linkage)
            more["skeleton_long"] = name_kinds(long) if texts else None
        found = measure_linkage(
            linkage, whole_epsilon(guarantee, words), context.rng(self.name, case)
        )
        return Outcome({**found.values, **more}, found.breaches)

    def render(self, records: Sequence[Record], figure: str | None = None) -> Iterable[str]:
        rows = [
            [
                *format_point(r.case),
                r.case.get("layout", "–"),
                r.case.get("number", "–"),
                "none" if r.values["epsilon"] is None else format_number(r.values["epsilon"]),
                format_percent(r.values["success"]),
                format_bound(r.values["bound"]),
                _format_share(r.values.get("skeleton")),
                _format_share(r.values.get("skeleton_long")),
                format_percent(r.values["pair"]),
                format_bound(r.values["pair_bound"]),
            ]
            for r in records
        ]
        if not rows:
            return
        first = records[0].values
        head = [
            *("mechanism", "ε", "`layout`", "`number`", "proved ε of the text", "named, %"),
            *("allowed, %", "by the skeleton, %", f"of {LONG * first['words']} words, %"),
            *("of two, %", "allowed, %"),
        ]
        yield (
            "### Which document was it?\n\n"
            f"An attacker reads the bytes of one release and knows that it is of one of "
            f"{first['documents']:,} public texts of {first['words']} words. It knows the "
            "mechanism and names the most likely text. *Of two*: the other candidate is one text "
            "drawn at random; a blind guess is right in half of all cases.\n\n"
            "Where words are drawn one by one, what is sent also holds the skeleton of the text: "
            "how many words it has and, as `layout` and `number` say, punctuation, blanks and the "
            "places of digits. No ε covers it: the proved ε is of texts with one skeleton. *By "
            "the skeleton*: the share that is named from the skeleton alone, whatever ε is, of "
            f"these texts and of texts of {LONG * first['words']} words.\n\n"
            + format_table(head, rows)
        )

    @classmethod
    def read_named(cls, records: Sequence[Record], label: str, epsilon: float) -> Estimate | None:
        """Return the share of documents named among all candidates, computed or sampled, with the
        default treatment of layout and numbers; None if it is not measured."""
        for record in cls.select(records, mechanism=label, epsilon=epsilon):
            if not is_default(record.case):
                continue
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


def is_default(case: Case) -> bool:
    """Tell if a case treats layout and numbers as by default, or has no words to treat."""
    default = asdict(DocumentOptions())
    return all(case.get(name, default[name]) == default[name] for name in SETTINGS[0])


def name_kinds(linkage: Linkage) -> float:
    """Return the share of candidates that are named by their kind alone: one of each kind."""
    return len(np.unique(linkage.kinds)) / len(linkage.kinds)


def _format_share(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"


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


def measure_linkage(linkage: Linkage, epsilon: float | None, rng: np.random.Generator) -> Outcome:
    """Measure both attacks and check them against the bounds.

    Args:
        linkage: of the candidates, N >= 2.
        epsilon: proved for the replacement of a whole text by one of its kind; None if nothing is.
        rng: for the releases, the other candidates and the coins.
    """
    count = len(linkage.kinds)
    named, told = play(linkage, count, rng)
    exact = find_exact(linkage, count, rng)
    bounds = bound_successes(linkage, epsilon)
    values: dict[str, Any] = {}
    breaches: tuple[str, ...] = ()
    for name, right in (("success", named), ("pair", told)):
        hits, bound = int(right.sum()), bounds[name]
        values |= {name: success(hits, count), NAMES[name]: bound}
        breaches += report_breach(name, hits, count, bound)
        if exact and exact[name] > bound + ROUNDING:
            breaches += (f"{name}: the exact {exact[name]:.6g} is above the proved {bound:.6g}",)
    values |= {"exact": exact.get("success"), "pair_exact": exact.get("pair")}
    return Outcome({**values, "documents": count, "epsilon": epsilon}, breaches)


def bound_successes(linkage: Linkage, epsilon: float | None) -> dict[str, float]:
    """Return the largest expected success of both attacks, where ε is proved among candidates of
    one kind, and kinds are known."""
    if epsilon is None:
        return {"success": 1.0, "pair": 1.0}
    sizes = np.unique(linkage.kinds, return_counts=True)[1]
    count = len(linkage.kinds)
    named = sum(size * largest_success(epsilon, 1 / size) for size in sizes.tolist())
    alike = float((sizes * (sizes - 1)).sum()) / (count * (count - 1))
    return {
        "success": named / count,
        "pair": 1 - alike * (1 - largest_success(epsilon, 0.5)),
    }


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
