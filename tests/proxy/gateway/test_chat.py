"""Chats through a gateway: the remote sees replacements, the client its own values."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import openai
import pytest
from aiohttp import web
from pydantic import BaseModel

from tests.limits import LIMIT
from tests.proxy.conftest import MODEL, Proxy
from tests.proxy.gateway.remotes import (
    CARD,
    MAIL,
    NAME,
    TEXT,
    call,
    chunk,
    delta,
    echo,
    last_text,
    leaked,
)
from tests.servers import FakeServer, completion, end_mid_stream, open_stream, send, status

TOOL: Any = {
    "type": "function",
    "function": {
        "name": "write_letter",
        "description": f"Writes a letter for {NAME}.",
        "parameters": {
            "type": "object",
            "properties": {"text": {"type": "string"}, MAIL: {"enum": [CARD, 4095260993934932]}},
            "required": ["text", MAIL],
        },
    },
}


async def ask(proxy: Proxy, *turns: str, **more: Any) -> Any:
    roles = ("user", "assistant")
    messages = [{"role": roles[i % 2], "content": text} for i, text in enumerate(turns)]
    create = proxy.client().chat.completions.create
    return await create(**{"model": MODEL, "messages": messages, **more})


async def test_an_answer_is_restored_and_the_receipt_counts(proxy: Proxy) -> None:
    proxy.remote.behaviour = echo
    made = await ask(proxy, TEXT, n=2)
    assert [choice.message.content for choice in made.choices] == [f"Sure: {TEXT}"] * 2
    assert leaked(proxy) == []
    assert proxy.local.received == []
    receipt = made.model_extra["inferdpt"]
    found = {"CREDIT_CARD": 1, "EMAIL_ADDRESS": 1, "PERSON": 1}
    assert receipt["entities"] == found
    assert receipt["positions"] == {"messages[].content": found}
    assert (receipt["restored"], receipt["unrestored"], receipt["ambiguous"]) == (6, 0, 0)
    assert made.usage.total_tokens == 14


async def test_a_stream_is_restored(proxy: Proxy) -> None:
    proxy.remote.behaviour = echo
    texts, receipts = ["", ""], []
    async for step in await ask(
        proxy, TEXT, n=2, stream=True, stream_options={"include_usage": True}
    ):
        receipts += [step.model_extra["inferdpt"]] if "inferdpt" in step.model_extra else []
        for choice in step.choices:
            texts[choice.index] += choice.delta.content or ""
    assert texts == [f"Sure: {TEXT}"] * 2
    assert leaked(proxy) == []
    first, last = receipts
    assert (first["restored"], last["restored"], last["unrestored"]) == (None, 6, 0)
    assert first["positions"] == last["positions"]


async def test_text_streams_as_soon_as_it_is_certain(proxy: Proxy) -> None:
    """The remote stops in the middle of a replacement; all that came before has been shown."""
    going_on = asyncio.Event()

    async def hesitate(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
        text = "Yes: " + last_text(body)
        place = text.index(" letter to ") + len(" letter to ") + 2
        response = await open_stream(request)
        await send(response, chunk(delta(content=text[:place])))
        await going_on.wait()
        await send(response, chunk(delta(content=text[place:])))
        await send(response, chunk(delta(0, "stop")))
        return response

    proxy.remote.behaviour = hesitate
    seen = ""
    async with asyncio.timeout(LIMIT):
        async for step in await ask(proxy, TEXT, stream=True):
            for choice in step.choices:
                seen += choice.delta.content or ""
            if seen == "Yes: Please write a letter to ":
                going_on.set()
    assert seen == f"Yes: {TEXT}"


@pytest.mark.parametrize("stream", [False, True])
async def test_calls_are_restored_as_json(proxy: Proxy, stream: bool) -> None:
    proxy.remote.behaviour = call
    text = f'Tell {NAME} "hello" on \\ {MAIL}'
    calls: dict[int, dict[str, str]] = {}
    if stream:
        async for step in await ask(proxy, text, tools=[TOOL], stream=True):
            for part in step.choices[0].delta.tool_calls or ():
                own = calls.setdefault(part.index, {"name": "", "arguments": ""})
                own["name"] += part.function.name or ""
                own["arguments"] += part.function.arguments or ""
    else:
        made = await ask(proxy, text, tools=[TOOL])
        found = enumerate(made.choices[0].message.tool_calls)
        calls = {i: {"name": c.function.name, "arguments": c.function.arguments} for i, c in found}
    assert len(calls) == 2
    for made_call in calls.values():
        assert made_call["name"] == "write_letter"
        told = json.loads(made_call["arguments"])
        assert told == {"text": text + '\n"é"', text: [1, None]}
    assert leaked(proxy) == []


async def test_a_schema_leaves_consistent_and_valid(proxy: Proxy) -> None:
    proxy.remote.behaviour = echo
    await ask(
        proxy,
        TEXT,
        tools=[TOOL],
        tool_choice={"type": "function", "function": {"name": "write_letter"}},
    )
    assert leaked(proxy, (*NAME.split(), MAIL, CARD, "4095260993934932")) == []
    function = proxy.remote.bodies[0]["tools"][0]["function"]
    schema = function["parameters"]
    assert function["name"] == "write_letter"
    assert list(schema["properties"]) == schema["required"]
    card, number = schema["properties"][schema["required"][1]]["enum"]
    assert isinstance(number, int)
    assert len(str(number)) == 16
    assert card in last_text(proxy.remote.bodies[0])  # the same replacement as in the message


async def test_a_history_with_calls_and_results_leaves_sanitized(proxy: Proxy) -> None:
    proxy.remote.behaviour = echo
    arguments = json.dumps({"to": [NAME, {CARD: 5}], "n": 4095260993934932})
    messages = [
        {"role": "system", "content": f"You serve {NAME}."},
        {"role": "user", "content": TEXT, "name": "Kowalewski"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": f"call_{CARD}",
                    "type": "function",
                    "function": {"name": "write_letter", "arguments": arguments},
                }
            ],
        },
        {"role": "tool", "tool_call_id": f"call_{CARD}", "content": f"Sent to {MAIL}"},
        {"role": "assistant", "content": f"Done, {NAME}."},
        {"role": "user", "content": [{"type": "text", "text": f"Thank {NAME} again."}]},
    ]
    made = await ask(proxy, messages=messages, stop=[NAME], user=MAIL, metadata={CARD: NAME})
    assert made.choices[0].message.content == f"Sure: Thank {NAME} again."
    assert leaked(proxy, (*NAME.split(), MAIL, CARD, "4095260993934932")) == []
    body = proxy.remote.bodies[0]
    assert not {"user", "metadata"} & body.keys()
    _, _, asked, told, _, _ = body["messages"]
    assert asked["tool_calls"][0]["id"] == told["tool_call_id"]
    sent = json.loads(asked["tool_calls"][0]["function"]["arguments"])
    name = sent["to"][0]
    assert body["stop"] == [name]
    assert body["messages"][4]["content"] == f"Done, {name}."
    assert isinstance(sent["n"], int)


class Letter(BaseModel):
    to: str
    address: str
    link: str


async def test_structured_outputs_are_restored_as_json(proxy: Proxy) -> None:
    async def structured(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
        _, name, rest = last_text(body).split("|")
        made = {"to": name, "link": "https://public.example", "address": rest}
        text = json.dumps(made, separators=(",", ":"))
        return web.json_response(completion(text))

    proxy.remote.behaviour = structured
    made = await proxy.client().chat.completions.parse(
        model=MODEL,
        messages=[{"role": "user", "content": f"Letter|{NAME}|{MAIL}"}],
        response_format=Letter,
    )
    assert made.choices[0].message.parsed == Letter(
        to=NAME, address=MAIL, link="https://public.example"
    )
    assert leaked(proxy) == []


async def test_log_probabilities_are_the_remotes_and_the_receipt_says_so(proxy: Proxy) -> None:
    async def likely(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
        assert (body["logprobs"], body["top_logprobs"]) == (True, 2)
        made = completion("Hi " + last_text(body))
        token = {"token": "Hi", "logprob": -0.5, "bytes": None, "top_logprobs": []}
        made["choices"][0]["logprobs"] = {"content": [token], "refusal": None}
        return web.json_response(made)

    proxy.remote.behaviour = likely
    made = await ask(proxy, NAME, logprobs=True, top_logprobs=2)
    assert made.choices[0].message.content == f"Hi {NAME}"
    assert made.choices[0].logprobs.content[0].logprob == -0.5
    assert "not restored" in made.model_extra["inferdpt"]["logprobs"]


async def test_each_replacement_is_restored_or_counted(proxy: Proxy) -> None:
    async def shout(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
        name = last_text(body).split(" of ")[1]
        return web.json_response(completion(f"{name}, {name.upper()} https://x.example/{name}"))

    proxy.remote.behaviour = shout
    made = await ask(proxy, f"Tell me of {NAME}")
    assert made.choices[0].message.content.startswith(f"{NAME}, ")
    assert NAME.split()[1] not in made.choices[0].message.content.split("https")[1]
    receipt = made.model_extra["inferdpt"]
    # In capitals it comes back, unless it is made of ordinary words. In an address it is left.
    assert receipt["restored"] + receipt["unrestored"] == 3
    assert receipt["restored"] >= 1 <= receipt["unrestored"]


@pytest.mark.parametrize("stream", [False, True])
async def test_errors_of_the_remote_are_mapped_and_not_repeated(
    proxy: Proxy, stream: bool
) -> None:
    proxy.remote.behaviour = status(429)
    with pytest.raises(openai.RateLimitError) as info:
        await ask(proxy, TEXT, stream=stream)
    assert "upstream-secret" not in str(info.value) + "\n".join(proxy.log)


async def test_a_remote_that_does_not_stream_is_relayed_as_one_step(proxy: Proxy) -> None:
    async def whole(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
        return await echo(server, request, {**body, "stream": False})

    proxy.remote.behaviour = whole
    text = ""
    async for step in await ask(proxy, TEXT, stream=True):
        text += step.choices[0].delta.content or ""
    assert text == f"Sure: {TEXT}"


async def test_a_stream_that_breaks_off_is_an_error(proxy: Proxy) -> None:
    proxy.remote.behaviour = end_mid_stream
    with pytest.raises(openai.APIError):
        async for _ in await ask(proxy, TEXT, stream=True):
            pass


@pytest.mark.parametrize("n", [1, 2])
async def test_a_stream_that_says_it_is_done_needs_no_reason(proxy: Proxy, n: int) -> None:
    """Some servers send no `finish_reason`. The last word is held back until the end."""

    async def unreasoned(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
        response = await open_stream(request)
        for letter in last_text(body):
            for i in range(n):
                await send(response, {"choices": [{"index": i, "delta": {"content": letter}}]})
        await response.write(b"data: [DONE]\n\n")
        return response

    proxy.remote.behaviour = unreasoned
    texts, reasons = [""] * n, [""] * n
    async for step in await ask(proxy, f"Write to {NAME}", stream=True, n=n):
        for choice in step.choices:
            texts[choice.index] += choice.delta.content or ""
            reasons[choice.index] += choice.finish_reason or ""
    assert texts == [f"Write to {NAME}"] * n
    assert reasons == ["stop"] * n


async def test_what_comes_after_the_reason_is_shown_to_its_end(proxy: Proxy) -> None:
    """Some servers tell the reason first. A name may be held back then, too."""

    async def early(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
        response, text = await open_stream(request), last_text(body)
        await send(response, chunk(delta(0, "length", content=text[:9])))
        await send(response, chunk(delta(content=text[9:])))
        await response.write(b"data: [DONE]\n\n")
        return response

    proxy.remote.behaviour = early
    text, reasons = "", []
    async for step in await ask(proxy, f"Write to {NAME}", stream=True):
        for choice in step.choices:
            text += choice.delta.content or ""
            reasons += [choice.finish_reason] if choice.finish_reason else []
    assert text == f"Write to {NAME}"
    assert reasons == ["length"]


@pytest.mark.parametrize("content", [None, ""])
async def test_a_stream_that_is_done_without_an_answer_is_an_error(
    proxy: Proxy, content: str | None
) -> None:
    async def empty(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
        response = await open_stream(request)
        if content is not None:
            await send(response, {"choices": [{"delta": {"content": content}}]})
        await response.write(b"data: [DONE]\n\n")
        return response

    proxy.remote.behaviour = empty
    with pytest.raises(openai.APIError):
        async for _ in await ask(proxy, TEXT, stream=True):
            pass


async def test_unknown_fields_of_the_answer_are_left_out(proxy: Proxy) -> None:
    async def chatty(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
        made = {**completion("Hi", reasoning_content="hm"), "system_fingerprint": "f", "x": 1}
        return web.json_response(made)

    proxy.remote.behaviour = chatty
    made = await proxy.client().chat.completions.with_raw_response.create(
        model=MODEL, messages=[{"role": "user", "content": "Hi"}]
    )
    told = json.loads(made.text)
    assert set(told) == {"id", "created", "model", "object", "choices", "usage", "inferdpt"}
    assert set(told["choices"][0]["message"]) == {"role", "content", "refusal"}
    assert told["model"] == MODEL


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"logit_bias": {"50256": -100}}, "logit_bias"),
        ({"extra_body": {"inferdpt": {"local_only": True}}}, "inferdpt.local_only"),
        ({"extra_body": {"inferdpt": {"instruction": "x"}}}, "inferdpt.instruction"),
        ({"extra_body": {"inferdpt": {"mechanism": "rantext_ldp"}}}, "inferdpt"),
        ({"tools": [{**TOOL, "secret": 1}]}, "tools[0].secret"),
        ({"tools": [{"type": "web_search"}]}, "tools[0].type"),
        (
            {
                "messages": [
                    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}
                ]
            },
            "messages[0].content[0]",
        ),
    ],
)
async def test_what_cannot_be_read_is_refused_by_name(
    proxy: Proxy, fields: dict[str, Any], param: str
) -> None:
    with pytest.raises(openai.BadRequestError) as info:
        await ask(proxy, TEXT, **fields)
    assert info.value.param == param
    assert proxy.remote.received == []
