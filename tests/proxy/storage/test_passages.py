"""A text that contains an earlier text: the earlier release of that part is sent again."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perturb import EmbeddingTable
from proxy.api.app_keys import STORE
from proxy.storage.memo import _cut_opening, _find_openings
from proxy.storage.schema import PASSAGES, RELEASES
from tests.absence import find_leaks
from tests.databases import database, postgres_url
from tests.perturb.marking import words
from tests.proxy.conftest import MODEL, Proxy, merge, running_proxy
from tests.proxy.storage.work import execute

__all__ = ["database", "postgres_url"]

LDP = {"privacy": {"mechanism": "rantext_ldp", "epsilon": 6}}
SECRET = "My mother was told on Monday that the illness cannot be cured"
MORE = "Who should we tell first about the money"
# How clients repeat a conversation in prompts of their own.
TEMPLATES = [
    "Name the chat below in few words.\n\n<chat_history>\n{chat}\n</chat_history>",
    "Here is what was said so far:\n\n{chat}\n\nWhat may the user ask next?",
    "{chat}\n---\nWrite tags for the conversation above.",
    'Answer in JSON. Transcript: "{chat}"',
]


@pytest.fixture
def settings() -> dict[str, Any]:
    return LDP


@pytest.fixture
async def stored(table: EmbeddingTable, database: dict[str, Any]) -> AsyncIterator[Proxy]:
    """`proxy`, on each database."""
    async with running_proxy(table, merge(LDP, {"store": database})) as running:
        yield running


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


async def ask(proxy: Proxy, *turns: dict[str, Any], **more: Any) -> tuple[list[str], Any]:
    """Send turns; return what the remote saw of them, and the completion."""
    messages: Any = list(turns)
    done = await proxy.client(**more).chat.completions.create(model=MODEL, messages=messages)
    return [message["content"] for message in proxy.sent()], done


def charged(done: Any) -> int:
    tokens: int = done.model_extra["inferdpt"]["budget"]["charged"]["tokens"]
    return tokens


class TestTranscripts:
    async def test_a_streamed_answer_is_the_remotes_own_words_too(self, proxy: Proxy) -> None:
        proxy.remote.text = "remote words about it"
        proxy.local.text = "You could ask Dr. Zanzibar about her. He knows."
        messages: Any = [user(SECRET)]
        stream = await proxy.client().chat.completions.create(
            model=MODEL, messages=messages, stream=True
        )
        answer = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
        (sent,), _ = await ask(proxy, user(f"Title this.\nASSISTANT: {answer}\nEnd"))
        assert "remote words about it" in sent

    @pytest.mark.parametrize("restart", [False, True])
    async def test_a_conversation_inside_a_template_is_not_drawn_again(
        self, table: EmbeddingTable, tmp_path: Path, restart: bool
    ) -> None:
        """Every template holds the two user texts as they left and the remote's own words in
        place of the answer: one draw of each sentence, whatever repeats it."""
        over = merge(LDP, {"store": {"folder": str(tmp_path / "state")}})
        async with running_proxy(table, over) as proxy:
            proxy.remote.text = "remote words about it"
            proxy.local.text = "You could ask Dr. Zanzibar about her. He knows."
            (first,), done = await ask(proxy, user(SECRET))
            answer = done.choices[0].message.content
            turns = [user(SECRET), {"role": "assistant", "content": answer}, user(MORE)]
            (_, _, second), _ = await ask(proxy, *turns)
            chat = f"USER: {SECRET}\nASSISTANT: {answer}\nUSER: {MORE}"
            if not restart:
                await self.check(proxy, chat, first, second)
        if restart:
            async with running_proxy(table, over) as proxy:
                await self.check(proxy, chat, first, second)

    async def check(self, proxy: Proxy, chat: str, first: str, second: str) -> None:
        for template in TEMPLATES:
            (sent,), done = await ask(proxy, user(template.format(chat=chat)))
            around = len(template.replace("{chat}", "").split()) + 12
            assert sent.count(first) == 1
            assert sent.count("remote words about it") == 1
            assert sent.count(second) == 1
            assert sent.index(first) < sent.index("remote words") < sent.index(second)
            assert find_leaks(["Zanzibar"], sent) == []
            assert charged(done) < around + 10
            (again,), repeated = await ask(proxy, user(template.format(chat=chat)))
            assert (again, charged(repeated)) == (sent, 0)

    async def test_so_it_is_where_memory_holds_next_to_nothing(
        self, table: EmbeddingTable
    ) -> None:
        async with running_proxy(table, merge(LDP, {"memo": {"megabytes": 1e-6}})) as proxy:
            (first,), _ = await ask(proxy, user(SECRET))
            (second,), _ = await ask(proxy, user(MORE))
            text = f"One: {SECRET}\nTwo: {MORE}"
            (both,), _ = await ask(proxy, user(text))
            assert first in both
            assert second in both
            (again,), done = await ask(proxy, user(f"{text} now"))
            assert again.startswith(both)
            assert charged(done) == 1

    async def test_so_it_is_where_both_are_new(self, stored: Proxy) -> None:
        (one, other), _ = await ask(stored, user(SECRET), user(f"I said: {SECRET}\nThen I left."))
        assert one in other
        (alone,), _ = await ask(stored, user(f"She wrote that.\n{SECRET}"))
        assert one in alone

    async def test_it_is_not_found_in_the_middle_of_a_word(self, proxy: Proxy) -> None:
        await ask(proxy, user("one two three"))
        _, done = await ask(proxy, user("one two threefold things"))
        assert charged(done) >= 4

    async def test_other_tenants_conversations_and_channels_share_nothing(
        self, table: EmbeddingTable
    ) -> None:
        over = merge(LDP, {"memo": {"scope": "conversation"}})
        async with running_proxy(table, over) as proxy:
            (first,), _ = await ask(proxy, user(SECRET))
            (second,), _ = await ask(proxy, user(f"Note: {SECRET}"))
            assert first not in second
        async with running_proxy(table, LDP) as proxy:
            (first,), _ = await ask(proxy, user(SECRET))
            messages: Any = [user(f"Note: {SECRET}")]
            await proxy.client().chat.completions.create(
                model=MODEL, messages=messages, extra_body={"inferdpt": {"epsilon": 5}}
            )
            assert first not in proxy.sent()[0]["content"]

    async def test_what_was_forgotten_is_not_pieced_together(self, table: EmbeddingTable) -> None:
        async with running_proxy(table, merge(LDP, {"memo": {"megabytes": 1e-6}})) as proxy:
            (first,), _ = await ask(proxy, user(SECRET))
            await proxy.app[STORE].write(execute(RELEASES.delete()))
            await ask(proxy, user("Something else altogether"))  # out of memory, too
            (second,), _ = await ask(proxy, user(f"Note: {SECRET}"))
            assert first not in second

    @pytest.mark.parametrize(
        "copy", ["x\n    {}", "USER:\t{}", "text={}", "• {}", "she said — {}", "~ {}", "a\\n{}"]
    )
    async def test_copies_are_found_after_any_mark(self, proxy: Proxy, copy: str) -> None:
        (first,), _ = await ask(proxy, user(SECRET + "\n"))
        (second,), _ = await ask(proxy, user(copy.format(SECRET)))
        assert first.strip() in second

    async def test_one_request_draws_a_text_once_wherever_it_stands(self, stored: Proxy) -> None:
        texts = [SECRET, f"Note: {SECRET}", f"Say: {SECRET}"]
        await stored.client().completions.create(
            model=MODEL, prompt=texts, extra_body={"inferdpt": {"task": "chat"}}
        )
        sent = [body["messages"][-1]["content"] for body in stored.remote.bodies]
        (alone,) = [text for text in sent if len(text) == min(map(len, sent))]
        assert all(alone in text for text in sent)
        parts: Any = [{"type": "text", "text": text} for text in (MORE, f"I said: {MORE}")]
        (both,), _ = await ask(stored, {"role": "user", "content": parts})
        first = both.split("\n")[0]
        assert both.count(first) == 2

    async def test_a_short_answer_never_stands_for_the_users_words(self, proxy: Proxy) -> None:
        proxy.remote.text = "quarfle words about it"
        proxy.local.text = "I do not know."
        await ask(proxy, user(SECRET))
        (sent,), _ = await ask(proxy, user("I do not know. What should my mother do?"))
        assert find_leaks(["quarfle"], sent) == []

    async def test_the_store_tells_no_length_of_a_word(self, stored: Proxy) -> None:
        await ask(stored, user("she was diagnosed with"))
        await ask(stored, user("she was diagnosed with cancer"))
        rows = await stored.app[STORE].scan(lambda c: c.execute(PASSAGES.select()).all())
        assert len(rows) >= 2
        plain = re.compile(rb'"text"|\[\d+, \[\[')  # nothing that a random row holds by chance
        assert plain.search(json.dumps([22, [["text", "00", 0, 22]]]).encode())
        assert not any(plain.search(row.value) for row in rows)
        assert "length" not in PASSAGES.c

    async def test_selective_reads_every_text_anew(self, table: EmbeddingTable) -> None:
        """The marks depend on the other texts: a release without a mark must not return."""
        parameters = words(consistent=False)
        over = {"privacy": {"mechanism": "selective", "parameters": parameters}}
        async with running_proxy(table, over) as proxy:
            await ask(proxy, user("please tell xylander to come over now"))
            text = "Dr. Xylander is ill: please tell xylander to come over now"
            (sent,), _ = await ask(proxy, user(text))
            assert find_leaks(["Xylander"], sent) == []


class TestGrowth:
    async def test_a_beginning_that_ends_with_a_blank_is_known(self, proxy: Proxy) -> None:
        before = ""
        for text in (
            "My mother was told ",
            "My mother was told on Monday ",
            "My mother was told on Monday that ",
        ):
            (sent,), _ = await ask(proxy, user(text))
            assert sent.startswith(before.strip())
            before = sent

    async def test_scripts_without_blanks_grow_too(self, proxy: Proxy) -> None:
        (first,), _ = await ask(proxy, user("我母亲被告知这种病"))
        (second,), _ = await ask(proxy, user("我母亲被告知这种病治不好"))
        assert second.startswith(first)

    @pytest.mark.parametrize("step", [1, 4])
    async def test_a_growing_text_is_drawn_once(self, stored: Proxy, step: int) -> None:
        """Autocompletion: each version is the one before and what was added."""
        words = (SECRET + " and " + MORE).split()
        before = ""
        total = 0
        for end in range(4, len(words), step):
            (sent,), done = await ask(stored, user(" ".join(words[:end])))
            assert sent.startswith(before)
            assert len(sent) > len(before)
            before = sent
            total += charged(done)
        assert total <= len(words) + 4  # some words are two tokens

    async def test_the_preview_is_what_is_sent(self, proxy: Proxy) -> None:
        await ask(proxy, user(SECRET))
        text = f"Question: {SECRET}\n\nAnswer"
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{proxy.base_url}/privacy/perturb", json={"text": text}) as response,
        ):
            preview = await response.json()
        (sent,), _ = await ask(proxy, user(text))
        assert preview["text"] == sent

    async def test_requests_at_once_agree(self, stored: Proxy) -> None:
        await asyncio.gather(*(ask(stored, user(f"Now: {SECRET}")) for _ in range(8)))
        await asyncio.gather(*(ask(stored, user(f"Now: {SECRET} {i}")) for i in range(8)))
        contents = [
            re.sub(r" \d$", "", body["messages"][0]["content"]) for body in stored.remote.bodies
        ]
        assert len(set(contents)) == 1


class TestOpenings:
    @given(
        st.text(alphabet='ab \n:."-é你', min_size=8, max_size=40),
        st.sampled_from(["", "x: ", "x\n", "USER: ", '{"content": "', "<p>", "a. "]),
    )
    def test_a_passage_is_looked_for_where_it_stands(self, text: str, before: str) -> None:
        opening = _cut_opening(text)
        if opening and text[0].isalnum():
            assert (len(before), opening) in list(
                _find_openings(before + text + "\nmore words here")
            )

    def test_short_texts_are_not_looked_for(self) -> None:
        assert _cut_opening("one two") == ""
        assert _cut_opening("one two three") == "one two three"
