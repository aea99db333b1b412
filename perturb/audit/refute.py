"""A black-box lower bound on the ε of a sanitizer.

Any program can be tested that reads one text a line and writes one sanitized text a line. Half of
the samples choose two inputs and an event that distinguishes them. Fresh samples bound the ratio
of the event's probabilities. A large bound refutes a claim; a small one proves nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from perturb.audit.intervals import clopper_pearson, require_scipy
from perturb.errors import ParameterError, SanitizerError
from perturb.release import format_lower
from perturb.vocabulary.vocabulary import Vocabulary

__all__ = ["Refutation", "candidate_words", "refute"]

Sanitize = Callable[[Sequence[str]], Sequence[str]]
Samples = Sequence[Counter[str]]  # the outputs for each input
FINALISTS = 2  # events that are bounded on fresh samples; the error is split among them
SAMPLES = 100_000
CANDIDATES = 24
SIZES = 30  # of the events that are tried for two inputs
ONE_ERROR = 0.16  # probability that a normal variable is one standard error or more below


@dataclass(frozen=True)
class Refutation:
    """Record the claims that the samples refute.

    Attributes:
        epsilon_lower: with this `confidence` the sanitizer is not ε-LDP for any smaller ε.
        first, second: the two inputs; the event is more likely after the first.
        event_size: the number of different outputs in the event, among those seen.
        first_hits, second_hits: how often the event occurred, of `trials` fresh samples each.
        confidence: the probability that the bound holds, for any sanitizer that draws fresh noise
            for every line.
        samples: the number of sanitized lines.
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
        """Return the refutation ready for JSON."""
        return asdict(self)

    @property
    def statement(self) -> str:
        """Return the meaning of the bound in one sentence."""
        return (
            f"with {self.confidence:.1%} confidence, if it draws every line afresh, the sanitizer "
            f"is not ε-LDP for any ε < {format_lower(self.epsilon_lower, 3)}: after "
            f"{self.first!r} one of "
            f"{self.event_size} outputs came {self.first_hits} times in {self.trials}, after "
            f"{self.second!r} {self.second_hits} times"
        )


def candidate_words(
    vocabulary: Vocabulary, rng: np.random.Generator, size: int = CANDIDATES
) -> list[str]:
    """Return inputs that a sanitizer must make hard to tell apart: single cl100k tokens of
    letters, half of them in V and half outside it. The number of tokens, which is public, is one
    for each."""
    chosen: list[str] = []
    for words, quota in ((vocabulary.words, size - size // 2), (vocabulary.others, size // 2)):
        before = len(chosen)
        for place in rng.permutation(len(words)).tolist():
            if len(chosen) - before == quota:
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
    """Search for the largest ε that the samples refute.

    Args:
        sanitize: takes raw lines and returns as many sanitized lines, with fresh noise for each.
        candidates: the inputs, at least two different ones, of one public structure.
        samples: the number of lines to sanitize; one half explores, the other half measures. The
            bound cannot exceed ln of about samples/100.
        confidence: of the bound, in (0, 1).
        progress: called with the number of lines just sanitized.

    Raises:
        ParameterError: too few candidates or samples, or a confidence outside (0, 1).
        SanitizerError: the sanitizer did not return one line for each line read.
        MissingPackage: SciPy is not installed.
    """
    require_scipy()  # fail before the work, not after it
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
                f"the sanitizer must write one line for each line it reads: {len(lines)} in, "
                f"{len(out)} out"
            )
        progress(len(lines))
        return [Counter(out[i * count : (i + 1) * count]) for i in range(len(words))]

    explored = samples // 4 // len(candidates)
    finalists = min(FINALISTS, len(candidates))
    trials = samples // 2 // (2 * finalists)
    # One end of each of two intervals is used for every finalist. Each end may fail with
    # probability alpha/2, and there are 2·finalists of them.
    alpha = (1 - confidence) / finalists
    seen, again = sample(candidates, explored), sample(candidates, explored)
    found = [
        _find_event(word, i, seen, again, explored, trials, alpha)
        for i, word in enumerate(candidates)
    ]
    results = []
    for i in sorted(range(len(found)), key=lambda i: -found[i][0])[:finalists]:
        _, event, j = found[i]
        counted = sample([candidates[i], candidates[j]], trials)
        hits = [event.hits(counts) for counts in counted]
        low, _ = clopper_pearson(hits[0], trials, alpha)
        _, high = clopper_pearson(hits[1], trials, alpha)
        bound = max(0.0, math.log(low / high)) if low > 0 else 0.0
        results.append((bound, i, j, event.size(counted), hits))
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
        samples=2 * len(candidates) * explored + 2 * finalists * trials,
    )


