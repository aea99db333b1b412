"""The official `openai` client against the proxy, as OPENAI's contract has it."""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import Any

import aiohttp
import openai
import pytest

from tests.proxy.conftest import MODEL, Proxy
from tests.servers import WORDS, FakeServer, chunk, completion, open_stream, send, status

TEXT = "The board met on Monday to discuss the merger with our largest competitor."
ANSWER = "".join(WORDS)


def user(text: str = TEXT) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text}]


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


async def test_each_prompt_has_its_own_remote_call_and_choices_are_ordered(proxy: Proxy) -> None:
    async def by_prefix(server: FakeServer, request: Any, body: dict[str, Any]) -> Any:
        from aiohttp import web

        prefix = body["messages"][-1]["content"].split("Prefix Text:\n")[1].split("\n")[0]
        return web.json_response(completion(f"continues {prefix}"))

    proxy.local.behaviour = by_prefix
    prompts = ["First text", "Second text", "Third text"]
    done = await proxy.client().completions.create(model=MODEL, prompt=prompts, n=2)
    assert [c.index for c in done.choices] == [0, 1, 2, 3, 4, 5]
    expected = [f"continues {p}" for p in prompts for _ in range(2)]
    assert [c.text for c in done.choices] == expected
    assert len(proxy.remote.bodies) == 3


@pytest.mark.parametrize("prompt", [[791, 4062, 14198, 39935], [[791, 4062], [14198, 39935]]])
async def test_token_id_prompts_are_decoded_then_perturbed(proxy: Proxy, prompt: Any) -> None:
    done = await proxy.client().completions.create(model=MODEL, prompt=prompt)
    assert len(done.choices) == (2 if isinstance(prompt[0], list) else 1)
    assert "The quick" in json.dumps(proxy.local.bodies)
    assert "39935" not in json.dumps(proxy.remote.bodies)


async def test_completions_stream_text(proxy: Proxy) -> None:
    stream = await proxy.client().completions.create(
        model=MODEL, prompt=TEXT, stream=True, stream_options={"include_usage": True}
    )
    *chunks, last = [c async for c in stream]
    assert "".join(c.choices[0].text for c in chunks) == ANSWER
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert last.usage is not None
    assert last.choices == []


async def test_echo_puts_the_prompt_before_the_answer(proxy: Proxy) -> None:
    done = await proxy.client().completions.create(model=MODEL, prompt=TEXT, echo=True)
    assert done.choices[0].text == TEXT + ANSWER


async def test_completion_logprobs_have_the_completions_shape(proxy: Proxy) -> None:
    found = {
        "content": [
            {"token": "One", "logprob": -0.5, "bytes": None, "top_logprobs": []},
            {
                "token": " two",
                "logprob": -1.0,
                "bytes": None,
                "top_logprobs": [{"token": " two", "logprob": -1.0, "bytes": None}],
            },
        ]
    }

    async def with_logprobs(server: FakeServer, request: Any, body: dict[str, Any]) -> Any:
        from aiohttp import web

        assert body["logprobs"] is True
        assert body["top_logprobs"] == 1
        out = completion("One two")
        out["choices"][0]["logprobs"] = found
        return web.json_response(out)

    proxy.local.behaviour = with_logprobs
    done = await proxy.client().completions.create(model=MODEL, prompt=TEXT, logprobs=1)
    logprobs = done.choices[0].logprobs
    assert logprobs is not None
    assert logprobs.tokens == ["One", " two"]
    assert logprobs.token_logprobs == [-0.5, -1.0]
    assert logprobs.text_offset == [0, 3]
    assert logprobs.top_logprobs == [{}, {" two": -1.0}]


CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "look_up", "arguments": '{"q": "x"}'},
}


