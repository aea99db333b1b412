"""Measure what a remote is worth: answers made with its generation against the local model's own.

The local model writes one answer alone, and one with the generation; the answer nearer to the
document is returned. The control has as many candidates: the better of two answers that the local
model writes alone. Both choices are made by the same judge, which does not know the truth.
A generation without any part about the document is not used, nor a reply to a passage if one of
them is no nearer to the document than the local model's first answer: the answer is then the local
model's second one. So every figure is of what the proxy returns for `candidates: 2`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.context import Context
from benchmarks.harness.experiment import Experiment, Outcome, mean
from benchmarks.harness.markdown import format_figure, format_table
from benchmarks.harness.records import Case, Estimate, Record
from benchmarks.harness.suite import CORPUS
from benchmarks.harness.texts import Text
from benchmarks.metrics.utility import cosines
from benchmarks.whole.answers import Way, choose_samples, write_answers
from benchmarks.whole.collections import find_cover
from benchmarks.whole.sanitizers import draws_words
from extraction.judge import build_judge
from perturb.whole.encoder import BUNDLED

__all__ = ["Worth", "compare_answers", "find_used", "judge"]

MECHANISM = "surrogate"  # of the covering codebook
Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
TITLES = {
    "covering": "knows the subject",
    "knowing": "knows other subjects",
    "bundled": "is the bundled model",
    "truth": "writes the true continuation",
}


class Worth(Experiment):
    """Compare answers, text by text.

    Values, all of the similarity to the true continuation:
        alone, best_of_two: the local model's own answer, and the better of two.
        extracted: the candidate made with the generation, or without it if it is not used.
        judged: the better one of `alone` and `extracted`.
        lift_one: extracted − alone.
        lift_two: judged − best_of_two.
        used: the share of texts whose generation is used.
        chosen: the share of texts whose returned answer was made with the generation.
        reached: the share of texts for which their own covering passage left; None without one.
        sent: cosine of the released text and the document; None if nothing was released.
    """

    name = "worth"
    about = "what the remote adds to the local model alone with as many candidates"

    def cases(self, context: Context) -> Iterable[Case]:
        whole, covering = context.suite.whole, context.corpus is not None
        points: list[Case] = [{"remote": "truth"}]
        for encoder in (BUNDLED, *whole.encoders) if covering else ():
            for epsilon in whole.epsilons:
                point = {"remote": "covering", "mechanism": MECHANISM, "epsilon": epsilon}
                points.append({**point, "encoder": encoder})
        words = [(s.label, epsilon) for s, epsilon in context.suite.points(pipeline=True)]
        for label, epsilon in (*words, *((MECHANISM, e) for e in whole.epsilons)):
            for remote in ("knowing", "bundled") if covering else ("bundled",):
                points.append({"remote": remote, "mechanism": label, "epsilon": epsilon})
        for point in points:
            for dataset in context.suite.datasets:
                if choose_samples(context, dataset):
                    yield {**point, "dataset": dataset}

    def measure(self, case: Case, context: Context) -> Outcome:
        dataset, rng = case["dataset"], context.rng(self.name, case)
        samples = choose_samples(context, dataset)
        prefixes, truth = [s.prefix for s in samples], [s.continuation for s in samples]
        way = Way(
            case["remote"],
            case.get("mechanism"),
            case.get("epsilon"),
            case.get("encoder", BUNDLED),
        )
        made = write_answers(context, way, dataset)
        first, second = (
            [text.answer for text in write_answers(context, Way("none", draw=draw), dataset)]
            for draw in (0, 1)
        )
        used = find_used(context, way, prefixes, made, first)
        answers = {
            "first": first,
            "second": second,
            "extracted": [
                text.answer if use else own
                for text, use, own in zip(made, used, second, strict=True)
            ],
        }
        vectors = context.encode(truth)
        near = {k: cosines(vectors, context.encode(texts)) for k, texts in answers.items()}
        better = {k: judge(prefixes, answers["first"], answers[k]) for k in answers}
        values = compare_answers(near, better, used, rng)
        sent = [text.sent for text in made]
        if way.mechanism is not None and None not in sent:
            released = context.encode([text or "" for text in sent])
            values["sent"] = mean(cosines(context.encode(prefixes), released), rng)
        if way.remote == "covering":
            own = [text == find_cover(s) for text, s in zip(sent, samples, strict=True)]
            values["reached"] = float(np.mean(own))
        return Outcome({"sent": None, "reached": None, **values})

    def render(self, records: Sequence[Record], figure: str | None = None) -> Iterable[str]:
        rows = [
            [
                TITLES[r.case["remote"]],
                *_format_release(r.case),
                r.case["dataset"],
                format_figure(r.values["alone"], 3).split(" ")[0],
                format_figure(r.values["best_of_two"], 3).split(" ")[0],
                format_figure(r.values["lift_one"], 3, sign=True),
                format_figure(r.values["lift_two"], 3, sign=True),
                _format_share(r.values["reached"]),
                _format_share(r.values["used"]),
                _format_share(r.values["chosen"]),
            ]
            for r in records
        ]
        if not rows:
            return
        head = ["remote", "release", "ε", "set", "alone", "best of two"]
        head += ["with the remote − alone", "judged two − best of two", "reached, %"]
        head += ["used, %", "chosen, %"]
        yield (
            "### What the remote is worth\n\n"
            "Similarity of the answer to the true continuation, "
            f"{records[0].values['alone'].n} texts a set at most, paired 95 % intervals. *Alone*: "
            "the local model's own answer; *best of two*: the better of two such answers, chosen "
            "by the proxy's judge. *Judged two*: the better of the local model's "
            "own answer and the one made with the remote's generation, chosen in the same way. "
            "The local model's own answers are written once a run, and every row is paired with "
            "those of its run. "
            "A generation without any sentence about the document is not used; of a reply to "
            "scrambled words, only such sentences are. A reply to a passage is not used either if "
            "it or the passage is no nearer to the document than the local model's own answer; "
            "for the true continuation, which no passage made, the passage does not count. "
            "A remote that *knows the subject* answers from a public collection that holds "
            "another passage of each document, neither the prefix nor the continuation (texts "
            "whose documents have none are left out); *reached*: that very passage was released. "
            "The true continuation as generation is the upper bound.\n\n"
            + format_table(head, rows)
        )

    @classmethod
    def read_point(cls, record: Record) -> tuple[str, str, str, float] | None:
        """Return the mechanism, what the remote knows, the label under which the exposure of
        such releases is measured, and ε; None where nothing was released."""
        case = record.case
        if "mechanism" not in case:
            return None
        encoder = case.get("encoder", BUNDLED)
        remote = TITLES[case["remote"]] + ("" if encoder == BUNDLED else f" ({encoder})")
        covering = case["remote"] == "covering"
        exposed = f"{MECHANISM} {CORPUS}" if covering else case["mechanism"]
        return case["mechanism"], remote, exposed, case["epsilon"]

    @classmethod
    def read_lift(cls, record: Record) -> Estimate:
        """Return the lift over the local model alone with as many candidates."""
        found: Estimate = record.values["lift_two"]
        return found


def find_used(
    context: Context,
    way: Way,
    documents: Sequence[str],
    made: Sequence[Text],
    first: Sequence[str],
) -> Mask:
    """Return which generations the second candidate is made with, bool (n,): those with a part
    about the document, and if they are replies to passages, those that are helpful beside the
    first candidate; with the suite's `extraction: all` every one.

    Args:
        context: the suite.
        way: how the generations were made.
        documents: the private texts.
        made: their generations, and what was sent for them.
        first: the local model's own answers.
    """
    if context.suite.whole.extraction == "all":
        return np.array([text.generation is not None for text in made])
    judge = build_judge()
    words = way.mechanism is not None and draws_words(context, way.mechanism)

    def is_used(document: str, text: Text, own: str) -> bool:
        if not judge.keep_if_relevant(document, text.generation or ""):
            return False
        material = [text.generation or ""]
        if way.remote != "truth":
            material.append(text.sent or "")
        return words or judge.is_helpful(document, own, material)

    return np.array([is_used(*each) for each in zip(documents, made, first, strict=True)])


def judge(documents: Sequence[str], first: Sequence[str], second: Sequence[str]) -> Mask:
    """Return where the second of two answers is the better one by the proxy's own judge, which
    takes the first of equals, bool (n,)."""
    choose = build_judge().choose_best
    pairs = zip(first, second, strict=True)
    return np.array([choose(d, pair) == 1 for d, pair in zip(documents, pairs, strict=True)])


def compare_answers(
    near: dict[str, Array], better: dict[str, Mask], used: Mask, rng: np.random.Generator
) -> dict[str, Any]:
    """Return the figures of the comparison.

    Args:
        near: similarities to the truth of `first` and `second`, which the local model wrote
            alone, and `extracted`, float64 (n,) each.
        better: where `second` and `extracted` are better than `first`, bool (n,) each.
        used: where `extracted` was made with a generation, bool (n,).
        rng: for the bootstrap.
    """
    best = np.where(better["second"], near["second"], near["first"])
    judged = np.where(better["extracted"], near["extracted"], near["first"])
    return {
        "alone": mean(near["first"], rng),
        "best_of_two": mean(best, rng),
        "extracted": mean(near["extracted"], rng),
        "judged": mean(judged, rng),
        "lift_one": mean(near["extracted"] - near["first"], rng),
        "lift_two": mean(judged - best, rng),
        "used": float(used.mean()),
        "chosen": float((better["extracted"] & used).mean()),
    }


def _format_release(case: Case) -> list[str]:
    if "mechanism" not in case:
        return ["", ""]
    encoder = case.get("encoder", BUNDLED)
    by = "" if encoder == BUNDLED else f" ({encoder})"
    return [f"`{case['mechanism']}`{by}", f"{case['epsilon']:g}"]


def _format_share(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f}"
