"""Compare few-shot examples of private texts: how useful they are, and what they give away."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import mannwhitneyu

from benchmarks.attacks.bounds import largest_success
from benchmarks.harness.context import Context
from benchmarks.harness.experiment import Experiment, Outcome, mean
from benchmarks.harness.markdown import format_bound, format_figure, format_table
from benchmarks.harness.records import Case, Estimate, Record
from benchmarks.utility.quality import mauve
from benchmarks.whole.examples import DELTA, SHOTS, Made, classify, make_examples, vote_privately

__all__ = ["Synthesis"]

DRAWS = 20  # of the private texts, and of the noise
TESTED = 50  # texts of each label that are not private
MOST = 150  # private texts of each label
ANSWERS = "DP-ICL"
METHODS: tuple[tuple[str, float | None, str], ...] = (
    ("private", None, "nothing"),
    ("public", None, "every text"),
    ("custext", 3.0, "a token"),
    ("deep_candidate", 8.0, "a sentence"),
    ("surrogate", 12.0, "a text, before it leaves its owner"),
    (ANSWERS, 4.0, "a text, in all answers together"),
    ("synthesize", 1.0, "a text"),
    ("synthesize", 2.0, "a text"),
    ("synthesize", 4.0, "a text"),
    ("synthesize", 8.0, "a text"),
    ("synthesize 16", 4.0, "a text"),
)
HEAD = ("examples", "ε", "protects", "accuracy", "centre", "MAUVE", "membership", "allowed")
UNITS = {(method, epsilon): unit for method, epsilon, unit in METHODS}
BOUNDED = ("surrogate", "synthesize")  # their ε is of a whole text


class Synthesis(Experiment):
    """Measure what SHOTS examples of each label are worth, where the sets are the labels.

    Values:
        accuracy: of classifying texts that are not private by the nearest label's mean vector.
        centre: the cosine of the mean vectors of a label's examples and of its private texts.
        mauve: of the examples of all draws together, against the private texts.
        membership: the AUC of telling the texts that had a part in the examples from others of
            their label, by the cosine to the nearest example; `membership_bound` if one is proved.
    """

    name = "synthesis"
    about = "few-shot examples: accuracy, nearness to the private texts, membership inference"

    def cases(self, context: Context) -> Iterable[Case]:
        if len(context.suite.datasets) > 1:
            for method, epsilon, _ in METHODS:
                yield {"method": method, "epsilon": epsilon}

    def measure(self, case: Case, context: Context) -> Outcome:
        rng = context.rng(self.name, case)
        method, epsilon = case["method"], case["epsilon"] or 0.0
        right, centres, areas, pooled = [], [], [], []
        for _ in range(DRAWS):
            private, other = _split(context, rng)
            texts = [text for own in other.values() for text in own]
            labels = [label for label, own in other.items() for _ in own]
            if method == ANSWERS:
                said = vote_privately(epsilon, private, texts, context.encode, rng)
            else:
                made = make_examples(method, epsilon, private, context.table, rng)
                said = classify(made.examples, texts, context.encode)
                centres.append(_compare_centres(context, made, private))
                areas.append(_find_members(context, made, other))
                pooled += [text for own in made.examples.values() for text in own]
            right.append(fmean(a == b for a, b in zip(said, labels, strict=True)))
        values: dict[str, Any] = {"accuracy": mean(np.array(right), rng)}
        if method != ANSWERS:
            everything = [text for own in private.values() for text in own]
            values |= {
                "centre": mean(np.array(centres), rng),
                "mauve": mauve(context.features(everything), context.features(pooled), rng),
                "membership": mean(np.array(areas), rng),
            }
        if method.partition(" ")[0] in BOUNDED:
            allowed = largest_success(epsilon, 0.5) + DELTA
            values["membership_bound"] = Estimate.exact(allowed)
        return Outcome(values)

    def render(self, records: Sequence[Record], figure: str | None = None) -> Iterable[str]:
        if not records:
            return
        rows = [_render_row(record) for record in sorted(records, key=_find_place)]
        yield (
            "### Synthetic examples\n\n"
            f"{SHOTS} examples of each label are made of private texts; the sets are the labels. "
            "*private*: texts as they are. *public*: random passages. Sanitizers release one text "
            f"for each example. *{ANSWERS}*: no examples; private sets of examples vote on each "
            "answer, with noise. *synthesize*: `inferdpt synthesize`, at the end with the 16 "
            "candidates of most votes as its domain. *Accuracy* of the label with the nearest "
            "mean, on texts that are not private; *centre*, the cosine of the mean vectors of a "
            "label's examples and private texts; *membership*, the AUC of telling texts that had "
            "a part in the examples from others, by the nearest example: 0.5 is chance. The mean "
            f"over {DRAWS} draws of texts and noise; MAUVE is of the examples of all draws "
            "together, and coarse on so few.\n\n" + format_table(HEAD, rows)
        )


def _find_place(record: Record) -> int:
    """Return the row of a record."""
    return list(UNITS).index((record.case["method"], record.case["epsilon"]))


def _render_row(record: Record) -> list[str]:
    values, epsilon = record.values, record.case["epsilon"]
    unit = UNITS[record.case["method"], epsilon]

    def show(name: str) -> str:
        return format_figure(values[name], 2) if name in values else "–"

    bound = values.get("membership_bound")
    allowed = "no bound" if bound is None else format_bound(bound.value, 1)
    return [
        f"`{record.case['method']}`",
        "–" if epsilon is None else f"{epsilon:g}",
        unit,
        *map(show, ("accuracy", "centre", "mauve", "membership")),
        allowed if "membership" in values else "–",
    ]


def _split(
    context: Context, rng: np.random.Generator
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the private texts of each label, and others of each, drawn anew."""
    private, other = {}, {}
    for dataset in context.suite.datasets:
        texts = [f"{s.prefix} {s.continuation}" for s in context.samples(dataset)]
        order = rng.permutation(len(texts))
        tested = min(TESTED, len(texts) // 3)
        other[dataset] = [texts[i] for i in order[:tested]]
        private[dataset] = [texts[i] for i in order[tested : tested + MOST]]
    return private, other


def _compare_centres(context: Context, made: Made, private: dict[str, list[str]]) -> float:
    """Return the mean over labels of the cosine of two mean vectors; 0 without examples."""
    found = []
    for label, texts in private.items():
        examples = list(made.examples[label])
        one = context.encode(examples).mean(axis=0) if examples else np.zeros(1)
        other = context.encode(texts).mean(axis=0)
        size = np.linalg.norm(one) * np.linalg.norm(other)
        found.append(float((one * other).sum() / size) if size else 0.0)
    return fmean(found)


def _find_members(context: Context, made: Made, other: dict[str, list[str]]) -> float:
    """Return the mean over labels of the AUC with which nearness to an example tells the texts
    that were used from others."""
    return fmean(
        _area(
            _score(context, texts, made.examples[label]),
            _score(context, other[label], made.examples[label]),
        )
        for label, texts in made.used.items()
    )


def _score(
    context: Context, texts: Sequence[str], examples: Sequence[str]
) -> NDArray[np.floating[Any]]:
    """Return each text's cosine to the nearest example; 0 without examples."""
    if not examples:
        return np.zeros(len(texts))
    near = context.encode(list(texts)) @ context.encode(list(examples)).T
    return np.asarray(near.max(axis=1))


def _area(members: NDArray[Any], others: NDArray[Any]) -> float:
    """Return the share of pairs in which the member scores higher, a tie counting half."""
    return float(mannwhitneyu(members, others).statistic / (len(members) * len(others)))
