"""An n-gram language model over token ids: interpolated modified Kneser–Ney, in NumPy.

Chen and Goodman (1999), "An empirical study of smoothing techniques for language modeling",
Computer Speech and Language 13, §3. With h a context of k − 1 tokens, h' the same without its
first, and c(h·) the sum of c(hw) over all tokens w,

    p_k(w|h) = (c(hw) − D(c(hw))) / c(h·) + γ(h) p_{k−1}(w|h'),    γ(h) = Σ_w D(c(hw)) / c(h·),

and p_k = p_{k−1} after a context that the text never continues; p_0 = 1/V. At the highest order
c counts occurrences, below it the different left neighbours of an n-gram, the start of the text
being one of them. D is 0 for c = 0 and has three values an order, for c = 1, 2 and more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.errors import MissingPackage, ParameterError
from perturb.install import install_command

__all__ = ["Ngram"]

# D where too little text leaves its rule undefined; also KenLM's default.
FALLBACK = (0.5, 1.0, 1.5)


@dataclass(frozen=True, eq=False)
class _Order:
    """Hold the n-grams of one order k, with everything that the formula needs.

    An n-gram's id is its place in `keys`; its key is (id of its first k − 1 tokens) · V + its
    last token, the id of no tokens being 0. So the n-grams of one context lie side by side.
    """

    keys: NDArray[np.int64]  # (n_k,) ascending
    discounted: NDArray[np.float64]  # (n_k,) (c − D) / c(h·)
    left_over: NDArray[np.float64]  # (n_{k−1},) γ of each context, 1 where it has no n-gram

    def find(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the ids of n-grams by key; −1 where there is none."""
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[places] == keys, places, -1)


