"""A request reads each text once, and remembers nothing for the next."""

from __future__ import annotations

import asyncio
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial

import pytest

from perturb.release import Span
from perturb.work import Findings, compute_once, keep_result, remember_texts, select_texts


class Finder:
    def __init__(self) -> None:
        self.texts: list[str] = []

    def find(self, text: str) -> tuple[Span, ...]:
        self.texts.append(text)
        return (Span(0, len(text), "NAME"),)


def test_each_text_is_read_once_in_a_block() -> None:
    one, other = Finder(), Finder()
    with remember_texts():
        for _ in range(3):
            assert compute_once(one.find, "Anna") == (Span(0, 4, "NAME"),)
            assert compute_once(one.find, "Bo") == (Span(0, 2, "NAME"),)
            compute_once(other.find, "Anna")
    assert (one.texts, other.texts) == (["Anna", "Bo"], ["Anna"])


def test_a_context_that_is_kept_holds_nothing_of_the_block() -> None:
    """A timer or a connection keeps the one that it was made in."""

    class Tokens(list[str]):
        pass

    def split(text: str) -> Tokens:
        return Tokens(text.split())

    with remember_texts():
        kept = weakref.ref(compute_once(split, "Anna wrote"))
        assert kept() is not None
        context = copy_context()
    assert kept() is None
    late = weakref.ref(context.run(compute_once, split, "Anna wrote"))  # by a thread, say
    assert late() is None


def test_a_thread_that_outlives_its_block_leaves_nothing_in_it() -> None:
    class Tokens(list[str]):
        pass

    begun, ended = threading.Event(), threading.Event()

    def split(text: str) -> Tokens:
        begun.set()
        assert ended.wait(60)
        return Tokens(text.split())

    with ThreadPoolExecutor(1) as pool:
        with remember_texts():
            context = copy_context()
            made = pool.submit(context.run, compute_once, split, "Anna wrote")
            assert begun.wait(60)
        ended.set()
        kept = weakref.ref(made.result())
    del made
    assert kept() is None


async def test_tasks_and_threads_of_a_block_share_it() -> None:
    finder = Finder()

    async def ask() -> None:
        await asyncio.to_thread(compute_once, finder.find, "Anna")

    with remember_texts():
        await ask()
        await asyncio.gather(ask(), ask())
    assert finder.texts == ["Anna"]


def test_nothing_outlives_a_block() -> None:
    finder = Finder()
    for _ in range(2):
        with remember_texts():
            compute_once(finder.find, "Anna")
        compute_once(finder.find, "Anna")
    assert finder.texts == ["Anna"] * 4


def test_findings_outlive_a_block_for_their_owner_alone() -> None:
    finder, findings = Finder(), Findings()
    for owner in ("alice", "alice", "bob", "alice"):
        with remember_texts(findings, owner):
            assert compute_once(finder.find, "Anna", "names") == (Span(0, 4, "NAME"),)
    assert finder.texts == ["Anna", "Anna"]  # once for each owner


def test_another_finder_or_none_has_no_findings() -> None:
    finder, findings = Finder(), Findings()
    for name in ("names", "others", "", ""):
        with remember_texts(findings, "alice"):
            compute_once(finder.find, "Anna", name)
    assert finder.texts == ["Anna"] * 4


def test_findings_are_bounded_and_the_oldest_are_forgotten() -> None:
    finder, findings = Finder(), Findings(room=6)  # each text has one finding, and counts itself
    for text in ("a", "b", "c", "a", "d", "a", "b"):
        findings.find("o", "f", [text], partial(finder.find, text))
    assert finder.texts == ["a", "b", "c", "d", "b"]


def test_findings_hold_no_text() -> None:
    finder, findings = Finder(), Findings()
    findings.find("o", "f", ["Xylophonist"], partial(finder.find, "Xylophonist"))
    assert "Xylophonist" not in repr(vars(findings))


def test_a_result_is_kept_for_its_owner_its_name_and_its_texts() -> None:
    findings, computed = Findings(), list[str]()

    def compute(owner: str, name: str, *texts: str) -> None:
        def note() -> tuple[int, ...]:
            computed.append(" ".join((owner, name, *texts)))
            return (len(computed),)

        with remember_texts(findings, owner):
            keep_result(note, name, *texts)

    asked = [
        ("alice", "check", "a", "b"),
        ("alice", "check", "ab"),
        ("alice", "check", "a", "c"),
        ("alice", "other", "a", "b"),
        ("bob", "check", "a", "b"),
    ]
    for each in (*asked, *asked):
        compute(*each)
    assert computed == [" ".join(each) for each in asked]


def test_a_result_is_not_kept_outside_of_a_block_or_where_it_failed() -> None:
    findings, computed = Findings(), list[int]()

    def note() -> tuple[int, ...]:
        computed.append(1)
        raise ValueError

    for _ in range(2):
        with remember_texts(findings, "alice"), pytest.raises(ValueError):  # noqa: PT011
            keep_result(note, "check", "a")
        assert keep_result(lambda: (len(computed),), "check", "a") == (len(computed),)
    assert len(computed) == 2


def test_texts_are_judged_together_and_once() -> None:
    findings, looked = Findings(), list[list[str]]()

    def select(texts: list[str]) -> list[str]:
        looked.append(texts)
        return [text for text in texts if "a" in text]

    for owner, beside, texts in (
        ("alice", "x", ["ab", "b", "ab"]),
        ("alice", "x", ["b", "ab", "c", "ca"]),
        ("alice", "y", ["ab"]),
        ("bob", "x", ["ab"]),
    ):
        with remember_texts(findings, owner):
            selected = select_texts(select, "has a", texts, beside)
        assert selected == [text for text in texts if "a" in text]
    assert looked == [["ab", "b", "ab"], ["c", "ca"], ["ab"], ["ab"]]
    for _ in range(2):
        assert select_texts(select, "has a", ["ab", "c"], "x") == ["ab"]
    assert looked[4:] == [["ab", "c"]] * 2
