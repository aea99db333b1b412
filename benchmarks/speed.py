"""Measure the speed of perturbation.

    python -m benchmarks.speed            a table on standard output
    python -m benchmarks.speed --json     the same as JSON

Times depend on the machine. Compare the ratios, which are taken within one run.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from benchmarks.samplers import ARTICLE_WORDS, measure_samplers, time_job, write_article
from perturb import (
    EmbeddingTable,
    Perturber,
    Resources,
    load_table,
    sanitizer_class,
    seeded_generator,
)
from perturb.mechanisms.rantext import RanText, RanTextParameters
from perturb.whole.choice import PrivateChoice, find_nearest
from perturb.whole.codebook import load_codebook
from perturb.whole.encoder import load_static
from perturb.whole.surrogate import SurrogateParameters

__all__ = ["main", "measure", "measure_choice", "perturb_one_by_one"]

MANY_PASSAGES = 1_000_000
BASELINE_TOKENS = 40  # the baseline is slow: it is timed on a sample and scaled


def perturb_one_by_one(
    table: EmbeddingTable, mechanism: RanText, words: NDArray[np.int32], rng: np.random.Generator
) -> list[int]:
    """Run RANTEXT as the paper states it, in plain NumPy: for each token draw the noise, measure
    the distance to every word, list the nearer ones, weigh them and choose."""
    vectors = table.vectors.astype(np.float64)
    spans = vectors.max(axis=0) - vectors.min(axis=0)
    out = []
    for word in words:
        radius = np.linalg.norm(rng.laplace(0.0, spans / mechanism.z))
        distances = np.linalg.norm(vectors - vectors[word], axis=1)
        listed = np.flatnonzero(distances < radius)
        utility = (radius - distances[listed]) / radius
        weights = np.exp(mechanism.epsilon / 2 * utility)
        out.append(int(rng.choice(listed, p=weights / weights.sum())))
    return out


def measure_choice(text: str) -> dict[str, Any]:
    """Measure `surrogate`: a whole release with its check over the bundled codebook, and the
    choice alone among a million random vectors."""
    table, book = load_table(), load_codebook()
    surrogate = sanitizer_class("surrogate").build(SurrogateParameters(), Resources(table=table))

    def release() -> None:
        surrogate.verify(text, surrogate.perturb(text))

    rng = np.random.default_rng(1)
    rows = rng.integers(-127, 128, (MANY_PASSAGES, book.vectors.shape[1]), dtype=np.int8)
    many = replace(book, vectors=rows, scales=np.full(MANY_PASSAGES, 1e-3, dtype=np.float32))
    (vector,) = load_static()([text])
    law = PrivateChoice(MANY_PASSAGES, 3, Fraction(12))
    choice = time_job(lambda: law.draw(find_nearest(many.similarities(vector), law.near), rng), 5)
    return {
        "ms": round(time_job(release) * 1000, 1),
        "passages": len(book),
        "ms_choice_of_a_million": round(choice * 1000, 1),
    }


def measure() -> dict[str, Any]:
    """Measure all figures, in milliseconds and ratios."""
    table = load_table()
    text = write_article(ARTICLE_WORDS)
    samplers = measure_samplers(1)
    out: dict[str, Any] = {
        "article_words": ARTICLE_WORDS,
        "tiktoken": {"ms": samplers.rows[0].tiktoken_ms, "tokens": samplers.tokens},
    }
    for row in samplers.rows:
        out[row.name] = {
            "ms_perturb": round(row.perturb_ms, 2),
            "ms_with_check": round(row.checked_ms, 2),
            "times_tiktoken": round(row.times, 1),
            "times_for_long": round(row.growth, 2),
        }
    bar = tqdm(total=3, desc="speed", disable=not sys.stderr.isatty())
    out["surrogate"] = measure_choice(text)
    bar.update()
    mechanism = RanText(table, RanTextParameters(epsilon=6))
    perturber = Perturber(mechanism)
    _, words = perturber.places(table.vocabulary.encode(text))
    rng = np.random.default_rng(1)
    sample = words[:: max(1, len(words) // BASELINE_TOKENS)]
    baseline = time_job(lambda: perturb_one_by_one(table, mechanism, sample, rng), 3)
    bar.update()
    fast = time_job(lambda: mechanism.draw(words, seeded_generator(1)))
    bar.update()
    bar.close()
    per_token = baseline / len(sample) * len(words)
    out["one_token_at_a_time"] = {
        "ms_scaled_to_the_article": round(per_token * 1000),
        "tokens_timed": len(sample),
        "times_slower_than_rantext": round(per_token / fast, 1),
    }
    return out


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description="Perturbation speed, with its baseline.")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    found = measure()
    if args.json:
        print(json.dumps(found, indent=2))
        return
    print(f"an article of {found.pop('article_words')} words, everything warm:")
    for name, figures in found.items():
        print(f"  {name}")
        for key, value in figures.items():
            print(f"    {key.replace('_', ' '):28} {value:>10,}")


if __name__ == "__main__":
    main()
