"""Measure recall and precision of a policy of `selective` on labelled sentences.

    python -m benchmarks.pii DATA.jsonl --policy regex|digits|presidio [--model NAME] [--json]

DATA holds one JSON object per line: `text`, and `spans` with `type` or `label`, `start` and `end`.
A labelled part counts as found if every letter and digit of it would be replaced; a marked part
counts as right if it overlaps a labelled one. Intervals are Clopper–Pearson at 95 %.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from perturb import Span, load_table
from perturb.audit.intervals import clopper_pearson
from perturb.selective.marked import MarkingMechanism
from perturb.selective.sanitizer import Selective, SelectiveParameters

__all__ = ["Share", "is_covered", "main", "measure", "render_shares"]

LEVEL = 0.95
ALL = "all"


@dataclass(frozen=True)
class Share:
    """Hold `hits` of `total`, a share with its interval."""

    hits: int
    total: int

    @property
    def interval(self) -> tuple[float, float]:
        """Return the Clopper–Pearson interval at 95 %."""
        return clopper_pearson(self.hits, self.total, 1 - LEVEL)


def is_covered(text: str, span: Span, marked: Iterable[Span]) -> bool:
    """Return whether every letter and digit of a part lies in marked ones."""
    covered = {i for m in marked for i in range(m.start, m.end)}
    return all(i in covered for i in range(span.start, span.end) if text[i].isalnum())


def measure(
    mechanism: MarkingMechanism, lines: Sequence[dict[str, Any]]
) -> tuple[dict[str, Share], dict[str, Share]]:
    """Return recall by labelled type and precision by marked type, `all` among them."""
    there, hit, marks, right = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for line in tqdm(lines, desc="sentences", leave=False, disable=None):
        text = line["text"]
        gold = [_read_span(span) for span in line["spans"]]
        marked = mechanism.spans(text)
        if marked is None:
            raise SystemExit("the policy 'all' marks no parts")
        for span in gold:
            there.update((span.type, ALL))
            hit.update((span.type, ALL) if is_covered(text, span, marked) else ())
        for span in marked:
            marks.update((span.type, ALL))
            touches = any(span.start < g.end and g.start < span.end for g in gold)
            right.update((span.type, ALL) if touches else ())
    return (
        {type_: Share(hit[type_], there[type_]) for type_ in sorted(there)},
        {type_: Share(right[type_], marks[type_]) for type_ in sorted(marks)},
    )


def _read_span(span: dict[str, Any]) -> Span:
    return Span(span["start"], span["end"], span["type"] if "type" in span else span["label"])


def render_shares(title: str, shares: dict[str, Share]) -> str:
    """Return a table in plain text."""
    rows = [f"{title:20} {'share':>7} {'95 % interval':>17} {'count':>11}"]
    for type_, share in shares.items():
        low, high = share.interval
        rows.append(
            f"{type_:20} {share.hits / share.total:7.3f} {f'{low:.3f} to {high:.3f}':>17} "
            f"{f'{share.hits} of {share.total}':>11}"
        )
    return "\n".join(rows)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pii", description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--policy", choices=("regex", "digits", "presidio"), default="regex")
    parser.add_argument("--model", default="", help="an installed spaCy model, for presidio")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    lines = [json.loads(line) for line in options.data.read_text("utf-8").splitlines()]
    parameters = SelectiveParameters(policy=options.policy, model=options.model)
    mechanism = Selective(load_table(), parameters)
    recall, precision = measure(mechanism, lines)
    if options.json:
        shares = {"recall": recall, "precision": precision}
        print(
            json.dumps(
                {
                    name: {t: [s.hits, s.total, *s.interval] for t, s in by_type.items()}
                    for name, by_type in shares.items()
                }
            )
        )
        return
    print(render_shares("recall", recall), render_shares("precision", precision), sep="\n\n")


if __name__ == "__main__":
    main()
