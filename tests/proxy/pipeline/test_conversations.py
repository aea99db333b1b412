"""Privacy over time: what a conversation shows over turns, restarts, replicas, retries, edits."""

from __future__ import annotations

import asyncio
import itertools
import json
import math
import os
import random
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np
import pytest
from numpy.typing import NDArray

from perturb import EmbeddingTable, Perturber, get_mechanism, seeded_generator
from perturb.text.fold import find_words
from proxy.api.app_keys import STORE
from proxy.cli.demo import DEMO_TEXT
from proxy.config.settings import load_config
from tests.absence import find_leaks
from tests.databases import database, postgres_url
from tests.perturb.marking import WORDS
from tests.proxy.conftest import MODEL, Proxy, merge, running_proxy
from tests.tables import bundled_table

__all__ = ["database", "postgres_url"]

CONVERSATIONS = int(os.environ.get("INFERDPT_TEST_CONVERSATIONS", "12"))
LDP = {"privacy": {"mechanism": "rantext_ldp", "epsilon": 6}}
SELECTIVE = {"privacy": {"mechanism": "selective", "parameters": WORDS, "epsilon": 6}}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def ask(proxy: Proxy, *turns: dict[str, Any], **more: Any) -> Any:
    messages: Any = list(turns)
    return await proxy.client().chat.completions.create(model=MODEL, messages=messages, **more)


def receipt(done: Any) -> Any:
    return done.model_extra["inferdpt"]


def paragraphs(count: int, words: int = 25, seed: int = 0) -> list[str]:
    """Paragraphs of common words, each of them another."""
    generator, common = random.Random(seed), bundled_table().vocabulary.words[2000:4000]
    return [" ".join(generator.choices(common, k=words)) for _ in range(count)]


async def chat(proxies: list[Proxy], turns: list[dict[str, Any]], rounds: range) -> list[Any]:
    """Go on with a chat, every turn at the next proxy; each one's remote answers in its words."""
    seen = []
    for i in rounds:
        proxy = proxies[i % len(proxies)]
        proxy.remote.text = f"remote words number {i}"
        proxy.local.text = f"Local answer number {i} with Zanzibar."
        turns.append(user(f"Question number {i} about the quarterly figures of the company"))
        done = await ask(proxy, *turns)
        turns.append(done.choices[0].message.model_dump())
        seen.append((proxy.sent(), receipt(done)))
    return seen


def check_chat(seen: list[Any]) -> None:
    """Each turn as it left first, ever after; the remote's own words; ε for new text only."""
    for (earlier, _), (later, _) in itertools.pairwise(seen):
        assert later[: len(earlier)] == earlier
    last = seen[-1][0]
    answers = [message["content"] for message in last if message["role"] == "assistant"]
    assert answers == [f"remote words number {i}" for i in range(len(seen) - 1)]
    assert find_leaks(["Zanzibar"], json.dumps(last)) == []
    costs = {found["budget"]["charged"]["epsilon"] for _, found in seen}
    assert len(costs) == 1
    assert all(
        found["released_before"] == found["released"] - found["released"] // (i + 1)
        for i, (_, found) in enumerate(seen)
    )


async def test_ten_turns_over_restarts(table: EmbeddingTable, database: dict[str, Any]) -> None:
    turns: list[dict[str, Any]] = []
    seen = []
    for rounds in (range(4), range(4, 7), range(7, 10)):
        async with running_proxy(table, merge(LDP, {"store": database})) as proxy:
            seen += await chat([proxy], turns, rounds)
    check_chat(seen)


@asynccontextmanager
async def two_replicas(
    table: EmbeddingTable, database: dict[str, Any]
) -> AsyncIterator[list[Proxy]]:
    over = merge(LDP, {"store": database})
    async with running_proxy(table, over) as one, running_proxy(table, over) as other:
        yield [one, other]


async def test_ten_turns_alternating_between_two_replicas(
    table: EmbeddingTable, database: dict[str, Any]
) -> None:
    async with two_replicas(table, database) as proxies:
        check_chat(await chat(proxies, [], range(10)))


