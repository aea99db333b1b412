"""Make the bundled table of the clean vocabulary over the bundled table of the paper's.

    python scripts/bundle_table.py

Words that both vocabularies have keep their vectors bit for bit. All-MiniLM-L6-v2 (extra `bench`)
embeds the words that moved up and the strings outside V.
"""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the project need not be installed

import numpy as np  # noqa: E402

from perturb import load_table  # noqa: E402
from perturb.vocabulary.embeddings import BUNDLED_TABLE, save_table  # noqa: E402
from perturb.vocabulary.table_build import build_table_from_rows, normalize_rows  # noqa: E402
from perturb.vocabulary.vocabulary import Vocabulary, load_encoding  # noqa: E402


def main() -> None:
    """Read the command line, embed, build, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument(
        "--rows",
        type=Path,
        metavar="FILE",
        help=".npy of the model's embeddings, of V and then of the strings outside it (made here)",
    )
    parser.add_argument("--out", type=Path, default=BUNDLED_TABLE, help="path without its suffix")
    arguments = parser.parse_args()

    paper = load_table(vocabulary="paper")
    clean = Vocabulary(load_encoding(), len(paper))
    if arguments.rows:
        embeddings = np.load(arguments.rows, allow_pickle=False)
    else:
        from benchmarks.metrics.utility import load_minilm

        embeddings = load_minilm()(clean.words + clean.others)
    rows = normalize_rows(embeddings)
    place = {word: i for i, word in enumerate(paper.vocabulary.words)}
    for i, word in enumerate(clean.words):
        if word in place:
            rows[i] = paper.vectors[place[word]]
    provenance = {**paper.provenance, "created": datetime.now(UTC).date().isoformat()}
    table = build_table_from_rows(clean, rows, provenance=provenance)
    print(save_table(table, arguments.out, base=paper), table.calibration)


if __name__ == "__main__":
    main()