async def test_tool_calls_come_back_in_openais_form(proxy: Proxy) -> None:
    async def calls(server: FakeServer, request: Any, body: dict[str, Any]) -> Any:
        from aiohttp import web

        assert body["tools"]
        assert body["tool_choice"] == "auto"
        out = completion("", tool_calls=[CALL])
        out["choices"][0]["message"]["content"] = None
        out["choices"][0]["finish_reason"] = "tool_calls"
        return web.json_response(out)

    proxy.local.behaviour = calls
    tools = [{"type": "function", "function": {"name": "look_up", "parameters": {}}}]
    done = await proxy.client().chat.completions.create(
        model=MODEL, messages=user(), tools=tools, tool_choice="auto"
    )
    assert done.choices[0].finish_reason == "tool_calls"
    assert done.choices[0].message.content is None
    assert done.choices[0].message.tool_calls[0].model_dump() == CALL
    assert "tools" not in proxy.remote.bodies[-1]
    # … and the conversation goes on: the remote sees its own words and a perturbed result
    turns = [
        *user(),
        done.choices[0].message.model_dump(),
        {"role": "tool", "tool_call_id": "call_1", "content": "The result mentions Canarybird."},
    ]
    await proxy.client().chat.completions.create(
        model=MODEL, messages=turns, tools=tools, tool_choice="auto"
    )
    assert [m["role"] for m in proxy.sent()] == ["user", "assistant", "user"]
    assert proxy.sent()[1]["content"] == ANSWER
    assert "look_up" not in json.dumps(proxy.sent())
    assert "anary" not in json.dumps(proxy.sent())


async def test_streamed_tool_calls_keep_their_index(proxy: Proxy) -> None:
    async def calls(server: FakeServer, request: Any, body: dict[str, Any]) -> Any:
        response = await open_stream(request)
        first = {**CALL, "index": 0, "function": {"name": "look_up", "arguments": ""}}
        await send(response, chunk({"role": "assistant", "tool_calls": [first]}))
        for part in ('{"q": ', '"x"}'):
            await send(
                response, chunk({"tool_calls": [{"index": 0, "function": {"arguments": part}}]})
            )
        await send(response, chunk({}, "tool_calls"))
        await response.write(b"data: [DONE]\n\n")
        return response

    proxy.local.behaviour = calls
    stream = await proxy.client().chat.completions.create(
        model=MODEL, messages=user(), stream=True, tools=[{"type": "function"}]
    )
    deltas = [c.choices[0].delta.tool_calls async for c in stream]
    pieces = [call for delta in deltas for call in delta or ()]
    assert {piece.index for piece in pieces} == {0}
    assert [piece.id for piece in pieces] == ["call_1", None, None]
    assert "".join(p.function.arguments or "" for p in pieces) == '{"q": "x"}'


async def test_local_options_reach_only_the_local_model(proxy: Proxy) -> None:
    local = {
        "stop": ["END"],
        "seed": 7,
        "presence_penalty": 0.5,
        "frequency_penalty": 0.25,
        "logit_bias": {"50": 1.0},
        "logprobs": True,
        "top_logprobs": 2,
        "response_format": {"type": "json_object"},
        "parallel_tool_calls": False,
        "top_k": 5,
        "min_p": 0.1,
        "guided_regex": "a+",
        "structured_outputs": {"regex": "a+"},
        "chat_template_kwargs": {"enable_thinking": False},
    }
    numbers = {"temperature": 0.3, "top_p": 0.8, "max_completion_tokens": 33}
    dropped = {
        "user": "u",
        "metadata": {"a": "b"},
        "store": True,
        "service_tier": "auto",
        "prompt_cache_key": "k",
        "safety_identifier": "s",
        "prediction": {"type": "content", "content": "p"},
        "web_search_options": {},
    }
    body = {"model": MODEL, "messages": user(), **local, **numbers, **dropped}
    await proxy.client().post("/chat/completions", cast_to=object, body=body)
    got = proxy.local.bodies[-1]
    assert {k: got[k] for k in local} == local
    assert (got["temperature"], got["top_p"], got["max_tokens"]) == (0.3, 0.8, 33)
    assert not dropped.keys() & got.keys()
    assert proxy.remote.bodies[-1].keys() == {
        "model",
        "messages",
        "temperature",
        "top_p",
        "max_completion_tokens",
        "store",
    }
    assert proxy.remote.bodies[-1]["store"] is False
    assert proxy.remote.bodies[-1]["model"] == "remote-model"


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


