"""A request looks for the marked parts of a text once, and remembers nothing for the next."""

from __future__ import annotations

import asyncio

from perturb.release import Span
from perturb.selective.once import find_once, remember_marks


class Finder:
    def __init__(self) -> None:
        self.texts: list[str] = []

    def find(self, text: str) -> tuple[Span, ...]:
        self.texts.append(text)
        return (Span(0, len(text), "NAME"),)


def test_each_text_is_read_once_in_a_block() -> None:
    one, other = Finder(), Finder()
    with remember_marks():
        for _ in range(3):
            assert find_once(one, "Anna", one.find) == (Span(0, 4, "NAME"),)
            assert find_once(one, "Bo", one.find) == (Span(0, 2, "NAME"),)
            find_once(other, "Anna", other.find)
    assert (one.texts, other.texts) == (["Anna", "Bo"], ["Anna"])


async def test_tasks_and_threads_of_a_block_share_it() -> None:
    finder = Finder()

    async def ask() -> None:
        await asyncio.to_thread(find_once, finder, "Anna", finder.find)

    with remember_marks():
        await ask()
        await asyncio.gather(ask(), ask())
    assert finder.texts == ["Anna"]


def test_nothing_outlives_a_block() -> None:
    finder = Finder()
    for _ in range(2):
        with remember_marks():
            find_once(finder, "Anna", finder.find)
        find_once(finder, "Anna", finder.find)
    assert finder.texts == ["Anna"] * 4
