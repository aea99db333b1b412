"""Measure the bundled model, and write its card.

    python -m benchmarks.bundled_model.__main__ --data ../shared/data/open_ended \\
        --corpus ../shared/data/corpus/train.jsonl.xz --first first.gguf

The measurements are kept in `measurements.json` beside the model. The card's text is written by
hand; its figures and outputs are inserted between two marks. `--first` is the file of an earlier
version, for comparison: `git show COMMIT:extraction/bundled/model.gguf > first.gguf`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.bundled_model.card import splice
from benchmarks.bundled_model.extraction import ANSWER_TOKENS, Engine, damage, run_demo
from benchmarks.harness.datasets import OPEN_ENDED, Sample, digest, read_open_ended
from benchmarks.metrics.encoders import Encoder, memoize
from benchmarks.metrics.perplexity import Scorer, ngram_bits_per_byte
from benchmarks.metrics.utility import (
    bleu,
    cosines,
    distinct,
    diversity,
    load_minilm,
    rouge_l,
    unit_rows,
)
from perturb import load_table
from perturb.audit.intervals import bootstrap_mean

__all__ = ["main", "measure", "measure_room", "score"]

BUNDLED = Path("extraction/bundled")
DEMO_TEXTS = Path(__file__).parents[1] / "demo_texts.jsonl"
DEMO_EPSILON = 6.0
MECHANISMS = ("rantext", "rantext_ldp")
EPSILONS = (3.0, 6.0, 10.0)
SEED = 20261121
ROOM_WEIGHTS = np.linspace(0, 1, 41)

Score = dict[str, NDArray[np.float64]]  # one value a text


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, measure, and write the card."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="the folder of the three sets")
    parser.add_argument("--corpus", type=Path, required=True, help="for the n-gram baseline")
    parser.add_argument("--model", type=Path, default=BUNDLED / "model.gguf")
    parser.add_argument("--first", type=Path, help="a GGUF file to compare with")
    parser.add_argument("--texts", type=int, default=400, help="of each set (default 400)")
    parser.add_argument("--out", type=Path, default=BUNDLED, help="the card's folder")
    options = parser.parse_args(arguments)
    data = {
        name: samples[: options.texts] for name, samples in read_open_ended(options.data).items()
    }
    measured = {
        "seed": SEED,
        "model_sha256": hashlib.sha256(options.model.read_bytes()).hexdigest(),
        "data_sha256": digest(options.data / f"{name}.jsonl" for name in OPEN_ENDED),
        "texts": {name: len(samples) for name, samples in data.items()},
        "machine": {"processors": os.cpu_count(), "python": platform.python_version()},
        **measure(options.model, options.first, options.corpus, data),
    }
    (options.out / "measurements.json").write_text(json.dumps(measured, indent=2) + "\n")
    training = json.loads((options.out / "training.json").read_text())
    card = options.out / "MODEL_CARD.md"
    card.write_text(splice(card.read_text(), training, measured))


def measure(
    model: Path, first: Path | None, corpus: Path, data: dict[str, list[Sample]]
) -> dict[str, Any]:
    """Measure every figure of the card; JSON-ready."""
    encode, table = memoize(load_minilm()), load_table()
    engine = Engine(model, table)
    samples = [sample for group in data.values() for sample in group]
    sets = np.repeat(list(data), [len(group) for group in data.values()])
    prefixes = [sample.prefix for sample in samples]
    truths = [sample.continuation.strip() for sample in samples]

    whole = [sample.prefix + sample.continuation for sample in samples]
    scorer = Scorer(model)
    bits = {"this model": scorer.bits_per_byte(whole)}
    if first is not None:
        bits["the first version"] = Scorer(first).bits_per_byte(whole)
    bits["4-gram, Kneser–Ney"] = ngram_bits_per_byte(scorer, corpus, whole)

    alone = engine.extract(prefixes, [None] * len(prefixes), tokens=ANSWER_TOKENS)
    lone = score(alone, truths, prefixes, encode)
    rows: list[dict[str, Any]] = [_build_row("alone", None, None, alone, lone, sets)]
    gains: list[dict[str, Any]] = []
    rooms: list[dict[str, Any]] = []
    for mechanism in MECHANISMS:
        for epsilon in EPSILONS:
            given = damage(table, mechanism, epsilon, truths, SEED)
            answers = engine.extract(prefixes, given, tokens=ANSWER_TOKENS)
            copied = score(given, truths, prefixes, encode)
            found = score(answers, truths, prefixes, encode)
            rows.append(_build_row("copied", mechanism, epsilon, given, copied, sets))
            rows.append(_build_row("extracted", mechanism, epsilon, answers, found, sets))
            for name, other in (("alone", lone), ("copied", copied)):
                difference = found["similarity"] - other["similarity"]
                gains.append(
                    {
                        "mechanism": mechanism,
                        "epsilon": epsilon,
                        "over": name,
                        "similarity": _estimate_intervals(difference, sets),
                    }
                )
            for name, texts in (("prefix", prefixes), ("alone", alone)):
                weight, gain = measure_room(encode(texts), encode(given), encode(truths))
                rooms.append(
                    {
                        "mechanism": mechanism,
                        "epsilon": epsilon,
                        "beside": name,
                        "weight": weight,
                        "similarity": _estimate_intervals(gain, sets),
                    }
                )
    rows.append(
        _build_row("truth", None, None, truths, score(truths, truths, prefixes, encode), sets)
    )

    shown = [json.loads(line) for line in DEMO_TEXTS.read_text().splitlines()]
    outputs = run_demo(engine, table, [text["text"] for text in shown], DEMO_EPSILON, SEED)
    return {
        "bits_per_byte": {
            name: _estimate_intervals(values, sets) for name, values in bits.items()
        },
        "continuations": rows,
        "gains": gains,
        "room": rooms,
        "speed": asdict(Engine(model, table, parallel=1).measure_speed(prefixes[0], truths[0])),
        "demo_epsilon": DEMO_EPSILON,
        "demo": [
            {**text, "sent": sent, "generation": generation, "answer": answer}
            for text, (sent, generation, answer) in zip(shown, outputs, strict=True)
        ],
    }


def score(
    texts: Sequence[str], truths: Sequence[str], prefixes: Sequence[str], encode: Encoder
) -> Score:
    """Score each text against its true continuation and its prefix."""
    vectors = encode(texts)
    return {
        "bleu": bleu(texts, truths),
        "rouge_l": rouge_l(texts, truths),
        "similarity": cosines(vectors, encode(truths)),
        "coherence": cosines(vectors, encode(prefixes)),
    }


def measure_room(
    base: NDArray[np.floating], given: NDArray[np.floating], truths: NDArray[np.floating]
) -> tuple[float, NDArray[np.float64]]:
    """Measure the possible gain from damaged texts: the gain in similarity to the truth by the
    best linear mix.

    The weight is chosen on these very texts, so the mean gain is an upper estimate and never below
    zero.

    Args:
        base: vectors of the texts without them, (n, d).
        given: vectors of the damaged texts, (n, d); their mean is subtracted.
        truths: vectors of the true continuations, (n, d).

    Returns:
        The damaged texts' weight beside a base of weight one, 0 to 1, and each text's gain, (n,).
    """
    base, given = unit_rows(base), unit_rows(given)
    given = given - given.mean(axis=0)
    before = cosines(base, truths)
    gains = [cosines(base + weight * given, truths) - before for weight in ROOM_WEIGHTS]
    best = int(np.argmax([gain.mean() for gain in gains]))
    return float(ROOM_WEIGHTS[best]), gains[best]


def _build_row(
    what: str,
    mechanism: str | None,
    epsilon: float | None,
    texts: Sequence[str],
    found: Score,
    sets: NDArray[np.str_],
) -> dict[str, Any]:
    return {
        "what": what,
        "mechanism": mechanism,
        "epsilon": epsilon,
        **{name: _estimate_intervals(values, sets) for name, values in found.items()},
        "distinct": [distinct(texts, n) for n in (1, 2)],
        "diversity": diversity(texts),
    }


def _estimate_intervals(
    values: NDArray[np.float64], sets: NDArray[np.str_]
) -> dict[str, list[float]]:
    """Return the mean and its 95 % interval by bootstrap over texts, for all texts and for each
    set."""
    rng = np.random.default_rng(SEED)
    parts = {"all": values, **{name: values[sets == name] for name in dict.fromkeys(sets)}}
    out = {}
    for name, part in parts.items():
        interval = bootstrap_mean(part, rng)
        out[str(name)] = [interval.mean, interval.low, interval.high]
    return out


if __name__ == "__main__":
    main()
