"""Work on the texts of one request, from its body to its answer: in bounded processor time, and
once for each text.

Every stage that works on a text runs through `offload`, beside the event loop unless it is shorter
than the way there, and its time is charged. Long stages look at the time themselves, too: before
each window of a search, and in long loops.

What depends on a text alone is computed once: in a request, it is searched, drawn and verified,
and a conversation sends its history again with every turn.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Sized
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b, sha256
from threading import Lock
from typing import Any, ParamSpec, TypeVar

from perturb.errors import OutOfTime

__all__ = [
    "LIGHT",
    "SHORT",
    "Findings",
    "are_light",
    "charge_work",
    "check_work",
    "compute_once",
    "hash_values",
    "keep_result",
    "limit_work",
    "offload",
    "remember_texts",
    "select_texts",
]


class _Allowance:
    """The seconds that a request has left; its threads, those of an executor, share it."""

    def __init__(self, seconds: float, executor: Executor | None) -> None:
        self.seconds = self.left = seconds
        self.executor = executor


_ALLOWANCE: ContextVar[_Allowance | None] = ContextVar("allowance", default=None)
_END: ContextVar[float] = ContextVar("end")  # of this stage, on the clock of its thread


@contextmanager
def limit_work(seconds: float, executor: Executor | None = None) -> Iterator[None]:
    """Limit the processor time of all stages in the block, also in its tasks and threads.

    Time that other threads take does not count, so a busy machine refuses no request.

    Args:
        executor: has the threads of the stages; None is the loop's own. Long requests get one of
            their own, so that short ones do not wait for a thread until they are through.
    """
    token = _ALLOWANCE.set(_Allowance(seconds, executor))
    try:
        yield
    finally:
        _ALLOWANCE.reset(token)


def charge_work() -> AbstractContextManager[None]:
    """Charge the processor time of a block, one stage in one thread.

    Raises:
        OutOfTime: from the block: nothing is left, before it or after it; its result must not be
            used.
    """
    allowance = _ALLOWANCE.get()
    return _UNBOUNDED if allowance is None else _Charge(allowance)


_UNBOUNDED = nullcontext()


class _Charge(AbstractContextManager[None]):
    """Charge one block, once. Every event of a stream is one, so this is no generator."""

    __slots__ = ("_allowance", "_begun", "_token")

    def __init__(self, allowance: _Allowance) -> None:
        self._allowance = allowance

    def __enter__(self) -> None:
        left = self._allowance.left
        if left <= 0:
            raise _make_error(self._allowance)
        self._begun = time.thread_time()
        self._token = _END.set(self._begun + left)

    def __exit__(self, kind: object, *_: object) -> None:
        _END.reset(self._token)
        self._allowance.left -= time.thread_time() - self._begun
        if kind is None and self._allowance.left <= 0:
            raise _make_error(self._allowance)


def check_work() -> None:
    """Look at the time, inside a stage.

    Raises:
        OutOfTime: the request has none left.
    """
    end, allowance = _END.get(None), _ALLOWANCE.get()
    if end is not None and allowance is not None and time.thread_time() >= end:
        raise _make_error(allowance)


def _make_error(allowance: _Allowance) -> OutOfTime:
    seconds = allowance.seconds
    return OutOfTime(f"the texts of a request may take {seconds:g} s of processor time")


SHORT = 1_000  # characters of a text on which ordinary work takes less than a millisecond
LIGHT = 20 * SHORT  # and of texts that are named or stored in a few milliseconds
EACH = 500  # of those, what a further text is worth
P = ParamSpec("P")
T = TypeVar("T")


def are_light(texts: Sequence[str]) -> bool:
    """Tell if light work on texts takes a few milliseconds at most, so that it needs no thread:
    they are named, stored or put in their places, but not searched."""
    return EACH * len(texts) + sum(map(len, texts)) <= LIGHT


async def offload(brief: bool, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return the function's result, from a thread unless it is brief.

    Under load, a thread may wait for the interpreter's whole switch interval, twice.

    Args:
        brief: whether the call takes about a millisecond or less.
        function: is called with the other arguments.

    Raises:
        OutOfTime: the request's processor time is used up, see `perturb.work`.
    """

    def work() -> T:
        with charge_work():
            return function(*args, **kwargs)

    if brief:
        return work()
    allowance = _ALLOWANCE.get()
    executor = None if allowance is None else allowance.executor
    run = copy_context().run
    return await asyncio.get_running_loop().run_in_executor(executor, run, work)


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
        [made] = self.find_all(owner, finder, [texts], lambda _: [compute()])
        return made

    def find_all(
        self,
        owner: str,
        finder: str,
        groups: Sequence[Sequence[str]],
        compute: Callable[[list[int]], Iterable[F]],
    ) -> list[F]:
        """Return the result for each group of texts; those that are not kept are computed
        together, by their numbers. Arguments as for `find`."""
        keys = [self._name(owner, finder, *texts) for texts in groups]
        with self._lock:
            made: list[Any] = [self._found.get(key) for key in keys]
            for key, found in zip(keys, made, strict=True):
                if found is not None:
                    self._found.move_to_end(key)
        if missing := [number for number, found in enumerate(made) if found is None]:
            for number, result in zip(missing, compute(missing), strict=True):
                made[number] = result
            self._add({keys[number]: made[number] for number in missing})
        return made

    def _name(self, *parts: str) -> bytes:
        digest = blake2b(key=self._key, digest_size=32)
        for part in parts:
            data = part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "big") + data)
        return digest.digest()

    def _add(self, made: Mapping[bytes, Sized]) -> None:
        with self._lock:
            for key, result in made.items():
                if key not in self._found:
                    self._found[key] = result
                    self._room -= 1 + len(result)
            while self._room < 0 and len(self._found) > 1:
                self._room += 1 + len(self._found.popitem(last=False)[1])


