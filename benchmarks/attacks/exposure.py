"""Measure canary exposure: the rank of a planted secret among all candidates.

Exposure is log2|R| − log2(rank) for a secret drawn from R (Maratkhan 2023, §5.2; Carlini et al.
2019): 0 to log2|R| bits; a uniform rank gives log2(e) = 1.44 bits on average.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.attacks.bounds import limit, report_breach
from benchmarks.attacks.likelihood import log_likelihood
from benchmarks.harness.context import Context
from benchmarks.harness.experiment import Experiment, Outcome, mean, success
from benchmarks.harness.markdown import (
    format_figure,
    format_percent,
    format_point,
    format_table,
)
from benchmarks.harness.records import Case, Record
from perturb import (
    EmbeddingTable,
    Perturbation,
    Perturber,
    TokenClass,
    get_mechanism,
)

__all__ = [
    "Exposure",
    "compute_exposures",
    "find_secret_words",
    "rank_secrets",
    "score_numbers",
    "score_phrases",
]

MARKED = "selective"  # attacked in every suite, at its defaults
CANDIDATES = 1 << 14  # |R|: at most 14 bits
CANARIES = 128  # of each kind
KINDS = ("number", "phrase")
DIGITS = 9
WORDS = 3
NUMBER = "The number of the account that we opened there last year is {}."
PHRASE = "The words that open the door of the office are {}."
TOP = (1, CANDIDATES // 16)  # ranks held against the bound


class Exposure(Experiment):
    """Plant numbers of nine digits and phrases of three words, each secret in a sentence of its
    own.

    A number is attacked by its digits in place; if they are redrawn, no score beats chance. A
    phrase is attacked by the channel's likelihood.

    Values:
        number, phrase: mean exposure in bits.
        number_whole, phrase_whole: share of the secrets that were released unchanged.
    """

    name = "exposure"
    about = "bits by which a planted number or phrase ranks above chance"

    def cases(self, context: Context) -> Iterable[Case]:
        points = [(subject.label, epsilon) for subject, epsilon in context.suite.points()]
        marked = [(MARKED, epsilon) for epsilon in context.suite.epsilons]
        for label, epsilon in dict.fromkeys(points + marked):
            yield {"mechanism": label, "epsilon": epsilon}

    def measure(self, case: Case, context: Context) -> Outcome:
        label, epsilon = case["mechanism"], case["epsilon"]
        if label in {subject.label for subject in context.suite.subjects}:
            mechanism = context.mechanism(label, epsilon)
        else:
            mechanism = get_mechanism(label, context.table, epsilon=epsilon)
        rng = context.rng(self.name, case)
        values: dict[str, Any] = {}
        breaches: list[str] = []
        for kind, attack in zip(KINDS, (score_numbers, score_phrases), strict=True):
            scores, whole = attack(Perturber(mechanism), rng)
            found = rank_secrets(scores, rng)
            values[kind] = mean(compute_exposures(found, scores.shape[1]), rng)
            values[f"{kind}_whole"] = success(int(whole.sum()), len(whole))
            for top in TOP:
                blind = top / scores.shape[1]
                bound = limit(mechanism.guarantee, blind, WORDS)
                if kind == "number" and not mechanism.marks:
                    bound = blind  # released digits are drawn independently of the raw ones
                breaches += report_breach(
                    f"{kind} among the first {top}", int((found <= top).sum()), len(found), bound
                )
        return Outcome(values, tuple(breaches))

    def render(self, records: Sequence[Record], figure: str | None = None) -> Iterable[str]:
        rows = [
            [
                *format_point(r.case),
                *(format_figure(r.values[kind], 2) for kind in KINDS),
                *(format_percent(r.values[f"{kind}_whole"]) for kind in KINDS),
            ]
            for r in records
        ]
        if rows:
            head = ["mechanism", "ε", *(f"{kind}, bits" for kind in KINDS)]
            head += [f"{kind} whole" for kind in KINDS]
            yield (
                "### Planted secrets\n\n"
                "A number of nine digits or a phrase of three words, ranked among candidates by "
                "its release: exposure log₂|R| − log₂ rank. Chance alone gives about 1.44 bits. "
                "*Whole*: per cent released unchanged.\n\n" + format_table(head, rows)
            )


def compute_exposures(ranks: NDArray[np.integer], candidates: int) -> NDArray[np.float64]:
    """Return log2|R| − log2(rank), in bits, for ranks from 1 to |R|: int (n,)."""
    return np.asarray(np.log2(candidates) - np.log2(ranks))


def rank_secrets(scores: NDArray[np.floating], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the rank, from 1, of each row's first candidate by its score, float (n, |R|) → int
    (n,). Equal scores are ordered at random."""
    own, others = scores[:, :1], scores[:, 1:]
    better, equal = (others > own).sum(axis=1), (others == own).sum(axis=1)
    return np.asarray(1 + better + rng.integers(0, equal + 1))


def score_numbers(
    perturber: Perturber, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Count the digits of each candidate that stand in their place in the release of the first
    one, float64 (canaries, |R|). Also returns whether that one was released unchanged."""
    low, high = 10 ** (DIGITS - 1), 10**DIGITS
    candidates = rng.integers(low, high, (CANARIES, CANDIDATES))
    texts = [NUMBER.format(number) for number in candidates[:, 0]]
    seen = np.array([_read_digits(perturber.perturb(text, rng).text) for text in texts])
    scores = np.zeros(candidates.shape)
    rest, left = candidates.copy(), seen.copy()
    for _ in range(DIGITS):
        scores += rest % 10 == (left % 10)[:, None]
        rest, left = rest // 10, left // 10
    return scores, seen == candidates[:, 0]


def _read_digits(text: str) -> int:
    """Return the digits of a text as one number."""
    return int("".join(re.findall(r"[0-9]", text)) or 0)


def score_phrases(
    perturber: Perturber, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return ln P(release of the first candidate | candidate), float64 (canaries, |R|), and
    whether that one was released unchanged. A word that is not perturbed is known for certain."""
    mechanism = perturber.mechanism
    table = mechanism.table
    words, known = table.vocabulary.words, find_secret_words(table)
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
            if _is_unmarked(released, start):
                scores[i] += np.where(mine == place[seen], 0.0, -np.inf)
            elif seen in place:  # otherwise its case changed with the raw word's: no information
                scores[i] += log_likelihood(mechanism, np.array([place[seen]]))[0, mine]
            start += len(word) + 1
    return scores, whole


def _is_unmarked(released: Perturbation, start: int) -> bool:
    """Return whether the word that begins at this character of the raw text was released as it
    is."""
    parts = released.replaced
    return parts is not None and not any(part.start <= start < part.end for part in parts)


@lru_cache(maxsize=1)
def find_secret_words(table: EmbeddingTable) -> NDArray[np.int64]:
    """Return the words of V that phrases are made of: lower case, three letters or more, and one
    token after a blank."""
    vocabulary = table.vocabulary
    found = []
    for place, word in enumerate(vocabulary.words):
        if word.islower() and len(word) > 2:
            tokens = vocabulary.encode(f" {word}")
            if len(tokens) == 1 and vocabulary.classes[tokens[0]] == TokenClass.WORD:
                found.append(place)
    return np.array(found)