@dataclass(frozen=True, eq=False)
class Ngram:
    """Hold a fitted model: p(next token | the order − 1 tokens before it), never 0."""

    order: int
    vocabulary: int
    _orders: tuple[_Order, ...]  # k = 1, 2, … order

    @classmethod
    def fit(cls, tokens: NDArray[np.integer], *, order: int, vocabulary: int) -> Ngram:
        """Count one text, (n,) ids in [0, vocabulary), and smooth.

        Texts joined to one are one text: n-grams span their seams, unless a token of its own
        stands there.

        Raises:
            ParameterError: order < 1, vocabulary < 1 or too large for 64-bit keys, fewer than
                `order` tokens, or tokens that are not ids of the vocabulary.
        """
        if order < 1:
            raise ParameterError(f"order must be >= 1, got {order}")
        if vocabulary < 1:
            raise ParameterError(f"vocabulary must be >= 1, got {vocabulary}")
        text = _check_ids(tokens, vocabulary, "tokens")
        if len(text) < order:
            raise ParameterError(f"tokens must be at least order ({order}), got {len(text)}")
        most = max(len(text), vocabulary)  # no order has more n-grams
        if vocabulary > (2**63 - 1) // (most + 1):
            raise ParameterError(
                f"vocabulary * n-grams must be < 2**63, got {vocabulary} * {most}"
            )
        orders: list[_Order] = []
        contexts = 1
        for keys, counts in _count_orders(text, order, vocabulary):
            orders.append(_smooth(keys, counts, contexts, vocabulary))
            contexts = len(keys)
        return cls(order, vocabulary, tuple(orders))

    def log_probabilities(self, tokens: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return ln p(token | the order − 1 before it) at each place of a text, (n,). A token near
        the start has a shorter context.

        Raises:
            ParameterError: tokens that are not ids of the vocabulary.
        """
        text = _check_ids(tokens, self.vocabulary, "tokens")
        chance = np.full(len(text), 1 / self.vocabulary)
        context = np.zeros(len(text), dtype=np.int64)  # the id of the tokens before; −1: unseen
        for counted in self._orders:
            # The key of an unseen context is negative, hence never found.
            ids = counted.find(context * self.vocabulary + text)
            chance *= np.where(context >= 0, counted.left_over[context], 1.0)
            chance += np.where(ids >= 0, counted.discounted[ids], 0.0)
            context = np.full_like(ids, -1)
            context[1:] = ids[:-1]
        logs: NDArray[np.float64] = np.log(chance)
        return logs

    def distribution(self, context: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return p(next token | context) for every token, (vocabulary,), sum 1. Of the context,
        (m,) ids with m >= 0, only the last order − 1 count.

        Raises:
            ParameterError: a context that is not of ids of the vocabulary.
        """
        before = _check_ids(context, self.vocabulary, "context")
        chance = np.full(self.vocabulary, 1 / self.vocabulary)
        for length, counted in enumerate(self._orders[: len(before) + 1]):
            here = self._id(before[len(before) - length :])
            if here < 0:
                break
            first, last = np.array([here, here + 1]) * self.vocabulary
            inside = slice(*np.searchsorted(counted.keys, [first, last]))
            chance *= counted.left_over[here]
            chance[counted.keys[inside] - first] += counted.discounted[inside]
        return chance

    def bigram(self) -> tuple[Any, NDArray[np.float64], NDArray[np.float64]]:
        """Return a model of order 2 in the form p(w | h) = S[h, w] + γ[h]·p[w]: S, SciPy's CSR (V,
        V); γ (V,); p (V,). A step over all h and w then costs no more than the text's different
        pairs.

        Raises:
            ParameterError: the order is not 2.
            MissingPackage: SciPy is not installed.
        """
        if self.order != 2:
            raise ParameterError(f"order must be 2, got {self.order}")
        try:
            from scipy.sparse import csr_array
        except ImportError:
            raise MissingPackage(f"bigrams need SciPy: {install_command('bench')}") from None
        size, pairs = self.vocabulary, self._orders[1]
        seen = csr_array((pairs.discounted, np.divmod(pairs.keys, size)), shape=(size, size))
        return seen, pairs.left_over, self.distribution(np.empty(0, dtype=np.int64))

    def _id(self, ngram: NDArray[np.int64]) -> int:
        """Return the id of one n-gram of up to `order` tokens, −1 if the text has none."""
        found = 0
        for counted, token in zip(self._orders, ngram.tolist(), strict=False):
            found = int(counted.find(np.array(found * self.vocabulary + token, dtype=np.int64)))
        return found


def _check_ids(tokens: NDArray[np.integer], vocabulary: int, name: str) -> NDArray[np.int64]:
    if tokens.ndim != 1 or not (np.issubdtype(tokens.dtype, np.integer) or not tokens.size):
        raise ParameterError(f"{name} must be (n,) integers, got {tokens.shape} {tokens.dtype}")
    if tokens.size and not 0 <= tokens.min() <= tokens.max() < vocabulary:
        raise ParameterError(
            f"{name} must be within [0, {vocabulary}), got {tokens.min()} to {tokens.max()}"
        )
    return tokens.astype(np.int64)


def _count_orders(
    text: NDArray[np.int64], order: int, vocabulary: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield the keys and the counts c of each order, 1 first. Every token is a 1-gram, seen or
    not, so that its id is the token itself."""
    ids = text  # of the k-gram that starts at each place
    keys, counts = np.arange(vocabulary), np.bincount(text, minlength=vocabulary)
    for k in range(1, order):
        longer_keys, longer, occurrences = np.unique(
            ids[:-1] * vocabulary + text[k:], return_inverse=True, return_counts=True
        )
        # Each different (k+1)-gram is one left neighbour of the k-gram it ends in.
        endings = np.empty_like(longer_keys)
        endings[longer] = ids[1:]
        neighbours = np.bincount(endings, minlength=len(keys))
        neighbours[ids[0]] += 1
        yield keys, neighbours
        ids, keys, counts = longer, longer_keys, occurrences
    yield keys, counts


def _smooth(
    keys: NDArray[np.int64], counts: NDArray[np.int64], contexts: int, vocabulary: int
) -> _Order:
    taken = _estimate_discounts(counts)[np.minimum(counts, 3)]
    context = keys // vocabulary
    total = np.bincount(context, weights=counts, minlength=contexts)
    spread = np.bincount(context, weights=taken, minlength=contexts)
    left_over = np.divide(spread, total, out=np.ones(contexts), where=total > 0)
    return _Order(keys, (counts - taken) / total[context], left_over)


def _estimate_discounts(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return D for c = 0, 1, 2 and more (Chen and Goodman 1999, modified Kneser–Ney)."""
    n = np.bincount(np.minimum(counts, 5), minlength=6)  # n[c]: n-grams with count c
    values: tuple[float, ...] = FALLBACK
    if n[1:5].all():
        y = n[1] / (n[1] + 2 * n[2])
        by_rule = tuple(float(c - (c + 1) * y * n[c + 1] / n[c]) for c in (1, 2, 3))
        values = by_rule if min(by_rule) > 0 else FALLBACK
    return np.array([0.0, *values])
