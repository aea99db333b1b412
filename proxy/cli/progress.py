"""Progress bars of commands that take long, on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["show_progress"]


@contextmanager
def show_progress(*, leave: bool = True) -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function that shows how much of a stage is done: its name, done, total.

    Each stage has a bar of its own. All are closed at the end.

    Args:
        leave: whether the bars stay on the screen.
    """
    from tqdm import tqdm

    bars: dict[str, tqdm[Any]] = {}

    def advance(stage: str, done: int, total: int) -> None:
        if stage not in bars:
            bars[stage] = tqdm(total=total, desc=f"{stage:>15}", unit="", leave=leave)
        bars[stage].total = total
        bars[stage].update(done - bars[stage].n)

    try:
        yield advance
    finally:
        for bar in bars.values():
            bar.close()
