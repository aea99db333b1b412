"""The project's demo texts as data of a benchmark, and a table small enough for whole channels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import benchmarks
from benchmarks.harness.context import Context
from benchmarks.harness.suite import Suite
from perturb import EmbeddingTable, Vocabulary
from perturb.testing.tables import PROVENANCE, random_rows
from perturb.vocabulary.table_build import build_table
from perturb.vocabulary.vocabulary import load_encoding

DEMO = Path(benchmarks.__file__).with_name("demo_texts.jsonl")
SET = "demo"


def write_set(folder: Path) -> Path:
    """The demo texts as the set `demo` in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in DEMO.read_text("utf-8").splitlines()]
    parts = ("prefix", "continuation", "document")
    lines = [
        json.dumps({"id": str(i), **dict.fromkeys(parts, row["text"])})
        for i, row in enumerate(rows)
    ]
    (folder / f"{SET}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    return folder


def small_table(size: int = 600) -> EmbeddingTable:
    """The first words of V in 8 random dimensions; letters are there in both cases."""
    vocabulary = Vocabulary(load_encoding(), size)
    return build_table(vocabulary, random_rows(vocabulary, 8, 4), provenance=PROVENANCE)


def small_context(folder: Path, table: EmbeddingTable, *subjects: str, **values: Any) -> Context:
    """The demo texts under some mechanisms over a small table."""
    suite = Suite(
        **{
            "name": "test",
            "datasets": (SET,),
            "subjects": [{"mechanism": name} for name in subjects],
            "texts": 20,
            "answers": 2,
            **values,
        }
    )
    context = Context(suite, write_set(folder / "sets"), None, folder / "run")
    context.table = table
    return context