async def test_streamed_tool_calls_without_an_index_get_one(proxy: Proxy) -> None:
    async def calls(server: FakeServer, request: Any, body: dict[str, Any]) -> Any:
        response = await open_stream(request)
        function = {"name": "look_up", "arguments": "{}", "extra": 1}
        await send(response, chunk({"tool_calls": [{**CALL, "function": function}]}, "tool_calls"))
        await response.write(b"data: [DONE]\n\n")
        return response

    proxy.local.behaviour = calls
    stream = await proxy.client().chat.completions.create(
        model=MODEL, messages=user(), stream=True, tools=[{"type": "function"}]
    )
    found = [c.choices[0].delta.tool_calls async for c in stream]
    assert [call.index for calls in found for call in calls or ()] == [0]


class TestBrowsers:
    """Without keys, web pages must not spend the operator's key."""

    async def post(self, proxy: Proxy, **headers: str) -> int:
        async with (
            aiohttp.ClientSession() as session,
            session.post(
                f"{proxy.base_url}/chat/completions",
                json={"model": MODEL, "messages": user()},
                headers=headers,
            ) as response,
        ):
            return response.status

    async def test_foreign_origins_and_hosts_are_refused(self, proxy: Proxy) -> None:
        assert await self.post(proxy, Origin="http://evil.example") == 403
        assert await self.post(proxy, Host="evil.example") == 403
        assert proxy.remote.received == []
        assert await self.post(proxy, Host="localhost:8100") == 200

    async def test_configured_origins_are_served(self, table: Any) -> None:
        from tests.proxy.conftest import running_proxy

        settings = {"server": {"cors_origins": ["http://ui.example"]}}
        async with running_proxy(table, settings) as proxy:
            assert await self.post(proxy, Origin="http://ui.example") == 200
            async with (
                aiohttp.ClientSession() as session,
                session.options(
                    f"{proxy.base_url}/chat/completions",
                    headers={
                        "Origin": "http://ui.example",
                        "Access-Control-Request-Method": "POST",
                    },
                ) as response,
            ):
                assert response.status == 204
                allowed = response.headers["Access-Control-Allow-Origin"]
                assert allowed == "http://ui.example"


async def test_choices_with_a_seed_get_their_own(proxy: Proxy) -> None:
    await proxy.client().chat.completions.create(model=MODEL, messages=user(), n=3, seed=10)
    assert sorted(body["seed"] for body in proxy.local.bodies) == [10, 11, 12]


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
        assert "Zanzibar" not in json.dumps(proxy.sent())

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


