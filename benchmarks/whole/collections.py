"""Make codebooks from the corpus: passages of it alone, or with passages that cover the sets.

No passage shares eight words in a row with a text of the sets, except those that cover them.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from tqdm import tqdm

from benchmarks.harness.context import Context
from benchmarks.harness.datasets import DataError, Sample, digest
from benchmarks.metrics.encoders import MINILM
from benchmarks.metrics.utility import find_minilm
from perturb.errors import CodebookError
from perturb.whole.build import build_codebook
from perturb.whole.codebook import load_codebook
from perturb.whole.encoder import BUNDLED, Encoder, load_encoder
from perturb.whole.passages import split_passages

__all__ = ["choose_passages", "find_cover", "make_codebook", "make_covering"]

SHARED = 8  # words in a row that show that a passage is taken from a text of the sets
SHORTEST = 15  # words of a passage that covers a text
LICENCE = "as the corpus; not for redistribution"


def make_codebook(
    context: Context, name: str, more: Sequence[str] = (), encoder: str = BUNDLED
) -> Path:
    """Return a codebook of the corpus's passages, and `more` that come on top of them.

    It is kept in the run's folder, and reused for the same corpus, sets, passages and encoder.

    Args:
        context: the corpus, the sets and how many passages.
        name: of the file.
        more: passages that are in it, too.
        encoder: `bundled`, or one of the suite's `encoders`.

    Raises:
        DataError: there is no corpus, or it is not xz-compressed lines of `{"text"}`.
    """
    if context.corpus is None:
        raise DataError("a codebook of the corpus needs DATA/corpus/train.jsonl.xz")
    whole = context.suite.whole
    count = whole.passages if encoder == BUNDLED else whole.encoders[encoder]
    encode = load_encoder(find_minilm() if encoder == MINILM else encoder)
    hashed = hashlib.sha256("\n".join(more).encode()).hexdigest()
    source = (
        f"{count} passages of corpus {digest([context.corpus])[:16]} that share no text with "
        f"sets {context.data_digest[:16]}; {len(more)} more, {hashed[:16]}"
    )
    path = context.folder / "codebooks" / f"{name}.codebook"
    if not _is_made(path, source, encode):
        passages = [*choose_passages(context, count), *more]
        with tqdm(
            total=len(passages), desc=path.stem, unit="passage", leave=False, disable=None
        ) as bar:

            def show(stage: str, done: int, total: int) -> None:
                if stage == "embeddings":
                    bar.update(done - bar.n)

            build_codebook(passages, path, encode, licence=LICENCE, source=source, progress=show)
    return path


def make_covering(context: Context, encoder: str = BUNDLED) -> Path:
    """Return the codebook of the corpus and of one more passage of every document."""
    samples = [s for name in context.suite.datasets for s in context.samples(name)]
    covers = [passage for passage in map(find_cover, samples) if passage is not None]
    return make_codebook(context, f"covering_{encoder}", covers, encoder)


def _is_made(path: Path, source: str, encoder: Encoder) -> bool:
    try:
        facts = load_codebook(path).facts
    except CodebookError:
        return False
    return bool(facts["provenance"] == source and facts["encoder"] == encoder.identity)


def choose_passages(context: Context, count: int) -> list[str]:
    """Return passages of the corpus: the first one of every text, then others, by a fixed seed."""
    assert context.corpus is not None, "checked by the caller"
    known = {run for text in _read_sets(context) for run in _list_runs(text)}
    first, others = [], []
    for text in _read_corpus(context.corpus):
        lead, *rest = [*split_passages(text), ""]
        first.append(lead)
        others += rest
    draw = random.Random(1)
    draw.shuffle(first)
    draw.shuffle(others)
    fresh = (p for p in (*first, *others) if p and known.isdisjoint(_list_runs(p)))
    return list(islice(fresh, count))


def _read_sets(context: Context) -> Iterator[str]:
    for dataset in context.suite.datasets:
        for sample in context.samples(dataset):
            yield sample.document


def _list_runs(text: str) -> Iterable[str]:
    words = text.casefold().split()
    return (" ".join(words[i : i + SHARED]) for i in range(len(words) - SHARED + 1))


def _read_corpus(path: Path) -> Iterator[str]:
    try:
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)["text"]
    except (lzma.LZMAError, ValueError, KeyError, TypeError) as exc:
        raise DataError(f"{path}: not lines of text, {type(exc).__name__}") from None


def find_cover(sample: Sample) -> str | None:
    """Return a passage of the document that is neither its prefix nor its continuation.

    It is the first passage after both. Where fewer than half a passage follows, it is all that
    follows; None if that has fewer than 15 words.
    """
    told = sample.prefix + sample.continuation
    if not sample.document.startswith(told):
        return None
    rest = " ".join(sample.document[len(told) :].split())
    passage = next(split_passages(rest), rest)
    return passage if len(passage.split()) >= SHORTEST else None
