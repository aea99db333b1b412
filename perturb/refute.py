"""A black-box lower bound on ε: is a sanitizer as private as it says?

Any program that reads a text a line and writes the sanitized text a line can be looked at. Half
of the samples choose two inputs and an event that tell them apart; fresh samples bound the
ratio of the event's probabilities. A large bound refutes a claim; a small one proves nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.errors import ParameterError, SanitizerError
from perturb.intervals import clopper_pearson, require_scipy
from perturb.vocabulary import Vocabulary

__all__ = ["Refutation", "candidate_words", "refute"]

Sanitize = Callable[[Sequence[str]], Sequence[str]]
FINALISTS = 3  # pairs whose bound is taken on fresh samples; the error is split among them
SAMPLES = 100_000
CANDIDATES = 24


@dataclass(frozen=True)
class Refutation:
    """What was found.

    Attributes:
        epsilon_lower: with this `confidence` the sanitizer is not ε-LDP for any smaller ε.
        first, second: the two inputs; the event is more likely after the first.
        event_size: how many different outputs the event holds.
        first_hits, second_hits: how often it happened, of `trials` fresh samples each.
        confidence: probability that the bound is right, whatever the sanitizer, as long as it
            draws afresh for every line.
        samples: sanitized lines used in all.
    """

    epsilon_lower: float
    first: str
    second: str
    event_size: int
    first_hits: int
    second_hits: int
    trials: int
    confidence: float
    samples: int

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)

    @property
    def statement(self) -> str:
        """One sentence that says what the bound means."""
        return (
            f"with {self.confidence:.1%} confidence, if it draws every line afresh, the sanitizer "
            f"is not ε-LDP for any ε < {self.epsilon_lower:.2f}: after {self.first!r} one of "
            f"{self.event_size} outputs came {self.first_hits} times in {self.trials}, after "
            f"{self.second!r} {self.second_hits} times"
        )


def candidate_words(
    vocabulary: Vocabulary, rng: np.random.Generator, size: int = CANDIDATES
) -> list[str]:
    """Inputs that a sanitizer must not tell apart: single cl100k tokens of letters, half of
    them in V and half outside it. Their number of tokens, which is public, is the same."""
    chosen: list[str] = []
    for words, wanted in ((vocabulary.words, size - size // 2), (vocabulary.others, size // 2)):
        kept = len(chosen)
        for place in rng.permutation(len(words)).tolist():
            if len(chosen) - kept == wanted:
                break
            word = words[place]
            if word.isascii() and len(word) > 1 and len(vocabulary.encode(word)) == 1:
                chosen.append(word)
    return chosen


def refute(
    sanitize: Sanitize,
    candidates: Sequence[str],
    *,
    samples: int = SAMPLES,
    confidence: float = 0.999,
    progress: Callable[[int], None] = lambda lines: None,
) -> Refutation:
    """Look for the largest ε that the samples refute.

    Args:
        sanitize: raw lines in, as many sanitized lines out, fresh noise for each.
        candidates: the inputs, at least two different ones, of one public structure.
        samples: lines to sanitize in all; one half explores, the other half measures. The
            bound cannot exceed ln of about samples/100.
        confidence: of the bound, in (0, 1).
        progress: called with the number of lines just sanitized.

    Raises:
        ParameterError: too few candidates or samples, or a confidence outside (0, 1).
        SanitizerError: the sanitizer did not return one line for each.
        MissingPackage: SciPy is not installed.
    """
    require_scipy()  # before the work, not after it
    candidates = list(dict.fromkeys(candidates))
    if len(candidates) < 2:
        raise ParameterError("candidates must hold at least two different words")
    if samples < 50 * len(candidates):
        raise ParameterError(
            f"samples must be >= {50 * len(candidates)} for {len(candidates)} candidates, "
            f"got {samples}"
        )
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence must be > 0 and < 1, got {confidence:g}")

    def sample(words: Sequence[str], count: int) -> list[Counter[str]]:
        lines = [word for word in words for _ in range(count)]
        out = list(sanitize(lines))
        if len(out) != len(lines):
            raise SanitizerError(
                f"the sanitizer must write a line for each it reads: {len(lines)} in, "
                f"{len(out)} out"
            )
        progress(len(lines))
        return [Counter(out[i * count : (i + 1) * count]) for i in range(len(words))]

    explored = samples // 4 // len(candidates)
    seen, again = sample(candidates, explored), sample(candidates, explored)
    ranked = sorted(
        (
            (*_best_event((seen[i], again[i]), (seen[j], again[j]), explored), i, j)
            for i, j in permutations(range(len(candidates)), 2)
        ),
        key=lambda found: -found[0],
    )
    finalists = ranked[:FINALISTS]
    trials = samples // 2 // (2 * len(finalists))
    # One end of each of two intervals is used for every finalist: each may fail with
    # probability alpha/2, and they are 2·finalists.
    alpha = (1 - confidence) / len(finalists)
    results = []
    for _, event, i, j in finalists:
        first, second = sample([candidates[i], candidates[j]], trials)
        hits = [sum(counts[output] for output in event) for counts in (first, second)]
        low, _ = clopper_pearson(hits[0], trials, alpha)
        _, high = clopper_pearson(hits[1], trials, alpha)
        bound = max(0.0, math.log(low / high)) if low > 0 else 0.0
        results.append((bound, i, j, len(event), hits))
    bound, i, j, size, hits = max(results, key=lambda result: result[0])
    return Refutation(
        epsilon_lower=bound,
        first=candidates[i],
        second=candidates[j],
        event_size=size,
        first_hits=hits[0],
        second_hits=hits[1],
        trials=trials,
        confidence=confidence,
        samples=2 * len(candidates) * explored + 2 * len(finalists) * trials,
    )


def _best_event(
    first: tuple[Counter[str], Counter[str]], second: tuple[Counter[str], Counter[str]], count: int
) -> tuple[float, list[str]]:
    """The score of the best event for two inputs, and the event.

    One half of the exploration orders the outputs by likelihood ratio, the other half tells how
    many of them to take: the score is a rough lower bound of the log ratio, and does not
    reward outputs that were seen once.
    """
    seen, against = first[0], second[0]
    outputs = sorted(seen, key=lambda o: (-(seen[o] + 0.5) / (against[o] + 0.5), o))
    inside = np.cumsum([first[1][o] for o in outputs]) / count
    outside = np.cumsum([second[1][o] for o in outputs]) / count
    score = np.log(np.maximum(inside - _margin(inside, count), 1e-12)) - np.log(
        outside + _margin(outside, count)
    )
    best = int(score.argmax())
    return float(score[best]), outputs[: best + 1]


def _margin(share: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """About three standard deviations of a share, and what a zero count leaves open."""
    return np.asarray(3 * np.sqrt(share * (1 - share) / count) + 4 / count)
