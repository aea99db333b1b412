"""The memo and its cache: a text is drawn once."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Connection, select, update

from perturb import EmbeddingTable, Perturbation, Perturber, get_mechanism
from perturb.rng import renew_key
from perturb.work import SHORT
from proxy.config.store import StoreSettings as StoreSettings
from proxy.release import Release
from proxy.storage.digests import Digests, find_channel
from proxy.storage.ledger import Ledger
from proxy.storage.memo import ENTRY_BYTES, TOGETHER, Answers, Cache, Memo, Passages, Pending
from proxy.storage.opening import open_store
from proxy.storage.schema import RELEASES
from proxy.storage.store import Store
from tests.databases import database, postgres_url
from tests.perturb.marking import WORDS
from tests.proxy.storage.work import execute, scalar

__all__ = ["database", "postgres_url"]


@pytest.fixture(scope="module")
def perturber(table: EmbeddingTable) -> Perturber:
    return Perturber(get_mechanism("rantext_ldp", table, epsilon=6))


class Scripted(Perturber):
    """Releases what a script says."""

    script: Callable[[], Coroutine[Any, Any, Perturbation]]

    async def release(self, *_: Any) -> Perturbation:
        return await self.script()


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

    def test_what_is_dropped_leaves_its_room(self) -> None:
        cache: Cache[str] = Cache(size=2000, ttl=10)
        for key in "abcdef":
            cache.put(key.encode(), "x", 400)
            cache.drop(key.encode())
            cache.drop(b"z")
            assert cache.get(key.encode()) is None
        for key in "gh":
            cache.put(key.encode(), "x", 400)
        assert cache.get(b"g") == cache.get(b"h") == "x"

    def test_the_newest_stays_however_large(self) -> None:
        cache: Cache[str] = Cache(size=10, ttl=10)
        cache.put(b"a", "x", 1000)
        assert cache.get(b"a") == "x"
        cache.put(b"b", "y", 1000)
        assert (cache.get(b"a"), cache.get(b"b")) == (None, "y")


@pytest.fixture
async def store(database: dict[str, Any]) -> AsyncIterator[Store]:
    async with open_store(StoreSettings(**database)) as opened:
        yield opened


class TestMemo:
    @pytest.fixture
    def memo(self, store: Store) -> Memo:
        return Memo(store, size=10**6, ttl=10)

    async def draw(
        self, memo: Memo, perturber: Perturber, tenant: str, text: str, scope: str = ""
    ) -> Release:
        pending = Pending(text, (find_channel(perturber.mechanism),))
        (release,) = await memo.releases(tenant, scope, perturber, [pending])
        return release

    async def settle(self, memo: Memo, store: Store, tenant: str, release: Release) -> Release:
        def work(connection: Connection) -> list[Release]:
            Ledger(store, delta=1e-6).lock(connection, tenant)
            return memo.settle(connection, tenant, [release])

        (settled,) = await store.write(work, lane=tenant)
        memo.forget([settled])
        return settled

    async def test_a_text_is_drawn_once(self, memo: Memo, perturber: Perturber) -> None:
        text = "one two three four five six seven"
        first = [await self.draw(memo, perturber, "a", text) for _ in range(2)]
        at_once = await asyncio.gather(*(self.draw(memo, perturber, "b", text) for _ in range(10)))
        elsewhere = await self.draw(memo, perturber, "a", text, scope="conversation")
        assert len({entry.sanitized.text for entry in first}) == 1
        assert len({entry.sanitized.text for entry in at_once}) == 1
        assert len({e.sanitized.text for e in (at_once[0], first[0], elsewhere)}) == 3

    async def test_a_request_of_many_texts_draws_a_few_at_a_time(
        self, memo: Memo, perturber: Perturber
    ) -> None:
        """To begin with all of them at once would hold up every other request."""
        made = await perturber.release("one two three")
        running = most = 0

        async def take_turns() -> Perturbation:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0)
            running -= 1
            return made

        scripted = Scripted(perturber.mechanism)
        scripted.script = take_turns
        texts = [f"{i} " + "river " * SHORT for i in range(3 * TOGETHER)]
        channels = (find_channel(perturber.mechanism),)
        found = await memo.releases("a", "", scripted, [Pending(text, channels) for text in texts])
        assert [release.raw for release in found] == texts
        assert most == TOGETHER

    async def test_the_first_to_settle_wins_and_all_send_its_draw(
        self, store: Store, perturber: Perturber
    ) -> None:
        text = "one two three four five six seven"
        memos = [Memo(store, size=10**6, ttl=10) for _ in range(3)]  # of three replicas
        entries = [await self.draw(memo, perturber, "t", text) for memo in memos]
        assert len({entry.sanitized.text for entry in entries}) == 3
        winner = entries[1].sanitized.text
        order = (1, 0, 2)
        settled = [await self.settle(memos[i], store, "t", entries[i]) for i in order]
        assert [release.fresh for release in settled] == [True, False, False]
        assert all(release.sanitized.text == winner for release in settled)
        for memo in memos:
            assert (await self.draw(memo, perturber, "t", text)).sanitized.text == winner

    async def test_nothing_is_written_before_it_is_settled(
        self, memo: Memo, store: Store, perturber: Perturber
    ) -> None:
        entry = await self.draw(memo, perturber, "t", "a few words")
        assert (await store.info())["releases"] == 0
        assert (await self.settle(memo, store, "t", entry)).fresh
        assert (await store.info())["releases"] == 1

    async def test_once_released_only_the_store_counts(
        self, memo: Memo, store: Store, perturber: Perturber
    ) -> None:
        text = "more words than two draws have in common"
        entry = await self.draw(memo, perturber, "t", text)
        await self.settle(memo, store, "t", entry)
        assert (await self.draw(memo, perturber, "t", text)).sanitized.words
        await store.purge()
        assert (await self.draw(memo, perturber, "t", text)).sanitized != entry.sanitized

    async def test_many_texts_at_once_are_drawn_independently(
        self, memo: Memo, perturber: Perturber, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """They share a generator, but no noise; others get their turn in between, and then it has
        another key."""
        renewals = []
        monkeypatch.setattr(
            "proxy.storage.memo.renew_key", lambda rng: (renew_key(rng), renewals.append(1))
        )
        text = "one two three four five six seven"
        channel = (find_channel(perturber.mechanism),)
        await memo.releases("t", "", perturber, [Pending("the first draw is a long one", channel)])
        renewals.clear()
        turns, drawing = 0, True

        async def count() -> None:
            nonlocal turns
            while drawing:
                turns += 1
                await asyncio.sleep(0)

        counting = asyncio.create_task(count())
        pending = [Pending(f"{text} {number}", channel) for number in range(64)]
        made = await memo.releases("t", "", perturber, pending)
        drawing = False
        await counting
        assert len({release.sanitized.text for release in made}) == 64
        assert len(renewals) == 64 / 16
        assert turns >= len(renewals) - 1

    async def test_a_release_comes_back_from_the_store_as_it_was(
        self, store: Store, table: EmbeddingTable
    ) -> None:
        text = "Mr. Bartholomew of 12 Elm Street, bartholomew@example.org\x00 \ud83d 😀"
        for name in ("rantext", "rantext_ldp", "santext", "selective"):
            words = WORDS if name == "selective" else {}
            sanitizer = Perturber(get_mechanism(name, table, epsilon=6, **words))
            entry = await self.draw(Memo(store, size=10**6, ttl=10), sanitizer, "t", text)
            await self.settle(Memo(store, size=10**6, ttl=10), store, "t", entry)
            again = await self.draw(Memo(store, size=10**6, ttl=10), sanitizer, "t", text)
            ours, theirs = entry.sanitized, again.sanitized
            assert (ours.text, ours.words) == (theirs.text, theirs.words)
            assert ours.replaced == theirs.replaced
            told = replace(ours.receipt, statistics={})
            assert json.dumps(told.to_dict()) == json.dumps(theirs.receipt.to_dict())
            sanitizer.verify(text, again.sanitized)

    async def test_what_an_earlier_version_stored_can_be_read(
        self, store: Store, table: EmbeddingTable
    ) -> None:
        """Its receipts do not say how many tokens have no bound, nor the unit of ε."""
        text = "Mr. Bartholomew met me on the way home"
        for name, unbounded in (("rantext_ldp", 0), ("rantext", 9), ("selective", 8)):
            words = WORDS if name == "selective" else {}
            sanitizer = Perturber(get_mechanism(name, table, epsilon=6, **words))
            memo = Memo(store, size=10**6, ttl=10)
            entry = await self.draw(memo, sanitizer, "t", text)
            released = entry.sanitized.receipt.released
            await self.settle(memo, store, "t", entry)
            mine = RELEASES.c.key == entry.key
            query = select(RELEASES.c.value).where(mine)
            value = json.loads(await store.scan(scalar(query)))
            assert value["receipt"].pop("unbounded") == entry.sanitized.receipt.unbounded
            assert value["receipt"].pop("unit") == entry.sanitized.receipt.unit
            older = update(RELEASES).where(mine).values(value=json.dumps(value))
            await store.write(execute(older))
            again = await self.draw(Memo(store, size=10**6, ttl=10), sanitizer, "t", text)
            assert again.sanitized.text == entry.sanitized.text
            counted = again.sanitized.receipt.unbounded
            assert counted == (released if name == "rantext" else unbounded)
            assert counted >= entry.sanitized.receipt.unbounded
            assert again.sanitized.receipt.unit == entry.sanitized.receipt.unit

    async def test_another_draw_of_a_text_is_another_release(
        self, memo: Memo, store: Store, perturber: Perturber
    ) -> None:
        entry = await self.draw(memo, perturber, "t", "a few words")
        digests, drawn = Digests(store), entry.sanitized
        first = digests.release(entry)
        assert digests.release(replace(entry, fresh=False)) == first
        other = replace(drawn, text=drawn.text + " more")
        assert digests.release(replace(entry, sanitized=other)) != first
        assert digests.release(replace(entry, key=bytes(32))) != first
        assert len(first) == 32

    async def test_how_a_text_was_drawn_is_not_stored(
        self, memo: Memo, store: Store, table: EmbeddingTable
    ) -> None:
        """A list's size, or whether a word came from the tail, tells more of the raw word than
        the word that left: the remote does not have it, and neither has the store."""
        for name in ("rantext", "rantext_ldp"):
            words = WORDS if name == "selective" else {}
            sanitizer = Perturber(get_mechanism(name, table, epsilon=6, **words))
            entry = await self.draw(memo, sanitizer, "t", "Warsaw")
            assert entry.sanitized.receipt.statistics
            await self.settle(memo, store, "t", entry)
        values = await store.scan(lambda c: c.scalars(select(RELEASES.c.value)).all())
        assert [json.loads(value)["receipt"]["statistics"] for value in values] == [{}, {}]

    @pytest.mark.usefixtures("seeded_draws")
    async def test_a_stored_release_holds_no_raw_word_but_those_that_leave(
        self, memo: Memo, store: Store, table: EmbeddingTable
    ) -> None:
        hidden = ("Bartholomew", "Zawadzki", "555-013-2479", "jane.doe", "CX-17")
        text = f"Mr. {hidden[0]} {hidden[1]}, {hidden[2]}, {hidden[3]}@example.org, {hidden[4]}"
        mechanism = get_mechanism(
            "selective", table, epsilon=6, patterns={"CASE": "CX-[0-9]+"}, **WORDS
        )
        entry = await self.draw(memo, Perturber(mechanism), "t", text)
        await self.settle(memo, store, "t", entry)
        (row,) = await store.scan(lambda c: c.execute(select(RELEASES)).all())
        assert len(entry.sanitized.replaced or ()) >= 4
        assert not [part for part in hidden if part.casefold() in repr(row).casefold()]
        words = set(re.findall(r"[A-Za-z]{4,}", text)) - set(
            re.findall(r"[A-Za-z]{4,}", entry.sanitized.text)
        )
        assert words
        assert not [word for word in words if word in json.loads(row.value)["words"]]

    async def test_a_cancelled_request_does_not_cancel_the_draw(
        self, memo: Memo, perturber: Perturber
    ) -> None:
        gate, begun = asyncio.Event(), asyncio.Event()
        made = perturber.perturb("x")

        async def create() -> Perturbation:
            begun.set()
            await gate.wait()
            return made

        sanitizer, pending = Scripted(perturber.mechanism), [Pending("x", ("{}",))]
        sanitizer.script = create
        first = asyncio.create_task(memo.releases("t", "", sanitizer, pending))
        await begun.wait()
        second = asyncio.create_task(memo.releases("t", "", sanitizer, pending))
        await asyncio.sleep(0)
        first.cancel()
        gate.set()
        (entry,) = await second
        assert entry.sanitized is made

    async def test_a_failed_draw_is_tried_again(self, memo: Memo, perturber: Perturber) -> None:
        made = perturber.perturb("x")
        outcomes: list[Any] = [ValueError("x"), made]

        async def create() -> Any:
            outcome = outcomes.pop(0)
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        sanitizer = Scripted(perturber.mechanism)
        sanitizer.script = create
        with pytest.raises(ValueError, match="x"):
            await memo.releases("t", "", sanitizer, [Pending("x", ("{}",))])
        (entry,) = await memo.releases("t", "", sanitizer, [Pending("x", ("{}",))])
        assert entry.sanitized is made

    async def test_generations_belong_to_their_tenant_and_outlive_the_process(
        self, store: Store
    ) -> None:
        generation = "generation \x00 \ud83d"
        first, again = (Answers(store, Passages(store), size=10**6, ttl=10) for _ in range(2))
        await first.remember("a", "", "question", "answer", "answer", generation)
        for at in (first, again):
            assert await at.generation(at.key("a", "", "question", "answer")) == generation
            assert await at.generation(at.key("b", "", "question", "answer")) is None
            assert await at.generation(at.key("a", "", "question", "answer ")) is None
            assert await at.generation(at.key("a", "", "another", "answer")) is None

    async def test_an_equal_answer_keeps_its_first_generation(self, store: Store) -> None:
        each = [Answers(store, Passages(store), size=10**6, ttl=10) for _ in range(2)]
        for at, generation in zip(each, ("first", "second"), strict=True):
            await at.remember("a", "", "question", "answer", "answer", generation)
        for at in each:
            assert await at.generation(at.key("a", "", "question", "answer")) == "first"

    async def test_no_key_of_the_memo_is_text_or_its_plain_hash(
        self, memo: Memo, store: Store, perturber: Perturber
    ) -> None:
        text = "a text with a few words"
        key = (await self.draw(memo, perturber, "t", text)).key
        assert text.encode() not in key
        assert key != hashlib.sha256(text.encode()).digest()
        digests = Digests(store)
        assert digests.of("ab", "c") != digests.of("a", "bc")

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
