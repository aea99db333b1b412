"""Count the metrics of all worker processes together, in files of one folder.

Prometheus's client does this in a mode that it chooses when it is imported, from the environment.
Here the supervisor chooses it before it builds any metric. Each process writes files of its own,
named after its place and not its number: a worker that takes the place of another goes on with
its counters, so none ever falls.
"""

from __future__ import annotations

import os
from pathlib import Path

from prometheus_client import values
from prometheus_client.multiprocess import mark_process_dead

from proxy.metrics import Metrics

__all__ = ["SharedCounts"]

VARIABLE = "PROMETHEUS_MULTIPROC_DIR"


class SharedCounts:
    """Hold the metrics of a supervisor and of the processes that it forks.

    Args:
        folder: an empty one, for the files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._place = "supervisor"
        os.environ[VARIABLE] = str(folder)
        values.ValueClass = values.MultiProcessValue(lambda: self._place)  # type: ignore[no-untyped-call]
        self.metrics = Metrics(folder)

    def enter(self, place: str) -> None:
        """Count in this process, which was just forked, for a place (without underscores)."""
        self._place = place

    def leave(self, place: str) -> None:
        """Forget what a process that has ended was doing; what it counted stays."""
        mark_process_dead(place, str(self._folder))  # type: ignore[no-untyped-call]

    @staticmethod
    def hide() -> None:
        """Leave the folder out of the environment of this process's children: vLLM would count
        in it, too."""
        os.environ.pop(VARIABLE, None)
