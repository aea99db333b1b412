"""Compare the answers under each condition with those of the remote to the raw text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.experiment import mean
from benchmarks.harness.markdown import format_figure, format_percent
from benchmarks.harness.records import Estimate
from benchmarks.metrics.encoders import Encoder
from benchmarks.metrics.utility import cosines, rouge_l
from proxy.advice.comparison import find_bleed, score_right
from proxy.advice.conditions import ALONE, IDEAL, Replies, Reply
from proxy.advice.texts import Task
from proxy.cli.help import lay_out

__all__ = ["Figures", "measure", "render"]

EVERY = "all tasks"


@dataclass(frozen=True)
class Figures:
    """Hold the figures of one condition over several tasks, each with its 95 % interval.

    Attributes:
        similarity: cosine to the ideal, the remote's answer to the raw text.
        gain: its difference to the similarity of the local model alone, task by task.
        overlap: ROUGE-L with the ideal.
        right: the share of exact answers; None where many answers are right.
        words: of an answer.
        bleed: see `proxy.advice.comparison.find_bleed`; None where nothing was sent in place of
            a document.
    """

    similarity: Estimate
    gain: Estimate
    overlap: Estimate
    right: Estimate | None
    words: Estimate
    bleed: Estimate | None


def measure(
    tasks: Sequence[Task], replies: Replies, encode: Encoder
) -> dict[str, dict[str, Figures]]:
    """Return the figures by kind of task, with all tasks last, and by condition.

    Args:
        tasks: two or more of each kind.
        replies: their answers, with the local model's own and the ideal ones among them.
        encode: of sentences.
    """
    columns = {name: _score(tasks, each, replies, encode) for name, each in replies.items()}
    kinds = list(dict.fromkeys(task.task for task in tasks))
    chosen = {kind: np.array([task.task == kind for task in tasks]) for kind in kinds}
    if len(kinds) > 1:
        chosen[EVERY] = np.ones(len(tasks), dtype=bool)
    return {
        kind: {
            name: _average({figure: values[mask] for figure, values in scores.items()})
            for name, scores in columns.items()
        }
        for kind, mask in chosen.items()
    }


def _score(
    tasks: Sequence[Task], own: Sequence[Reply], replies: Replies, encode: Encoder
) -> dict[str, NDArray[np.float64]]:
    """Return the values of each figure, float64 (tasks,); NaN where a task has none."""
    texts, ideal, alone = (
        [reply.answer for reply in each] for each in (own, replies[IDEAL], replies[ALONE])
    )
    goal = encode(ideal)
    similarity = cosines(encode(texts), goal)
    right = [score_right(task, text) for task, text in zip(tasks, texts, strict=True)]
    bleed = [
        None if reply.material is None else find_bleed(task, reply.answer, single, reply.material)
        for task, reply, single in zip(tasks, own, alone, strict=True)
    ]
    return {
        "similarity": similarity,
        "gain": similarity - cosines(encode(alone), goal),
        "overlap": rouge_l(texts, ideal),
        "right": np.array(right, dtype=np.float64),
        "words": np.array([len(text.split()) for text in texts], dtype=np.float64),
        "bleed": np.array(bleed, dtype=np.float64),
    }


def _average(scores: Mapping[str, NDArray[np.float64]]) -> Figures:
    def average(name: str) -> Estimate:
        return mean(scores[name], np.random.default_rng(0))

    def average_known(name: str) -> Estimate | None:
        known = scores[name][~np.isnan(scores[name])]
        return mean(known, np.random.default_rng(0)) if len(known) > 1 else None

    return Figures(
        similarity=average("similarity"),
        gain=average("gain"),
        overlap=average("overlap"),
        right=average_known("right"),
        words=average("words"),
        bleed=average_known("bleed"),
    )


def render(found: Mapping[str, Mapping[str, Figures]]) -> str:
    """Return a table in plain text for each kind of task, a row for each condition."""
    blocks = []
    for kind, conditions in found.items():
        head = [kind, "cosine", "- alone", "ROUGE-L", "right %", "words", "bleed %"]
        rows = [[name, *_write_row(figures)] for name, figures in conditions.items()]
        used = [i for i, column in enumerate(zip(*rows, strict=True)) if any(column)]
        blocks.append(lay_out([[row[i] for i in used] for row in (head, *rows)]))
    return "\n\n".join(blocks)


def _write_row(figures: Figures) -> list[str]:
    return [
        format_figure(figures.similarity, 2),
        format_figure(figures.gain, 2, sign=True),
        format_figure(figures.overlap, 2),
        format_percent(figures.right) if figures.right else "",
        format_figure(figures.words, 0),
        format_percent(figures.bleed) if figures.bleed else "",
    ]
