"""Build the data of the third round: pairs of the model's own answers, one nearer to the truth."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer
from tqdm import tqdm

from bundled.examples import ExampleMaker
from bundled.nearness import Nearness
from bundled.own_output import ANSWER_TOKENS, write_all
from bundled.packing import Encoded, encode_answer, encode_conversations
from bundled.tokenizer import Turn

__all__ = ["LENGTH", "Pair", "pair_best_and_worst", "write_pairs"]

LENGTH = 576  # tokens of a row: a prompt and an answer
LEAST_GAP = 0.03  # between answers of nearly equal nearness, the order is chance


@dataclass(frozen=True)
class Pair:
    """Hold two answers to one prompt, and the true one."""

    better: Encoded
    worse: Encoded
    truth: Encoded


def write_pairs(
    model: Path,
    maker: ExampleMaker,
    nearness: Nearness,
    tokenizer: Tokenizer,
    content: NDArray[np.bool_],
    *,
    prompts: int,
    answers: int,
    pairs: int,
) -> tuple[list[Pair], float]:
    """Return up to `pairs` pairs from a GGUF file's model's `answers` answers to each of `prompts`
    prompts, and the mean nearness of all answers to the truth."""
    asked: list[tuple[list[Turn], Encoded]] = []
    while len(asked) < prompts:
        turns = maker.make_unhidden()
        (true,) = encode_conversations(tokenizer, [turns], content)
        prompt = encode_answer(tokenizer, turns[:-1], "", ended=False)
        if max(len(true.tokens), len(prompt.tokens) + ANSWER_TOKENS) <= LENGTH:
            asked.append((turns, true))
    written = write_all(model, [turns[:-1] for turns, _ in asked], answers)
    out, found = [], []
    for (turns, true), group in zip(tqdm(asked, leave=False), written, strict=True):
        near = nearness.measure([answer.text for answer in group], turns[-1].content)
        found.append(near)
        rows = [encode_answer(tokenizer, turns[:-1], a.text, ended=a.ended) for a in group]
        out += [Pair(rows[i], rows[j], true) for i, j in pair_best_and_worst(near, pairs)]
    return out, float(np.mean(found))


def pair_best_and_worst(near: NDArray[np.float32], pairs: int) -> list[tuple[int, int]]:
    """Pair the nearest answer with the farthest, the second nearest with the second farthest, and
    so on."""
    order = [int(i) for i in np.argsort(-near, kind="stable")]
    ends = [(order[i], order[-1 - i]) for i in range(pairs)]
    return [(i, j) for i, j in ends if near[i] - near[j] > LEAST_GAP]
