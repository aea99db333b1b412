"""The official `openai` client: chat, whole and streamed, and the rest of what it asks for."""

from __future__ import annotations

import json
from typing import Any

import aiohttp
import openai
import pytest

from tests.proxy.chats import ANSWER, TEXT, user
from tests.proxy.conftest import MODEL, Proxy


async def test_chat_answers_with_the_local_models_words_and_a_receipt(proxy: Proxy) -> None:
    done = await proxy.client().chat.completions.create(model=MODEL, messages=user())
    assert done.object == "chat.completion"
    assert done.model == MODEL
    assert done.choices[0].message.content == ANSWER
    assert done.choices[0].finish_reason == "stop"
    assert done.usage is not None
    assert done.usage.total_tokens == 14
    receipt = done.model_extra["inferdpt"]
    assert receipt["mechanism"] == "rantext"
    assert receipt["guarantee"] == "none"
    assert receipt["epsilon"] == {
        "nominal": 6.0,
        "per_token": "infinity",
        "all_tokens": "infinity",
    }
    assert receipt["released"] == 13


def test_the_synchronous_client_works_too(proxy_in_thread: Proxy) -> None:
    with openai.OpenAI(base_url=proxy_in_thread.base_url, api_key="x") as client:
        done = client.chat.completions.create(model=MODEL, messages=user(), n=2)
        assert [c.message.content for c in done.choices] == [ANSWER, ANSWER]
        stream = client.chat.completions.create(model=MODEL, messages=user(), stream=True)
        assert "".join(c.choices[0].delta.content or "" for c in stream) == ANSWER
        text = client.completions.create(model=MODEL, prompt=TEXT)
        assert text.choices[0].text == ANSWER
        with pytest.raises(openai.NotFoundError):
            client.chat.completions.create(model="other", messages=user())
        assert [m.id for m in client.models.list()] == [MODEL, "org/other"]


async def test_headers_say_what_was_done(proxy: Proxy) -> None:
    raw = await proxy.client().chat.completions.with_raw_response.create(
        model=MODEL, messages=user()
    )
    assert raw.headers["x-request-id"].startswith("req_")
    assert raw.headers["x-inferdpt-mechanism"] == "rantext"
    assert raw.headers["x-inferdpt-epsilon"] == "6; guarantee=none"
    assert raw.headers["x-inferdpt-tokens"] == "13"


async def test_a_proved_epsilon_comes_with_the_guards_delta(proxy: Proxy) -> None:
    """The guard looks at the draw, so an ε holds but for the chance that it refuses one."""
    body = {"inferdpt": {"mechanism": "rantext_ldp", "epsilon": 8}}
    raw = await proxy.client().chat.completions.with_raw_response.create(
        model=MODEL, messages=user(), extra_body=body
    )
    assert raw.headers["x-inferdpt-epsilon"] == "8; guarantee=ldp; delta=1e-09"
    receipt = raw.parse().model_extra["inferdpt"]
    assert receipt["epsilon"]["delta"] == 1e-9
    assert receipt["unit"] == "token"
    assert "δ = 1e-09" in receipt["statement"]
    assert "equal text" in receipt["statement"]
    assert any("are equal" in line for line in receipt["reveals"])


async def test_where_nothing_leaves_no_epsilon_is_named(proxy: Proxy) -> None:
    raw = await proxy.client().chat.completions.with_raw_response.create(
        model=MODEL, messages=user(), extra_body={"inferdpt": {"local_only": True}}
    )
    assert raw.headers["x-inferdpt-mechanism"] == "none"
    assert raw.headers["x-inferdpt-tokens"] == "0"
    assert "x-inferdpt-epsilon" not in raw.headers


async def test_streaming_has_openais_order_of_chunks(proxy: Proxy) -> None:
    stream = await proxy.client().chat.completions.create(
        model=MODEL, messages=user(), stream=True, n=2
    )
    chunks = [c async for c in stream]
    assert len({(c.id, c.created, c.model) for c in chunks}) == 1
    assert all(c.usage is None for c in chunks)
    assert all("usage" not in c.model_fields_set for c in chunks)
    for index in (0, 1):
        own = [c.choices[0] for c in chunks if c.choices and c.choices[0].index == index]
        assert (own[0].delta.role, own[0].delta.content) == ("assistant", "")
        assert "".join(c.delta.content or "" for c in own) == ANSWER
        assert [c.finish_reason for c in own][-1] == "stop"
        assert [c.finish_reason for c in own[:-1]] == [None] * (len(own) - 1)
        assert own[-1].delta.content is None
    assert "inferdpt" in chunks[0].model_extra


