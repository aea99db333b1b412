"""Make proxy/console/figures.json: what attackers read, by mechanism and ε, from the records of
the benchmarks.

python -m benchmarks.pages.console_figures --records docs/results/records.jsonl \
    --out proxy/console/figures.json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.whole.which_document import is_default

__all__ = ["gather_figures", "main"]

Record = dict[str, Any]
# The attacks on words, one at a time, with the figure of each.
WORDS = {"inversion": "top_1", "bayes": "success", "contextual": "success"}
NAMES = {"inversion": "nearest word", "bayes": "Bayes"}


def gather_figures(records: Iterable[Record]) -> list[dict[str, Any]]:
    """Return the figures of each mechanism and ε, in order.

    `words` is the strongest attack on words over all sets of texts, `documents` the attack that
    names one of many documents, and `planted` the share of planted parts that are released whole.
    Mechanisms with other parameters than the default ones are left out.
    """
    found: dict[tuple[str, float], dict[str, Any]] = {}
    for record in records:
        case = record["case"]
        if "epsilon" not in case or " " in case.get("mechanism", " "):
            continue
        key = (case["mechanism"], case["epsilon"])
        for name, figure in _read(record):
            mine = found.setdefault(key, {"mechanism": key[0], "epsilon": key[1]})
            if name not in mine or figure["value"] > mine[name]["value"]:
                mine[name] = figure
    return [found[key] for key in sorted(found)]


def _read(record: Record) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the figures of a record with their names."""
    kind, case, values = record["experiment"], record["case"], record["values"]
    if kind in WORDS:
        name = WORDS[kind]
        blind = values["prior"]["value"] if kind == "contextual" else values[f"{name}_blind"]
        attack = NAMES.get(kind) or f"language model ({case['model']})"
        more = {"blind": round(blind, 4), "attack": attack, "texts": case["dataset"]}
        yield "words", _round(values[name]) | more
    if kind == "which_document" and is_default(case):
        sizes = {name: values[name] for name in ("documents", "words")}
        yield "documents", _round(values["success"]) | {"bound": values["bound"], **sizes}
    if kind == "exposure":
        yield "planted_number", _round(values["number_whole"])
        yield "planted_phrase", _round(values["phrase_whole"])


def _round(figure: dict[str, Any]) -> dict[str, Any]:
    return {name: round(figure[name], 4) for name in ("value", "low", "high")}


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description="Write the figures that the console shows.")
    parser.add_argument("--records", required=True, type=Path)
    parser.add_argument("--out", required=True, type=Path)
    given = parser.parse_args()
    with given.records.open(encoding="utf-8") as lines:
        figures = gather_figures(json.loads(line) for line in lines)
    text = json.dumps({"source": "docs/results.md", "figures": figures}, indent=1)
    given.out.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
