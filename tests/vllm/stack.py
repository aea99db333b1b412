"""The proxy in this process, a real vLLM under its supervisor, a fake remote beside it."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import psutil
from aiohttp import web

from extraction.backends.openai_server import OpenAIServer
from extraction.extractor import Extractor
from proxy.api.app_keys import EXTRACTOR
from proxy.app import build_app, build_runner
from proxy.config.settings import Config, Local
from proxy.local import find_free_port, local_server
from proxy.serve import start_runner
from tests.servers import FakeServer
from tests.vllm.tiny_model import CONTEXT

__all__ = [
    "ALIAS",
    "GENERATION",
    "MODEL",
    "Stack",
    "Vllm",
    "alive",
    "serving",
    "until",
]

# A name with "vicuna" in it: the proxy gives this model our template, as it gives it to the
# weights that this one stands for.
MODEL = "vicuna-tiny"
ALIAS = "gpt-test"
GENERATION = "The council of the harbour wrote a report about the winter and the bridge."
READY = 600  # seconds in which vLLM starts on a slow machine too
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "TORCHDYNAMO_DISABLE": "1",
    # One thread, anywhere: on two cores more of them starve vLLM's own HTTP server.
    "OMP_NUM_THREADS": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
}


def vllm_settings(model: Path, *arguments: str, port: int = 0) -> dict[str, Any]:
    """`local.vllm`: this environment's vLLM on this machine's CPU."""
    return {
        "command": (sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model"),
        "model": str(model),
        "port": port,
        "args": ("--dtype", "float32", "--enforce-eager", *arguments),
        "env": ENVIRONMENT,
        "ready_seconds": READY,
    }


@asynccontextmanager
async def serving(
    model: Path, *arguments: str, clips: bool = False
) -> AsyncIterator[OpenAIServer]:
    """A vLLM of its own, started as the proxy starts one."""
    config = {"mode": "vllm", "vllm": vllm_settings(model, *arguments)}
    async with local_server(Local.model_validate(config), clips=clips) as server:
        yield server


@dataclass
class Vllm:
    """The real server, spoken to past the proxy."""

    root: str
    model: str

    async def post(self, path: str, body: dict[str, Any]) -> Any:
        """A JSON answer; anything but 200 fails the test with what the server said."""
        url = self.root + path
        async with (
            aiohttp.ClientSession() as session,
            session.post(url, json={"model": self.model, **body}) as answer,
        ):
            assert answer.status == 200, await answer.text()
            return await answer.json()

    async def refusal(self, body: dict[str, Any]) -> str:
        """Return what the server says to a chat request that it refuses."""
        url = f"{self.root}/v1/chat/completions"
        async with (
            aiohttp.ClientSession() as session,
            session.post(url, json={"model": self.model, **body}) as answer,
        ):
            assert answer.status == 400, await answer.text()
            return (await answer.json())["error"]["message"]

    async def metric(self, name: str, **labels: str) -> float:
        """The sum of a metric's samples with these labels."""
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"{self.root}/metrics") as answer,
        ):
            lines = (await answer.text()).splitlines()
        wanted = [f'{key}="{value}"' for key, value in labels.items()]
        return sum(
            float(line.rsplit(" ", 1)[1])
            for line in lines
            if line.startswith(name + "{") and all(label in line for label in wanted)
        )


class Stack:
    """The proxy in this process, its vLLM under it, the remote beside it."""

    def __init__(self, model: Path) -> None:
        self.remote = FakeServer(text=GENERATION)
        self.model = model
        self._runner: web.AppRunner | None = None
        self.url = ""
        self.vllm = Vllm("", MODEL)
        self.app = web.Application()

    async def start(self) -> None:
        await self.remote.start()
        port = find_free_port()
        config = Config.model_validate(
            {
                "server": {"port": 0, "drain_seconds": 5, "ping_seconds": 0.2},
                "remote": {
                    "base_url": self.remote.base_url,
                    "api_key": "remote-key",
                    "models": {ALIAS: "remote-model"},
                },
                "local": {
                    "mode": "vllm",
                    "model": MODEL,
                    "default_max_tokens": 64,
                    "vllm": vllm_settings(
                        self.model,
                        *("--max-model-len", str(CONTEXT)),
                        *("--enable-auto-tool-choice", "--tool-call-parser", "hermes"),
                        port=port,
                    ),
                },
            }
        )
        self.vllm.root = f"http://127.0.0.1:{port}"
        self.app = build_app(config)
        self._runner = build_runner(self.app)
        self.url = await start_runner(self._runner, config)

    async def stop(self) -> None:
        if self._runner is not None:
            run, self._runner = self._runner, None
            await run.cleanup()
            await self.remote.stop()

    @property
    def extractor(self) -> Extractor:
        """The proxy's extractor: it composes what the local model is sent."""
        return self.app[EXTRACTOR]

    def processes(self) -> list[psutil.Process]:
        """vLLM and its workers, the server itself first."""
        ours = psutil.Process().children()
        servers = [child for child in ours if self.model.name in " ".join(_command(child))]
        return [p for server in servers for p in (server, *server.children(recursive=True))]

    async def get(self, path: str) -> tuple[int, Any]:
        """Status and JSON of one of the proxy's own paths."""
        url = self.url.removesuffix("/v1") + path
        async with aiohttp.ClientSession() as session, session.get(url) as answer:
            return answer.status, await answer.json()

    async def events(self, body: dict[str, Any]) -> list[Any]:
        """The data of a chat stream's events, as they stand on the wire."""
        found = []
        async with (
            aiohttp.ClientSession() as session,
            session.post(
                f"{self.url}/chat/completions", json={"model": ALIAS, "stream": True, **body}
            ) as answer,
        ):
            assert answer.status == 200, await answer.text()
            async for line in answer.content:
                if line.startswith(b"data: "):
                    data = line.removeprefix(b"data: ").strip()
                    found.append("[DONE]" if data == b"[DONE]" else json.loads(data))
        return found


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def alive(process: psutil.Process) -> bool:
    """Tell whether a process runs; one that only waits to be reaped does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def until(condition: Callable[[], Awaitable[bool]], *, seconds: float = 180.0) -> None:
    """Wait until a condition on another process holds; fail when it never does."""
    async with asyncio.timeout(seconds):
        while not await condition():
            await asyncio.sleep(0.1)