@dataclass
class _Memory:
    """Hold what a block remembers.

    It is emptied when the block ends: timers and connections that were made in the block keep its
    context, some of them for minutes.
    """

    findings: Findings | None
    owner: str
    known: dict[tuple[Hashable, str], Any] = field(default_factory=dict)
    over: bool = False

    def end(self) -> None:
        """Forget everything; a thread that still works remembers nothing more."""
        self.over = True
        self.known.clear()


_MEMORY: ContextVar[_Memory | None] = ContextVar("memory", default=None)
_UNKNOWN = object()


@contextmanager
def remember_texts(findings: Findings | None = None, owner: str = "") -> Iterator[None]:
    """Remember the tokens of texts and the parts found in them until the block ends, also in its
    tasks and threads.

    Args:
        findings: also keeps what is found in texts after that, for the same owner.
        owner: of the texts.
    """
    memory = _Memory(findings, owner)
    token = _MEMORY.set(memory)
    try:
        yield
    finally:
        memory.end()
        _MEMORY.reset(token)


def compute_once(compute: Callable[[str], T], text: str, finder: str = "") -> T:
    """Return `compute(text)`, which is called once for each text in a `remember_texts` block, and
    every time outside of one. The result must not be changed.

    Args:
        finder: the name of the computation, if its result, which has a length, may be kept for
            later requests; see `Findings`.
    """
    memory = _MEMORY.get()
    if memory is None or memory.over:
        return compute(text)
    found: Any = memory.known.get((compute, text), _UNKNOWN)
    if found is _UNKNOWN:
        if finder and memory.findings is not None:
            keep: Any = partial(compute, text)
            found = memory.findings.find(memory.owner, finder, [text], keep)
        else:
            found = compute(text)
        if not memory.over:  # also not while it was computed
            memory.known[compute, text] = found
    return found  # type: ignore[no-any-return]


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


def hash_values(*values: object) -> str:
    """Return a digest of values that JSON can write, for one of the texts of `keep_result`."""
    return sha256(json.dumps(values).encode()).hexdigest()


def select_texts(
    select: Callable[[list[str]], Iterable[str]], finder: str, texts: Sequence[str], *beside: str
) -> list[str]:
    """Return `select(texts)`, some of the texts in their order. It is known for later requests of
    the owner which ones are selected, as `keep_result` knows its results: these are not looked at
    again.

    Args:
        beside: other texts on which it depends whether a text is selected.
    """

    def judge(unknown: list[int]) -> list[tuple[int, ...]]:
        selected = {*select([texts[i] for i in unknown])}
        return [(1,) if texts[i] in selected else () for i in unknown]

    memory = _MEMORY.get()
    if memory is None or memory.findings is None:
        return list(select(list(texts)))
    groups = [(text, *beside) for text in texts]
    judged = memory.findings.find_all(memory.owner, finder, groups, judge)
    return [text for text, selected in zip(texts, judged, strict=True) if selected]
