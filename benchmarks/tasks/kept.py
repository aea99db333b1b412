"""Keep answers as they come, so that a stopped run resumes where it was."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

from benchmarks.harness.datasets import read_entries
from proxy.advice.conditions import Ask, Condition, Reply
from proxy.advice.texts import Task

__all__ = ["Kept"]


class Kept:
    """Hold the answers of two models, one object of JSON a line in a file.

    Args:
        file: it is made with the first answer. None keeps them in memory alone.
        local, remote: names of the models; answers of others stay in the file and are not found.
    """

    def __init__(self, file: Path | None, local: str, remote: str) -> None:
        self._file = file
        self._models = {"local": local, "remote": remote}
        self._found: dict[tuple[str, str], Reply] = {}
        if file is not None and file.exists():
            for _, line in read_entries(file):
                if {name: line[name] for name in self._models} == self._models:
                    reply = Reply(line["answer"], line["material"])
                    self._found[line["asked"], line["condition"]] = reply

    def wrap(self, ask: Ask) -> Ask:
        """Return what asks only for answers that are not kept yet, and keeps them."""

        async def ask_once(task: Task, condition: Condition) -> Reply:
            kept = self._found.get((_digest(task), condition.name))
            if kept is None:
                kept = await ask(task, condition)
                self._add(task, condition, kept)
            return kept

        return ask_once

    def _add(self, task: Task, condition: Condition, reply: Reply) -> None:
        asked = _digest(task)
        self._found[asked, condition.name] = reply
        if self._file is not None:
            names = {"task": task.id, "asked": asked, "condition": condition.name}
            line = names | self._models | asdict(reply)
            with self._file.open("a", encoding="utf-8") as out:
                out.write(json.dumps(line, ensure_ascii=False) + "\n")


def _digest(task: Task) -> str:
    return hashlib.sha256(f"{task.instruction}\n\n{task.document}".encode()).hexdigest()[:16]
