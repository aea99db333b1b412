"""A run over a small table and a few texts."""

from __future__ import annotations

import json
import lzma
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.harness.context import Context
from benchmarks.harness.suite import Suite
from perturb import EmbeddingTable, Vocabulary
from perturb.testing.tables import PROVENANCE, random_rows
from perturb.vocabulary.table_build import build_table
from perturb.vocabulary.vocabulary import load_encoding

DEMO = Path(__file__).parents[3] / "benchmarks" / "demo_texts.jsonl"
TEXTS = [json.loads(line)["text"] for line in DEMO.read_text("utf-8").splitlines()]


@cache
def small_table() -> EmbeddingTable:
    """600 words in 8 dimensions."""
    vocabulary = Vocabulary(load_encoding(), 600)
    return build_table(vocabulary, random_rows(vocabulary, 8, 1), provenance=PROVENANCE)


class SmallContext(Context):
    """The small table; the demo's texts are the set, and the corpus."""

    @property
    def table(self) -> EmbeddingTable:
        return small_table()


def small_context(folder: Path, *, texts: int = 6, **settings: Any) -> SmallContext:
    data = [
        {"id": str(i), "prefix": text, "continuation": "x", "document": text}
        for i, text in enumerate(TEXTS)
    ]
    (folder / "demo.jsonl").write_text("".join(json.dumps(line) + "\n" for line in data))
    corpus = folder / "corpus.jsonl.xz"
    with lzma.open(corpus, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps({"text": text}) + "\n" for text in TEXTS)
    suite = Suite(
        **{
            "name": "small",
            "datasets": ("demo",),
            "subjects": ({"mechanism": "rantext_ldp"},),
            "epsilons": (6.0,),
            "texts": texts,
            "answers": 2,
            "causal": (),
            **settings,
        }
    )
    return SmallContext(suite, folder, corpus, folder / "run")
