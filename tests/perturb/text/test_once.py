"""A request reads each text once, and remembers nothing for the next."""

from __future__ import annotations

import asyncio

from perturb.release import Span
from perturb.text.once import compute_once, remember_texts


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
