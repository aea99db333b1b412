"""The part of a report on what attackers read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from benchmarks.frontier import select
from benchmarks.markdown import figure, number, percent, table
from benchmarks.records import Estimate, Record

__all__ = ["attacks"]

WORDS = (
    ("inversion", "top_1", "nearest word"),
    ("inversion", "top_10", "10 nearest words"),
    ("bayes", "success", "Bayes, no context"),
)
FRESH = re.compile(r"fresh_(\d+)")
LEAKAGE_CONTROLS = {"random": "random words to the remote", "raw": "the raw document"}


def attacks(records: Sequence[Record], figures: dict[str, str]) -> Iterable[str]:
    """Sections on every attack that was measured."""
    yield "## Attacks"
    for section in (_words, _contextual, _averaging, _exposure, _leakage, _authors, _membership):
        yield from section(records, figures)
    yield from _channel(records)
    if "list_sizes" in figures:
        yield (
            "### How many words the list of `rantext` holds\n\n"
            f"![list sizes]({figures['list_sizes']})\n\nThe form of InferDPT's figure 4, over the "
            "radius and over all words of the vocabulary."
        )


def _sets(records: Sequence[Record]) -> list[str]:
    return list(dict.fromkeys(r.case["dataset"] for r in records if "dataset" in r.case))


def _points(records: Sequence[Record]) -> list[tuple[str, float]]:
    return list(dict.fromkeys((r.case["mechanism"], r.case["epsilon"]) for r in records))


def _name(label: str, epsilon: float) -> list[str]:
    return [f"`{label}`", f"{epsilon:g}"]


def _words(records: Sequence[Record], figures: dict[str, str]) -> Iterable[str]:
    found = select(records, "inversion")
    if not found:
        return
    yield (
        "### Words read, one at a time\n\n"
        "Per cent of the words of the prefixes. *Nearest word* and *10 nearest words* invert the "
        "embedding; *Bayes* knows the exact channel and how frequent words are in general, and no "
        "attacker who knows only that does better on average. *Allowed* is what the proof lets "
        "any Bayes attack have on these words; passing it would have failed the run. *Each word "
        "once*: at the first place of each word alone, where frequent words help less."
    )
    for dataset in _sets(found):
        rows = []
        for label, epsilon in _points(found):
            case = {"mechanism": label, "epsilon": epsilon, "dataset": dataset}
            cells = [
                percent(r.values[key])
                for name, key, _ in WORDS
                for r in select(records, name, **case)
            ]
            bayes = select(records, "bayes", **case)
            shown = [
                cell
                for r in bayes
                for cell in (
                    _allowed(r.values["success_bound"]),
                    percent(r.values["success_once"]),
                    _allowed(r.values["success_once_bound"]),
                )
            ]
            rows.append([*_name(label, epsilon), *cells, *shown])
        head = ["mechanism", "ε", *(title for *_, title in WORDS), "allowed"]
        head += ["Bayes, each word once", "allowed"]
        yield f"**{dataset}**\n\n{table(head, rows)}"
    yield from _claim(records)


def _claim(records: Sequence[Record]) -> Iterable[str]:
    """The paper's claim about inversion, beside what was found."""
    case = {"mechanism": "rantext", "epsilon": 6.0}
    inverted = select(records, "inversion", **case)
    if not inverted:
        return
    holds = all(r.values["top_10"].high < 0.1 for r in inverted)
    nearest = _by_set(inverted, "top_10")
    context = _by_set(select(records, "contextual", model="bigram", **case), "success")
    yield (
        "InferDPT reports that the ten nearest words hold less than 10 % of the words for "
        f"`rantext` at ε = 6. Here: {nearest}. The claim "
        + ("holds on all sets." if holds else "does not hold on all sets.")
        + (f" An attacker with context reads {context}." if context else "")
    )


def _by_set(found: Sequence[Record], name: str) -> str:
    return ", ".join(f"{r.case['dataset']} {percent(r.values[name])}" for r in found)


def _contextual(records: Sequence[Record], figures: dict[str, str]) -> Iterable[str]:
    found = select(records, "contextual")
    if not found:
        return
    rows = [
        [
            *_name(r.case["mechanism"], r.case["epsilon"]),
            r.case["dataset"],
            r.case["model"],
            percent(r.values["success"]),
            percent(r.values["context_free"]),
            figure(_times(r.values["gain"], 100), 1, sign=True),
            percent(r.values["prior"]),
        ]
        for r in found
    ]
    head = ["mechanism", "ε", "set", "model", "words read", "without context", "gain", "blind"]
    yield (
        "### Words read with context\n\n"
        "A language model and the exact channel together: exact posteriors by forward–backward "
        "for bigrams, a beam for a neural model. *Without context* is the Bayes attack on the "
        "same words, *gain* the difference over texts, *blind* the language model alone.\n\n"
        + table(head, rows)
    )


def _averaging(records: Sequence[Record], figures: dict[str, str]) -> Iterable[str]:
    found = select(records, "averaging")
    if not found:
        return
    times = sorted(int(m[1]) for name in found[0].values if (m := FRESH.fullmatch(name)))
    memo = f"memo_{times[-1]}"
    rows = [
        [
            *_name(r.case["mechanism"], r.case["epsilon"]),
            *(percent(r.values[f"fresh_{t}"]) for t in times),
            percent(r.values[memo]),
            str(r.values["memo_releases"]),
        ]
        for r in found
    ]
    head = [
        "mechanism",
        "ε",
        *(f"{t} fresh" for t in times),
        f"{times[-1]} retries, memo on",
        "different prompts",
    ]
    picture = f"![averaging]({figures['averaging']})\n\n" if "averaging" in figures else ""
    yield (
        "### Many releases of one text\n\n"
        "Fresh noise on the same text is averaged away; the proxy sends the same bytes again, so "
        "that retries give no more than one release.\n\n" + picture + table(head, rows)
    )


