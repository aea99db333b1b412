"""Read the texts that are asked about: those that ship with the project, whose people are made up,
or a user's own."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from proxy.errors import ConfigError
from proxy.strict_lines import check_text, read_lines

__all__ = ["KINDS", "OWN", "Task", "read_own", "read_tasks"]

KINDS = ("continuation", "summary", "reply", "explanation", "question", "fields")
OWN = "own"  # the kind of a user's tasks
SHIPPED = Path(__file__).parent / "tasks.jsonl"
TAGS = ("<public>", "</public>")  # of a request: they mark what is sent as it is


@dataclass(frozen=True)
class Task:
    """Define what is asked about one document.

    Attributes:
        id: names the task.
        task: its kind, one of `KINDS`, or `OWN`.
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


def read_tasks(kinds: Sequence[str] = KINDS, most: int | None = None) -> list[Task]:
    """Return the shipped tasks of some kinds, in their order.

    Args:
        kinds: of `KINDS`.
        most: tasks of each kind; None for all.
    """
    known = [Task(**json.loads(line)) for line in SHIPPED.read_bytes().splitlines()]
    return [
        task
        for kind in kinds
        for task in islice((each for each in known if each.task == kind), most)
    ]


def read_own(path: str, instruction: str | None, most: int) -> list[Task]:
    """Return the first tasks of a user's file.

    It has an object of JSON in each line, with `document` and perhaps `instruction`, or else plain
    texts with blank lines between them.

    Args:
        path: the file.
        instruction: of the texts that have none of their own.
        most: tasks.

    Raises:
        ConfigError: the file cannot be read, or a text or its instruction breaks a rule. The
            message names the line or the text and the rule, and holds nothing of the text.
    """
    try:
        data = Path(path).read_bytes().removeprefix(BOM_UTF8)
    except OSError as exc:
        raise ConfigError(f"--data: {path}: cannot be read ({exc.strerror})") from exc
    try:
        if data.lstrip().startswith(b"{"):
            found = read_lines(data, ("instruction", "document"), "document", _read_pair)
        else:
            found = ((None, text) for text in _split_texts(data))
        return [
            _make_task(number, own or instruction, document)
            for number, (own, document) in enumerate(islice(found, most), 1)
        ]
    except ValueError as exc:
        raise ConfigError(f"--data: {path}: {exc}") from None


def _read_pair(found: dict[str, Any]) -> tuple[str | None, str]:
    own = found.get("instruction")
    return (
        None if own is None else check_text("instruction", own),
        check_text("document", found["document"]),
    )


def _split_texts(data: bytes) -> list[str]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise ValueError(f"is not UTF-8 at byte {exc.start + 1}") from None
    paragraphs = "\n".join(line if line.strip() else "" for line in text.splitlines())
    return [part.strip("\n") for part in paragraphs.split("\n\n") if part.strip()]


def _make_task(number: int, instruction: str | None, document: str) -> Task:
    if instruction is None:
        raise ValueError(f"text {number} has no instruction: give one with --instruction")
    if any(tag in text for text in (instruction, document) for tag in TAGS):
        raise ValueError(
            f"text {number} holds {' or '.join(TAGS)}, which would mark parts to be sent as they "
            "are"
        )
    return Task(f"{OWN}-{number}", OWN, instruction, document)
