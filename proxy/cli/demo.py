"""`inferdpt demo`: a letter through the gateway, and a document on the whole path with the bundled
model in both roles, over HTTP on loopback."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from tempfile import TemporaryDirectory
from typing import Any

import aiohttp
from aiohttp import web
from openai import AsyncOpenAI

from proxy.app import build_app, build_runner
from proxy.cli.demo_page import Run, Trip, show, show_letter
from proxy.config.settings import load_config
from proxy.local import HOST, find_free_port, local_server
from proxy.serve import start_runner

__all__ = ["DEMO_TEXT", "LETTER", "demo", "run"]

DEMO_TEXT = (
    "The old lighthouse at the mouth of the river was built in 1874, after a winter in which "
    "four ships were lost on the rocks. For more than a century its keepers lived there with "
    "their families, and the last of them left in the spring of 1986. This year the town council "
    "decided to open the tower to visitors, and"
)
LETTER = """\
Please answer this letter in a few words.

From: Mira Holzapfel <mira.holzapfel@kestrel-optik.de>

My daughter Aylin, born 14 March 2015, broke her glasses on a school trip to Paris. Please pay \
the 184 EUR to DE89 3704 0044 0532 0130 00, or call me: +49 30 23125 441.

Mira Holzapfel, Lindenallee 14, 10115 Berlin"""
MODEL = "demo"
ANSWER_TOKENS = 100
Answer = Callable[[bytes], Awaitable[bytes]]


async def demo(text: str, settings: Sequence[tuple[str, float]], letter: str = "") -> None:
    """Send a letter through the gateway, if there is one, run the whole path once for each
    mechanism and ε, and print each step."""
    if letter:
        show_letter(letter, await _send_letter(letter))
    async with local_server(load_config(None).local) as model:
        runs = [await _answer(text, name, epsilon, model.base_url) for name, epsilon in settings]
    show(text, runs)
    print(
        "\nThe bundled model has a few million parameters: it shows the path, not the quality.\n"
        "Start it as a gateway, or with a real local model, and point the OpenAI SDK at it:\n"
        "  inferdpt serve --no-local --mechanism selective --remote-model gpt-4o\n"
        "  inferdpt serve --remote-model gpt-4o --local-base-url http://127.0.0.1:8000/v1\n"
        '  client = OpenAI(base_url="http://127.0.0.1:8100/v1")'
    )


async def _send_letter(letter: str) -> Trip:
    """Send a letter through a gateway of its own to a program that plays the remote."""
    bodies: list[bytes] = []
    answers: list[str] = []

    async def answer(body: bytes) -> bytes:
        bodies.append(body)
        answers.append(_answer_letter(json.loads(body)["messages"][-1]["content"]))
        message = {"role": "assistant", "content": answers[-1]}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        head = {"id": "demo", "object": "chat.completion", "created": 0, "model": MODEL}
        return json.dumps({**head, "choices": [choice]}).encode()

    settings = {"privacy": {"mechanism": "selective"}, "local": {"mode": "none"}}
    async with _serve(settings, answer) as client:
        answered = await client.chat.completions.create(
            model=MODEL,
            messages=[{"role": "user", "content": letter}],
            extra_body={"inferdpt": {"receipt": "full"}},
        )
    assert answered.model_extra is not None
    return Trip(
        left=json.loads(bodies[0])["messages"][-1]["content"],
        answered=answers[0],
        got=answered.choices[0].message.content or "",
        receipt=answered.model_extra["inferdpt"],
    )


def _answer_letter(text: str) -> str:
    """Answer a letter from what stands in it, without a model."""

    def find(pattern: str) -> str:
        found = re.search(pattern, text)
        return found[1] if found else "(not found)"

    name, child = find(r"From: (.*?) <"), find(r"daughter (\w+)")
    account, phone = find(r"EUR to (.*?), or"), find(r"call me: ([+\d ()-]+)")
    return (
        f"Dear {name},\n\nwe are sorry to hear about the glasses of {child}. The 184 EUR will be "
        f"on your account {account} this week. If anything is open, we will call {phone} or "
        f"write to {find(r'<(.*?)>')}.\n\nHave a good time, the next time in Paris!"
    )


async def _answer(text: str, mechanism: str, epsilon: float, model_url: str) -> Run:
    """Answer a text through a proxy of its own."""
    bodies: list[bytes] = []

    async def ask(body: bytes) -> bytes:
        """Let the bundled model play the remote."""
        bodies.append(body)
        url, headers = f"{model_url}/chat/completions", {"Content-Type": "application/json"}
        async with (
            aiohttp.ClientSession() as session,
            session.post(url, data=body, headers=headers, raise_for_status=True) as answer,
        ):
            return await answer.read()

    settings = {
        "privacy": {"mechanism": mechanism, "epsilon": epsilon},
        "local": {
            "mode": "external",
            "base_url": model_url,
            "context_tokens": 1024,
            "extraction": "all",  # the whole path is shown, as in the paper
        },
    }
    async with _serve(settings, ask) as client:
        answer = await client.completions.create(
            model=MODEL,
            prompt=text,
            max_tokens=ANSWER_TOKENS,
            temperature=0.5,
            extra_body={"inferdpt": {"receipt": "full"}},
        )
    assert answer.model_extra is not None
    return Run(
        sent=[json.loads(body)["messages"] for body in bodies],
        size=sum(map(len, bodies)),
        answer=answer.choices[0].text.strip(),
        receipt=answer.model_extra["inferdpt"],
    )


@asynccontextmanager
async def _serve(settings: Mapping[str, Any], answer: Answer) -> AsyncIterator[AsyncOpenAI]:
    """Run a proxy with these settings in front of a remote that answers so, both on loopback, and
    yield a client of it."""

    async def relay(request: web.Request) -> web.Response:
        body = await answer(await request.read())
        return web.Response(body=body, content_type="application/json")

    remote = web.Application()
    remote.router.add_post("/v1/chat/completions", relay)
    running = web.AppRunner(remote, access_log=None)
    with TemporaryDirectory() as folder:  # not the user's own state
        await running.setup()
        try:
            await web.TCPSite(running, HOST, 0).start()
            base_url = f"http://{HOST}:{running.addresses[0][1]}/v1"
            common = {
                "store": {"folder": folder},
                "server": {"port": find_free_port()},
                "remote": {"base_url": base_url, "models": {MODEL: MODEL}, "api_key": "demo"},
            }
            config = load_config(None, {**common, **settings})
            proxy = build_runner(build_app(config))
            try:
                url = await start_runner(proxy, config)
                async with AsyncOpenAI(base_url=url, api_key="demo") as client:
                    yield client
            finally:
                await proxy.cleanup()
        finally:
            await running.cleanup()


def run(text: str, settings: Sequence[tuple[str, float]], letter: str = "") -> None:
    """Run the command."""
    asyncio.run(demo(text, settings, letter))
