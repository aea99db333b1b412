"""`inferdpt demo`: the whole path over HTTP on loopback, with the bundled model in both roles."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from tempfile import TemporaryDirectory

import aiohttp
from aiohttp import web
from openai import AsyncOpenAI

from proxy.app import build_app, build_runner
from proxy.cli.demo_page import Run, show
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


async def demo(text: str, settings: Sequence[tuple[str, float]]) -> None:
    """Run the demo once for each mechanism and ε, and print each step."""
    async with local_server(load_config(None).local) as model:
        runs = [await _answer(text, name, epsilon, model.base_url) for name, epsilon in settings]
    show(text, runs)
    print(
        "\nThe bundled model has a few million parameters: it shows the path, not the quality.\n"
        "With a real remote and a real local model, point the OpenAI SDK at the proxy:\n"
        "  inferdpt serve --remote-model gpt-4o --local-base-url http://127.0.0.1:8000/v1\n"
        '  client = OpenAI(base_url="http://127.0.0.1:8100/v1")'
    )


async def _answer(text: str, mechanism: str, epsilon: float, model_url: str) -> Run:
    """Answer a text through a proxy of its own."""
    folder = TemporaryDirectory()  # not the user's own state
    remote = Recorder(model_url)
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
                "base_url": model_url,
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
    finally:
        await proxy.cleanup()
        await remote.stop()
        folder.cleanup()
    assert answer.model_extra is not None
    return Run(
        sent=[json.loads(body)["messages"] for body in remote.bodies],
        size=sum(map(len, remote.bodies)),
        answer=answer.choices[0].text.strip(),
        receipt=answer.model_extra["inferdpt"],
    )


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


def run(text: str, settings: Sequence[tuple[str, float]]) -> None:
    """Run the command."""
    asyncio.run(demo(text, settings))
