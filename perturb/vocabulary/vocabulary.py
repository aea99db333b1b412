"""The cl100k_base tokenizer, the word vocabulary V and the public class of every token.

The tokenizer's ranks are checked by their hash. V holds the first `size` distinct words of
cl100k_base, by ascending rank: one leading space is stripped, and only ASCII letters are allowed.
The variant `clean` leaves out the strings of the exclusion list (perturb.vocabulary.exclusions);
`paper` leaves out none. The class of a token is public: it depends on the token alone.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import zlib
from binascii import a2b_base64
from enum import IntEnum
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import tiktoken
from numpy.typing import NDArray

from perturb.errors import DocumentTooLong, ParameterError, VocabularyError
from perturb.install import install_command
from perturb.text.fold import replace_halves
from perturb.vocabulary.exclusions import EXCLUSIONS_VERSION, excluded_strings
from perturb.work import compute_once

__all__ = [
    "ALL_VARIANTS",
    "CLASS_NAMES",
    "DEFAULT_SIZE",
    "SPECIAL_TOKENS",
    "TokenClass",
    "TokenVariant",
    "Variant",
    "Vocabulary",
    "encode_text",
    "list_tokens",
    "load_encoding",
]


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
    text = replace_halves(text)
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


TokenVariant = Literal["clean", "paper"]
Variant = Literal[TokenVariant, "words"]  # `words`: perturb.vocabulary.words
ALL_VARIANTS: tuple[Variant, ...] = get_args(Variant)
DEFAULT_SIZE = 11_000  # InferDPT §5: "the first 11,000 English words of cl100k_base"
LAYOUT = frozenset(" \t\n\r!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~“”‘’–—…•")


class TokenClass(IntEnum):
    """Name the public class of a token; every cl100k_base token has exactly one."""

    WORD = 0  # letters, in V once one leading space is stripped
    OOV = 1  # letters, not in V
    NUMBER = 2  # ASCII digits
    LAYOUT = 3  # punctuation, blanks and newlines of LAYOUT
    OTHER = 4  # bytes, mixed tokens, control characters, emoji


CLASS_NAMES = tuple(kind.name.lower() for kind in TokenClass)
# Plain integers: Python looks an enumeration's members up by name each time.
_WORD, _OOV, _NUMBER, _LAYOUT, _OTHER = (kind.value for kind in TokenClass)


class Vocabulary:
    """V and the classes of all cl100k_base tokens.

    >>> vocabulary = Vocabulary(load_encoding())
    >>> len(vocabulary), vocabulary.words.index("river")
    (11000, 3439)
    >>> tokens = vocabulary.encode("A river, 2024")
    >>> [TokenClass(kind).name for kind in vocabulary.classes[tokens]]
    ['WORD', 'WORD', 'LAYOUT', 'LAYOUT', 'NUMBER', 'NUMBER']

    Attributes:
        encoding: the `tiktoken.Encoding`.
        variant: `clean` (without the strings of the exclusion list) or `paper`.
        ascii_words: every distinct string of ASCII letters in cl100k_base, in rank order.
        words: V, in rank order; `len(words) == size`.
        ranks: int32 (m,), the place of every word of V in `ascii_words`.
        excluded: the number of left-out strings before the last word of V.
        others: every other distinct string of letters in cl100k_base, in rank order; an
            embedding table maps each to its nearest word of V.
        classes: uint8 (n_tokens,), a `TokenClass` for each token id.
        index: int32 (n_tokens,): word → its place in V, oov → its place in `others`, or their
            number plus the place of the word of V that it begins with (vocabulary `words`),
            number → its number of digits, anything else → -1.
        spaced: bool (n_tokens,), whether the token begins with a space.
        sha256: of the words of V, separated by newlines; an embedding table names its V by it.
    """

    def __init__(
        self,
        encoding: tiktoken.Encoding,
        size: int = DEFAULT_SIZE,
        variant: TokenVariant = "clean",
    ) -> None:
        if variant not in get_args(TokenVariant):
            raise ParameterError(f"vocabulary must be one of {', '.join(get_args(TokenVariant))}")
        self.variant: Variant = variant
        strings, letters = self._read_tokens(encoding)
        banned = excluded_strings() if variant == "clean" else frozenset()
        allowed = [i for i, w in enumerate(self.ascii_words) if w.lower() not in banned]
        if not 2 <= size <= len(allowed):
            raise ParameterError(f"vocabulary size must be from 2 to {len(allowed)}, got {size}")
        self.ranks = np.array(allowed[:size], dtype=np.int32)
        self.excluded = int(self.ranks[-1]) + 1 - size
        self.words: tuple[str, ...] = tuple(self.ascii_words[i] for i in allowed[:size])
        in_vocabulary = frozenset(self.words)
        self.others: tuple[str, ...] = tuple(w for w in letters if w not in in_vocabulary)
        self.classes, self.index = self._classify(strings, self.words, self.others)
        self.sha256 = hashlib.sha256("\n".join(self.words).encode()).hexdigest()

    def _read_tokens(
        self, encoding: tiktoken.Encoding
    ) -> tuple[list[str | None], dict[str, None]]:
        """Set what depends on the encoding alone; return the string of every token, and the
        distinct strings of letters."""
        self.encoding = encoding
        strings, self.spaced = _token_strings(encoding)
        letters = dict.fromkeys(s for s in strings if s is not None and s.isalpha())
        self.ascii_words = tuple(word for word in letters if word.isascii())
        return strings, letters

    @staticmethod
    def _classify(
        strings: list[str | None], words: tuple[str, ...] = (), others: tuple[str, ...] = ()
    ) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        """Return the class and the index of every token; `words` and `others` are letters."""
        places: dict[str | None, int] = {word: i for i, word in enumerate((*words, *others))}
        index = np.array([places.get(string, -1) for string in strings], dtype=np.int32)
        outside = index >= len(words)
        classes = np.where(outside, _OOV, _WORD).astype(np.uint8)
        index[outside] -= len(words)
        rest = np.flatnonzero(index < 0)
        found = [_classify_other(strings[token]) for token in rest.tolist()]
        classes[rest], index[rest] = zip(*found, strict=True)
        return classes, index

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def word_array(self) -> NDArray[np.object_]:
        """Return `words` as an array of strings, (m,)."""
        return np.array(self.words, dtype=object)

    @cached_property
    def places(self) -> dict[str, int]:
        """Return the place in V of each word of V."""
        return {word: place for place, word in enumerate(self.words)}

    @cached_property
    def layout(self) -> NDArray[np.object_]:
        """Return the string of every token of class LAYOUT, "" for the others, (n_tokens,)."""
        strings = np.full(len(self.classes), "", dtype=object)
        for token in np.flatnonzero(self.classes == TokenClass.LAYOUT).tolist():
            strings[token] = self.encoding.decode_single_token_bytes(token).decode()
        return strings

    @property
    def own_counts(self) -> NDArray[np.int64] | None:
        """Return the counts of the words of V, int64 (m,), if V comes with its own; None where
        the counts of cl100k_base's strings apply."""
        return None

    @property
    def exclusions(self) -> int | None:
        """Return the version of the exclusion list that was applied; None in the variant
        `paper`."""
        return EXCLUSIONS_VERSION if self.variant == "clean" else None

    @property
    def facts(self) -> dict[str, Any]:
        """Return the facts that identify V in an embedding table, ready for JSON."""
        facts = {"encoding": self.encoding.name, "size": len(self), "sha256": self.sha256}
        return facts if self.exclusions is None else {**facts, "exclusions": self.exclusions}

    @property
    def description(self) -> str:
        """Return one sentence about the words of V, for receipts and certificates."""
        first = f"V: the first {len(self):,} words of {self.encoding.name}"
        if self.exclusions is None:
            return first
        return (
            f"{first} without the {self.excluded} words of exclusion list version "
            f"{self.exclusions} (deviation from the paper; `vocabulary: paper` restores it)"
        )

    def encode(self, text: str, *, at_most: int | None = None) -> NDArray[np.uint32]:
        """Return the token ids of any string, uint32 (n,).

        Lone surrogates become U+FFFD; strings that spell special tokens are plain text.

        >>> Vocabulary(load_encoding()).encode("a river").tolist()
        [64, 15140]

        Raises:
            DocumentTooLong: there are more than `at_most` tokens.
        """
        tokens = encode_text(text, self.encoding)
        _check_length(len(tokens), at_most)
        return tokens

    def encode_once(self, text: str, *, at_most: int | None = None) -> NDArray[np.uint32]:
        """Return the token ids of a text, encoded once in a request (`perturb.work`).

        Raises:
            DocumentTooLong: there are more than `at_most` tokens.
        """
        tokens = compute_once(self.encode, text)
        _check_length(len(tokens), at_most)
        return tokens

    @staticmethod
    def fits(text: str, at_most: int | None) -> bool:
        """Tell if a text has so few characters that it cannot have more than `at_most` tokens: a
        token has one byte or more, and a character at most four.

        >>> Vocabulary.fits("a river", 28), Vocabulary.fits("a river", 27)
        (True, False)
        """
        return at_most is None or 4 * len(text) <= at_most

    def count_classes(self, tokens: NDArray[np.uint32]) -> dict[str, int]:
        """Count token ids, uint32 (n,), by class, under the classes' names in small letters.

        >>> vocabulary = Vocabulary(load_encoding())
        >>> vocabulary.count_classes(vocabulary.encode("a river, 12"))
        {'word': 2, 'oov': 0, 'number': 1, 'layout': 2, 'other': 0}
        """
        counts = np.bincount(self.classes[tokens], minlength=len(CLASS_NAMES)).tolist()
        return dict(zip(CLASS_NAMES, counts, strict=True))

    def split(self, text: str) -> list[bytes]:
        """Return the part of a string, in UTF-8, that each token of `encode` stands for.

        >>> Vocabulary(load_encoding()).split("a river")
        [b'a', b' river']
        """
        return self.encoding.decode_tokens_bytes(self.encode(text).tolist())

    def find(self, run: str) -> tuple[int, bool]:
        """Return the id of the token that stands for a run of letters, and whether the run is that
        word and in V. The token is the longest of the run that spells letters; −1 for none.

        >>> vocabulary = Vocabulary(load_encoding())
        >>> river, _ = vocabulary.find("riverxyz")
        >>> vocabulary.decode([river]), vocabulary.find("river") == (river, True)
        (' river', True)
        """
        whole = self._tokens_by_word.get(run)
        if whole is not None:
            return whole, bool(self.classes[whole] == _WORD)
        best, length = -1, 0
        for written in (f" {run}", run):
            for token in list_tokens(written, self.encoding):
                if len(self._letters[token]) > length:
                    best, length = token, len(self._letters[token])
        return best, False

    @cached_property
    def _letters(self) -> list[str]:
        """Return the string of every token of letters, without a blank, "" for the others."""
        strings = [""] * len(self.classes)
        for kind, words in ((TokenClass.WORD, self.words), (TokenClass.OOV, self.others)):
            tokens = np.flatnonzero(self.classes == kind)
            for token, place in zip(tokens.tolist(), self.index[tokens].tolist(), strict=True):
                strings[token] = words[place]
        return strings

    @cached_property
    def _tokens_by_word(self) -> dict[str, int]:
        """Return the token of each string of letters that is one: that with a blank, which the
        string has inside a text, rather than that without."""
        tokens = np.flatnonzero(self.classes <= _OOV)
        order = tokens[np.argsort(self.spaced[tokens], kind="stable")]
        return {self._letters[token]: token for token in order.tolist()}

    def decode(self, tokens: list[int]) -> str:
        """Return the string of token ids; parts of characters become U+FFFD.

        >>> Vocabulary(load_encoding()).decode([64, 15140])
        'a river'

        Raises:
            ParameterError: an id is not a cl100k_base token.
        """
        try:
            return self.encoding.decode(tokens)
        except (KeyError, OverflowError):
            raise ParameterError("a token id is not in cl100k_base") from None


def _token_strings(encoding: tiktoken.Encoding) -> tuple[list[str | None], NDArray[np.bool_]]:
    """Return the string of every token without one leading space, None for parts of a character
    and gaps in the numbering, and which tokens begin with a space, bool (n_tokens,)."""
    strings: list[str | None] = []
    after_space = []
    for token in range(encoding.max_token_value + 1):
        try:
            string = encoding.decode_single_token_bytes(token).decode()
        except (KeyError, UnicodeDecodeError):
            strings.append(None)
            continue
        if string.startswith(" "):
            after_space.append(token)
            string = string[1:] or " "
        strings.append(string)
    spaced = np.zeros(len(strings), dtype=np.bool_)
    spaced[after_space] = True
    return strings, spaced


def _check_length(length: int, at_most: int | None) -> None:
    if at_most is not None and length > at_most:
        raise DocumentTooLong(f"a text must have <= {at_most} tokens, got {length}")


def _classify_other(string: str | None) -> tuple[int, int]:
    """Return the class and the index of a token that is not made of letters alone."""
    if string is None:
        return _OTHER, -1
    if string.isascii() and string.isdigit():
        return _NUMBER, len(string)
    return _LAYOUT if LAYOUT.issuperset(string) else _OTHER, -1