async def test_what_a_live_conversation_holds_is_not_forgotten(
    table: EmbeddingTable, database: dict[str, Any]
) -> None:
    """Its answers count as used whenever it goes on, as its texts do, also over a restart."""
    turns: list[dict[str, Any]] = []
    seen = []
    for i in range(3):
        begun = time.time()
        async with running_proxy(table, merge(LDP, {"store": database})) as proxy:
            seen += await chat([proxy], turns, range(i, i + 1))
            await proxy.app[STORE].sweep(0.0, 10**6, now=begun)
    check_chat(seen)


async def test_two_replicas_asked_at_once_agree(
    table: EmbeddingTable, database: dict[str, Any]
) -> None:
    async with two_replicas(table, database) as proxies:
        for i in range(3):
            text = f"Question {i} about the quarterly figures of the company"
            await asyncio.gather(*(ask(proxy, user(text)) for proxy in proxies * 4))
            sent = {body["messages"][0]["content"] for p in proxies for body in p.remote.bodies}
            assert len(sent) == i + 1


class Reader:
    """The attacker who knows the channel: at each place the likeliest of 500 words and those of
    the document, by all releases it has."""

    def __init__(self, table: EmbeddingTable, text: str) -> None:
        self.sanitizer = Perturber(get_mechanism("rantext_ldp", table, epsilon=6))
        _, places = self.sanitizer.places(table.vocabulary.encode(text))
        self.places = places
        self.candidates = np.unique([*places, *range(0, len(table), len(table) // 500)])
        self.channel, _ = self.sanitizer.mechanism.channel(self.candidates)
        self.index = {word: i for i, word in enumerate(table.vocabulary.words)}

    def read(self, releases: list[str]) -> int:
        """Return the number of words of the document that are recovered."""
        words = [re.findall(r"[^\W\d_]+", text) for text in releases]
        seen = np.array([[self.index[word] for word in text] for text in words])
        scores = np.log(np.maximum(self.channel, 1e-300))[:, seen].sum(axis=1)
        return int(np.sum(self.candidates[scores.argmax(axis=0)] == self.places))

    def expected(self) -> NDArray[np.float64]:
        """The exact chance of each word to be recovered from one release."""
        best = self.candidates[self.channel.argmax(axis=0)]
        rows = np.searchsorted(self.candidates, self.places)
        return np.array(
            [self.channel[row, best == x].sum() for row, x in zip(rows, self.places, strict=True)]
        )


async def test_averaging_gains_nothing(table: EmbeddingTable, tmp_path: Path) -> None:
    """50 retries, regenerations and n = 8, over five restarts, are one release, and the best
    attacker reads of them what the channel lets it read of one."""
    left: list[str] = []
    store = {"folder": str(tmp_path / "state")}
    for restart in range(5):
        async with running_proxy(table, merge(LDP, {"store": store})) as proxy:
            history = [user("Hello there my friend"), {"role": "assistant", "content": "x"}]
            for i in range(10):
                before = history if i % 2 else []
                await ask(proxy, *before, user(DEMO_TEXT), n=8 if i % 3 == 0 else 1)
            left += [body["messages"][-1]["content"] for body in proxy.remote.bodies]
            assert len(left) == 10 * (restart + 1)
    reader = Reader(table, DEMO_TEXT)
    assert len(set(left)) == 1
    assert reader.read(left) == reader.read(left[:1])
    chances = reader.expected()
    # Hoeffding: an honest release shows more with probability 1e-9 at most.
    bound = chances.sum() + math.sqrt(len(chances) * math.log(1e9) / 2)
    fresh = [reader.sanitizer.perturb(DEMO_TEXT, seeded_generator(i)).text for i in range(50)]
    assert reader.read(left) <= bound < 0.6 * len(chances)
    assert reader.read(fresh) > 0.75 * len(chances)  # fresh noise would have given it all away


async def test_nothing_raw_is_kept(table: EmbeddingTable, tmp_path: Path) -> None:
    """Neither in the database, nor its log, nor in logs and metrics, is there a run of four
    words of a document that did not leave."""
    folder = tmp_path / "state"
    grams: set[tuple[str, ...]] = set()
    left: set[tuple[str, ...]] = set()

    def windows(text: str) -> set[tuple[str, ...]]:
        words = find_words(text)
        return {tuple(words[i : i + 4]) for i in range(len(words) - 3)}

    limits = {"budget": {"request": 700}, "mechanisms": ["rantext_ldp", "selective"]}
    over = {"store": {"folder": str(folder)}, "limits": limits}
    async with running_proxy(table, merge(LDP, over)) as proxy:
        for i in range(CONVERSATIONS):
            document = "\n\n".join(paragraphs(3, seed=i))
            name = f"Mr. Bartholomew{i} Kowalewski of Warsaw street {i}"
            turns = [user(document), {"role": "assistant", "content": "I see"}, user(name)]
            mechanism = "selective" if i % 4 == 3 else "rantext_ldp"
            grams |= windows(document) | windows(name)
            await ask(proxy, *turns, extra_body={"inferdpt": {"mechanism": mechanism}})
            if i % 3 == 0:  # one over the budget, and a preview: nothing of them is kept
                refused = "\n\n".join(paragraphs(9, seed=1000 + i))
                with pytest.raises(Exception, match="budget"):
                    await ask(proxy, user(refused))
                async with (
                    aiohttp.ClientSession() as session,
                    session.post(
                        f"{proxy.base_url}/privacy/perturb", json={"text": refused[:900]}
                    ) as response,
                ):
                    assert response.status == 200
                grams |= windows(refused)
        for body in proxy.remote.bodies:
            for message in body["messages"]:
                left |= windows(message["content"])
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"{proxy.root}/metrics") as response,
        ):
            metrics = await response.text()
        files = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert {"inferdpt.db", "inferdpt.db-wal"} <= set(files)
    kept = b"\n".join(files.values()).decode("utf-8", "replace")
    shown = "\n".join((kept, kept.replace('", "', " "), metrics, *proxy.log))
    found = windows(shown)
    assert len(left & found) > 100  # the search finds what is there to be found
    assert (grams - left) & found == set()
    assert find_leaks(["Bartholomew"], shown) == []


class TestParagraphs:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return LDP

    async def sent(self, proxy: Proxy, text: str) -> tuple[list[str], Any]:
        done = await ask(proxy, user(text))
        return proxy.sent()[0]["content"].split("\n\n"), receipt(done)

    async def test_an_edit_redraws_its_paragraph_only(self, proxy: Proxy) -> None:
        texts = paragraphs(8)
        first, _ = await self.sent(proxy, "\n\n".join(texts))
        texts[3] = texts[3].replace(" ", " changed ", 1)
        edited, found = await self.sent(proxy, "\n\n".join(texts))
        assert len(first) == len(edited) == 8
        assert [a == b for a, b in zip(first, edited, strict=True)] == [i != 3 for i in range(8)]
        assert found["budget"]["charged"]["tokens"] == len(edited[3].split())
        grown, _ = await self.sent(proxy, "\n\n".join([*texts, *paragraphs(1, seed=9)]))
        assert grown[:8] == edited

    @pytest.mark.parametrize("gap", ["\n\n", "\n\u00a0\n", "\n\x0c\n", "\n \n\x0b\n"])
    async def test_one_word_shows_in_its_place_alone(
        self, table: EmbeddingTable, gap: str
    ) -> None:
        """Five short paragraphs, one word of which differs: the layout that leaves is the same,
        no character that is dropped inside a paragraph survives between two, and after the word
        is changed the same paragraphs are drawn afresh, whichever word it was."""
        words = ["my", "sister", "was", "told", "that", "it", "is", "nothing", "but"]
        shapes = set()
        for first, then in (("disease", "pain"), ("cancer", "pain"), ("money", "war")):
            async with running_proxy(table, LDP) as proxy:
                sent = []
                for word in (first, then):
                    texts = [" ".join([*words, other]) for other in ("a", "b", word, "c", "d")]
                    await ask(proxy, user(gap.join(texts)))
                    sent.append(proxy.sent()[0]["content"])
                kept = [a == b for a, b in zip(*(t.split() for t in sent), strict=True)]
                shapes.add((re.sub(r"[A-Za-z]+", "w", sent[0]), all(kept[:5]), all(kept[-5:])))
        assert len(shapes) == 1
        ((shape, *_),) = shapes
        assert set(shape) <= set("w \n")

    async def test_the_preview_is_what_is_sent_later(self, proxy: Proxy) -> None:
        text = "  Heading\n\n" + "\n\n\n".join(paragraphs(5)) + "\n"
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{proxy.base_url}/privacy/perturb", json={"text": text}) as response,
        ):
            preview = await response.json()
        done = await ask(proxy, user(text))
        assert proxy.sent()[0]["content"] == preview["text"]
        released = receipt(done)["released"]
        assert preview["receipt"]["released"] == released >= 126
        assert preview["receipt"]["epsilon_per_document"] == released * 6

    async def test_a_document_is_not_longer_for_having_paragraphs(
        self, table: EmbeddingTable
    ) -> None:
        over = merge(LDP, {"limits": {"document_tokens": 100}})
        async with running_proxy(table, over) as proxy:
            with pytest.raises(Exception, match="<= 100 tokens"):
                await ask(proxy, user("\n\n".join(paragraphs(8))))
            assert proxy.remote.received == []

    async def test_what_one_paragraph_marks_is_replaced_in_all(
        self, table: EmbeddingTable
    ) -> None:
        padding = "and nothing else of interest was said by anybody there that day " * 2
        texts = [
            f"I heard of bartholomew {padding}",
            f"My patient is Mr. Bartholomew {padding}",
            f"So bartholomew has epilepsy {padding}",
        ]
        async with running_proxy(table, SELECTIVE) as proxy:
            await ask(proxy, user("\n\n".join(texts)))
            (content,) = [message["content"] for message in proxy.sent()]
            assert find_leaks(["Bartholomew"], content) == []
            await ask(proxy, user("\n\n".join([*texts, f"Another paragraph {padding}"])))
            assert proxy.sent()[0]["content"].startswith(content)

    async def test_they_can_be_turned_off(self, table: EmbeddingTable) -> None:
        texts = paragraphs(3)
        async with running_proxy(table, merge(LDP, {"memo": {"paragraphs": False}})) as proxy:
            await ask(proxy, user("\n\n".join(texts)))
            await ask(proxy, user("\n\n".join(["more", *texts[1:]])))
            a, b = (proxy.sent(i)[0]["content"].split("\n\n") for i in range(2))
            assert not set(a) & set(b)


