"""The vocabulary of whole words: a text's words are its units, and one release stands for each.

A word is a run of letters, with the apostrophes inside it ("don't", "O'Neill"); a hyphen is layout
between two words. Everything between words is read as tokens of cl100k_base, by its own classes.

V is the first `size` words of a public list (perturb.vocabulary.word_list), ordered by the number
of documents of a public corpus that a word is found in, without the strings of the exclusion list.
It holds each word once, in its usual capitals, and a text's word is in V in any capitals. Ranking
by documents, not by tokens, puts common words of two tokens before fragments that are one token.

A word outside V is mapped by a fixed public rule that sees the word alone: without its accents and
capitals, cut at 64 characters, it stands for the word of the list that it is, or else for the
longest word of the list that it begins with ("perturbingly" for "perturb"), or else, without a
letter from A to Z, for the first of V. The embedding table maps the words of the list outside V to
their nearest words of V.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import regex
import tiktoken
from numpy.typing import NDArray

from perturb.errors import DocumentTooLong, ParameterError
from perturb.text.fold import replace_halves
from perturb.vocabulary.exclusions import EXCLUSIONS_VERSION, excluded_strings
from perturb.vocabulary.vocabulary import (
    DEFAULT_SIZE,
    TokenClass,
    Variant,
    Vocabulary,
    encode_text,
    load_encoding,
)
from perturb.vocabulary.word_list import LIST_VERSION, load_word_list

__all__ = ["WORD", "WordVocabulary", "load_vocabulary", "read_form"]

# Possessive: a run of a million letters is read once.
WORD = regex.compile(r"\p{L}[\p{L}\p{M}]*+(?:['’]\p{L}[\p{L}\p{M}]*+)*+")
LONGEST = 64  # characters of a word that are read


@lru_cache(maxsize=8)
def load_vocabulary(variant: Variant = "clean", size: int = DEFAULT_SIZE) -> Vocabulary:
    """Return the vocabulary of a variant: `words`, or the tokens of cl100k_base. The last ones
    are kept: to classify a hundred thousand tokens takes longer than to read a table.

    >>> len(load_vocabulary("words")), len(load_vocabulary("paper"))
    (11000, 11000)

    Raises:
        ParameterError: there is no such variant, or the size is out of range.
        VocabularyError: the tokenizer or the list of words cannot be read.
    """
    if variant == "words":
        return WordVocabulary(load_encoding(), size)
    return Vocabulary(load_encoding(), size, variant)


def read_form(word: str) -> str:
    """Return the form of a word by which the list is searched: ASCII in lower case, without
    accents and with straight apostrophes, cut at LONGEST characters.

    >>> read_form("Émigré"), read_form("Don’t"), read_form("東京")
    ('emigre', "don't", '')
    """
    head = word[:LONGEST]
    if not head.isascii():
        plain = unicodedata.normalize("NFKD", head.replace("’", "'"))
        head = "".join(c for c in plain if c.isascii())[:LONGEST]
    return head.lower()


class WordVocabulary(Vocabulary):
    """V, a list of whole words, and the classes of all units.

    >>> vocabulary = load_vocabulary("words")
    >>> units = vocabulary.encode("The Rivers don't freeze, 2024")
    >>> [TokenClass(kind).name for kind in vocabulary.classes[units]]
    ['WORD', 'WORD', 'OOV', 'WORD', 'LAYOUT', 'LAYOUT', 'NUMBER', 'NUMBER']
    >>> [vocabulary.words[i] for i in vocabulary.index[units[:2]]]
    ['the', 'rivers']

    The id of a unit is that of a cl100k_base token, or one beyond them: two (without and with a
    blank before it) for each word of V, for each word of `others`, and for the words outside the
    list that begin with each word of V. `others` are the words of the list that are not in V.
    `ascii_words` are the strings of cl100k_base, as in the other variants.
    """

    def __init__(self, encoding: tiktoken.Encoding, size: int = DEFAULT_SIZE) -> None:
        strings, _ = self._read_tokens(encoding)
        self.variant: Variant = "words"
        listed = load_word_list()
        banned = excluded_strings()
        allowed = [
            i
            for i, word in enumerate(listed.words)
            if word.isalpha() and word.lower() not in banned
        ]
        if not 2 <= size <= len(allowed):
            raise ParameterError(f"vocabulary size must be from 2 to {len(allowed)}, got {size}")
        self.ranks = np.array(allowed[:size], dtype=np.int32)
        last = int(self.ranks[-1])
        self.excluded = sum(word.lower() in banned for word in listed.words[:last])
        self.words = tuple(listed.words[i] for i in self.ranks)
        in_vocabulary = frozenset(self.words)
        self.others = tuple(word for word in listed.words if word not in in_vocabulary)
        self.sha256 = hashlib.sha256("\n".join(self.words).encode()).hexdigest()
        self._list = listed
        self._places = {w.lower(): i for i, w in enumerate(self.words + self.others)}
        self._longest = max(map(len, self._places))
        self._tokens = len(strings)
        kinds, places = self._classify(strings)
        m, outside = len(self.words), len(self.others) + len(self.words)
        own = np.repeat([TokenClass.WORD.value, TokenClass.OOV.value], [2 * m, 2 * outside])
        self.classes = np.concatenate([kinds, own.astype(np.uint8)])
        both = np.repeat(np.concatenate([np.arange(m), np.arange(outside)]), 2)
        self.index = np.concatenate([places, both.astype(np.int32)])
        self.spaced = np.concatenate([self.spaced, np.tile([False, True], m + outside)])

    @property
    def own_counts(self) -> NDArray[np.int64]:
        return self._list.counts[self.ranks]

    @property
    def exclusions(self) -> int:
        return EXCLUSIONS_VERSION

    @property
    def facts(self) -> dict[str, Any]:
        listed = {"version": LIST_VERSION, "sha256": self._list.sha256}
        return {**super().facts, "list": listed}

    @property
    def description(self) -> str:
        return (
            f"V: the first {len(self):,} words of list version {LIST_VERSION}, whole words of "
            f"public text, without the {self.excluded} words of exclusion list version "
            f"{self.exclusions}; a token is a whole word, number or mark of the text"
        )

    def encode(self, text: str, *, at_most: int | None = None) -> NDArray[np.uint32]:
        """Return the ids of the units of any string, uint32 (n,).

        >>> vocabulary = load_vocabulary("words")
        >>> vocabulary.encode("a river").tolist() == vocabulary.encode("A River").tolist()
        True

        Raises:
            DocumentTooLong: there are more than `at_most` units.
        """
        units: list[int] = []
        between: dict[str, list[int]] = {"": []}  # the units of each different stretch
        words: dict[str, int] = {}  # the id of each different word, without a blank before it
        for gap, blank, word in _cut(text):
            if gap not in between:
                between[gap] = encode_text(gap, self.encoding).tolist()
            units += between[gap]
            if word:
                if word not in words:
                    words[word], _ = self.find(word)
                units.append(words[word] + blank)
        if at_most is not None and len(units) > at_most:
            raise DocumentTooLong(f"a text must have <= {at_most} tokens, got {len(units)}")
        return np.array(units, dtype=np.uint32)

    def split(self, text: str) -> list[bytes]:
        out: list[bytes] = []
        for gap, blank, word in _cut(text):
            tokens = encode_text(gap, self.encoding).tolist()
            out += self.encoding.decode_tokens_bytes(tokens)
            if word:
                out.append(b" " * blank + word.encode())
        return out

    def find(self, run: str) -> tuple[int, bool]:
        """Return the id of the unit that stands for a word, by the rule of the module, without a
        blank before it, and whether the word is in V, in any capitals.

        >>> vocabulary = load_vocabulary("words")
        >>> vocabulary.find("RIVER") == vocabulary.find("river")
        True
        """
        form, m = read_form(run), len(self.words)
        place = self._places.get(form)
        if place is None:
            ends = range(min(len(form), self._longest), 0, -1)
            place = next((self._places[form[:n]] for n in ends if form[:n] in self._places), 0)
            if place < m:
                place += m + len(self.others)
        return self._tokens + 2 * place, place < m


def _cut(text: str) -> Iterator[tuple[str, bool, str]]:
    """Yield each word of a text, after the stretch before it and whether one blank follows that;
    last of all, the stretch after the last word, with the word ""."""
    text = replace_halves(text)
    end = 0
    for found in WORD.finditer(text):
        start = found.start()
        blank = text[start - 1 : start] == " " and start > end
        yield text[end : start - blank], blank, found[0]
        end = found.end()
    yield text[end:], False, ""
