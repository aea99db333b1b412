"""The part of a report on how good the answers are, and what the remote has to do with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.frontier import select
from benchmarks.markdown import figure, percent, table
from benchmarks.records import Case, Record

__all__ = ["utility"]

ARMS = {
    "pipeline": "**the pipeline**",
    "oracle": "oracle remote",
    "random": "random words to the remote",
    "local": "local model alone",
    "raw": "remote alone, not private",
}
ENOUGH = 200  # texts of a set: MAUVE makes a tenth as many clusters
COARSE = (
    " MAUVE is coarse on so few texts: it makes one cluster of every ten, its intervals hold the "
    "clusters fixed, and another run may lie outside them."
)


def utility(records: Sequence[Record]) -> Iterable[str]:
    """Sections on answers, what the remote adds, documents and generations."""
    yield "## Utility"
    for section in (_answers, _lift, _documents, _expected):
        yield from section(records)


def _name(case: Case) -> list[str]:
    """An arm or a mechanism, and its ε."""
    label = f"`{case['mechanism']}`" if "mechanism" in case else ""
    arm = ARMS[case["arm"]] if "arm" in case else ""
    epsilon = f"{case['epsilon']:g}" if "epsilon" in case else ""
    return [", ".join(filter(None, (arm, label))), epsilon]


def _answers(records: Sequence[Record]) -> Iterable[str]:
    found = select(records, "utility")
    if not found:
        return
    yield (
        "### Answers\n\n"
        "In the form of InferDPT's tables III and IV: continuations of the prefixes. *Diversity* "
        "and *MAUVE* as published, *coherence* the cosine of answer and prefix, *similarity* that "
        "of answer and reference. The controls: the local model alone; the remote shown random "
        "words; the remote shown the raw prefix; and an *oracle remote*, which continues the raw "
        "prefix perfectly and is then perturbed: no remote can help more."
        + (COARSE if found[0].values["mauve"].n < ENOUGH else "")
    )
    for dataset in dict.fromkeys(r.case["dataset"] for r in found):
        rows = [
            [
                *_name(r.case),
                figure(r.values["diversity"], 2),
                figure(r.values["mauve"], 2),
                figure(r.values["coherence"]),
                figure(r.values["similarity"]),
            ]
            for r in found
            if r.case["dataset"] == dataset
        ]
        head = ["method", "ε", "diversity", "MAUVE", "coherence", "similarity"]
        yield f"**{dataset}**, {found[0].values['diversity'].n} texts\n\n{table(head, rows)}"


def _lift(records: Sequence[Record]) -> Iterable[str]:
    rows = [
        [
            *_name(r.case),
            ARMS[r.case["minus"]],
            r.case["dataset"],
            figure(r.values["similarity"], sign=True),
            "yes" if r.values["shown"]["similarity"] else "no",
            figure(r.values["coherence"], sign=True),
        ]
        for r in select(records, "lift")
    ]
    if rows:
        head = ["this", "ε", "less this", "set", "similarity", "shown", "coherence"]
        yield (
            "### What the remote adds\n\n"
            "Differences, text by text. *Shown* says whether the interval of the similarity to "
            "the reference leaves out zero; where it does not, no difference was shown.\n\n"
            + table(head, rows)
        )


def _documents(records: Sequence[Record]) -> Iterable[str]:
    found = select(records, "similarity")
    if not found:
        return
    names = [name for name in found[0].values if name.startswith("cosine")]
    rows = [
        [
            *_name(r.case),
            r.case["dataset"],
            *(figure(r.values[name], 2) for name in names),
            figure(r.values["bert_score"], 2) if "bert_score" in r.values else "",
            figure(r.values["bleu"], 2),
        ]
        for r in found
    ]
    head = ["mechanism", "ε", "set", *names, "BERTScore", "BLEU"]
    yield f"### Document and perturbed document\n\n{table(head, rows)}"


def _expected(records: Sequence[Record]) -> Iterable[str]:
    found = select(records, "assumption1")
    if not found:
        return
    names = [name for name in found[0].values if name.startswith("share at")]
    rows = [
        [
            *_name(r.case)[:1],
            r.case["dataset"],
            *(percent(r.values[name]) for name in names),
            figure(r.values["correlation"], 2) if "correlation" in r.values else "",
        ]
        for r in found
    ]
    head = ["mechanism", "set", *(n.replace("share at", "ε =") for n in names), "correlation"]
    yield (
        "### InferDPT's assumption 1\n\n"
        "Per cent of the words of the perturbed generation that generations of the raw prefix "
        "hold, too, and the correlation of that share with ε. *Random*: the remote was shown "
        "random words.\n\n" + table(head, rows)
    )
