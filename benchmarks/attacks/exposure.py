"""Canary exposure: how far up a planted secret ranks among those it could have been.

log2|R| − log2(rank) for a secret drawn from R (Maratkhan 2023, §5.2; Carlini et al. 2019): 0 to
log2|R| bits; a rank that is uniform gives log2(e) = 1.44 bits on average.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.attacks.bounds import breach, limit
from benchmarks.attacks.likelihood import log_likelihood
from benchmarks.context import Context
from benchmarks.experiment import Experiment, Found, mean, success
from benchmarks.records import Case
from perturb import (
    EmbeddingTable,
    Perturbation,
    Perturber,
    TokenClass,
    get_mechanism,
)
from perturb.selective import Selective

__all__ = ["Exposure", "exposures", "numbers", "phrases", "ranks", "secret_words"]

CANDIDATES = 1 << 14  # |R|: at most 14 bits
CANARIES = 128  # of each kind
DIGITS = 9
WORDS = 3
NUMBER = "The number of the account that we opened there last year is {}."
PHRASE = "The words that open the door of the office are {}."
TOP = (1, CANDIDATES // 16)  # ranks held against the bound


class Exposure(Experiment):
    """Numbers of nine digits, and phrases of three words, each secret in a sentence of its own.

    A number is attacked by its digits in place: where they are redrawn, no score does better
    than chance. A phrase is attacked by the channel's likelihood.

    Values:
        number, phrase: mean exposure in bits.
        number_whole, phrase_whole: share of the secrets that left as they are.
    """

    name = "exposure"
    about = "bits by which a planted number or phrase ranks above chance"

    def cases(self, context: Context) -> Iterable[Case]:
        points = [(subject.label, epsilon) for subject, epsilon in context.suite.points()]
        marked = [(Selective.name, epsilon) for epsilon in context.suite.epsilons]
        for label, epsilon in dict.fromkeys(points + marked):
            yield {"mechanism": label, "epsilon": epsilon}

    def measure(self, case: Case, context: Context) -> Found:
        label, epsilon = case["mechanism"], case["epsilon"]
        if label in {subject.label for subject in context.suite.subjects}:
            mechanism = context.mechanism(label, epsilon)
        else:
            mechanism = get_mechanism(label, context.table, epsilon=epsilon)
        rng = context.rng(self.name, case)
        values: dict[str, Any] = {}
        breaches: list[str] = []
        for kind, attack in (("number", numbers), ("phrase", phrases)):
            scores, whole = attack(Perturber(mechanism), rng)
            found = ranks(scores, rng)
            values[kind] = mean(exposures(found, scores.shape[1]), rng)
            values[f"{kind}_whole"] = success(int(whole.sum()), len(whole))
            for top in TOP:
                blind = top / scores.shape[1]
                bound = limit(mechanism.guarantee, blind, WORDS)
                if kind == "number" and not isinstance(mechanism, Selective):
                    bound = blind  # the digits that leave are drawn without looking
                breaches += breach(
                    f"{kind} among the first {top}", int((found <= top).sum()), len(found), bound
                )
        return Found(values, tuple(breaches))


def exposures(ranks: NDArray[np.integer], candidates: int) -> NDArray[np.float64]:
    """log2|R| − log2(rank), in bits, for ranks from 1 to |R|: int (n,)."""
    return np.asarray(np.log2(candidates) - np.log2(ranks))


def ranks(scores: NDArray[np.floating], rng: np.random.Generator) -> NDArray[np.int64]:
    """The rank, from 1, of each row's first candidate by its score, float (n, |R|) → int (n,);
    equal scores are in random order."""
    own, others = scores[:, :1], scores[:, 1:]
    better, equal = (others > own).sum(axis=1), (others == own).sum(axis=1)
    return np.asarray(1 + better + rng.integers(0, equal + 1))


def numbers(
    perturber: Perturber, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """How many digits of each candidate stand in their place in what left for the first of
    them, float64 (canaries, |R|), and whether that one left whole."""
    low, high = 10 ** (DIGITS - 1), 10**DIGITS
    candidates = rng.integers(low, high, (CANARIES, CANDIDATES))
    texts = [NUMBER.format(number) for number in candidates[:, 0]]
    seen = np.array([_digits(perturber.perturb(text, rng).text) for text in texts])
    scores = np.zeros(candidates.shape)
    rest, left = candidates.copy(), seen.copy()
    for _ in range(DIGITS):
        scores += rest % 10 == (left % 10)[:, None]
        rest, left = rest // 10, left // 10
    return scores, seen == candidates[:, 0]


def _digits(text: str) -> int:
    """The digits of a text as one number."""
    return int("".join(re.findall(r"[0-9]", text)) or 0)


def phrases(
    perturber: Perturber, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """ln P(what left for the first candidate | candidate), float64 (canaries, |R|), and whether
    that one left whole. A word that is left out of what is perturbed is known for certain."""
    mechanism = perturber.mechanism
    table = mechanism.table
    words, known = table.vocabulary.words, secret_words(table)
    place = {word: i for i, word in enumerate(words)}
    candidates = known[rng.integers(0, len(known), (CANARIES, CANDIDATES, WORDS))]
    scores = np.zeros(candidates.shape[:2])
    whole = np.zeros(CANARIES, dtype=np.bool_)
    for i, secret in enumerate(candidates[:, 0]):
        raw = [words[w] for w in secret]
        text = PHRASE.format(" ".join(raw))
        released = perturber.perturb(text, rng)
        left = re.findall(r"[A-Za-z]+", released.text)[-WORDS:]
        whole[i] = left == raw
        start = len(PHRASE.partition("{}")[0])
        for j, (word, seen) in enumerate(zip(raw, left, strict=True)):
            mine = candidates[i, :, j]
            if _unmarked(released, start):
                scores[i] += np.where(mine == place[seen], 0.0, -np.inf)
            elif seen in place:  # else its case was changed with the word's own: says nothing
                scores[i] += log_likelihood(mechanism, np.array([place[seen]]))[0, mine]
            start += len(word) + 1
    return scores, whole


def _unmarked(released: Perturbation, start: int) -> bool:
    """Whether the word that begins at this character of the raw text left as it is."""
    parts = released.replaced
    return parts is not None and not any(part.start <= start < part.end for part in parts)


@lru_cache(maxsize=1)
def secret_words(table: EmbeddingTable) -> NDArray[np.int64]:
    """Words of V that a phrase is made of: in small letters, three or more, and one token after
    a blank."""
    vocabulary = table.vocabulary
    found = []
    for place, word in enumerate(vocabulary.words):
        if word.islower() and len(word) > 2:
            tokens = vocabulary.encode(f" {word}")
            if len(tokens) == 1 and vocabulary.classes[tokens[0]] == TokenClass.WORD:
                found.append(place)
    return np.array(found)
