"""Run the bundled token classifier: text in, a label and a place for each word out.

The model is a file of ONNX in 8-bit integers, which also holds its tokenizer and its labels
(docs/detector.md says where it comes from). It reads text in small letters, and beside each token
the form of its word: capitals, digits, signs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perturb.errors import DetectorError

__all__ = [
    "BUNDLED_FILE",
    "FORMS",
    "OUTSIDE",
    "Pieces",
    "TokenModel",
    "TokenWord",
    "choose_labels",
    "load_token_model",
    "read_form",
    "read_pieces",
]

BUNDLED_FILE = Path(__file__).parents[1] / "data" / "detector.onnx"
OUTSIDE = 0  # the label of words that belong to nothing
FORMS = ("other", "small", "capital", "capitals", "mixed", "digits")
_OTHER, _SMALL, _CAPITAL, _CAPITALS, _MIXED, _DIGITS = range(len(FORMS))
# Tokens that the model reads at once. Of two windows that overlap, a token counts in the one where
# it has at least MARGIN tokens on both sides.
WINDOW, MARGIN = 254, 16
STRETCH = 50_000  # characters of a text that are cut into tokens at once


def read_form(word: str) -> int:
    """Return the form of a word, a place in `FORMS`.

    >>> [FORMS[read_form(word)] for word in ("Anna", "anna", "ANNA", "McKay", "B2", "12", "!")]
    ['capital', 'small', 'capitals', 'mixed', 'capitals', 'digits', 'other']
    """
    if word.islower():
        return _SMALL
    if word.isupper():
        return _CAPITALS if len(word) > 1 else _CAPITAL
    if word[:1].isupper() and word[1:].islower():
        return _CAPITAL
    if word.isalpha():  # also in scripts without capitals
        return _MIXED if any(map(str.isupper, word)) else _SMALL
    return _DIGITS if any(map(str.isalnum, word)) else _OTHER


@dataclass(frozen=True, slots=True)
class Pieces:
    """The tokens of a text.

    Attributes:
        ids: token ids, int64 (n,).
        forms: the form of each token's word, int64 (n,).
        firsts: the first token of each of the m words, int64 (m,), ascending.
        starts, ends: the place of each word in the text.
    """

    ids: NDArray[np.int64]
    forms: NDArray[np.int64]
    firsts: NDArray[np.int64]
    starts: list[int]
    ends: list[int]


def read_pieces(tokenizer: Any, text: str) -> Pieces:
    """Cut a text into tokens; each word, and each sign, is one or several."""
    encoding = tokenizer.encode(text, add_special_tokens=False)
    offsets, words = encoding.offsets, encoding.word_ids
    firsts: list[int] = []
    starts: list[int] = []
    ends: list[int] = []
    last = None
    for place, ((start, end), word) in enumerate(zip(offsets, words, strict=True)):
        if word == last:
            ends[-1] = end
            continue
        last = word
        firsts.append(place)
        starts.append(start)
        ends.append(end)
    found = [read_form(text[start:end]) for start, end in zip(starts, ends, strict=True)]
    lengths = np.diff([*firsts, len(offsets)])
    return Pieces(
        np.array(encoding.ids, dtype=np.int64),
        np.repeat(np.array(found, dtype=np.int64), lengths),
        np.array(firsts, dtype=np.int64),
        starts,
        ends,
    )


class TokenWord(NamedTuple):
    """A word of a text.

    Attributes:
        start, end: its place.
        label: its number in `TokenModel.labels`.
        shares: the probability of each label, float32 (labels,).
    """

    start: int
    end: int
    label: int
    shares: NDArray[np.float32]


class TokenModel:
    """Classify the words of texts. Threads may share it.

    Attributes:
        labels: what a word may be; the first is `OUTSIDE`.
        sha256: of the file.
    """

    def __init__(self, path: Path = BUNDLED_FILE) -> None:
        """Load a model whose digest the file `.json` beside it holds.

        Raises:
            DetectorError: the file is missing, damaged or not the one that was published.
        """
        import onnxruntime
        from tokenizers import Tokenizer

        data, self.sha256 = _read_checked(path)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1  # requests use the cores
        options.log_severity_level = 4
        self._session = onnxruntime.InferenceSession(
            data, options, providers=["CPUExecutionProvider"]
        )
        kept = self._session.get_modelmeta().custom_metadata_map
        self.labels: tuple[str, ...] = tuple(json.loads(kept["labels"]))
        self._tokenizer = Tokenizer.from_str(kept["tokenizer"])
        self._first, self._last = (self._tokenizer.token_to_id(t) for t in ("[CLS]", "[SEP]"))

    def classify(
        self,
        text: str,
        least: NDArray[np.float64] | None = None,
        or_from: NDArray[np.float64] | None = None,
        named: tuple[NDArray[np.float64], Callable[[str, int, int], bool]] | None = None,
    ) -> Iterator[TokenWord]:
        """Yield each word, in order.

        The time is linear in the text.

        Args:
            least: the probability from which a word has a label, float64 (labels,); ∞ for a label
                that a word has where it is the most likely one.
            or_from: further probabilities from which a word has a label, float64 (labels,), ∞ for
                none; they count only beside `least`.
            named: the same for words that pass a check, which is given the text and their place.
        """
        for begin, end in _cut(text):
            starts, ends, scores = self.score(text[begin:end])
            if not starts:
                continue
            shares = np.exp(scores - scores.max(axis=1, keepdims=True))
            shares /= shares.sum(axis=1, keepdims=True)
            if least is None:
                best = shares.argmax(axis=1)
            else:
                more = or_from
                if named is not None:
                    places = zip(starts, ends, strict=True)
                    passed = [named[1](text, begin + start, begin + end) for start, end in places]
                    more = np.where(np.array(passed)[:, None], named[0], np.inf)
                    more = more if or_from is None else np.minimum(more, or_from)
                best = choose_labels(shares, least, more)
            for start, stop, label, row in zip(starts, ends, best.tolist(), shares, strict=True):
                yield TokenWord(begin + start, begin + stop, label, row)

    def score(self, text: str) -> tuple[list[int], list[int], NDArray[np.float32]]:
        """Return the starts and the ends of the m words, and the scores of their labels.

        The scores are float32 (m, labels), logarithms of probabilities up to a constant a word.
        """
        pieces = read_pieces(self._tokenizer, text)
        if not len(pieces.ids):
            return [], [], np.empty((0, len(self.labels)), dtype=np.float32)
        scores = self._score(pieces.ids, pieces.forms)
        lengths = np.diff([*pieces.firsts, len(scores)]).astype(np.float32)
        # Every word has the mean of its tokens' scores.
        means: NDArray[np.float32] = np.add.reduceat(scores, pieces.firsts)
        means /= lengths[:, None]
        return pieces.starts, pieces.ends, means

    def _score(self, ids: NDArray[np.int64], forms: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the scores of tokens, float32 (n, labels)."""
        scores = np.empty((len(ids), len(self.labels)), dtype=np.float32)
        for start in range(0, max(len(ids) - 2 * MARGIN, 1), WINDOW - 2 * MARGIN):
            part = slice(start, start + WINDOW)
            lead = MARGIN if start else 0
            given = {
                "ids": np.concatenate([[self._first], ids[part], [self._last]]),
                "forms": np.concatenate([[_OTHER], forms[part], [_OTHER]]),
            }
            (found,) = self._session.run(None, given)
            scores[part][lead:] = found[1 + lead : -1]
        return scores


