"""Score an answer by itself: is it right, and does it hold what is not the document's?"""

from __future__ import annotations

import json
import re

from perturb.vocabulary.stop_words import FUNCTION_WORDS
from proxy.advice.texts import Task

__all__ = ["find_bleed", "list_content_words", "score_right"]

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
