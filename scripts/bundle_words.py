"""Make the bundled table of the vocabulary of whole words.

    python scripts/bundle_words.py

All-MiniLM-L6-v2 (extra `bench`) embeds the words of the list (`scripts/list_words.py`). The
vectors of V are rounded to multiples of 1/512, so that the file needs no lists of nearest words.
"""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the project need not be installed

import numpy as np  # noqa: E402

from perturb.vocabulary.embeddings import BUNDLED_WORDS, save_table  # noqa: E402
from perturb.vocabulary.neighbours import round_rows  # noqa: E402
from perturb.vocabulary.table_build import build_table_from_rows, normalize_rows  # noqa: E402
from perturb.vocabulary.vocabulary import DEFAULT_SIZE  # noqa: E402
from perturb.vocabulary.words import load_vocabulary  # noqa: E402

MODEL = "sentence-transformers/all-MiniLM-L6-v2"


def main() -> None:
    """Read the command line, embed, build, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument(
        "--rows",
        type=Path,
        metavar="FILE",
        help=".npy of the model's embeddings, of V and then of the words outside it (made here)",
    )
    parser.add_argument("--size", type=int, default=DEFAULT_SIZE, help="the number of words of V")
    parser.add_argument("--out", type=Path, default=BUNDLED_WORDS, help="path without its suffix")
    arguments = parser.parse_args()

    vocabulary = load_vocabulary("words", arguments.size)
    if arguments.rows:
        embeddings = np.load(arguments.rows, allow_pickle=False)
    else:
        from benchmarks.metrics.utility import load_minilm

        embeddings = load_minilm()(vocabulary.words + vocabulary.others)
    rows = round_rows(normalize_rows(embeddings))
    provenance = {
        "model": MODEL,
        "licence": "Apache-2.0",
        "created": datetime.now(UTC).date().isoformat(),
    }
    table = build_table_from_rows(vocabulary, rows, provenance=provenance)
    print(save_table(table, arguments.out, lists=False), table.calibration)


if __name__ == "__main__":
    main()
