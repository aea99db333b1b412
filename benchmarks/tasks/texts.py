"""Read the tasks. Their texts were written for this benchmark, and their people are made up."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from benchmarks.harness.datasets import read_entries

__all__ = ["KINDS", "Task", "read_tasks"]

KINDS = ("continuation", "summary", "reply", "explanation", "question", "fields")
SHIPPED = Path(__file__).parent / "tasks.jsonl"


@dataclass(frozen=True)
class Task:
    """Define what is asked about one document.

    Attributes:
        id: names the task.
        task: its kind, one of `KINDS`.
        instruction: public; it names nobody.
        document: the private text.
        answer: the exact answer to a question, or the value of each of the fields; None where
            many answers are right.
    """

    id: str
    task: str
    instruction: str
    document: str
    answer: str | dict[str, str] | None = None


def read_tasks(kinds: tuple[str, ...] = KINDS, most: int | None = None) -> list[Task]:
    """Return the tasks of some kinds, in their order.

    Args:
        kinds: of `KINDS`.
        most: tasks of each kind; None for all.
    """
    known = [Task(**entry) for _, entry in read_entries(SHIPPED)]
    return [
        task
        for kind in kinds
        for task in islice((each for each in known if each.task == kind), most)
    ]
