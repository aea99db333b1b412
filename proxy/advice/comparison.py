"""Compare the answers of each mode, text by text, and choose the mode to take. An answer is also
judged by itself: is it right, and does it hold what is not the document's?
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from extraction.judge import build_judge
from perturb import sanitizer_class
from perturb.audit.intervals import Interval, bootstrap_mean
from perturb.vocabulary.stop_words import FUNCTION_WORDS
from perturb.whole.encoder import load_static
from perturb.whole.passage_sanitizer import PassageSanitizer
from proxy.advice.conditions import (
    ALONE,
    GATEWAY,
    IDEAL,
    Condition,
    Replies,
    Target,
    list_points,
)
from proxy.advice.texts import Task

__all__ = [
    "AGAIN",
    "CANDIDATES",
    "FEWEST",
    "LEVEL",
    "Advice",
    "Comparison",
    "Figures",
    "advise",
    "compare",
    "find_bleed",
    "list_content_words",
    "list_modes",
    "score_right",
]

SHORTEST = 3  # letters of a content word; a number may be shorter
_WORD = re.compile(r"\d+|[^\W\d_]+")
_OBJECT = re.compile(r"\{[^{}]*\}")


def list_content_words(text: str) -> list[str]:
    """Return a text's content words and numbers in lower case, in their order.

    >>> list_content_words("The 2 boats of Ida were late.")
    ['2', 'boats', 'ida', 'late']
    """
    words = (word.lower() for word in _WORD.findall(text))
    return [
        word
        for word in words
        if word.isdigit() or (len(word) >= SHORTEST and word not in FUNCTION_WORDS)
    ]


def find_bleed(task: Task, answer: str, alone: str, material: str) -> float:
    """Return the share of an answer's content words, 0 to 1, that are in the remote's material
    and neither in the task nor in the local model's own answer; 0 for an answer without any.

    Args:
        alone: the answer that the local model wrote without the remote.
        material: what was sent in place of the document, and the remote's answer to it.
    """
    words = list_content_words(answer)
    known = set(list_content_words(f"{task.instruction} {task.document} {alone}"))
    foreign = set(list_content_words(material)) - known
    return sum(word in foreign for word in words) / len(words) if words else 0.0


def score_right(task: Task, answer: str) -> float | None:
    """Return how much of an answer is right, 0 to 1; None where many answers are.

    A question's answer has to hold the exact one, as whole words. Of fields, the share counts
    whose values are equal, in the last object of JSON in the answer. Case, punctuation and white
    space make no difference.
    """
    if task.answer is None:
        return None
    if isinstance(task.answer, str):
        return float(f" {_fold(task.answer)} " in f" {_fold(answer)} ")
    found = _read_fields(answer)
    right = sum(_fold(found.get(name, "")) == _fold(value) for name, value in task.answer.items())
    return right / len(task.answer)


def _read_fields(answer: str) -> dict[str, str]:
    for text in reversed(_OBJECT.findall(answer)):
        try:
            found = json.loads(text)
        except ValueError:
            continue
        return {name: str(value) for name, value in found.items()}
    return {}


def _fold(text: str) -> str:
    return " ".join(_WORD.findall(text)).lower()


CANDIDATES = 2  # of the modes in which the local model reads the remote's words
BEST, AGAIN = f"{ALONE}, best of {CANDIDATES}", f"{IDEAL}, again"
FEWEST = 12  # texts; with fewer, a bootstrap's intervals are too narrow
FEWEST_EXACT = 8  # texts with an exact answer: all eight wrong by chance is rare
LEVEL = 0.95  # of all intervals of one kind together
MOST_BLEED = 0.05  # of an answer's content words, in a mode to take
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Figures:
    """Hold the figures of one mode.

    Attributes:
        score: cosine to the reference.
        gain: its difference to the local model alone with as many candidates, text by text; None
            for the local model itself, and for the remote that reads the raw text.
        same: the share of answers that equal that model's, 0 to 1, likewise.
        right: the share of exact answers that are right; None where no text has one.
        bleed: see `proxy.advice.comparison.find_bleed`; None where nothing was sent in place of a
            text.
    """

    score: Interval
    gain: Interval | None
    same: float | None
    right: float | None
    bleed: float | None


@dataclass(frozen=True)
class Comparison:
    """Hold what a run has shown.

    Attributes:
        texts: how many.
        reference: what a score is the cosine to: the answer of the remote to the raw text, or the
            document without what the answer copies.
        figures: by mode, in the order of `list_modes`.
        scores: of each text in each mode.
        wrong: modes that are shown to be right less often than the local model alone.
    """

    texts: int
    reference: Literal["remote", "document"]
    figures: Mapping[str, Figures]
    scores: Mapping[str, Floats]
    wrong: frozenset[str]


@dataclass(frozen=True)
class Advice:
    """Hold the mode to take, and why."""

    mode: str
    reason: str


def list_modes(points: Sequence[tuple[str, float]], targets: Sequence[Target]) -> list[Condition]:
    """Return the modes to compare, those first that send less of a text: nothing, passages in its
    place, redrawn words, the text itself. Of two ε, the smaller one is first.

    Args:
        points: mechanisms and their ε, each with the local model that reads the remote's words.
        targets: who may be asked.
    """
    points = sorted(set(points), key=_rank)
    modes = [
        Condition(ALONE, "proxy", {"local_only": True}),
        Condition(BEST, "proxy", {"local_only": True, "candidates": CANDIDATES}),
        *list_points(points, ("relevant", "demonstrate"), (CANDIDATES,)),
        Condition(GATEWAY, "gateway"),
        # With seeds of their own: where both models are the same, an answer with the same seed
        # would be a copy.
        Condition(IDEAL, "remote", seed=2),
        Condition(AGAIN, "remote", seed=3),
    ]
    return [mode for mode in modes if mode.target in targets]


def _rank(point: tuple[str, float]) -> tuple[bool, bool, float]:
    name, epsilon = point
    kind = sanitizer_class(name)
    return kind.verbatim, not issubclass(kind, PassageSanitizer), epsilon


def compare(tasks: Sequence[Task], modes: Sequence[Condition], replies: Replies) -> Comparison:
    """Compare the answers.

    Args:
        tasks: `FEWEST` or more.
        modes: from `list_modes`.
        replies: the answers in each.
    """
    answers = {name: [reply.answer for reply in each] for name, each in replies.items()}
    scores = _score(tasks, answers)
    baselines = {
        mode.name: ALONE if mode.options.get("candidates", 1) == 1 else BEST
        for mode in modes
        if mode.name not in (ALONE, BEST, IDEAL, AGAIN)
    }
    gains = {name: scores[name] - scores[alone] for name, alone in baselines.items()}
    level = 1 - (1 - LEVEL) / max(len(gains), 1)
    intervals = {name: _estimate(gain, level) for name, gain in gains.items()}
    rights = {
        name: np.array([score_right(*pair) for pair in zip(tasks, each, strict=True)], np.float64)
        for name, each in answers.items()
    }
    own = [f"{one} {two}" for one, two in zip(answers[ALONE], answers[BEST], strict=True)]
    figures = {
        name: Figures(
            score=_estimate(scores[name], LEVEL),
            gain=intervals.get(name),
            same=_share_equal(answers[name], answers[baselines[name]])
            if name in baselines
            else None,
            right=_average(rights[name]),
            bleed=_average(
                [
                    None
                    if reply.material is None
                    else find_bleed(task, reply.answer, alone, reply.material)
                    for task, reply, alone in zip(tasks, replies[name], own, strict=True)
                ]
            ),
        )
        for name in answers
    }
    return Comparison(
        texts=len(tasks),
        reference="remote" if IDEAL in answers else "document",
        figures=figures,
        scores=scores,
        wrong=frozenset(
            name
            for name, right in rights.items()
            if name != ALONE and _is_lower(right, rights[baselines.get(name, ALONE)])
        ),
    )


def advise(found: Comparison) -> Advice:
    """Choose the mode to take. Of modes between which no difference is shown, it is the first."""
    gains = {name: each.gain for name, each in found.figures.items() if each.gain is not None}
    goal = "the remote's own" if found.reference == "remote" else "the texts"
    texts = f"With {found.texts} texts,"
    if IDEAL in found.wrong:
        return Advice(ALONE, "It is right more often than the remote that reads the raw text.")
    better = [name for name, gain in gains.items() if gain.low > 0]
    sound = [name for name in better if _is_sound(found, name)]
    if sound:
        mode, *equals = _list_equals(found, sound)
        gain = gains[mode]
        reason = (
            f"Its answers are nearer to {goal} than those of the local model alone, by "
            f"{gain.mean:.2f} ({gain.low:.2f} to {gain.high:.2f})."
        )
        if equals:
            reason += (
                f" {texts} no difference to {_join(equals)} is shown, and of equals the first is "
                "taken: it sends no more of a text."
            )
        if found.reference == "document":
            reason += " Nearer need not be better."
        return Advice(mode, reason)
    if better:
        reason = (
            f"Answers of {_join(better)} are nearer to {goal}, but hold words that are not the "
            "text's, or are right less often."
        )
    elif _has_no_room(found):
        reason = (
            f"{texts} its answers are not shown to be farther from the remote's than another "
            "answer of the remote itself, so nothing shows that the remote would help."
        )
    else:
        reason = f"{texts} no other mode is shown to be better, and this one sends nothing."
    worse = [name for name, gain in gains.items() if gain.high < 0]
    if worse:
        reason += f" Shown to be worse: {_join(worse)}."
    return Advice(ALONE, reason)


def _list_equals(found: Comparison, modes: Sequence[str]) -> list[str]:
    """Return the modes that are not shown to be worse than the best of them, in their order."""
    best = found.scores[max(modes, key=lambda name: found.figures[name].score.mean)]
    return [name for name in modes if _estimate(best - found.scores[name], LEVEL).low <= 0]


def _has_no_room(found: Comparison) -> bool:
    """Tell if the remote's second answer is not shown to be nearer to its first one than that of
    the local model alone."""
    if AGAIN not in found.scores:
        return False
    return _estimate(found.scores[AGAIN] - found.scores[ALONE], LEVEL).low <= 0


def _is_sound(found: Comparison, name: str) -> bool:
    return name not in found.wrong and (found.figures[name].bleed or 0) <= MOST_BLEED


def _join(names: Sequence[str]) -> str:
    return " and ".join(f"“{name}”" for name in names)


def _score(tasks: Sequence[Task], answers: Mapping[str, Sequence[str]]) -> Mapping[str, Floats]:
    """Return the cosines to the reference in each mode, (tasks,)."""
    if IDEAL in answers:
        encode = load_static()
        goal = encode(answers[IDEAL])
        return {
            name: np.einsum("ij,ij->i", encode(texts), goal, dtype=np.float64)
            for name, texts in answers.items()
        }
    judge = build_judge()
    columns = {
        name: np.array(
            [
                judge.score(task.document, [text])[0]
                for task, text in zip(tasks, texts, strict=True)
            ],
            np.float64,
        )
        for name, texts in answers.items()
    }
    # An answer that only copies is near to nothing.
    return {name: np.where(np.isfinite(each), each, 0) for name, each in columns.items()}


def _estimate(values: Floats, level: float) -> Interval:
    return bootstrap_mean(values, np.random.default_rng(0), level=level)


def _average(values: Floats | Sequence[float | None]) -> float | None:
    known = np.array(values, np.float64)
    known = known[~np.isnan(known)]
    return float(known.mean()) if len(known) else None


def _share_equal(some: Sequence[str], others: Sequence[str]) -> float:
    return sum(a == b for a, b in zip(some, others, strict=True)) / len(some)


def _is_lower(some: Floats, others: Floats) -> bool:
    difference = (some - others)[~np.isnan(some)]
    return len(difference) >= FEWEST_EXACT and _estimate(difference, LEVEL).high < 0
