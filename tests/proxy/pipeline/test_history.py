"""A conversation sent again: what has left is not drawn anew."""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import Any

from tests.absence import find_leaks
from tests.proxy.chats import ANSWER, user
from tests.proxy.conftest import MODEL, Proxy


class TestHistory:
    async def test_a_longer_conversation_redraws_nothing(self, proxy: Proxy) -> None:
        client = proxy.client()
        turns: list[dict[str, Any]] = []
        seen: list[list[dict[str, Any]]] = []
        proxy.remote.text = "remote words"
        for i in range(5):
            turns += user(f"Question number {i} about the quarterly figures")
            done = await client.chat.completions.create(model=MODEL, messages=turns)
            turns.append(done.choices[0].message.model_dump())
            seen.append(proxy.sent())
        for earlier, later in itertools.pairwise(seen):
            assert later[: len(earlier)] == earlier
        assert all(m["content"] == "remote words" for m in seen[-1] if m["role"] == "assistant")
        receipt = done.model_extra["inferdpt"]
        assert receipt["released_before"] == receipt["released"] * 4 // 5

    async def test_retries_and_regenerations_and_n_send_the_same_bytes(self, proxy: Proxy) -> None:
        client = proxy.client()
        for _ in range(4):
            await client.chat.completions.create(model=MODEL, messages=user(), n=4)
        assert len({json.dumps(m) for m in map(proxy.sent, range(4))}) == 1

    async def test_requests_at_the_same_time_share_one_draw(self, proxy: Proxy) -> None:
        client = proxy.client()
        await asyncio.gather(
            *(client.chat.completions.create(model=MODEL, messages=user()) for _ in range(16))
        )
        assert len({json.dumps(m) for m in map(proxy.sent, range(16))}) == 1

    async def test_an_edited_turn_is_new_private_text(self, proxy: Proxy) -> None:
        client = proxy.client()
        proxy.remote.text = "remote words"
        await client.chat.completions.create(model=MODEL, messages=user())
        edited = [
            *user(),
            {"role": "assistant", "content": ANSWER + " Zanzibar"},
            *user("Go on then please"),
        ]
        await client.chat.completions.create(model=MODEL, messages=edited)
        assert [m["role"] for m in proxy.sent()] == ["user", "assistant", "user"]
        assert proxy.sent()[1]["content"] not in ("remote words", ANSWER + " Zanzibar")
        assert find_leaks(["Zanzibar"], json.dumps(proxy.sent())) == []

    async def test_a_streamed_answer_is_recognised_too(self, proxy: Proxy) -> None:
        client = proxy.client()
        proxy.remote.text = "remote words"
        stream = await client.chat.completions.create(model=MODEL, messages=user(), stream=True)
        text = "".join([c.choices[0].delta.content or "" async for c in stream])
        await client.chat.completions.create(
            model=MODEL,
            messages=[*user(), {"role": "assistant", "content": text}, *user("And then")],
        )
        assert proxy.sent()[1] == {"role": "assistant", "content": "remote words"}
