"""Measure the detector by threshold: on prompts of PUPA and on texts of which nothing is private.

    python scripts/measure_detector.py DATA [--model FILE]
    python scripts/measure_detector.py DATA --folds FILE FILE FILE FILE FILE

DATA holds pupa_dev.jsonl, of which only the prompts are read that the detector is not trained on;
with `--folds`, each fifth by the detector that was trained without it, and all are counted.
A prompt's private unit is *left* if no word of it is marked wherever it stands, beside what the
shipped patterns take for contact data; its other words that are marked are *changed*. Of the texts
beside `benchmarks.fidelity`, a word is marked *wrongly* if it is in none of their proper names.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the project need not be installed

import numpy as np  # noqa: E402
from detector.corpora import FOLDS, LAST, find_units, read_records  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

import benchmarks.fidelity  # noqa: E402
from benchmarks.harness.datasets import read_entries  # noqa: E402
from perturb.selective.patterns.contact import CONTACT  # noqa: E402
from perturb.selective.policies import PatternPolicy  # noqa: E402
from perturb.selective.token_model import BUNDLED_FILE, TokenModel  # noqa: E402
from perturb.text.fold import read  # noqa: E402

THRESHOLDS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95)
GROUPS = {
    "PERSON": ("PERSON",),
    "names": ("PERSON", "LOCATION", "ORGANIZATION", "OTHER_NAME", "ID"),
    "all types": (),
}
ORDINARY = ("questions", "code", "files")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Weighed:
    """Hold a text with the probabilities of its words' labels.

    Attributes:
        places: the place of each word.
        shares: float64 (words, labels).
        others: which characters are marked in any case.
    """

    text: str
    places: list[tuple[int, int]]
    shares: NDArray[np.float64]
    others: NDArray[np.bool_]

    def mark(self, labels: Sequence[int], least: float) -> NDArray[np.bool_]:
        """Return which characters are marked, by a probability of one of these labels."""
        marked = self.others.copy()
        hits = list(map(any, self.shares[:, labels] >= least))
        for (start, end), hit in zip(self.places, hits, strict=True):
            if hit and any(map(str.isalnum, self.text[start:end])):
                marked[start:end] = True
        return marked


def weigh(model: TokenModel, text: str, contact: PatternPolicy | None = None) -> Weighed:
    """Read a text."""
    reading = read(text)
    starts, ends, scores = model.score(reading.text)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True, initial=0.0), dtype=np.float64)
    shares /= shares.sum(axis=1, keepdims=True)
    others = np.zeros(len(text), dtype=np.bool_)
    for span in contact.find(text) if contact else ():
        others[span.start : span.end] = True
    places = [reading.span(start, end) for start, end in zip(starts, ends, strict=True)]
    return Weighed(text, places, shares, others)


def count_prompt(
    weighed: Weighed, units: Sequence[str], marked: NDArray[np.bool_]
) -> Iterator[tuple[str, bool]]:
    """Yield what is counted in a prompt, and whether it is the case."""
    private: set[str] = set()
    for unit in units:
        places = find_units(weighed.text, [unit])
        if places:
            yield "units left", any(not marked[start:end].any() for start, end in places)
            private.update(_WORD.findall(unit.lower()))
    for word in _WORD.finditer(weighed.text):
        if word[0].lower() not in private:
            yield "other words changed", bool(marked[word.start() : word.end()].any())


def count_ordinary(
    weighed: Weighed, names: Sequence[str], marked: NDArray[np.bool_]
) -> Iterator[tuple[str, bool]]:
    """Yield what is counted in a text of which nothing is private, and whether it is the case."""
    named = {word for name in names for word in _WORD.findall(name)}
    wrong = 0
    for word in _WORD.finditer(weighed.text):
        hit = bool(marked[word.start() : word.end()].any()) and word[0] not in named
        wrong += hit
        yield "words wrong", hit
    yield "texts without a wrong word", not wrong


def main(argv: Sequence[str] | None = None) -> None:
    """Read the command line, print a table for each set of texts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--model", type=Path, default=BUNDLED_FILE)
    parser.add_argument("--folds", type=Path, nargs=FOLDS, help="a detector for each fifth")
    options = parser.parse_args(argv)
    folds = dict(enumerate(options.folds)) if options.folds else {LAST: options.model}
    contact = PatternPolicy.shipped(sorted({shape.type for shape in CONTACT}))
    read_prompts = []
    for fold, file in folds.items():
        model = TokenModel(file)
        prompts = [p for p, kept in read_records(options.data, "pupa_dev", fold) if kept]
        read_prompts += [(weigh(model, p["text"], contact), p["units"]) for p in prompts]
    show(model, f"{len(read_prompts)} prompts", read_prompts, count_prompt, {})
    if options.folds:
        return
    folder = Path(benchmarks.fidelity.__file__).parent
    types = {label: (label,) for label in model.labels[1:] if label not in GROUPS}
    for name in ORDINARY:
        entries = [entry for _, entry in read_entries(folder / f"{name}.jsonl")]
        texts = [(weigh(model, e["text"]), e.get("names", ())) for e in entries]
        show(model, f"{len(texts)} {name}", texts, count_ordinary, types)


def show(
    model: TokenModel,
    title: str,
    texts: Sequence[tuple[Weighed, Sequence[str]]],
    count: Any,
    more: Mapping[str, tuple[str, ...]],
) -> None:
    """Print the shares in per cent, by types and threshold."""
    print(title, *(f"{least:>6}" for least in THRESHOLDS), sep="  ")
    for group, types in {**GROUPS, **more}.items():
        labels = [model.labels.index(t) for t in types or model.labels[1:]]
        columns = []
        for least in THRESHOLDS:
            hits, totals = Counter[str](), Counter[str]()
            for weighed, given in texts:
                for name, hit in count(weighed, given, weighed.mark(labels, least)):
                    hits[name] += hit
                    totals[name] += 1
            columns.append({name: 100 * hits[name] / totals[name] for name in totals})
        for name in columns[0]:
            print(f"  {group}: {name}", *(f"{column[name]:6.2f}" for column in columns))


if __name__ == "__main__":
    main()