def _exposure(records: Sequence[Record], figures: dict[str, str]) -> Iterable[str]:
    rows = [
        [
            *_name(r.case["mechanism"], r.case["epsilon"]),
            figure(r.values["number"], 2),
            figure(r.values["phrase"], 2),
            percent(r.values["number_whole"]),
            percent(r.values["phrase_whole"]),
        ]
        for r in select(records, "exposure")
    ]
    if rows:
        head = ["mechanism", "ε", "number, bits", "phrase, bits", "number whole", "phrase whole"]
        yield (
            "### Planted secrets\n\n"
            "A number of nine digits or a phrase of three words, ranked among candidates by what "
            "left: exposure log₂|R| − log₂ rank. Chance alone gives about 1.44 bits. *Whole*: per "
            "cent that left as they are.\n\n" + table(head, rows)
        )


def _leakage(records: Sequence[Record], figures: dict[str, str]) -> Iterable[str]:
    rows = [
        [
            *(
                _name(r.case["mechanism"], r.case["epsilon"])
                if "mechanism" in r.case
                else [LEAKAGE_CONTROLS[r.case["arm"]], ""]
            ),
            r.case["dataset"],
            *(percent(r.values[f"overlap {n}"]) for n in (1, 2, 3)),
            figure(r.values["cosine"]),
        ]
        for r in select(records, "leakage")
    ]
    if rows:
        head = ["mechanism", "ε", "set", "words", "pairs", "triples", "cosine"]
        yield (
            "### What the remote's generation gives away\n\n"
            "Per cent of the raw document's n-grams that stand in the generation, and the cosine "
            "of the two.\n\n" + table(head, rows)
        )


def _authors(records: Sequence[Record], figures: dict[str, str]) -> Iterable[str]:
    found = select(records, "authors")
    if not found:
        return
    names = [n for n in found[0].values if n.startswith(("static_", "adaptive_"))]
    raw = [n for n in found[0].values if n.startswith("raw_")]
    rows = [
        [
            *_name(r.case["mechanism"], r.case["epsilon"]),
            *(figure(r.values[name], 2) for name in names),
        ]
        for r in found
    ]
    before = ", ".join(
        f"{name.removeprefix('raw_')} {figure(found[0].values[name], 2)}" for name in raw
    )
    yield (
        "### Who wrote it\n\n"
        "Macro-F1 of naming the author: *static* attackers learnt on raw texts, *adaptive* ones "
        f"on perturbed texts. On raw texts: {before}; by chance "
        f"{figure(found[0].values['blind'], 2)}.\n\n"
        + table(["mechanism", "ε", *(n.replace("_", ", ") for n in names)], rows)
    )


def _membership(records: Sequence[Record], figures: dict[str, str]) -> Iterable[str]:
    rows = [
        [
            *_name(r.case["mechanism"], r.case["epsilon"]),
            figure(r.values["word_auc"], 2),
            _allowed(r.values["word_auc_bound"].value, 1),
            percent(r.values["word_tpr"]),
            _allowed(r.values["word_tpr_bound"].value),
            figure(r.values["text_auc"], 2),
            percent(r.values["text_tpr"]),
        ]
        for r in select(records, "membership")
    ]
    if rows:
        head = ["mechanism", "ε", "one word: AUC", "allowed", "found, %", "allowed, %"]
        yield (
            "### Was this text among the demonstrations?\n\n"
            "A prompt holds made-up demonstrations; the attacker sees what leaves and has the "
            "exact likelihood ratio. *One word*: two candidates differ in a single word, where "
            "the proof of one token bites. *Whole text*: they differ in all of their words, and "
            "nothing is proved that helps. AUC 0.5 is chance; *found* is the share of members "
            "found at about 1 % false alarms.\n\n"
            + table([*head, "whole text: AUC", "found, %"], rows)
        )


def _allowed(bound: float, factor: int = 100) -> str:
    return f"{factor * bound:.3g}" if bound < 1 else "no bound"


def _channel(records: Sequence[Record]) -> Iterable[str]:
    rows = [
        [
            *_name(r.case["mechanism"], r.case["epsilon"]),
            number(r.values["epsilon_proved"]),
            number(r.values["smallest_epsilon"]["value"]),
            percent(r.values["kept_forms"]),
            percent(r.values["bayes_forms"]),
            figure(r.values["information"], 2),
            figure(r.values["cosine"], 2),
        ]
        for r in select(records, "channel")
    ]
    if rows:
        head = [
            "mechanism",
            "ε",
            "proved",
            "smallest ε",
            "kept, %",
            "guessed, %",
            "bits",
            "cosine",
        ]
        yield (
            "### The exact channel\n\n"
            "Of one released word, the raw one drawn by its share of the bundled word counts; "
            "intervals are numerical errors. `inferdpt audit` prints each in full, "
            "[mechanisms.md](mechanisms.md) explains the columns.\n\n" + table(head, rows)
        )


def _times(estimate: Estimate, factor: float) -> Estimate:
    value, low, high = (factor * x for x in (estimate.value, estimate.low, estimate.high))
    return Estimate(value, low, high, estimate.n)
