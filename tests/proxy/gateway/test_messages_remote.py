"""A gateway before a remote that speaks the Messages API, for clients of every API."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import openai
import pytest
from aiohttp import web

from perturb import EmbeddingTable, Perturber
from tests.perturb.marking import words
from tests.proxy import anthropic_remote
from tests.proxy.anthropic_remote import KEY, make_events, make_message, stream
from tests.proxy.conftest import MODEL, Proxy, running_proxy, sanitizing
from tests.proxy.gateway.everywhere import MAKERS
from tests.proxy.gateway.remotes import CARD, MAIL, NAME, SETTINGS, TEXT, leaked
from tests.proxy.gateway.test_canaries import PATTERN, Planter, post, read_files
from tests.proxy.messages import ask, messages_client
from tests.proxy.pipeline.test_selective import ChangesTheRest, MissesOne, PassesThrough, RawDigits
from tests.servers import FakeServer

REMOTE = {"api": "messages", "api_key": KEY}
USER: list[Any] = [{"role": "user", "content": TEXT}]
TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "write_letter",
        "description": f"Writes to {MAIL}.",
        "parameters": {"type": "object", "properties": {MAIL: {"type": "string"}}},
    },
}


@pytest.fixture
def settings() -> dict[str, Any]:
    return {**SETTINGS, "remote": REMOTE}


@pytest.fixture
async def proxy(table: EmbeddingTable, settings: dict[str, Any]) -> Any:
    async with running_proxy(table, settings) as running:
        running.remote.behaviour = anthropic_remote.echo
        yield running


async def ask_chat(proxy: Proxy, **body: Any) -> Any:
    """A chat completion, whole, or put together from its stream."""
    client = proxy.client()
    asked = {"model": MODEL, "messages": USER, **body}
    if not asked.pop("stream", False):
        return await client.chat.completions.create(**asked)
    options = {"include_usage": True}
    async with client.chat.completions.stream(**asked, stream_options=options) as events:
        async for _ in events:
            pass
        return await events.get_final_completion()


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_chat_is_sent_as_messages_and_restored(proxy: Proxy, streamed: bool) -> None:
    system = [
        {"role": "system", "content": f"Serve {NAME}."},
        {"role": "developer", "content": "Briefly."},
    ]
    made = await ask_chat(
        proxy,
        messages=[*system, *USER],
        temperature=1.5,
        top_p=0.9,
        stop=[CARD],
        user="anna",
        seed=5,
        presence_penalty=0,
        reasoning_effort="minimal",
        stream=streamed,
    )
    choice = made.choices[0]
    assert (choice.message.content, choice.finish_reason) == (f"Sure: {TEXT}", "stop")
    assert (made.usage.prompt_tokens, made.usage.completion_tokens) == (11, 3)
    assert leaked(proxy) == []
    (body,) = proxy.remote.bodies
    assert [message["role"] for message in body["messages"]] == ["user"]
    assert len(body["system"]) == 2
    assert body["system"][1] == {"type": "text", "text": "Briefly."}
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("remote-model", 4096, 1.0)
    assert body["output_config"] == {"effort": "low"}
    assert set(body) == {
        *("model", "max_tokens", "system", "messages", "temperature", "top_p", "stop_sequences"),
        *(("output_config", "stream") if streamed else ("output_config",)),
    }


@pytest.mark.parametrize("streamed", [False, True])
async def test_calls_make_a_round_trip(proxy: Proxy, streamed: bool) -> None:
    proxy.remote.behaviour = anthropic_remote.call
    made = await ask_chat(
        proxy, tools=[TOOL], tool_choice="required", parallel_tool_calls=False, stream=streamed
    )
    message = made.choices[0].message
    first, second = message.tool_calls
    assert message.content == f"For {TEXT}"
    assert json.loads(first.function.arguments) == {"text": TEXT + '\n"é"', TEXT: [1, None]}
    assert (first.function.name, second.function.arguments) == ("write_letter", "{}")
    assert made.choices[0].finish_reason == "tool_calls"
    proxy.remote.behaviour = anthropic_remote.echo
    answer = {
        "role": "assistant",
        "content": message.content,
        "tool_calls": [call.model_dump() for call in message.tool_calls],
    }
    results = [
        {"role": "tool", "tool_call_id": first.id, "content": f"Sent to {MAIL}."},
        {"role": "tool", "tool_call_id": second.id, "content": ""},
        {"role": "user", "content": f"What about {NAME}?"},
    ]
    last = await ask_chat(proxy, messages=[*USER, answer, *results], tools=[TOOL])
    assert last.choices[0].message.content == f"Sure: What about {NAME}?"
    assert leaked(proxy) == []
    opened, body = proxy.remote.bodies
    assert opened["tool_choice"] == {"type": "any", "disable_parallel_tool_use": True}
    assert "tool_choice" not in body
    assert [each["role"] for each in body["messages"]] == ["user", "assistant", "user"]
    said, *calls = body["messages"][1]["content"]
    assert (said["type"], [c["id"] for c in calls]) == ("text", ["call_0", "call_1"])
    assert [(b["type"], b.get("tool_use_id")) for b in body["messages"][2]["content"]] == [
        ("tool_result", "call_0"),
        ("tool_result", "call_1"),
        ("text", None),
    ]


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_client_of_the_messages_api_is_served(proxy: Proxy, streamed: bool) -> None:
    asked = ask(
        TEXT,
        system=f"Serve {NAME}.",
        stop_sequences=[CARD],
        output_config={"format": {"type": "json_schema", "schema": {"const": MAIL}}},
    )
    async with messages_client(proxy) as client:
        if streamed:
            async with client.messages.stream(**asked) as events:
                made = await events.get_final_message()
        else:
            made = await client.messages.create(**asked)
    assert [block.text for block in made.content] == [f"Sure: {TEXT}"]
    assert (made.stop_reason, made.usage.input_tokens) == ("end_turn", 11)
    assert leaked(proxy) == []
    (body,) = proxy.remote.bodies
    assert body["output_config"]["format"]["type"] == "json_schema"


async def test_a_response_is_served(proxy: Proxy) -> None:
    made = await proxy.client().responses.create(model=MODEL, input=TEXT)
    assert made.output_text == f"Sure: {TEXT}"
    assert leaked(proxy) == []


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "content_filter"),
        ("pause_turn", "stop"),
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
async def test_an_ending_is_told(proxy: Proxy, reason: str, expected: str, streamed: bool) -> None:
    async def end(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
        stop = body["stop_sequences"][0] if reason == "stop_sequence" else None
        text = {"type": "text", "text": "So"}
        made = make_message(text, stop=reason, stop_sequence=stop)
        return await anthropic_remote.answer(request, body, made)

    proxy.remote.behaviour = end
    if expected == "stop" or not streamed:
        done = await ask_chat(proxy, stop=[CARD], stream=streamed)
        assert done.choices[0].finish_reason == expected
    async with messages_client(proxy) as client:
        asked = ask(TEXT, stop_sequences=[CARD], stream=streamed)
        made = await client.messages.create(**asked)
        if streamed:
            (delta,) = [e.delta async for e in made if e.type == "message_delta"]
        else:
            delta = made
    kept = ("max_tokens", "refusal", "stop_sequence")
    told = reason if reason in kept else "max_tokens" if expected == "length" else "end_turn"
    assert delta.stop_reason == told
    assert delta.stop_sequence == (CARD if reason == "stop_sequence" else None)


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"n": 2}, "n"),
        ({"logprobs": True}, "logprobs"),
        ({"frequency_penalty": 0.5}, "frequency_penalty"),
        ({"functions": [TOOL["function"]]}, "functions"),
        ({"response_format": {"type": "json_object"}}, "response_format.type"),
        ({"extra_body": {"guided_regex": NAME}}, "guided_regex"),
        (
            {
                "messages": [
                    *USER,
                    {
                        "role": "assistant",
                        "content": None,
                        "function_call": {"name": "f", "arguments": NAME},
                    },
                    *USER,
                ]
            },
            "messages[1].function_call",
        ),
    ],
)
async def test_what_the_api_lacks_is_refused_by_name(
    proxy: Proxy, fields: dict[str, Any], param: str
) -> None:
    with pytest.raises(openai.BadRequestError) as info:
        await ask_chat(proxy, **fields)
    assert info.value.param == param
    assert NAME not in str(info.value)
    assert proxy.remote.received == []
    (line,) = [json.loads(line) for line in proxy.log if '"status":400' in line]
    assert "released" not in line  # it was refused before it was charged


async def test_text_completions_are_refused(proxy: Proxy) -> None:
    with pytest.raises(openai.BadRequestError, match="speaks the Messages API"):
        await proxy.client().completions.create(model=MODEL, prompt=TEXT)
    assert proxy.remote.received == []


@pytest.mark.parametrize("broken", [PassesThrough, RawDigits, MissesOne, ChangesTheRest])
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_broken_sanitizer_sends_nothing(
    table: EmbeddingTable, settings: dict[str, Any], broken: type[Perturber], streamed: bool
) -> None:
    async with running_proxy(table, settings, sanitizing(broken)) as proxy:
        with pytest.raises(openai.InternalServerError) as info:
            await ask_chat(proxy, stream=streamed)
        assert info.value.code == "guard_refused"
        assert proxy.remote.received == []


@pytest.mark.usefixtures("seeded_draws")
class TestCanaries:
    @pytest.fixture
    def settings(self, tmp_path: Path) -> dict[str, Any]:
        parameters = words(patterns={"PROJECT": PATTERN})
        privacy = {**SETTINGS["privacy"], "parameters": parameters}
        remote = {**REMOTE, "identifiers": "pseudonym"}
        store = {"folder": str(tmp_path)}
        return {**SETTINGS, "privacy": privacy, "remote": remote, "store": store}

    @pytest.mark.parametrize("path", ["chat/completions", "responses", "messages"])
    @pytest.mark.parametrize("streamed", [False, True])
    async def test_no_position_leaks(
        self, proxy: Proxy, tmp_path: Path, path: str, streamed: bool
    ) -> None:
        plant = Planter()
        body = {**MAKERS[path](plant), "stream": streamed}
        if path == "chat/completions":  # which the Messages API does not have
            for name in [name for name in body if name.startswith(("guided_", "function"))]:
                del body[name]
            del body["chat_template_kwargs"]
            body["messages"] = [
                m for m in body["messages"] if "function_call" not in m and m["role"] != "function"
            ]
        code, told = await post(f"{proxy.base_url}/{path}", body)
        assert code == 200, told
        (sent,) = proxy.remote.bodies
        assert plant.found_in(b"\n".join(proxy.remote.received).decode()) == []
        assert plant.found_in("\n".join(proxy.log)) == []
        assert plant.found_in(read_files(tmp_path)) == []
        # … while everything has its place there
        kinds = [b["type"] for m in sent["messages"] for b in m["content"]]
        assert {"text", "tool_use", "tool_result"} == set(kinds)
        assert {"system", "tools", "tool_choice", "output_config"} <= set(sent)
        assert ("metadata" in sent) == (path != "responses")  # `user`, as a keyed hash


class TestAnswers:
    @pytest.mark.parametrize("streamed", [False, True])
    async def test_an_error_is_told_by_its_known_names(self, proxy: Proxy, streamed: bool) -> None:
        async def fail(server: FakeServer, request: web.Request, body: Any) -> Any:
            error = {"type": "overloaded_error", "message": "upstream-secret"}
            told = {"type": "error", "error": error}
            if streamed:
                return await stream(request, iter([told]))
            return web.json_response(told, status=529)

        proxy.remote.behaviour = fail
        with pytest.raises(openai.APIError) as info:
            await ask_chat(proxy, stream=streamed)
        assert "upstream-secret" not in str(info.value) + "\n".join(proxy.log)
        assert "overloaded_error" in "\n".join(proxy.log)

    @pytest.mark.parametrize(
        "events",
        [
            [{"type": "content_block_start", "index": "0", "content_block": {"type": "text"}}],
            [{"type": "content_block_delta", "index": 0, "delta": []}],
            [
                {
                    "type": "content_block_delta",
                    "index": 0,
                    "delta": {"type": "text_delta", "text": 5},
                }
            ],
            [{"type": "message_delta", "delta": {}, "usage": {"output_tokens": -1}}],
            [{"type": "message_start", "message": None}],
            [{"type": "message_delta", "delta": {"stop_reason": ["x"]}, "usage": {}}],
            [{"type": "error", "error": "x"}],
            [[]],
            [],
            *[
                list(make_events(make_message({"type": "text", "text": "So"})))[:-n]
                for n in (2, 4)
            ],
        ],
    )
    async def test_a_stream_of_another_form_is_an_error(
        self, proxy: Proxy, events: list[Any]
    ) -> None:
        async def say(server: FakeServer, request: web.Request, body: Any) -> Any:
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            for event in events:
                await response.write(b"data: " + json.dumps(event).encode() + b"\n\n")
            return response

        proxy.remote.behaviour = say
        body = {"model": MODEL, "messages": USER, "stream": True}
        _, told = await post(f"{proxy.base_url}/chat/completions", body)
        assert "upstream_error" in told

    @pytest.mark.parametrize(
        "told",
        [
            {"content": "text"},
            {"content": [5]},
            {"content": [{"type": "text", "text": 5}]},
            {"content": [{"type": "tool_use", "id": "x", "name": "y", "input": []}]},
            {"content": [], "usage": {"input_tokens": "many"}},
            {"content": [], "stop_reason": 5},
            {"type": "error", "error": {"type": "api_error"}},
            [],
            {"choices": [{"message": {"content": "a chat's"}}]},
        ],
    )
    async def test_an_answer_of_another_form_is_an_error(self, proxy: Proxy, told: Any) -> None:
        async def say(server: FakeServer, request: web.Request, body: Any) -> Any:
            return web.json_response(told)

        proxy.remote.behaviour = say
        with pytest.raises(openai.InternalServerError) as info:
            await ask_chat(proxy)
        assert info.value.status_code == 502

    async def test_a_remote_that_does_not_stream_is_understood(self, proxy: Proxy) -> None:
        async def whole(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
            return web.json_response(make_message({"type": "text", "text": "So"}))

        proxy.remote.behaviour = whole
        done = await ask_chat(proxy, stream=True)
        assert done.choices[0].message.content == "So"


async def test_the_first_words_do_not_wait_for_the_end(proxy: Proxy) -> None:
    async def wait(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
        events = list(make_events(make_message({"type": "text", "text": "First second."}), 6))
        response = await stream(request, iter(events[:4]))
        await server.release.wait()
        for event in events[4:]:
            await response.write(b"data: " + json.dumps(event).encode() + b"\n\n")
        return response

    proxy.remote.behaviour = wait
    client = proxy.client()
    events = await client.chat.completions.create(model=MODEL, messages=USER, stream=True)
    seen = ""
    async for event in events:
        seen += (event.choices[0].delta.content or "") if event.choices else ""
        if seen == "First ":
            proxy.remote.release.set()
    assert seen == "First second."
