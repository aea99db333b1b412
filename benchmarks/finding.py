"""Measure how much of what is sensitive a policy of `selective` finds in labelled texts, and how
much else it marks.

    python -m benchmarks.finding DATA… --policy regex+detector [--policy record] [--json]

DATA are JSONL files, or folders of them. A line is an object with `text` and `spans`; a span has
`start`, `end`, a `type` or `label`, and may have an `identifier`: DIRECT, QUASI or NO_MASK, as in
the Text Anonymization Benchmark. A word is a run of letters and digits.

- *recall*: of the words in labelled parts, those of which every character would be replaced;
  NO_MASK does not count as labelled. `whole parts` counts parts in place of words.
- *precision*: of the words that would be replaced, those in labelled parts, NO_MASK among them.
- *false alarms*: of the words that nobody labelled, those that would be replaced; by type, those
  marked with this type.

Each `--policy` is a column; `+` joins policies, and a profile's name is that profile. Intervals
are Clopper–Pearson at 95 %, as if words were independent. Speed is of processor time.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tqdm import tqdm

from benchmarks.harness.datasets import DataError, read_entries
from perturb import PerturbError, Span, load_table
from perturb.audit.intervals import clopper_pearson
from perturb.selective.marked import MarkingMechanism
from perturb.selective.profiles import PROFILES
from perturb.selective.sanitizer import Selective, SelectiveParameters

__all__ = ["Findings", "Labelled", "Part", "Share", "main", "measure", "read_labelled", "render"]

LEVEL = 0.95
NO_MASK = "NO_MASK"
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Part:
    """Hold a labelled part: its place, its type, and its identifier (empty if it has none)."""

    start: int
    end: int
    type: str
    identifier: str = ""


@dataclass(frozen=True)
class Labelled:
    """Hold a text and its labelled parts."""

    text: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Share:
    """Hold `hits` of `total`, a share with its interval."""

    hits: int
    total: int

    @property
    def interval(self) -> tuple[float, float]:
        """Return the Clopper–Pearson interval at 95 %."""
        return clopper_pearson(self.hits, self.total, 1 - LEVEL)


@dataclass
class Findings:
    """Hold the figures of one policy on one set.

    Attributes:
        shares: by name, see the module.
        characters: the length of the texts.
        seconds: processor time of the policy.
        missed: labelled words that were not found.
        alarms: words that were marked and that nobody labelled, with the type of the mark.
    """

    characters: int = 0
    seconds: float = 0.0
    missed: Counter[tuple[str, str]] = field(default_factory=Counter)
    alarms: Counter[tuple[str, str]] = field(default_factory=Counter)
    _hits: Counter[str] = field(default_factory=Counter)
    _totals: Counter[str] = field(default_factory=Counter)

    @property
    def shares(self) -> dict[str, Share]:
        """Return the shares, the more general first."""
        alarms = Counter[str]()
        for (_, type_), count in self.alarms.items():
            alarms[f"false alarms of type {type_}"] += count
        shares = {name: Share(self._hits[name], total) for name, total in self._totals.items()}
        shares |= {name: Share(n, self._totals["false alarms"]) for name, n in alarms.items()}
        return dict(sorted(shares.items(), key=lambda item: ("of type" in item[0], item[0])))

    def count_alarm(self, word: str, mark: str) -> None:
        """Count a word that nobody labelled, and the type of its mark, if it has one."""
        self.count(("false alarms",), bool(mark))
        if mark:
            self.alarms[word, mark] += 1

    def count(self, names: Iterable[str], hit: bool) -> None:
        """Count one word, or part, in the shares of these names."""
        for name in names:
            self._totals[name] += 1
            self._hits[name] += hit


def read_labelled(path: Path) -> list[Labelled]:
    """Read the labelled texts of a JSONL file.

    Raises:
        DataError: the file cannot be read, or a line has not the form that the module states.
    """
    return [_read_line(entry, place) for place, entry in read_entries(path)]


def _read_line(entry: Any, place: str) -> Labelled:
    try:
        text, spans = entry["text"], entry["spans"]
        parts = tuple(
            Part(s["start"], s["end"], s.get("type") or s["label"], s.get("identifier") or "")
            for s in spans
        )
        if all(0 <= part.start < part.end <= len(text) for part in parts):
            return Labelled(text, parts)
    except (KeyError, TypeError, AttributeError):
        pass
    raise DataError(f"{place}: must hold 'text' and 'spans' with 'start', 'end' and 'type'")


def measure(mechanism: MarkingMechanism, texts: Sequence[Labelled]) -> Findings:
    """Measure a policy on labelled texts."""
    found = Findings()
    for labelled in tqdm(texts, desc="texts", leave=False, disable=None):
        start = time.process_time()
        marked = mechanism.spans(labelled.text)
        found.seconds += time.process_time() - start
        if marked is None:
            raise DataError("the policy 'all' marks no parts")
        found.characters += len(labelled.text)
        _count(labelled, marked, found)
    return found


def _count(labelled: Labelled, marked: Sequence[Span], found: Findings) -> None:
    text = labelled.text
    types: list[str] = [""] * len(text)  # of the mark, by character
    for span in marked:
        types[span.start : span.end] = [span.type] * (span.end - span.start)
    labels: list[list[Part]] = [[] for _ in text]
    for part in labelled.parts:
        for i in range(part.start, part.end):
            labels[i].append(part)
        if part.identifier != NO_MASK:
            names = _name_recall("whole parts", [part])
            found.count(names, _is_masked(text, part.start, part.end, types))
    for word in _WORD.finditer(text):
        place = range(word.start(), word.end())
        parts = {part for i in place for part in labels[i]}
        wanted = [part for part in parts if part.identifier != NO_MASK]
        hit = _is_masked(text, word.start(), word.end(), types)
        if wanted:
            found.count(_name_recall("recall", wanted), hit)
            if not hit:
                found.missed[word[0], wanted[0].type] += 1
        mark = next((types[i] for i in place if types[i]), "")
        if mark:
            found.count(("precision", f"precision of type {mark}"), bool(parts))
        if not parts:
            found.count_alarm(word[0], mark)


def _name_recall(of: str, parts: Iterable[Part]) -> set[str]:
    names = {of}
    for part in parts:
        names.add(f"{of} of type {part.type}")
        if part.identifier:
            names.add(f"{of} {part.identifier}")
    return names


def _is_masked(text: str, start: int, end: int, types: Sequence[str]) -> bool:
    """Tell whether every letter and digit of a part is marked."""
    return all(types[i] for i in range(start, end) if text[i].isalnum())


def render(findings: dict[str, Findings]) -> str:
    """Return a table in plain text, a column for each policy."""
    names = dict.fromkeys(name for found in findings.values() for name in found.shares)
    rows = [["", *findings]]
    for name in names:
        shares = [found.shares.get(name) for found in findings.values()]
        rows.append([name, *(_render_share(share) for share in shares)])
    speeds = (found.characters / max(found.seconds, 1e-9) for found in findings.values())
    rows.append(["characters/s", *(f"{speed:,.0f}" for speed in speeds)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _render_share(share: Share | None) -> str:
    if share is None:
        return "–"
    low, high = share.interval
    return f"{share.hits / share.total:.3f} ({low:.3f} to {high:.3f}) {share.hits}/{share.total}"


def _render_words(findings: dict[str, Findings], most: int) -> Iterator[str]:
    for policy, found in findings.items():
        for title, words in (("missed", found.missed), ("false alarms", found.alarms)):
            listed = (f"{word} {type_} {n}" for (word, type_), n in words.most_common(most))
            yield f"{title}, {policy}: {', '.join(listed)}"


def _list_files(paths: Iterable[Path]) -> list[Path]:
    files = [f for p in paths for f in (sorted(p.glob("*.jsonl")) if p.is_dir() else [p])]
    if not files:
        raise DataError("DATA must hold a JSONL file")
    return files


def _build(policy: str, thresholds: Mapping[str, float]) -> Selective:
    if policy in PROFILES:
        return Selective(load_table(), SelectiveParameters(profile=policy, thresholds=thresholds))
    names = tuple(policy.split("+"))
    least = thresholds if "detector" in names else {}
    return Selective(load_table(), SelectiveParameters(policy=names, thresholds=least))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status: 2 for bad input."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.finding",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", type=Path, nargs="+", metavar="DATA")
    parser.add_argument(
        "--policy",
        action="append",
        help="regex, digits, detector or a plug-in's; or a profile",
    )
    parser.add_argument(
        "--thresholds", type=json.loads, default={}, help="""the detector's: '{"PERSON": 0.2}'"""
    )
    parser.add_argument("--words", type=int, default=0, help="list the most frequent mistakes")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    try:
        policies = {p: _build(p, options.thresholds) for p in options.policy or ["regex"]}
        out = {}
        for path in _list_files(options.data):
            texts = read_labelled(path)
            findings = {policy: measure(marks, texts) for policy, marks in policies.items()}
            out[path.stem] = {
                policy: {n: [s.hits, s.total, *s.interval] for n, s in found.shares.items()}
                | {"characters/s": found.characters / max(found.seconds, 1e-9)}
                for policy, found in findings.items()
            }
            if not options.json:
                print(f"{path.stem}: {len(texts)} texts\n{render(findings)}")
                print("\n".join(_render_words(findings, options.words)))
    except (DataError, PerturbError) as exc:
        print(f"finding: {exc}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(out))
    return 0


if __name__ == "__main__":
    sys.exit(main())
