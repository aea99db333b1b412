"""`inferdpt demo`: the whole path over HTTP on loopback, with the bundled model in both roles."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import textwrap
from tempfile import TemporaryDirectory
from typing import Any

import aiohttp
from aiohttp import web
from openai import AsyncOpenAI

from proxy.app import build_app, build_runner
from proxy.config.settings import load_config
from proxy.local import HOST, find_free_port, local_server
from proxy.serve import start_runner

__all__ = ["DEMO_TEXT", "Recorder", "demo", "run"]

DEMO_TEXT = (
    "The old lighthouse at the mouth of the river was built in 1874, after a winter in which "
    "four ships were lost on the rocks. For more than a century its keepers lived there with "
    "their families, and the last of them left in the spring of 1986. This year the town council "
    "decided to open the tower to visitors, and"
)
MODEL = "demo"
ANSWER_TOKENS = 100


async def demo(text: str, mechanism: str, epsilon: float) -> None:
    """Run the demo and print what happened at each step."""
    async with local_server(load_config(None).local) as model:
        folder = TemporaryDirectory()  # not the user's own state
        remote = Recorder(model.base_url)
        await remote.start()
        config = load_config(
            None,
            {
                "store": {"folder": folder.name},
                "server": {"port": find_free_port()},
                "privacy": {"mechanism": mechanism, "epsilon": epsilon},
                "remote": {
                    "base_url": remote.base_url,
                    "models": {MODEL: MODEL},
                    "api_key": "demo",
                },
                "local": {
                    "mode": "external",
                    "base_url": model.base_url,
                    "context_tokens": 1024,
                    "extraction": "all",  # the whole path is shown, as in the paper
                },
            },
        )
        proxy = build_runner(build_app(config))
        try:
            base_url = await start_runner(proxy, config)
            async with AsyncOpenAI(base_url=base_url, api_key="demo") as client:
                answer = await client.completions.create(
                    model=MODEL,
                    prompt=text,
                    max_tokens=ANSWER_TOKENS,
                    temperature=0.5,
                    extra_body={"inferdpt": {"receipt": "full"}},
                )
            _show(text, remote.bodies, answer)
        finally:
            await proxy.cleanup()
            await remote.stop()
            folder.cleanup()


class Recorder:
    """Replace the remote: keep every request body and pass it to the bundled model."""

    def __init__(self, target: str) -> None:
        self.bodies: list[bytes] = []
        self._target = target
        self.base_url = ""
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._relay)
        self._runner = web.AppRunner(app, access_log=None)

    async def start(self) -> None:
        """Listen on loopback."""
        await self._runner.setup()
        await web.TCPSite(self._runner, HOST, 0).start()
        self.base_url = f"http://{HOST}:{self._runner.addresses[0][1]}/v1"

    async def stop(self) -> None:
        """Stop listening."""
        await self._runner.cleanup()

    async def _relay(self, request: web.Request) -> web.Response:
        body = await request.read()
        self.bodies.append(body)
        async with (
            aiohttp.ClientSession() as session,
            session.post(
                f"{self._target}/chat/completions",
                data=body,
                headers={"Content-Type": "application/json"},
            ) as answer,
        ):
            return web.Response(
                body=await answer.read(), status=answer.status, content_type="application/json"
            )


def _show(text: str, bodies: list[bytes], answer: Any) -> None:
    receipt = answer.model_extra["inferdpt"]
    left = "\n\n".join(
        message["content"] for body in bodies for message in json.loads(body)["messages"]
    )
    _section("1. Your document", text, "stays on this machine")
    _section("2. What left the machine", left, f"{sum(map(len, bodies))} bytes to the remote")
    _section(
        "3. The remote's perturbed generation",
        receipt["exchanges"][0]["generation"] or "(nothing)",
        "the bundled model plays the remote here",
    )
    _section(
        "4. The answer",
        answer.choices[0].text.strip(),
        "written by the local model from 1 and 3",
    )
    tokens = receipt["tokens"]
    epsilon = receipt["epsilon"]
    proved = (
        "no bound proved"
        if receipt["guarantee"] == "none"
        else f"proved: {epsilon['per_token']:g} per token, {epsilon['all_tokens']:g} for all"
    )
    replaced = ", ".join(f"{n} {kind}" for kind, n in receipt["entities"].items())
    summary = (
        f"{receipt['released']} words released by {receipt['mechanism']}, nominal ε "
        f"{epsilon['nominal']:g} per token ({proved}).\n{receipt['statement']}.\n"
        f"Tokens: {', '.join(f'{n} {kind}' for kind, n in tokens.items())}.\n"
        + (f"Replaced: {replaced}.\n" if replaced else "")
        + f"The remote still learns: {'; '.join(receipt['reveals'])}."
    )
    _section("5. The receipt", summary, "")
    print(
        "\nThe bundled model has a few million parameters: it shows the path, not the quality.\n"
        "With a real remote and a real local model, point the OpenAI SDK at the proxy:\n"
        "  inferdpt serve --remote-model gpt-4o --local-base-url http://127.0.0.1:8000/v1\n"
        '  client = OpenAI(base_url="http://127.0.0.1:8100/v1")'
    )


def _section(title: str, text: str, note: str) -> None:
    bold, dim, plain = ("\033[1m", "\033[2m", "\033[0m") if sys.stdout.isatty() else ("", "", "")
    width = min(shutil.get_terminal_size((100, 24)).columns, 100)
    print(f"\n{bold}{title}{plain}" + (f"  {dim}({note}){plain}" if note else ""))
    for line in text.splitlines() or [""]:
        print(textwrap.fill(line, width - 4, initial_indent="    ", subsequent_indent="    "))


def run(text: str, mechanism: str, epsilon: float) -> None:
    """Run the command."""
    asyncio.run(demo(text, mechanism, epsilon))