async def test_include_usage_adds_one_last_chunk_without_choices(proxy: Proxy) -> None:
    stream = await proxy.client().chat.completions.create(
        model=MODEL,
        messages=user(),
        stream=True,
        n=2,
        stream_options={"include_usage": True},
    )
    *chunks, last = [c async for c in stream]
    assert all("usage" in c.model_fields_set and c.usage is None for c in chunks)
    assert last.choices == []
    assert last.usage is not None
    assert (last.usage.prompt_tokens, last.usage.completion_tokens) == (11, 6)


async def test_the_stream_on_the_wire(proxy: Proxy) -> None:
    client = proxy.client()
    async with client.chat.completions.with_streaming_response.create(
        model=MODEL, messages=user(), stream=True
    ) as raw:
        assert raw.headers["content-type"].startswith("text/event-stream")
        assert raw.headers["cache-control"] == "no-cache"
        assert raw.headers["x-accel-buffering"] == "no"
        assert raw.headers["x-request-id"]
        wire = b"".join([data async for data in raw.iter_bytes()]).decode()
    events = wire.split("\n\n")
    assert events.pop() == ""
    assert all(event.startswith("data: ") for event in events)
    assert events[-1] == "data: [DONE]"
    assert wire.count("[DONE]") == 1


async def test_pings_go_out_while_the_remote_is_silent(
    table: Any, settings: dict[str, Any]
) -> None:
    from tests.proxy.conftest import running_proxy
    from tests.servers import hang

    async with running_proxy(table, {"server": {"ping_seconds": 0.05}}) as proxy:
        proxy.remote.behaviour = hang
        async with proxy.client().chat.completions.with_streaming_response.create(
            model=MODEL, messages=user(), stream=True
        ) as raw:
            lines = raw.iter_lines()
            assert await anext(lines) == ": ping"
            proxy.remote.release.set()
            rest = [line async for line in lines]
        assert rest[-2:] == ["data: [DONE]", ""] or rest[-1] == "data: [DONE]"
        content = [json.loads(x[6:]) for x in rest if x.startswith("data: {")]
        words = "".join(c["choices"][0]["delta"].get("content") or "" for c in content)
        assert words == ANSWER


async def test_numbers_reach_the_remote_rounded(proxy: Proxy) -> None:
    await proxy.client().chat.completions.create(
        model=MODEL, messages=user(), temperature=0.12345678901234567, top_p=0.98765
    )
    sent = proxy.remote.bodies[-1]
    assert (sent["temperature"], sent["top_p"]) == (0.12, 0.99)
    assert proxy.local.bodies[-1]["temperature"] == 0.12345678901234567


async def test_a_text_that_stands_twice_is_counted_once(proxy: Proxy) -> None:
    turns = [*user(), {"role": "assistant", "content": "Yes"}, *user()]
    done = await proxy.client().chat.completions.create(model=MODEL, messages=turns)
    receipt = done.model_extra["inferdpt"]
    assert (receipt["released"], receipt["released_before"]) == (14, 0)


async def test_a_text_that_leaves_nothing_is_answered_without_the_remote(proxy: Proxy) -> None:
    done = await proxy.client().chat.completions.create(model=MODEL, messages=user("😀🎉"))
    assert proxy.remote.received == []
    assert done.choices[0].message.content == ANSWER


async def test_paths_that_are_not_served_are_404_in_openais_shape(proxy: Proxy) -> None:
    client = proxy.client()
    for call in (
        client.embeddings.create(model=MODEL, input="x"),
        client.moderations.create(input="x"),
        client.get("/files", cast_to=object),
    ):
        with pytest.raises(openai.NotFoundError) as info:
            await call
        assert info.value.code == "not_found"
    assert proxy.remote.received == []


async def test_a_body_that_cannot_be_read_is_400(proxy: Proxy) -> None:
    async with (
        aiohttp.ClientSession() as session,
        session.post(
            f"{proxy.base_url}/completions", data=b"xyz", headers={"Content-Encoding": "gzip"}
        ) as response,
    ):
        assert response.status == 400
        assert (await response.json())["error"]["code"] == "invalid_body"


async def test_models_with_slashes_can_be_retrieved(proxy: Proxy) -> None:
    client = proxy.client()
    assert (await client.models.retrieve("org/other")).id == "org/other"
    with pytest.raises(openai.NotFoundError) as info:
        await client.models.retrieve("nope")
    assert info.value.code == "model_not_found"
