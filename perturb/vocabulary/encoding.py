"""The tokenizer cl100k_base: its ranks, checked by their hash, and the tokens of any string."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import zlib
from binascii import a2b_base64
from functools import lru_cache
from pathlib import Path

import numpy as np
import tiktoken
from numpy.typing import NDArray

from perturb.errors import VocabularyError
from perturb.install import install_command
from perturb.text.surrogates import replace_surrogates

__all__ = ["SPECIAL_TOKENS", "encode_text", "list_tokens", "load_encoding"]

RANKS_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
# The published definition of cl100k_base beside its ranks: split pattern and special tokens.
PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
SPECIAL_TOKENS = {
    "<|endoftext|>": 100257,
    "<|fim_prefix|>": 100258,
    "<|fim_middle|>": 100259,
    "<|fim_suffix|>": 100260,
    "<|endofprompt|>": 100276,
}
# tiktoken's splitter gets pieces of bounded length, because a run of a million symbols is legal.
PIECE_CHARACTERS = 16_384
_NONE: frozenset[str] = frozenset()


def encode_text(text: str, encoding: tiktoken.Encoding | None = None) -> NDArray[np.uint32]:
    """Return the token ids of any string, uint32 (n,), by cl100k_base.

    >>> encode_text("a river").tolist()
    [64, 15140]
    """
    encoding = encoding or load_encoding()
    text = replace_surrogates(text)
    if len(text) <= PIECE_CHARACTERS:
        return encoding.encode_to_numpy(text, allowed_special=_NONE, disallowed_special=())
    pieces = [
        encoding.encode_to_numpy(piece, allowed_special=_NONE, disallowed_special=())
        for piece in _cut(text)
    ]
    return np.concatenate(pieces)


def list_tokens(text: str, encoding: tiktoken.Encoding) -> list[int]:
    """Return the token ids of any string as a list, which is faster for a short one."""
    if len(text) > PIECE_CHARACTERS:
        return list(encode_text(text, encoding).tolist())
    return encoding.encode_ordinary(text)


@lru_cache(maxsize=1)
def load_encoding() -> tiktoken.Encoding:
    """Load cl100k_base and check its hash.

    The ranks are read from the file in the `bpe-openai` package where it is installed (extras
    `offline` and `embedded`); otherwise tiktoken downloads and checks them.

    >>> load_encoding().name
    'cl100k_base'

    Raises:
        VocabularyError: the file is damaged, or there is no copy and no network.
    """
    package = importlib.util.find_spec("bpe_openai")
    if package is not None and package.submodule_search_locations:
        folder = Path(package.submodule_search_locations[0])
        return _read_encoding(folder / "data" / "cl100k_base.tiktoken.gz")
    try:
        return tiktoken.get_encoding("cl100k_base")
    except Exception as exc:  # tiktoken does not map the errors of its HTTP library
        raise VocabularyError(
            "the tokenizer cl100k_base could not be downloaded; to install a copy that needs no "
            f"network: {install_command('offline')}"
        ) from exc


def _read_encoding(path: Path) -> tiktoken.Encoding:
    try:
        ranks_file = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as exc:
        raise VocabularyError(f"cannot read the tokenizer file {path}") from exc
    if hashlib.sha256(ranks_file).hexdigest() != RANKS_SHA256:
        raise VocabularyError(f"{path} is not cl100k_base: its SHA-256 is not {RANKS_SHA256}")
    fields = ranks_file.split()  # of each line: a token in base64, its rank
    ranks = dict(zip(map(a2b_base64, fields[::2]), map(int, fields[1::2]), strict=True))
    encoding = tiktoken.Encoding(
        name="cl100k_base",
        pat_str=PATTERN,
        mergeable_ranks=ranks,
        special_tokens=SPECIAL_TOKENS,
    )
    # tiktoken's core has a copy. These 13 MB are kept to pickle an encoding, which nobody does.
    ranks.clear()
    return encoding


def _cut(text: str) -> list[str]:
    """Cut text into pieces of bounded length, if possible at a blank before a word."""
    pieces = []
    start = 0
    while len(text) - start > PIECE_CHARACTERS:
        end = start + PIECE_CHARACTERS
        blank = text.rfind(" ", start + PIECE_CHARACTERS // 2, end)
        end = blank if blank > 0 else end
        pieces.append(text[start:end])
        start = end
    if start < len(text):
        pieces.append(text[start:])
    return pieces
