"""A soak: many requests to one proxy, and how its memory develops."""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from benchmarks.json_record import JsonRecord, read_json
from benchmarks.load.measure import describe_machine
from benchmarks.load.processes import LoadError
from benchmarks.load.targets import Proxy
from benchmarks.load.upstream import start_upstream
from benchmarks.load.wrk import Case, run_wrk

__all__ = ["Soak", "read_soak", "soak"]

SLICE_SECONDS = 10.0
WARM_SHARE = 0.5  # caches fill in the first half; growth is measured in the second


@dataclass(frozen=True)
class Soak(JsonRecord):
    """Hold what a soak measured. `points` are (answered requests, memory in MB)."""

    target: str
    machine: dict[str, str | int]
    connections: int
    requests: int
    seconds: float
    late: int
    bad: int
    points: list[tuple[int, float]]

    def growth(self) -> float:
        """Return the growth in the second half by least squares, in MB for 100,000 requests."""
        late = [(x, y) for x, y in self.points if x >= WARM_SHARE * self.requests]
        if len(late) < 2:
            return 0.0
        middle = sum(x for x, _ in late) / len(late)
        spread = sum((x - middle) ** 2 for x, _ in late)
        return 1e5 * sum((x - middle) * y for x, y in late) / spread

    def at(self, share: float) -> float:
        """Return the memory when this share of the requests was answered, in MB."""
        return min(self.points, key=lambda point: abs(point[0] - share * self.requests))[1]


def soak(target: Proxy, requests: int, connections: int) -> Soak:
    """Send so many requests with new words, chats and streams by turns.

    Raises:
        LoadError: the proxy ended, or answers nothing any more.
    """
    cases = (Case(connections), Case(connections, stream=True))
    sent = late = bad = 0
    bar = tqdm(total=requests, unit="request", disable=not sys.stderr.isatty())
    with (
        tempfile.TemporaryDirectory(prefix="inferdpt-soak-") as folder,
        start_upstream(Path(folder) / "upstream") as upstream,
        target.start(Path(folder) / "target", upstream) as running,
        bar,
    ):
        begin = time.monotonic()
        points = [(0, running.child.usage().rss_bytes / 1e6)]
        while sent < requests:
            case = cases[len(points) % 2]
            load = run_wrk(running.url, case, SLICE_SECONDS, Path(folder), time.time_ns() % 2**31)
            if not load.requests:
                raise LoadError(f"{target.name} answers nothing after {sent} requests")
            sent += load.requests
            late += load.late
            bad += load.wrong + load.failed
            points.append((sent, round(running.child.usage().rss_bytes / 1e6, 1)))
            bar.update(load.requests)
            bar.set_description(f"{points[-1][1]:.0f} MB")
        seconds = round(time.monotonic() - begin, 1)
    return Soak(target.name, describe_machine(), connections, sent, seconds, late, bad, points)


def read_soak(path: Path) -> Soak | None:
    """Read what `write` has written; None if there is no file.

    Raises:
        LoadError: it is no record of this version.
    """

    def build(found: Any) -> Soak:
        return Soak(**found | {"points": [(int(x), float(y)) for x, y in found["points"]]})

    return read_json(path, build, "a soak", LoadError)
