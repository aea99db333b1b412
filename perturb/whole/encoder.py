"""Encoders of whole texts. An encoder decides how useful a private choice is, never how private.

The bundled one needs NumPy only: a text's vector is the mean of its tokens' vectors plus a
constant, learnt on public text to be near All-MiniLM-L6-v2's vector of the text.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from perturb.errors import ParameterError, TableError
from perturb.files import write_atomically
from perturb.vocabulary.embed import local_encoder
from perturb.vocabulary.table_build import unit_rows
from perturb.vocabulary.vocabulary import encode_text, load_encoding

__all__ = [
    "BUNDLED",
    "BUNDLED_FILE",
    "SERVER",
    "AsyncEncoder",
    "Encoder",
    "StaticEncoder",
    "load_encoder",
    "load_static",
    "make_vectors",
    "read_tokens",
    "save_static",
]

BUNDLED = "bundled"
SERVER = "server"  # the operator's own embedding server
BUNDLED_FILE = Path(__file__).parents[1] / "data" / "static.npz"
ARRAYS = ("tokens", "vectors", "scales", "bias", "unrelated")


class Encoder(Protocol):
    """Encode texts as vectors of length 1; safe to share by threads."""

    @property
    def identity(self) -> dict[str, str]:
        """Return what names it, JSON-ready; a codebook works with the encoder it was made
        with."""

    def __call__(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        """Return a row of length 1 for each of n texts, float32 (n, d)."""


class AsyncEncoder(Protocol):
    """Encode texts by a server. A codebook works with the model that it was made with."""

    @property
    def identity(self) -> dict[str, str]:
        """Return what names it, JSON-ready: `{"encoder": "server", "model": …}`."""

    async def encode(
        self, texts: Sequence[str], dimension: int | None = None
    ) -> NDArray[np.float32]:
        """Return a row of length 1 for each of n texts, float32 (n, d).

        Args:
            texts: may be empty or long.
            dimension: d; vectors of another dimension are an error.
        """


def make_vectors(rows: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
    """Return rows scaled to length 1, float32; a row of zeros, or one that is not finite, is a
    row of zeros.

    >>> make_vectors(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    finite = np.isfinite(rows).all(axis=1, keepdims=True)
    return unit_rows(np.where(finite, rows, 0.0)).astype(np.float32)


@dataclass(frozen=True)
class StaticEncoder:
    """Give a text the mean of its tokens' vectors, plus a constant.

    A text is read in lower case, as tokens of cl100k_base; those without a vector are skipped.

    Attributes:
        tokens: token ids, uint32 (n,), ascending.
        vectors: int8 (n, d).
        scales: float32 (n,); a row times its scale is a token's vector.
        bias: float32 (d,).
        unrelated: the cosine to a text that the nearest sentence of a text on another subject
            exceeds in 2 % of such pairs of public texts.
        identity: its name and the SHA-256 of its file.
    """

    tokens: NDArray[np.uint32]
    vectors: NDArray[np.int8]
    scales: NDArray[np.float32]
    bias: NDArray[np.float32]
    unrelated: float
    identity: dict[str, str]

    def __call__(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        rows = np.tile(self.bias, (len(texts), 1))
        for row, text in zip(rows, texts, strict=True):
            places = self._places[read_tokens(text)]
            known = places[places >= 0]
            if len(known):
                row += (self.scales[known] @ self.vectors[known]) / len(known)
        return make_vectors(rows)

    @cached_property
    def _places(self) -> NDArray[np.int32]:
        """Return the row of each token of cl100k_base, int32 (ids,); −1 for one without."""
        places = np.full(max(load_encoding().n_vocab, int(self.tokens[-1]) + 1), -1, np.int32)
        places[self.tokens] = np.arange(len(self.tokens), dtype=np.int32)
        return places


def read_tokens(text: str) -> NDArray[np.uint32]:
    """Return the tokens by which the static encoder knows a text, uint32 (n,).

    >>> bool((read_tokens("A River") == read_tokens("a river")).all())
    True
    """
    return encode_text(" " + text.lower())


def save_static(
    path: Path, tokens: NDArray[Any], vectors: NDArray[Any], bias: Any, unrelated: float = 1.0
) -> str:
    """Write a static encoder, its vectors as int8 with a scale each; return the SHA-256.

    Args:
        path: of the .npz file.
        tokens: token ids (n,).
        vectors: (n, d).
        bias: (d,).
        unrelated: see `StaticEncoder`.
    """
    order = np.argsort(tokens)
    rows = np.asarray(vectors, dtype=np.float32)[order]
    scales = np.maximum(np.abs(rows).max(axis=1), 1e-12) / 127
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        tokens=np.asarray(tokens, dtype=np.uint32)[order],
        vectors=np.rint(rows / scales[:, None]).astype(np.int8),
        scales=scales.astype(np.float32),
        bias=np.asarray(bias, dtype=np.float32),
        unrelated=np.float32(unrelated),
    )
    write_atomically(path, buffer.getvalue())
    return hashlib.sha256(buffer.getvalue()).hexdigest()


@lru_cache(maxsize=2)
def load_static(path: Path = BUNDLED_FILE) -> StaticEncoder:
    """Read a static encoder.

    Raises:
        TableError: there is none at the path, or it is damaged.
    """
    try:
        with path.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        with np.load(path, allow_pickle=False) as file:
            tokens, vectors, scales, bias, unrelated = (file[name] for name in ARRAYS)
    except OSError:
        raise TableError(f"no encoder can be read at {path}") from None
    except (KeyError, ValueError, zipfile.BadZipFile):
        raise TableError(f"{path.name} is not a static encoder, or it is damaged") from None
    sound = (
        tokens.ndim == 1
        and vectors.shape == (len(tokens), *bias.shape)
        and vectors.dtype == np.int8
        and scales.shape == tokens.shape
        and len(tokens) > 0
        and (np.diff(tokens.astype(np.int64)) > 0).all()
        and np.isfinite(scales).all()
        and np.isfinite(bias).all()
    )
    if not sound:
        raise TableError(f"{path.name} is damaged: its arrays do not fit each other")
    identity = {"encoder": BUNDLED, "sha256": digest}
    return StaticEncoder(tokens, vectors, scales, bias, float(unrelated), identity)


class _SentenceTransformer:
    """Encode texts by a sentence-transformers model."""

    def __init__(self, name: str) -> None:
        self.identity = {"encoder": name}
        self._encode: Callable[[Sequence[str]], NDArray[np.float32]] = local_encoder(name)

    def __call__(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        return make_vectors(self._encode(texts))


@lru_cache(maxsize=2)
def load_encoder(name: str = BUNDLED) -> Encoder:
    """Return an encoder by name.

    Args:
        name: `bundled`, or the folder or hub name of a sentence-transformers model (extra
            `train`).

    Raises:
        ParameterError: the name is empty, or `server`.
        TableError: the model or its package is not there.
    """
    if not name:
        raise ParameterError("encoder must be 'bundled' or a sentence-transformers model")
    if name == SERVER:
        raise ParameterError("encoder 'server' is a model of a server, which is not known here")
    return load_static() if name == BUNDLED else _SentenceTransformer(name)