def _cut(text: str) -> Iterator[tuple[int, int]]:
    """Cut a long text, at the end of a line where there is one: what the tokenizer says of a text
    takes a hundred times as much memory."""
    begin = 0
    while begin < len(text):
        end = begin + STRETCH
        if end < len(text):
            end = text.rfind("\n", begin + STRETCH // 2, end) + 1 or end
        yield begin, min(end, len(text))
        begin = end


def choose_labels(
    shares: NDArray[np.floating[Any]],
    least: NDArray[np.float64],
    or_from: NDArray[np.float64] | None = None,
) -> NDArray[np.int64]:
    """Return the label of each word: the most likely of those it may have, else `OUTSIDE`.

    >>> shares = np.array([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1], [0.1, 0.3, 0.6]])
    >>> choose_labels(shares, np.array([np.inf, 0.25, np.inf])).tolist()
    [1, 1, 2]
    >>> choose_labels(shares, np.array([np.inf, 0.7, 0.7])).tolist()
    [0, 0, 0]
    >>> never = np.full(3, np.inf)
    >>> choose_labels(shares, never, np.array([np.inf, 0.25, np.inf])).tolist()
    [1, 1, 2]

    Args:
        shares: the probability of each label, (n, labels).
        least, or_from: see `TokenModel.classify`; `or_from` also (n, labels).
    """
    first = np.zeros(shares.shape, dtype=np.bool_)
    first[np.arange(len(shares)), shares.argmax(axis=1)] = True
    may = np.where(np.isinf(least), first, shares >= least)
    if or_from is not None:
        may |= shares >= or_from
    may[:, OUTSIDE] = False
    best: NDArray[np.int64] = np.where(may, shares, 0.0).argmax(axis=1)
    return best


@lru_cache(maxsize=1)
def load_token_model() -> TokenModel:
    """Return the bundled model, loaded once a process.

    Raises:
        MissingPackage: onnxruntime or tokenizers is not installed.
        DetectorError: the file is missing, damaged or not the one that was published.
    """
    return TokenModel()


def _read_checked(path: Path) -> tuple[bytes, str]:
    """Return a file and its SHA-256, after a check against the file beside it."""
    try:
        data = path.read_bytes()
        stated = json.loads(path.with_suffix(".json").read_bytes())["sha256"]
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise DetectorError(
            f"the detector's model {path.name} cannot be read; install the package again"
        ) from exc
    found = hashlib.sha256(data).hexdigest()
    if found != stated:
        raise DetectorError(
            f"the detector's model {path.name} is damaged (its SHA-256 is not the published one); "
            "install the package again"
        )
    return data, found
