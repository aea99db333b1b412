"""The memo and its cache: a text is drawn once."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from perturb import EmbeddingTable, Perturber, get_mechanism
from proxy.cache import ENTRY_BYTES, Cache
from proxy.config_store import Store as StoreSettings
from proxy.ledger import Ledger
from proxy.memo import Entry, Memo, Wanted
from proxy.schema import RELEASES
from proxy.store import Store, open_store


@pytest.fixture(scope="module")
def perturber(table: EmbeddingTable) -> Perturber:
    return Perturber(get_mechanism("rantext_ldp", table, epsilon=6))


class TestCache:
    def test_entries_expire_and_the_oldest_used_goes_first(self) -> None:
        now = 0.0
        cache: Cache[str] = Cache(size=2 * ENTRY_BYTES + 200, ttl=10, clock=lambda: now)

        def known(text: str) -> bool:
            found = cache.get(text.encode()) is not None
            if not found:
                cache.put(text.encode(), text, len(text))
            return found

        assert [known(text) for text in ("ab", "cd", "ab", "ef", "ab", "cd")] == [
            *(False, False, True, False, True, False)
        ]
        now = 9.0
        assert known("cd")
        now = 18.0
        assert known("cd")
        now = 29.0
        assert not known("cd")

    def test_the_newest_stays_however_large(self) -> None:
        cache: Cache[str] = Cache(size=10, ttl=10)
        cache.put(b"a", "x", 1000)
        assert cache.get(b"a") == "x"
        cache.put(b"b", "y", 1000)
        assert (cache.get(b"a"), cache.get(b"b")) == (None, "y")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with open_store(StoreSettings(folder=str(tmp_path / "memo"))) as opened:
        yield opened


class TestMemo:
    @pytest.fixture
    def memo(self, store: Store) -> Memo:
        return Memo(store, size=10**6, ttl=10)

    async def draw(
        self, memo: Memo, perturber: Perturber, tenant: str, text: str, scope: str = ""
    ) -> Entry:
        async def create() -> Any:
            await asyncio.sleep(0)
            return perturber.perturb(text)

        wanted = Wanted(perturber.mechanism.identity(), text, create)
        (entry,) = await memo.entries(tenant, scope, [wanted])
        return entry

    async def settle(self, memo: Memo, store: Store, tenant: str, *entries: Entry) -> list[bool]:
        async with store.writing() as connection:
            await Ledger(store, delta=1e-6).lock(connection, tenant)
            await memo.settle(connection, tenant, entries)
        memo.settled(entries)
        return [entry.fresh for entry in entries]

    async def test_a_text_is_drawn_once(self, memo: Memo, perturber: Perturber) -> None:
        text = "one two three four five six seven"
        first = [await self.draw(memo, perturber, "a", text) for _ in range(2)]
        at_once = await asyncio.gather(*(self.draw(memo, perturber, "b", text) for _ in range(10)))
        elsewhere = await self.draw(memo, perturber, "a", text, scope="conversation")
        assert len({entry.released.text for entry in first}) == 1
        assert len({entry.released.text for entry in at_once}) == 1
        assert len({e.released.text for e in (at_once[0], first[0], elsewhere)}) == 3

    async def test_the_first_to_settle_wins_and_all_send_its_draw(
        self, store: Store, perturber: Perturber
    ) -> None:
        text = "one two three four five six seven"
        memos = [Memo(store, size=10**6, ttl=10) for _ in range(3)]  # of three replicas
        entries = [await self.draw(memo, perturber, "t", text) for memo in memos]
        assert len({entry.released.text for entry in entries}) == 3
        winner = entries[1].released.text
        order = (1, 0, 2)
        fresh = [(await self.settle(memos[i], store, "t", entries[i]))[0] for i in order]
        assert fresh == [True, False, False]
        assert all(entry.released.text == winner for entry in entries)
        for memo in memos:
            assert (await self.draw(memo, perturber, "t", text)).released.text == winner

    async def test_nothing_is_written_before_it_is_settled(
        self, memo: Memo, store: Store, perturber: Perturber
    ) -> None:
        entry = await self.draw(memo, perturber, "t", "a few words")
        assert (await store.info())["releases"] == 0
        assert await self.settle(memo, store, "t", entry) == [True]
        assert (await store.info())["releases"] == 1

    async def test_a_release_comes_back_from_the_store_as_it_was(
        self, store: Store, table: EmbeddingTable
    ) -> None:
        text = "Mr. Bartholomew of 12 Elm Street, bartholomew@example.org\x00 \ud83d 😀"
        for name in ("rantext", "rantext_ldp", "santext", "selective"):
            sanitizer = Perturber(get_mechanism(name, table, epsilon=6))
            entry = await self.draw(Memo(store, size=10**6, ttl=10), sanitizer, "t", text)
            await self.settle(Memo(store, size=10**6, ttl=10), store, "t", entry)
            again = await self.draw(Memo(store, size=10**6, ttl=10), sanitizer, "t", text)
            ours, theirs = entry.released, again.released
            assert (ours.text, ours.words) == (theirs.text, theirs.words)
            assert ours.replaced == theirs.replaced
            told = replace(ours.receipt, statistics={})
            assert json.dumps(told.to_dict()) == json.dumps(theirs.receipt.to_dict())
            sanitizer.verify(text, again.released)

    async def test_how_a_text_was_drawn_is_not_stored(
        self, memo: Memo, store: Store, table: EmbeddingTable
    ) -> None:
        """A list's size, or whether a word came from the tail, tells more of the raw word than
        the word that left: the remote does not have it, and neither has the store."""
        for name in ("rantext", "rantext_ldp"):
            sanitizer = Perturber(get_mechanism(name, table, epsilon=6))
            entry = await self.draw(memo, sanitizer, "t", "Warsaw")
            assert entry.released.receipt.statistics
            await self.settle(memo, store, "t", entry)
        async with store.reading() as connection:
            values = (await connection.scalars(select(RELEASES.c.value))).all()
        assert [json.loads(value)["receipt"]["statistics"] for value in values] == [{}, {}]

    async def test_a_stored_release_holds_no_raw_word_but_those_that_leave(
        self, memo: Memo, store: Store, table: EmbeddingTable
    ) -> None:
        hidden = ("Bartholomew", "Zawadzki", "555-013-2479", "jane.doe", "CX-17")
        text = f"Mr. {hidden[0]} {hidden[1]}, {hidden[2]}, {hidden[3]}@example.org, {hidden[4]}"
        mechanism = get_mechanism("selective", table, epsilon=6, patterns={"CASE": "CX-[0-9]+"})
        entry = await self.draw(memo, Perturber(mechanism), "t", text)
        await self.settle(memo, store, "t", entry)
        async with store.reading() as connection:
            (row,) = (await connection.execute(select(RELEASES))).all()
        assert len(entry.released.replaced or ()) >= 4
        assert not [part for part in hidden if part.casefold() in repr(row).casefold()]
        words = set(re.findall(r"[A-Za-z]{4,}", text)) - set(
            re.findall(r"[A-Za-z]{4,}", entry.released.text)
        )
        assert words
        assert not [word for word in words if word in json.loads(row.value)["words"]]

    async def test_a_cancelled_request_does_not_cancel_the_draw(
        self, memo: Memo, perturber: Perturber
    ) -> None:
        gate, begun = asyncio.Event(), asyncio.Event()
        made = perturber.perturb("x")

        async def create() -> Any:
            begun.set()
            await gate.wait()
            return made

        wanted = [Wanted({}, "x", create)]
        first = asyncio.create_task(memo.entries("t", "", wanted))
        await begun.wait()
        second = asyncio.create_task(memo.entries("t", "", wanted))
        await asyncio.sleep(0)
        first.cancel()
        gate.set()
        (entry,) = await second
        assert entry.released is made

    async def test_a_failed_draw_is_tried_again(self, memo: Memo, perturber: Perturber) -> None:
        made = perturber.perturb("x")
        outcomes: list[Any] = [ValueError("x"), made]

        async def create() -> Any:
            outcome = outcomes.pop(0)
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        with pytest.raises(ValueError, match="x"):
            await memo.entries("t", "", [Wanted({}, "x", create)])
        (entry,) = await memo.entries("t", "", [Wanted({}, "x", create)])
        assert entry.released is made

    async def test_generations_belong_to_their_tenant_and_outlive_the_process(
        self, memo: Memo, store: Store
    ) -> None:
        generation = "generation \x00 \ud83d"
        await memo.remember_answer("a", "", "question", "answer", generation)
        for at in (memo, Memo(store, size=10**6, ttl=10)):
            assert await at.generation(at.answer("a", "", "question", "answer")) == generation
            assert await at.generation(at.answer("b", "", "question", "answer")) is None
            assert await at.generation(at.answer("a", "", "question", "answer ")) is None
            assert await at.generation(at.answer("a", "", "another", "answer")) is None

    async def test_an_equal_answer_keeps_its_first_generation(
        self, memo: Memo, store: Store
    ) -> None:
        other = Memo(store, size=10**6, ttl=10)
        await memo.remember_answer("a", "", "question", "answer", "first")
        await other.remember_answer("a", "", "question", "answer", "second")
        for at in (memo, other):
            assert await at.generation(at.answer("a", "", "question", "answer")) == "first"

    async def test_no_key_of_the_memo_is_text_or_its_plain_hash(
        self, memo: Memo, perturber: Perturber
    ) -> None:
        text = "a text with a few words"
        key = (await self.draw(memo, perturber, "t", text)).key
        assert text.encode() not in key
        assert key != hashlib.sha256(text.encode()).digest()
        assert memo.key("ab", "c") != memo.key("a", "bc")

    async def test_another_secret_finds_nothing(
        self, memo: Memo, store: Store, perturber: Perturber
    ) -> None:
        entry = await self.draw(memo, perturber, "t", "a few words of text")
        await self.settle(memo, store, "t", entry)
        store.secret = bytes(32)
        again = await self.draw(
            Memo(store, size=10**6, ttl=10), perturber, "t", "a few words of text"
        )
        assert again.key != entry.key
