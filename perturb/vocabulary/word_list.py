"""The bundled list of whole words, from which the vocabulary `words` is taken.

`data/words.txt` holds a word and its count in a public corpus on every line, in the order of the
list: words found in more documents come first. `data/words.json` describes the corpus.
`scripts/list_words.py` makes both.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.errors import VocabularyError

__all__ = ["BUNDLED_LIST", "LIST_VERSION", "WordList", "dictionary_words", "load_word_list"]

BUNDLED_LIST = Path(__file__).parents[1] / "data" / "words"
LIST_VERSION = 1  # of the list, and of the rule for words that it lacks


@dataclass(frozen=True, eq=False)
class WordList:
    """The list.

    Attributes:
        words: ASCII letters, some with apostrophes inside; no two differ in capitals only.
        counts: int64 (n,), the number of times that each stands in the corpus, in any capitals.
        sha256: of the file.
    """

    words: tuple[str, ...]
    counts: NDArray[np.int64]
    sha256: str


@lru_cache(maxsize=1)
def load_word_list(path: Path = BUNDLED_LIST) -> WordList:
    """Read and verify the list.

    >>> words = load_word_list().words
    >>> words[0], "London" in words, "london" in words
    ('the', True, False)

    Args:
        path: of both files, without suffix.

    Raises:
        VocabularyError: a file is missing or damaged, or is another version.
    """
    try:
        data = path.with_suffix(".txt").read_bytes()
        side: dict[str, Any] = json.loads(path.with_suffix(".json").read_text("utf-8"))
        digest = hashlib.sha256(data).hexdigest()
        if side["sha256"] != digest:
            raise VocabularyError(f"{path.name}.txt is damaged: its SHA-256 differs")
        if side["version"] != LIST_VERSION:
            raise VocabularyError(f"{path.name}.txt is not version {LIST_VERSION}")
        lines = [line.split(" ") for line in data.decode("ascii").splitlines()]
        words = tuple(word for word, _ in lines)
        counts = np.array([int(count) for _, count in lines], dtype=np.int64)
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise VocabularyError(
            f"cannot read the words {path.name}.txt and {path.name}.json"
        ) from exc
    counts.flags.writeable = False
    return WordList(words, counts, digest)


@lru_cache(maxsize=1)
def dictionary_words() -> frozenset[str]:
    """Return the words of the list that are written in small letters.

    >>> sorted({"london", "river"} & dictionary_words())
    ['river']
    """
    return frozenset(word for word in load_word_list().words if word.islower())
