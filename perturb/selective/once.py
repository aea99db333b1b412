"""Look for the marked parts of a text once in a request, which searches, draws and verifies it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from perturb.release import Span

__all__ = ["find_once", "remember_marks"]

Spans = tuple[Span, ...]
_FOUND: ContextVar[dict[tuple[Hashable, str], Spans] | None] = ContextVar("found", default=None)


@contextmanager
def remember_marks() -> Iterator[None]:
    """Remember what is found in texts until the block ends, also in its tasks and threads.

    A memory that outlived the request would tell by its speed which texts other clients have sent.
    """
    token = _FOUND.set({})
    try:
        yield
    finally:
        _FOUND.reset(token)


def find_once(finder: Hashable, text: str, find: Callable[[str], Spans]) -> Spans:
    """Return `find(text)`, which is called once for each finder and text in a `remember_marks`
    block, and every time outside of one."""
    found = _FOUND.get()
    if found is None:
        return find(text)
    spans = found.get((finder, text))
    if spans is None:
        spans = found[finder, text] = find(text)
    return spans
