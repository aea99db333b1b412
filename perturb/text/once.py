"""Compute once what depends on a text alone: in a request, it is searched, drawn and verified,
and a conversation sends its history again with every turn."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from threading import Lock
from typing import Any, TypeVar

__all__ = ["Findings", "compute_once", "keep_result", "remember_texts"]

T = TypeVar("T")
F = TypeVar("F", bound=Sized)
ROOM = 200_000  # findings, and texts without any, that are kept: about 40 MB


class Findings:
    """Keep what was found in texts, over the requests of a process. Threads may share it.

    Texts are known by a digest under a key that the process draws, together with their owner:
    otherwise its speed would tell which texts other owners have sent. No text is kept.

    Args:
        room: how many findings are kept; a text counts as one more. Those that were not used for
            the longest time are forgotten first.
    """

    def __init__(self, room: int = ROOM) -> None:
        self._room, self._key, self._lock = room, secrets.token_bytes(32), Lock()
        self._found: OrderedDict[bytes, Sized] = OrderedDict()

    def find(self, owner: str, finder: str, texts: Sequence[str], compute: Callable[[], F]) -> F:
        """Return `compute()`, which is called where the result is not kept.

        Args:
            owner: of the texts.
            finder: the name of the computation: its result depends on the texts alone.
        """
        digest = blake2b(key=self._key, digest_size=32)
        for part in (owner, finder, *texts):
            data = part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "big") + data)
        key = digest.digest()
        with self._lock:
            found: Any = self._found.get(key)
            if found is not None:
                self._found.move_to_end(key)
                return found  # type: ignore[no-any-return]
        made = compute()
        with self._lock:
            if key not in self._found:
                self._found[key] = made
                self._room -= 1 + len(made)
            while self._room < 0 and len(self._found) > 1:
                self._room += 1 + len(self._found.popitem(last=False)[1])
        return made


@dataclass(frozen=True)
class _Memory:
    findings: Findings | None
    owner: str
    known: dict[tuple[Hashable, str], Any] = field(default_factory=dict)


_MEMORY: ContextVar[_Memory | None] = ContextVar("memory", default=None)


@contextmanager
def remember_texts(findings: Findings | None = None, owner: str = "") -> Iterator[None]:
    """Remember the tokens of texts and the parts found in them until the block ends, also in its
    tasks and threads.

    Args:
        findings: also keeps what is found in texts after that, for the same owner.
        owner: of the texts.
    """
    token = _MEMORY.set(_Memory(findings, owner))
    try:
        yield
    finally:
        _MEMORY.reset(token)


def compute_once(compute: Callable[[str], T], text: str, finder: str = "") -> T:
    """Return `compute(text)`, which is called once for each text in a `remember_texts` block, and
    every time outside of one. The result must not be changed.

    Args:
        finder: the name of the computation, if its result, which has a length, may be kept for
            later requests; see `Findings`.
    """
    memory = _MEMORY.get()
    if memory is None:
        return compute(text)
    if (compute, text) not in memory.known:
        if finder and memory.findings is not None:
            keep: Any = partial(compute, text)
            made = memory.findings.find(memory.owner, finder, [text], keep)
        else:
            made = compute(text)
        memory.known[compute, text] = made
    known: T = memory.known[compute, text]
    return known


def keep_result(compute: Callable[[], F], finder: str, *texts: str) -> F:
    """Return `compute()`, kept for later requests of the owner in a `remember_texts` block.

    Args:
        compute: its result holds no text, such as places, and must not be changed.
        finder: the name of the computation, whose result depends on the texts alone.
    """
    memory = _MEMORY.get()
    if memory is None or memory.findings is None:
        return compute()
    return memory.findings.find(memory.owner, finder, texts, compute)