@dataclass(frozen=True)
class _Event:
    """A set of outputs: those named or, if `part` is given, all that contain it."""

    outputs: tuple[str, ...] = ()
    part: str = ""

    def hits(self, counts: Counter[str]) -> int:
        if self.part:
            return sum(n for output, n in counts.items() if self.part in output.casefold())
        return sum(counts[output] for output in self.outputs)

    def size(self, samples: Samples) -> int:
        if self.part:
            return len({o for counts in samples for o in counts if self.part in o.casefold()})
        return len(self.outputs)


def _find_event(
    word: str, first: int, seen: Samples, again: Samples, count: int, trials: int, alpha: float
) -> tuple[float, _Event, int]:
    """Find the event that best distinguishes an input, `word`, from another one. Return the bound
    that fresh trials can be expected to prove, the event, and the place of the other input.

    Two events need no samples: the output is the input, or contains it. For the other events, one
    half of the exploration orders the outputs by likelihood ratio. The other half counts how often
    the first few of them occur, so that an output seen once is not rewarded. The share of an event
    that was chosen among many is taken one standard error below its count.

    Args:
        first: the place of the input among the samples.
        seen, again: the two halves of the exploration, `count` samples of each input.
    """
    beta = require_scipy().beta
    others = [j for j in range(len(seen)) if j != first]
    events: list[tuple[_Event, int]] = []
    inside: list[float] = []
    outside: list[float] = []
    for event in (_Event((word,)), _Event(part=word.casefold())):
        hits = [event.hits(a) + event.hits(b) for a, b in zip(seen, again, strict=True)]
        pooled = sum(hits[j] for j in others) / len(others)
        events += ((event, j) for j in others)
        inside += [hits[first] / (2 * count)] * len(others)
        outside += (_shrink(hits[j], pooled, 2 * count) for j in others)
    elsewhere = sum((again[j] for j in others), Counter[str]())
    for j in others:
        mine, theirs = seen[first], seen[j]
        outputs = sorted(mine, key=lambda o: (-(mine[o] + 0.5) / (theirs[o] + 0.5), o))
        sizes = np.unique(np.geomspace(1, len(outputs), SIZES).astype(int))
        own, other, pool = (
            np.cumsum([counts[o] for o in outputs])[sizes - 1]
            for counts in (again[first], again[j], elsewhere)
        )
        events += ((_Event(tuple(outputs[:size])), j) for size in sizes)
        inside += np.nan_to_num(beta.ppf(ONE_ERROR, own, count - own + 1)).tolist()
        outside += _shrink(other, pool / len(others), count).tolist()
    hits_first, hits_second = np.array(inside) * trials, np.array(outside) * trials
    low = np.nan_to_num(beta.ppf(alpha / 2, hits_first, trials - hits_first + 1))
    high = beta.ppf(1 - alpha / 2, hits_second + 1, trials - hits_second)
    scores = np.log(np.maximum(low, 1e-300) / high)
    place = int(scores.argmax())
    return float(scores[place]), *events[place]


def _shrink(hits: Any, pooled: Any, count: int) -> Any:
    """Estimate the share of an event after one input, with half the weight on the other inputs,
    because few sanitizers single out one input. Half a sample stands for an event never seen."""
    return (hits + pooled + 0.5) / (2 * count + 1)
