"""Codebooks: public passages and their vectors, in one file that is read where it lies.

A file begins with a line that names the format and a line of JSON: counts, the encoder, where
each section lies, the profile that t is chosen from, provenance and licence, and a SHA-256 of
everything. The sections are the vectors (int8, one scale a row), 64 bits of each passage's
SHA-256, and the passages in compressed blocks. The passages stand in the order of their
SHA-256, so that index i modulo k is a fixed, public and even partition.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.errors import CodebookError

__all__ = [
    "BLOCK",
    "BUNDLED_FILE",
    "MAGIC",
    "Codebook",
    "hash_header",
    "hash_passage",
    "load_codebook",
]

BUNDLED_FILE = Path(__file__).parents[1] / "data" / "everyday.codebook"
MAGIC = b"inferdpt-codebook-1\n"
BLOCK = 128  # passages compressed together
HEADER_BYTES = 1 << 20  # at most
ROWS = 1 << 12  # of vectors that are multiplied at a time: they stay in the cache
_HASHED = 1 << 20  # bytes at a time


@dataclass(frozen=True)
class Codebook:
    """A codebook; safe to share by threads.

    Attributes:
        facts: the header: `passages`, `dimension`, `encoder`, `profile`, `provenance`, `licence`.
        vectors: int8 (N, d).
        scales: float32 (N,); a row times its scale has length 1.
        digests: uint64 (N,), ascending.
        blocks: where each compressed block begins and the last one ends, uint64 (b + 1,).
        packed: the compressed blocks, uint8.
        sha256: of the file's content.
    """

    facts: dict[str, Any]
    vectors: NDArray[np.int8]
    scales: NDArray[np.float32]
    digests: NDArray[np.uint64]
    blocks: NDArray[np.uint64]
    packed: NDArray[np.uint8]
    sha256: str

    def __len__(self) -> int:
        return len(self.vectors)

    @property
    def profile(self) -> NDArray[np.float64]:
        """Return the mean similarity of public texts to their k-th nearest passage, by k,
        float64 (n,)."""
        return np.asarray(self.facts["profile"], dtype=np.float64)

    def passage(self, index: int) -> str:
        """Return a passage by its index."""
        return _unpack(self, index // BLOCK)[index % BLOCK]

    def find(self, passage: str) -> int | None:
        """Return the index of a passage, None where the codebook does not hold it byte for
        byte."""
        digest = hash_passage(passage)
        first = int(np.searchsorted(self.digests, digest))
        last = int(np.searchsorted(self.digests, digest, side="right"))
        return next((i for i in range(first, last) if self.passage(i) == passage), None)

    def similarities(
        self, vector: NDArray[np.float32], part: slice = slice(None)
    ) -> NDArray[np.float32]:
        """Return the cosine of a vector of length 1, float32 (d,), and each passage's in a part
        of the codebook, float32 (n,)."""
        rows, scales = self.vectors[part], self.scales[part]
        out = np.empty(len(rows), dtype=np.float32)
        for start in range(0, len(rows), ROWS):
            block = rows[start : start + ROWS].astype(np.float32)
            np.dot(block, vector, out=out[start : start + ROWS])
        return out * scales

    def __hash__(self) -> int:
        return hash(self.sha256)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Codebook) and other.sha256 == self.sha256


@lru_cache(maxsize=64)
def _unpack(book: Codebook, number: int) -> list[str]:
    """Return the passages of a block."""
    start, end = int(book.blocks[number]), int(book.blocks[number + 1])
    return zlib.decompress(book.packed[start:end].tobytes()).decode().split("\n")


def hash_passage(passage: str) -> np.uint64:
    """Return the first 64 bits of a passage's SHA-256."""
    data = passage.encode("utf-8", "surrogatepass")
    return np.uint64(int.from_bytes(hashlib.sha256(data).digest()[:8], "big"))


def load_codebook(path: str | os.PathLike[str] | None = None) -> Codebook:
    """Return a codebook, its content checked against its SHA-256 when it is first opened.

    Args:
        path: None is the bundled one.

    Raises:
        CodebookError: there is none at the path, or it is damaged.
    """
    return _open(Path(path) if path is not None else BUNDLED_FILE)


@lru_cache(maxsize=4)
def _open(path: Path) -> Codebook:
    """Map a codebook's file into memory and check it.

    Raises:
        CodebookError: there is none at the path, or it is damaged.
    """
    try:
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise CodebookError(f"{path.name} is not a codebook of format 1")
            line = file.readline(HEADER_BYTES)
            facts = json.loads(line)
            sections = facts.pop("sections")
            said = facts.pop("sha256")
            digest = hash_header({**facts, "sections": sections})
            while chunk := file.read(_HASHED):
                digest.update(chunk)
            if digest.hexdigest() != said:
                raise CodebookError(f"{path.name} is damaged: the SHA-256 differs")
            base = len(MAGIC) + len(line)
            size = base + sum(int(section["bytes"]) for section in sections.values())
        whole = np.memmap(path, dtype=np.uint8, mode="r") if size else np.empty(0, np.uint8)
        arrays: dict[str, NDArray[Any]] = {}
        for name, section in sections.items():
            start, count = base + int(section["start"]), int(section["bytes"])
            arrays[name] = whole[start : start + count].view(section["dtype"])
        n, d = int(facts["passages"]), int(facts["dimension"])
        book = Codebook(
            facts=facts,
            vectors=arrays["vectors"].reshape(n, d),
            scales=arrays["scales"],
            digests=arrays["digests"],
            blocks=arrays["blocks"],
            packed=arrays["packed"],
            sha256=said,
        )
        fits = len(book.scales) == len(book.digests) == n > 0 and len(book.profile) > 0
    except OSError:
        raise CodebookError(f"no codebook can be read at {path}") from None
    except (KeyError, TypeError, ValueError, AttributeError) as exc:
        raise CodebookError(f"{path.name} is not a codebook, or it is damaged") from exc
    if not fits:
        raise CodebookError(f"{path.name} is damaged: its sections do not fit each other")
    return book


def hash_header(facts: dict[str, Any]) -> Any:
    """Return the running SHA-256 of a header, to which the sections are added in order."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
