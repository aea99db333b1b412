"""Count the words of a corpus and bundle the counts.

    python scripts/count_words.py ../shared/data/corpus/train.jsonl.xz \
        --source 'Wikipedia 2015, arXiv abstracts' --licence 'CC BY-SA 3.0, CC0'

The corpus is lines of JSON with a field `text`, plain or xz-compressed.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import lzma
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the project need not be installed to count

import numpy as np  # noqa: E402
import tiktoken  # noqa: E402
from numpy.typing import NDArray  # noqa: E402
from tqdm import tqdm  # noqa: E402

from perturb import Vocabulary  # noqa: E402
from perturb.files import write_atomically  # noqa: E402
from perturb.vocabulary.frequencies import BUNDLED_COUNTS  # noqa: E402
from perturb.vocabulary.vocabulary import TokenClass, load_encoding  # noqa: E402

BATCH = 512  # records encoded at once


def main() -> None:
    """Read the command line, count, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--source", required=True, help="a description of the corpus")
    parser.add_argument("--licence", required=True, help="the corpus's licence")
    parser.add_argument("--out", type=Path, default=BUNDLED_COUNTS, help="path without its suffix")
    arguments = parser.parse_args()

    encoding = load_encoding()
    words = Vocabulary(encoding).ascii_words
    tokens, records = count_tokens(encoding, arguments.corpus)
    counts = sum_by_word(tokens, Vocabulary(encoding, len(words), "paper"))
    buffer = io.BytesIO()
    np.save(buffer, counts)
    side = {
        "words": hashlib.sha256("\n".join(words).encode()).hexdigest(),
        "counted": int(counts.sum()),
        "records": records,
        "source": arguments.source,
        "licence": arguments.licence,
        "corpus_sha256": hash_file(arguments.corpus),
        "created": datetime.now(UTC).date().isoformat(),
        "sha256": hashlib.sha256(buffer.getvalue()).hexdigest(),
    }
    write_atomically(arguments.out.with_suffix(".npy"), buffer.getvalue())
    write_atomically(
        arguments.out.with_suffix(".json"), (json.dumps(side, indent=2) + "\n").encode()
    )
    print(json.dumps(side, indent=2))


def count_tokens(encoding: tiktoken.Encoding, corpus: Path) -> tuple[NDArray[np.int64], int]:
    """Count how often each token occurs, int64 (n_tokens,), and the number of records."""
    size = encoding.max_token_value + 1
    counts, records = np.zeros(size, dtype=np.int64), 0
    with (
        corpus.open("rb") as file,
        tqdm(total=corpus.stat().st_size, unit="B", unit_scale=True) as bar,
    ):
        texts = read_texts(file, packed=corpus.suffix == ".xz")
        while batch := list(islice(texts, BATCH)):
            encoded = encoding.encode_batch(batch, disallowed_special=())
            counts += np.bincount(list(chain.from_iterable(encoded)), minlength=size)
            records += len(batch)
            bar.update(file.tell() - bar.n)
    return counts, records


def read_texts(file: IO[bytes], *, packed: bool) -> Iterator[str]:
    """Yield the field `text` of every line."""
    with lzma.open(file) if packed else nullcontext(file) as lines:
        for line in lines:
            yield json.loads(line)["text"]


def sum_by_word(tokens: NDArray[np.int64], vocabulary: Vocabulary) -> NDArray[np.uint32]:
    """Add up token counts by word, with and without a leading space, uint32 (m,)."""
    is_word = vocabulary.classes == TokenClass.WORD
    counts = np.zeros(len(vocabulary), dtype=np.int64)
    np.add.at(counts, vocabulary.index[is_word], tokens[is_word])
    if counts.max() > np.iinfo(np.uint32).max:
        raise SystemExit("a count does not fit 32 bits")
    return counts.astype(np.uint32)


def hash_file(path: Path) -> str:
    """Return the file's SHA-256, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


if __name__ == "__main__":
    main()