class TestTasks:
    async def test_public_spans_leave_verbatim_and_without_tags(self, proxy: Proxy) -> None:
        text = "<public>Summarise in one line:</public> " + TEXT
        await proxy.client().chat.completions.create(model=MODEL, messages=user(text))
        sent = proxy.sent()[0]["content"]
        assert sent.startswith("Summarise in one line: ")
        assert "public>" not in sent
        assert (
            "Summarise in one line: " + TEXT in proxy.local.bodies[-1]["messages"][-1]["content"]
        )

    async def test_an_unclosed_tag_makes_nothing_public(self, proxy: Proxy) -> None:
        await proxy.client().chat.completions.create(
            model=MODEL, messages=user("<public>Zanzibar " + TEXT)
        )
        assert "Zanzibar" not in proxy.sent()[0]["content"]

    async def test_a_public_span_does_not_reach_into_the_next_part(self, proxy: Proxy) -> None:
        parts = [
            {"type": "text", "text": text}
            for text in ("<public>Zanzibar one", "Zanzibar two</public>", "<public>Three</public>")
        ]
        await proxy.client().chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": parts}]
        )
        assert "Zanzibar" not in proxy.sent()[0]["content"]
        assert proxy.sent()[0]["content"].endswith("Three")

    async def test_system_turns_are_local_by_default(self, proxy: Proxy) -> None:
        turns = [{"role": "system", "content": "You work for Zanzibar Ltd."}, *user()]
        await proxy.client().chat.completions.create(model=MODEL, messages=turns)
        assert len(proxy.sent()) == 1
        assert proxy.local.bodies[-1]["messages"][0] == {
            "role": "system",
            "content": "You work for Zanzibar Ltd.",
        }

    async def test_continuation_uses_the_labelled_blocks(self, proxy: Proxy) -> None:
        await proxy.client().chat.completions.create(
            model=MODEL, messages=user(), extra_body={"inferdpt": {"task": "continuation"}}
        )
        local = proxy.local.bodies[-1]["messages"][-1]["content"]
        assert local.endswith(f"Generation:\n{ANSWER}\n\nPrefix Text:\n{TEXT}")
        assert "Prefix Text:" in proxy.sent()[0]["content"]

    async def test_instruct_sends_the_public_instruction_and_the_last_turn(
        self, proxy: Proxy
    ) -> None:
        turns = [*user("Earlier"), {"role": "assistant", "content": "Yes"}, *user()]
        await proxy.client().chat.completions.create(
            model=MODEL,
            messages=turns,
            extra_body={"inferdpt": {"task": "instruct", "instruction": "List the names."}},
        )
        assert len(proxy.sent()) == 1
        assert proxy.sent()[0]["content"].startswith("List the names.\n\n")

    async def test_local_only_never_calls_the_remote(self, proxy: Proxy) -> None:
        done = await proxy.client().chat.completions.create(
            model=MODEL, messages=user(), extra_body={"inferdpt": {"local_only": True}}
        )
        assert proxy.remote.received == []
        assert done.choices[0].message.content == ANSWER
        receipt = done.model_extra["inferdpt"]
        assert "not called" in receipt["remote"][0]
        assert (receipt["released"], receipt["epsilon"]["all_tokens"]) == (0, 0.0)

    async def test_mechanism_and_epsilon_of_a_request(self, proxy: Proxy) -> None:
        done = await proxy.client().chat.completions.create(
            model=MODEL,
            messages=user(),
            extra_body={"inferdpt": {"mechanism": "rantext_ldp", "epsilon": 8, "receipt": "full"}},
        )
        receipt = done.model_extra["inferdpt"]
        assert receipt["guarantee"] == "ldp"
        assert receipt["epsilon"] == {"nominal": 8.0, "per_token": 8.0, "all_tokens": 8.0 * 13}
        assert receipt["exchanges"][0]["sent"] == proxy.sent()
        assert receipt["exchanges"][0]["generation"] == ANSWER

    async def test_no_receipt_when_none_is_wanted(self, proxy: Proxy) -> None:
        done = await proxy.client().chat.completions.create(
            model=MODEL, messages=user(), extra_body={"inferdpt": {"receipt": "none"}}
        )
        assert "inferdpt" not in (done.model_extra or {})

    async def test_the_preview_is_what_is_sent_later(self, proxy: Proxy) -> None:
        client = proxy.client()
        preview: Any = await client.post(
            "/privacy/perturb", cast_to=object, body={"text": TEXT, "epsilon": 6}
        )
        assert proxy.remote.received == []
        await client.chat.completions.create(model=MODEL, messages=user())
        assert proxy.sent()[0]["content"] == preview["text"]
        assert preview["receipt"]["released"] == 13


BAD: list[tuple[dict[str, Any], int, str, str | None]] = [
    ({"model": "nope"}, 404, "model_not_found", "model"),
    ({"temperature": 9}, 400, "invalid_value", "temperature"),
    ({"temperature": "hot"}, 400, "invalid_value", "temperature"),
    ({"n": 0}, 400, "invalid_value", "n"),
    ({"n": 17}, 400, None, "n"),
    ({"messages": []}, 400, "invalid_value", "messages"),
    ({"messages": [{"role": "nobody", "content": "x"}]}, 400, "invalid_value", "messages[0].role"),
    ({"messages": [{"role": "user", "content": "x", "bogus": 1}]}, 400, "unknown_parameter", None),
    ({"bogus": 1}, 400, "unknown_parameter", None),
    ({"previous_response_id": "x"}, 400, "unsupported_parameter", "previous_response_id"),
    ({"inferdpt": {"epsilon": -1}}, 400, "invalid_value", "inferdpt.epsilon"),
    ({"inferdpt": {"epsilon": 100, "mechanism": "rantext_ldp"}}, 400, "invalid_value", "inferdpt"),
    ({"inferdpt": {"mechanism": "rot13"}}, 400, "invalid_value", "inferdpt"),
    ({"inferdpt": {"seed": 1}}, 400, "unknown_parameter", "inferdpt"),
    ({"inferdpt": {"task": "poem"}}, 400, "invalid_value", "inferdpt.task"),
]


