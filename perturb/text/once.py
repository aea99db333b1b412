"""Compute once in a request what depends on a text alone: it is searched, drawn and verified."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

__all__ = ["compute_once", "remember_texts"]

T = TypeVar("T")
_KNOWN: ContextVar[dict[tuple[Hashable, str], Any] | None] = ContextVar("known", default=None)


@contextmanager
def remember_texts() -> Iterator[None]:
    """Remember the tokens of texts and the parts found in them until the block ends, also in its
    tasks and threads.

    A memory that outlived the request would tell by its speed which texts other clients have sent.
    """
    token = _KNOWN.set({})
    try:
        yield
    finally:
        _KNOWN.reset(token)


def compute_once(compute: Callable[[str], T], text: str) -> T:
    """Return `compute(text)`, which is called once for each text in a `remember_texts` block, and
    every time outside of one. The result must not be changed."""
    known = _KNOWN.get()
    if known is None:
        return compute(text)
    if (compute, text) not in known:
        known[compute, text] = compute(text)
    made: T = known[compute, text]
    return made
