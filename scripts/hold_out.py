"""Write the parts of the labelled corpora that the detector is not trained on.

python scripts/hold_out.py DATA --out FOLDER
python -m benchmarks.finding FOLDER --policy regex --policy regex+detector
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the project need not be installed

from detector.corpora import OPEN, read_records  # noqa: E402


def main() -> None:
    """Read the command line, write a file for each corpus."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("data", type=Path, help="folder of the corpora")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in OPEN:
        kept = [record for record, held_out in read_records(options.data, name) if held_out]
        lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in kept)
        (options.out / f"{name}.jsonl").write_text(lines, "utf-8")
        print(f"{name}: {len(kept)} texts")


if __name__ == "__main__":
    main()