class TestScope:
    async def contents(self, proxy: Proxy) -> list[str]:
        return [body["messages"][-1]["content"] for body in proxy.remote.bodies]

    async def test_a_conversation_may_be_the_scope(self, table: EmbeddingTable) -> None:
        over = merge(LDP, {"memo": {"scope": "conversation"}})
        async with running_proxy(table, over) as proxy:
            for opening in (
                "First things come first",
                "Second things come later",
                "First things come first",
            ):
                turns = [user(opening), {"role": "assistant", "content": "yes"}]
                await ask(proxy, *turns, user(DEMO_TEXT))
            one, other, again = await self.contents(proxy)
            assert one == again != other

    async def test_answers_have_the_scope_of_their_questions(self, table: EmbeddingTable) -> None:
        """Equal answers to equal turns of two conversations do not show the remote that they are
        equal: it sees in each what it wrote there."""
        over = merge(LDP, {"memo": {"scope": "conversation"}})
        async with running_proxy(table, over) as proxy:
            for i, opening in enumerate(("First things come first", "Second things come later")):
                turns = [user(opening), {"role": "assistant", "content": "yes"}]
                turns.append(user("Is that so"))
                proxy.remote.text = f"remote words number {i}"
                done = await ask(proxy, *turns)
                turns.append(done.choices[0].message.model_dump())
                assert turns[-1]["content"] == "One two three."
                await ask(proxy, *turns, user("Go on"))
                assert proxy.sent()[-2]["content"] == f"remote words number {i}"

    async def test_by_default_it_is_the_tenant(self, proxy: Proxy) -> None:
        for opening in ("First things come first", "Second things come later"):
            turns = [user(opening), {"role": "assistant", "content": "yes"}]
            await ask(proxy, *turns, user(DEMO_TEXT))
        one, other = await self.contents(proxy)
        assert one == other

    def test_there_are_no_other_scopes(self) -> None:
        with pytest.raises(Exception, match="memo.scope"):
            load_config(None, {"memo": {"scope": "world"}})