@pytest.mark.parametrize(("change", "code", "name", "param"), BAD)
async def test_bad_fields_are_named(
    proxy: Proxy, change: dict[str, Any], code: int, name: str | None, param: str | None
) -> None:
    body = {"model": MODEL, "messages": user(), **change}
    with pytest.raises(openai.APIStatusError) as info:
        await proxy.client(max_retries=2).post("/chat/completions", cast_to=object, body=body)
    assert info.value.status_code == code
    error: Any = info.value.body
    assert error.keys() == {"message", "type", "param", "code"}
    assert name is None or error["code"] == name
    assert param is None or error["param"] == param
    assert info.value.response.headers["x-should-retry"] == "false"
    assert info.value.response.headers["x-request-id"]
    assert proxy.remote.received == []


@pytest.mark.parametrize("kind", ["image_url", "input_audio", "file"])
async def test_media_parts_are_refused(proxy: Proxy, kind: str) -> None:
    part = {"type": kind, kind: {"url": "https://example.org/x"}}
    with pytest.raises(openai.BadRequestError) as info:
        await proxy.client().chat.completions.create(
            model=MODEL,
            messages=[{"role": "user", "content": [{"type": "text", "text": "x"}, part]}],
        )
    assert info.value.code == "unsupported_content"
    assert info.value.param == "messages[0].content[1]"


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


class TestLimits:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {
            "limits": {
                "body_bytes": 4000,
                "document_tokens": 50,
                "messages": 3,
                "prompts": 2,
                "epsilon_max": 7,
                "mechanisms": ["rantext"],
                "json_depth": 8,
            }
        }

    async def refused(self, proxy: Proxy, **change: Any) -> Any:
        body = {"model": MODEL, "messages": user(), **change}
        with pytest.raises(openai.APIStatusError) as info:
            await proxy.client().post("/chat/completions", cast_to=object, body=body)
        assert proxy.remote.received == []
        assert info.value.response.headers["x-should-retry"] == "false"
        return info.value

    async def test_a_body_too_large_is_413(self, proxy: Proxy) -> None:
        assert (await self.refused(proxy, messages=user("x" * 5000))).status_code == 413

    async def test_a_document_too_long_is_413(self, proxy: Proxy) -> None:
        assert (await self.refused(proxy, messages=user("word " * 51))).status_code == 413

    async def test_too_many_messages_are_413(self, proxy: Proxy) -> None:
        assert (await self.refused(proxy, messages=user() * 4)).status_code == 413

    async def test_too_deep_is_400(self, proxy: Proxy) -> None:
        deep: Any = {}
        for _ in range(10):
            deep = {"a": deep}
        error = await self.refused(proxy, metadata=deep)
        assert (error.status_code, error.code) == (400, "invalid_json")

    async def test_too_large_an_epsilon_is_403(self, proxy: Proxy) -> None:
        error = await self.refused(proxy, inferdpt={"epsilon": 8})
        assert (error.status_code, error.code) == (403, "not_permitted")

    async def test_a_mechanism_not_allowed_is_403(self, proxy: Proxy) -> None:
        error = await self.refused(proxy, inferdpt={"mechanism": "rantext_ldp"})
        assert (error.status_code, error.code) == (403, "not_permitted")

    async def test_too_many_prompts_are_413(self, proxy: Proxy) -> None:
        with pytest.raises(openai.APIStatusError) as info:
            await proxy.client().completions.create(model=MODEL, prompt=["a", "b", "c"])
        assert info.value.status_code == 413


