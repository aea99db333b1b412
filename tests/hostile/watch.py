"""A prober's view of a proxy: stalls of `/health` over its idle time, and peak memory."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.hostile import tally

__all__ = ["Watch"]

PROBER = Path(__file__).with_name("prober.py")
IDLE_PROBES = 5


@dataclass(frozen=True)
class Probe:
    start: float
    seconds: float
    peak: int
    end: float


class Watch:
    """Watches a process from its start on; it must be idle at first."""

    def __init__(self, port: int, pid: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(PROBER), str(port), str(pid)], stdout=subprocess.PIPE, text=True
        )
        self._probes: list[Probe] = []
        self._ended = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._collect, daemon=True)
        self._thread.start()
        self._wait(lambda: len(self._probes) >= IDLE_PROBES)
        self._idle = median(probe.seconds for probe in self._probes[:IDLE_PROBES])

    def worst(self, since: float = 0.0) -> float:
        """Return the longest answer over the idle median of those that came since a moment. The
        one that is under way is waited for."""
        now = time.monotonic()
        self._wait(lambda: bool(self._probes) and self._probes[-1].start >= now)
        with self._changed:
            seconds = [p.seconds for p in self._probes if p.end >= since]
        return max((s - self._idle for s in seconds), default=0.0)

    @property
    def peak(self) -> int:
        """Return the most memory the process has held."""
        with self._changed:
            return max((probe.peak for probe in self._probes), default=0)

    def close(self) -> None:
        """Stop watching and note the worst for the summary."""
        self._process.kill()
        self._process.wait()
        self._thread.join()
        longest = max((p.seconds - self._idle for p in self._probes), default=0.0)
        tally.note(longest, self.peak)

    def _collect(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if not line.endswith("\n"):
                break  # it was killed in the middle of a line
            start, seconds, peak = line.split()
            now = time.monotonic()
            with self._changed:
                self._probes.append(Probe(float(start), float(seconds), int(peak), now))
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _wait(self, ready: Callable[[], bool]) -> None:
        with self._changed:
            self._changed.wait_for(lambda: ready() or self._ended, 60)
