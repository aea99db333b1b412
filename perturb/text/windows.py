"""Search long texts window by window: one search holds the interpreter's lock until it ends."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

from perturb.work import check_work

__all__ = ["LONGEST", "find_all"]

# Characters that an expression reads at most from the beginning of a match attempt to the end of
# what it looks ahead at, apart from a run at the end of a match, which may be of any length.
LONGEST = 10_000
_STEP = 30_000  # a slow expression reads a window of `_STEP` and `LONGEST` in 0.1 s
# After a window that took `_HELD` seconds, `_REST` seconds in which a thread that waits for the
# lock gets it: between two windows alone it often did not, over several of them.
_HELD, _REST = 0.01, 0.0005


def find_all(
    pattern: re.Pattern[str],
    text: str,
    begin: int = 0,
    stop: int | None = None,
    *,
    step: int = _STEP,
    longest: int = LONGEST,
) -> Iterator[re.Match[str]]:
    """Yield the matches of an expression, the same as `pattern.finditer(text, begin, stop)`.

    Other threads run between two windows. The expression must match no empty text.

    Args:
        step: the characters by which a window exceeds `longest`.
        longest: see `LONGEST`.

    Raises:
        OutOfTime: see `perturb.work`.
    """
    start, size = begin, step + longest
    last = len(text) if stop is None else stop
    while True:
        check_work()
        end = start + size
        if end >= last:
            yield from pattern.finditer(text, start, last)
            return
        begun = time.thread_time()
        safe = end - longest  # a match that begins before has seen all that it can look at
        following = safe
        for match in pattern.finditer(text, start, end):
            if match.start() >= safe:
                break
            if match.end() > safe:  # a long run may go on: search again from its beginning
                following = match.start()
                break
            yield match
        else:
            match = None
        if time.thread_time() - begun > _HELD:
            time.sleep(_REST)
        size = 2 * size if following == start else step + longest
        start = max(following, start)