class TestKeys:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        import hashlib

        keys = [
            {"tenant": t, "sha256": hashlib.sha256(k.encode()).hexdigest()}
            for t, k in (("alice", "key-a"), ("bob", "key-b"))
        ]
        return {"server": {"keys": keys}}

    @pytest.mark.parametrize("key", ["wrong", "key-ax", "key"])
    async def test_a_wrong_key_is_401(self, proxy: Proxy, key: str) -> None:
        with pytest.raises(openai.AuthenticationError) as info:
            await proxy.client(api_key=key).chat.completions.create(model=MODEL, messages=user())
        assert info.value.code == "invalid_api_key"
        assert proxy.remote.received == []

    async def test_a_clients_key_never_reaches_the_remote(self, proxy: Proxy) -> None:
        await proxy.client(api_key="key-a").chat.completions.create(model=MODEL, messages=user())
        (request,) = proxy.remote.received
        assert b"key-a" not in request
        assert b"Bearer operator-secret" in request

    async def test_tenants_share_no_draw(self, proxy: Proxy) -> None:
        for key in ("key-a", "key-b", "key-a"):
            await proxy.client(api_key=key).chat.completions.create(model=MODEL, messages=user())
        a, b, again = (proxy.sent(i) for i in range(3))
        assert a == again
        assert a != b

    async def test_health_is_open_and_metrics_are_not(self, proxy: Proxy) -> None:
        async with aiohttp.ClientSession() as session:
            for path, expected in (("/health", 200), ("/ready", 200), ("/metrics", 401)):
                async with session.get(proxy.root + path) as response:
                    assert response.status == expected


class TestRemoteFailures:
    @pytest.mark.parametrize(
        ("code", "expected", "name", "retry"),
        [
            (400, 502, "remote_error", "false"),
            (401, 502, "remote_error", "false"),
            (404, 502, "remote_error", "false"),
            (429, 429, "remote_rate_limited", None),
            (500, 502, "remote_error", None),
            (503, 502, "remote_error", None),
        ],
    )
    async def test_statuses_are_mapped(
        self, proxy: Proxy, code: int, expected: int, name: str, retry: str | None
    ) -> None:
        proxy.remote.behaviour = status(code, headers={"retry-after": "7"})
        with pytest.raises(openai.APIStatusError) as info:
            await proxy.client().chat.completions.create(model=MODEL, messages=user())
        assert (info.value.status_code, info.value.code) == (expected, name)
        assert info.value.response.headers.get("x-should-retry") == retry
        assert "upstream-secret" not in info.value.response.text
        if expected == 429:
            assert info.value.response.headers["retry-after"] == "7"

    @pytest.mark.parametrize("body", [{}, {"choices": []}, [1], {"choices": [{"index": 0}]}])
    async def test_answers_of_another_shape_are_502(self, proxy: Proxy, body: Any) -> None:
        proxy.remote.behaviour = status(200, body or {"x": 1})
        with pytest.raises(openai.InternalServerError) as info:
            await proxy.client().chat.completions.create(model=MODEL, messages=user())
        assert info.value.status_code == 502

    async def test_an_empty_generation_leaves_the_local_model_alone(self, proxy: Proxy) -> None:
        proxy.remote.text = ""
        done = await proxy.client().chat.completions.create(model=MODEL, messages=user())
        assert "alone" in done.model_extra["inferdpt"]["remote"][0]
        assert proxy.local.bodies[-1]["messages"] == user()


class TestLocalOnlyOnFailure:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"remote": {"on_remote_failure": "local_only"}}

    async def test_the_local_model_answers_and_the_receipt_says_so(self, proxy: Proxy) -> None:
        proxy.remote.behaviour = status(500)
        done = await proxy.client().chat.completions.create(model=MODEL, messages=user())
        assert done.choices[0].message.content == ANSWER
        assert "failed" in done.model_extra["inferdpt"]["remote"][0]


class TestRetries:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"remote": {"retries": 2}}

    async def test_the_proxy_retries_with_the_same_bytes(self, proxy: Proxy) -> None:
        from tests.servers import answer

        async def fails_once(server: FakeServer, request: Any, body: dict[str, Any]) -> Any:
            if len(server.bodies) == 1:
                return await status(503)(server, request, body)
            return await answer(server, request, body)

        proxy.remote.behaviour = fails_once
        await proxy.client().chat.completions.create(model=MODEL, messages=user())
        assert len(proxy.remote.bodies) == 2
        assert proxy.remote.bodies[0] == proxy.remote.bodies[1]
