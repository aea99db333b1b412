"""Make the bundled codebook: passages of Wikipedia, and the project's own on everyday subjects.

    python scripts/bundle_codebook.py train.jsonl.xz

The texts are .jsonl.xz with `source`, `title` and `text`; those of the source `enwiki` are used.
The first passage of every article comes first, then others at random, up to the number asked for.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the project need not be installed

from tqdm import tqdm  # noqa: E402

from perturb.whole.build import build_codebook  # noqa: E402
from perturb.whole.codebook import BUNDLED_FILE  # noqa: E402
from perturb.whole.encoder import load_static  # noqa: E402
from perturb.whole.passages import split_passages  # noqa: E402

EVERYDAY = ROOT / "scripts" / "everyday"
LICENCE = "CC BY-SA 3.0 (passages of Wikipedia); MIT (the project's own)"
SOURCE = "English Wikipedia of 2015, and passages on everyday subjects written for this project"


def main() -> None:
    """Read the command line, choose passages, build."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("texts", type=Path, help=".jsonl.xz with `source`, `title`, `text`")
    parser.add_argument("--passages", type=int, default=22_500, help="of Wikipedia")
    parser.add_argument("--out", type=Path, default=BUNDLED_FILE)
    arguments = parser.parse_args()

    passages = [*read_everyday(), *choose_articles(arguments.texts, arguments.passages)]
    with tqdm(total=len(passages)) as bar:
        digest = build_codebook(
            passages,
            arguments.out,
            load_static(),
            licence=LICENCE,
            source=SOURCE,
            progress=lambda stage, done, total: bar.set_description(f"{stage} {done}/{total}"),
        )
    print(digest, f"{arguments.out.stat().st_size:,} bytes")


def read_everyday() -> list[str]:
    """Return the project's own passages."""
    return [
        passage
        for path in sorted(EVERYDAY.glob("*.txt"))
        for passage in path.read_text("utf-8").split("\n\n")
    ]


def choose_articles(path: Path, count: int) -> list[str]:
    """Return passages of Wikipedia: first ones of articles, then others, by a fixed seed."""
    first, others = [], []
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for record in map(json.loads, file):
            if record["source"] == "enwiki":
                lead, *rest = [*split_passages(record["text"]), ""]
                first.append(lead)
                others += rest
    draw = random.Random(1)
    draw.shuffle(first)
    draw.shuffle(others)
    return [*filter(None, first), *filter(None, others)][:count]


if __name__ == "__main__":
    main()
