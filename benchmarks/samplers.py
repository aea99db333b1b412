"""The time of each sanitizer on an article, as a multiple of the time that tiktoken takes.

Everything is warm. A release is made and checked as in a request, which encodes its text once.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from benchmarks.json_record import JsonRecord, read_json
from benchmarks.machine import describe_host
from perturb import get_mechanism, load_table, seeded_generator
from perturb.sanitizer import Sanitizer
from perturb.work import remember_texts

__all__ = [
    "ARTICLE_WORDS",
    "GOALS",
    "REPEATS",
    "SamplerRow",
    "Samplers",
    "measure_samplers",
    "read_samplers",
    "time_job",
    "write_article",
]

ARTICLE_WORDS = 2000
REPEATS = 15
LONG = 80  # articles in a long document: 200,000 tokens
GOALS: dict[str, float | None] = {  # times tiktoken's time, at most; None: no goal was set
    "rantext_ldp": 4,
    "rantext": 12,
    "santext": 10,
    "santext_plus": None,
    "exponential": 10,
    "tem": 10,
    "custext": 10,
    "selective": 40,
}


@dataclass(frozen=True)
class SamplerRow:
    """Hold what one round measured of one sanitizer.

    Attributes:
        name: of the mechanism, at ε = 6.
        round: counted from 0.
        tiktoken_ms: the time in which tiktoken encodes the article.
        perturb_ms: the time of a release.
        checked_ms: the time of a release and its check.
        growth: the time for LONG articles in one document, over LONG times that for one: 1 where
            it grows linearly.
    """

    name: str
    round: int
    tiktoken_ms: float
    perturb_ms: float
    checked_ms: float
    growth: float

    @property
    def times(self) -> float:
        """Return the time of a release and its check as a multiple of tiktoken's."""
        return self.checked_ms / self.tiktoken_ms


@dataclass
class Samplers(JsonRecord):
    """Hold what one run measured, and where. `tokens` are the article's."""

    machine: dict[str, str | int]
    tokens: int
    rows: list[SamplerRow] = field(default_factory=list)

    def of(self, name: str) -> list[SamplerRow]:
        """Return the rows of one sanitizer, one for each round."""
        return [row for row in self.rows if row.name == name]


def read_samplers(path: Path) -> Samplers | None:
    """Read what `write` has written; None if there is no file.

    Raises:
        ValueError: it is no record of this version.
    """

    def build(found: Any) -> Samplers:
        rows = [SamplerRow(**row) for row in found["rows"]]
        return Samplers(found["machine"], found["tokens"], rows)

    return read_json(path, build, "samplers")


def measure_samplers(
    rounds: int,
    report: Callable[[SamplerRow], None] = lambda row: None,
    *,
    words: int = ARTICLE_WORDS,
    long: int = LONG,
) -> Samplers:
    """Measure every sanitizer once a round. Times are the lower quartiles of REPEATS runs."""
    table, text = load_table(), write_article(words)
    encoding = table.vocabulary.encoding
    encode = partial(encoding.encode_to_numpy, text, allowed_special=set(), disallowed_special=())
    record = Samplers(describe_host(), len(encode()))
    bar = tqdm(total=rounds * len(GOALS), desc="samplers", disable=not sys.stderr.isatty())
    with bar:
        for round_ in range(rounds):
            unit = _time_quickest(encode)
            for name in GOALS:
                sanitizer = get_mechanism(name, table, epsilon=6)
                drawn = _time_quickest(partial(sanitizer.perturb, text))
                whole = _time_quickest(partial(_release, sanitizer, text))
                document = " ".join([text] * long)
                whole_long = _time_quickest(partial(_release, sanitizer, document), 3)
                row = SamplerRow(
                    name=name,
                    round=round_,
                    tiktoken_ms=round(1000 * unit, 3),
                    perturb_ms=round(1000 * drawn, 3),
                    checked_ms=round(1000 * whole, 3),
                    growth=round(whole_long / long / whole, 3),
                )
                record.rows.append(row)
                report(row)
                bar.update()
    return record


def write_article(words: int) -> str:
    """Write a text of `words` random words with the word frequencies of English."""
    table = load_table()
    rng = seeded_generator(7)
    vocabulary = [w for w in table.vocabulary.words if w.islower() and len(w) > 2]
    ranks = np.arange(1, len(vocabulary) + 1)
    share = 1 / ranks
    drawn = rng.choice(len(vocabulary), size=words, p=share / share.sum())
    sentences = [
        " ".join(vocabulary[i] for i in drawn[start : start + 15]) + "."
        for start in range(0, words, 15)
    ]
    return " ".join(sentences)


def time_job(job: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Return the median time of a job in seconds, after one warm-up run."""
    return statistics.median(_time_runs(job, repeats))


def _time_quickest(job: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Return the lower quartile of the times of a job: other processes disturb it less than the
    median."""
    return sorted(_time_runs(job, repeats))[repeats // 4]


def _time_runs(job: Callable[[], Any], repeats: int) -> list[float]:
    job()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return times


def _release(sanitizer: Sanitizer, document: str) -> None:
    """Perturb and check as a request does."""
    with remember_texts():
        sanitizer.verify(document, sanitizer.perturb(document))
