"""The cl100k_base tokenizer, the word vocabulary V and the public class of every token.

V is the first `size` distinct words of cl100k_base: ranks upward, one leading space
stripped, ASCII letters only. The classes are public facts of the token alone.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import importlib.util
import zlib
from enum import IntEnum
from functools import lru_cache
from pathlib import Path

import numpy as np
import tiktoken
from numpy.typing import NDArray

from perturb.errors import ParameterError, VocabularyError

__all__ = ["DEFAULT_SIZE", "TokenClass", "Vocabulary", "load_encoding"]

DEFAULT_SIZE = 11_000  # InferDPT §5: "the first 11,000 English words of cl100k_base"
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
# tiktoken's splitter is handed pieces of bounded length: a run of a million symbols is legal.
PIECE_CHARACTERS = 16_384
LAYOUT = frozenset(" \t\n\r!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~“”‘’–—…•")


class TokenClass(IntEnum):
    """The public class of a token: every cl100k_base token has exactly one."""

    WORD = 0  # letters, in V once one leading space is stripped
    OOV = 1  # letters, not in V
    NUMBER = 2  # ASCII digits
    LAYOUT = 3  # punctuation, blanks and newlines of LAYOUT
    OTHER = 4  # bytes, mixed tokens, control characters, emoji


class Vocabulary:
    """V and the classes of all cl100k_base tokens.

    Attributes:
        encoding: the `tiktoken.Encoding`.
        words: V, in rank order; `len(words) == size`.
        others: every other distinct string of letters in cl100k_base, in rank order; an
            embedding table maps each to its nearest word of V.
        classes: uint8 (n_tokens,), a `TokenClass` for each token id.
        index: int32 (n_tokens,): word → its place in V, oov → its place in `others`,
            number → how many digits, anything else → -1.
        spaced: bool (n_tokens,), whether the token begins with a space.
        sha256: of V, newline-separated: an embedding table names the V it was made for.
    """

    def __init__(self, encoding: tiktoken.Encoding, size: int = DEFAULT_SIZE) -> None:
        self.encoding = encoding
        raw = [_decode(encoding, token) for token in range(encoding.max_token_value + 1)]
        self.spaced = np.array([string is not None and string.startswith(" ") for string in raw])
        strings = [None if string is None else string.removeprefix(" ") or " " for string in raw]
        letters = dict.fromkeys(s for s in strings if s is not None and s.isalpha())
        ascii_words = [word for word in letters if word.isascii()]
        if not 2 <= size <= len(ascii_words):
            raise ParameterError(
                f"vocabulary size must be from 2 to {len(ascii_words)}, got {size}"
            )
        self.words: tuple[str, ...] = tuple(ascii_words[:size])
        in_vocabulary = {word: i for i, word in enumerate(self.words)}
        self.others: tuple[str, ...] = tuple(w for w in letters if w not in in_vocabulary)
        out_of_vocabulary = {word: i for i, word in enumerate(self.others)}
        self.classes = np.full(len(strings), TokenClass.OTHER, dtype=np.uint8)
        self.index = np.full(len(strings), -1, dtype=np.int32)
        for token, string in enumerate(strings):
            if string is None:
                continue
            if string in in_vocabulary:
                self.classes[token] = TokenClass.WORD
                self.index[token] = in_vocabulary[string]
            elif string in out_of_vocabulary:
                self.classes[token] = TokenClass.OOV
                self.index[token] = out_of_vocabulary[string]
            elif string.isascii() and string.isdigit():
                self.classes[token] = TokenClass.NUMBER
                self.index[token] = len(string)
            elif LAYOUT.issuperset(string):
                self.classes[token] = TokenClass.LAYOUT
        self.sha256 = hashlib.sha256("\n".join(self.words).encode()).hexdigest()

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, text: str) -> NDArray[np.uint32]:
        """Return the token ids of any string, uint32 (n,).

        Lone surrogates become U+FFFD; strings that spell special tokens are plain text.
        """
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        pieces = [
            self.encoding.encode_to_numpy(piece, allowed_special=set(), disallowed_special=())
            for piece in _pieces(text)
        ]
        return np.concatenate(pieces) if pieces else np.empty(0, dtype=np.uint32)

    def decode(self, tokens: list[int]) -> str:
        """Return the string of token ids; parts of characters become U+FFFD.

        Raises:
            ParameterError: an id is not a cl100k_base token.
        """
        try:
            return self.encoding.decode(tokens)
        except (KeyError, OverflowError):
            raise ParameterError("a token id is not in cl100k_base") from None


@lru_cache(maxsize=1)
def load_encoding() -> tiktoken.Encoding:
    """Return cl100k_base, hash-checked.

    The ranks are read from the file that the `bpe-openai` package carries where it is
    installed (extras `offline` and `embedded`), else tiktoken downloads and checks them.

    Raises:
        VocabularyError: the file is damaged, or there is no copy and no network.
    """
    package = importlib.util.find_spec("bpe_openai")
    if package is not None and package.submodule_search_locations:
        folder = Path(package.submodule_search_locations[0])
        return _read_encoding(folder / "data" / "cl100k_base.tiktoken.gz")
    try:
        return tiktoken.get_encoding("cl100k_base")
    except Exception as exc:  # tiktoken lets its HTTP library's errors through
        raise VocabularyError(
            "cl100k_base could not be downloaded; `pip install 'inferdpt[offline]'` "
            "brings a copy that needs no network"
        ) from exc


def _read_encoding(path: Path) -> tiktoken.Encoding:
    try:
        ranks_file = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as exc:
        raise VocabularyError(f"cannot read the tokenizer file {path}") from exc
    if hashlib.sha256(ranks_file).hexdigest() != RANKS_SHA256:
        raise VocabularyError(f"{path} is not cl100k_base: its SHA-256 is not {RANKS_SHA256}")
    ranks = {
        base64.b64decode(token): int(rank)
        for token, rank in (line.split() for line in ranks_file.splitlines())
    }
    return tiktoken.Encoding(
        name="cl100k_base",
        pat_str=PATTERN,
        mergeable_ranks=ranks,
        special_tokens=SPECIAL_TOKENS,
    )


def _decode(encoding: tiktoken.Encoding, token: int) -> str | None:
    """The token's string; None for parts of a character and gaps in the numbering."""
    try:
        return encoding.decode_single_token_bytes(token).decode()
    except (KeyError, UnicodeDecodeError):
        return None


def _pieces(text: str) -> list[str]:
    """Cut text into pieces of bounded length, at a blank before a word where there is one."""
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
