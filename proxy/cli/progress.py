"""Progress of commands that take long, on standard error.

A terminal gets bars with the time that is left. A file or a pipe gets a line at most every
SECONDS, so that a short command writes nothing.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TextIO

__all__ = ["SECONDS", "Advance", "show_progress", "write_lines"]

SECONDS = 30.0


class Advance(Protocol):
    """Show how much of a stage is done."""

    def __call__(self, stage: str, done: int, total: int, note: str = "", /) -> None: ...


@contextmanager
def show_progress(*, leave: bool = True) -> Iterator[Advance]:
    """Yield a function that shows how much of a stage is done: its name, done, total, and a note.

    A stage begins with its first call: what was done before it, by a run that is resumed, counts
    for no speed. On a terminal each stage has a bar of its own. All are closed at the end.

    Args:
        leave: whether the bars stay on the screen.
    """
    if not sys.stderr.isatty():
        yield write_lines(sys.stderr)
        return
    from tqdm import tqdm

    bars: dict[str, tqdm[Any]] = {}

    def advance(stage: str, done: int, total: int, note: str = "", /) -> None:
        if stage not in bars:
            desc = f"{stage:>15}"
            bars[stage] = tqdm(total=total, initial=done, desc=desc, unit="", leave=leave)
        bars[stage].total = total
        bars[stage].set_postfix_str(note, refresh=False)
        bars[stage].update(done - bars[stage].n)

    try:
        yield advance
    finally:
        for bar in bars.values():
            bar.close()


def write_lines(out: TextIO, clock: Callable[[], float] = time.monotonic) -> Advance:
    """Return a function that writes a line about a stage at most every SECONDS, and one at the end
    of a stage that had one.

    Args:
        out: gets the lines.
        clock: returns the seconds since some moment.
    """
    begun: dict[str, tuple[float, int]] = {}
    told: dict[str, float] = {}

    def advance(stage: str, done: int, total: int, note: str = "", /) -> None:
        now = clock()
        start, first = begun.setdefault(stage, (now, done))
        ended = done >= total and stage in told
        if not ended and now - told.get(stage, start) < SECONDS:
            return
        told[stage] = now
        left = (total - done) * (now - start) / (done - first) if done > first else None
        time_left = "" if ended or left is None else f", about {_format_seconds(left)} left"
        about = f" ({note})" if note else ""
        print(f"{stage}: {done:,} of {total:,}{time_left}{about}", file=out, flush=True)

    return advance


def _format_seconds(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
