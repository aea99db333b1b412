"""The whole path as a user's evaluation script takes it: the `openai` client, the real proxy, a
remote that is watched, and a local model, all over HTTP."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any, Literal

from aiohttp import web
from openai import APIStatusError, AsyncOpenAI, OpenAIError
from openai.types.chat import ChatCompletion
from tqdm import tqdm

from benchmarks.suite import Endpoint, Suite
from extraction.prompts import Prompts, fill
from perturb import EmbeddingTable
from proxy.app import build_app, runner
from proxy.config import load_config
from proxy.local import HOST, local_server
from proxy.serve import listening

__all__ = ["Job", "Relay", "Reply", "Setting", "ask"]

BUNDLED = "inferdpt-bundled"
TOKENS = 100  # of an answer: as long as the reference
TEMPERATURE = 0.5
IN_FLIGHT = 16
PARALLEL = 8  # slots of the bundled model's server
CONTEXT = 1024  # tokens of one slot
SECONDS = 600.0  # of one answer
RETRIES = 5


@dataclass(frozen=True)
class Setting:
    """What answers.

    Attributes:
        target: the proxy; the proxy with its local model alone; or the remote, without a proxy
            and shown the raw prefix.
        privacy: the proxy's `privacy` section.
    """

    target: Literal["proxy", "local", "remote"]
    privacy: Mapping[str, Any]


@dataclass(frozen=True)
class Job:
    """A prefix to continue.

    Attributes:
        key: set, id and draw; what the text is known by.
        prefix: the private document.
        seed: of the sampling, at both models.
        generation: what the remote says whatever it is asked; None asks the model.
    """

    key: tuple[str, str, int]
    prefix: str
    seed: int
    generation: str | None = None


@dataclass(frozen=True)
class Reply:
    """What the remote was shown and wrote (None: it was not asked), and the answer."""

    sent: str | None
    generation: str | None
    answer: str


async def ask(
    suite: Suite,
    table: EmbeddingTable,
    setting: Setting,
    jobs: Sequence[Job],
    keep: Callable[[Job, Reply], None],
) -> None:
    """Continue every prefix, several at once, and hand each to `keep` as it is done. The proxy has
    a state folder of its own: nothing comes from an earlier point's memo.

    Raises:
        OpenAIError: a server failed for good; what was kept until then stays kept.
    """
    async with AsyncExitStack() as stack:
        local = await stack.enter_async_context(_model(suite.local))
        remote = await stack.enter_async_context(_model(suite.remote))
        relay = Relay(remote, jobs)
        await stack.enter_async_context(relay.running())
        if setting.target == "remote":
            base_url = relay.base_url
        else:
            base_url = await stack.enter_async_context(_proxy(relay, local, table, setting))
        client = await stack.enter_async_context(
            AsyncOpenAI(base_url=base_url, api_key="any", timeout=2 * SECONDS, max_retries=0)
        )
        slots = asyncio.Semaphore(IN_FLIGHT)
        with tqdm(total=len(jobs), unit="text", leave=False) as bar:

            async def one(number: int, job: Job) -> None:
                async with slots:
                    answer = await _answer(client, setting.target, relay.names[number], job)
                sent, generation = relay.exchange(number)
                keep(job, Reply(sent, generation, answer))
                bar.update()

            await _together([one(number, job) for number, job in enumerate(jobs)])


async def _answer(client: AsyncOpenAI, target: str, name: str, job: Job) -> str:
    """One continuation by the way that users take."""
    sampling: dict[str, Any] = {
        "model": name,
        "max_tokens": TOKENS,
        "temperature": TEMPERATURE,
        "seed": job.seed,
    }
    if target == "remote":
        prompt = fill(Prompts().remote_continuation, document=job.prefix)
        chat: Any = await client.chat.completions.create(
            messages=[{"role": "user", "content": prompt}], **sampling
        )
        return str(chat.choices[0].message.content or "")
    done: Any = await client.completions.create(
        prompt=job.prefix, extra_body={"inferdpt": {"local_only": target == "local"}}, **sampling
    )
    return str(done.choices[0].text)


async def _together(jobs: Sequence[Any]) -> None:
    """All at once; the first failure cancels the rest and is raised as itself."""
    try:
        async with asyncio.TaskGroup() as group:
            for job in jobs:
                group.create_task(job)
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None


@asynccontextmanager
async def _model(endpoint: Endpoint | None) -> AsyncIterator[Endpoint]:
    """Where a model answers; None starts the bundled one. Each role has a server of its own, so
    that both of two cores compute."""
    if endpoint is not None:
        yield endpoint
        return
    engine = {"context": CONTEXT, "parallel": PARALLEL, "threads": 1}
    config = load_config(None, {"local": {"mode": "embedded", "embedded": engine}})
    async with local_server(config.local) as server:
        yield Endpoint(base_url=server.base_url, model=BUNDLED)


@asynccontextmanager
async def _proxy(
    relay: Relay, local: Endpoint, table: EmbeddingTable, setting: Setting
) -> AsyncIterator[str]:
    """The proxy between a relay and a local model; its base_url."""
    with TemporaryDirectory() as folder:
        config = load_config(
            None,
            {
                "store": {"folder": folder},
                "server": {"port": 0},
                "privacy": dict(setting.privacy),
                "remote": {
                    "base_url": relay.base_url,
                    "api_key": "relay",
                    "models": {name: name for name in relay.names},
                    "send_seed": True,
                    "timeout_seconds": SECONDS,
                    "retries": 0,
                },
                "local": {
                    "mode": "external",
                    "base_url": local.base_url,
                    "model": local.model,
                    "api_key": _key(local),
                    "context_tokens": CONTEXT if local.model == BUNDLED else None,
                    "timeout_seconds": SECONDS,
                },
            },
        )
        run = runner(build_app(config, table=table))
        try:
            yield await listening(run, config)
        finally:
            await run.cleanup()


class Relay:
    """Stands before the remote and remembers what it was sent and what it wrote.

    Each text is asked for under a model name of its own, `names[i]` for the i-th job, so that a
    body can be told to belong to it whatever has become of its words.

    Args:
        remote: the model behind; it gets the bodies under its own name.
        jobs: the texts; one that has a generation is answered with that.
    """

    def __init__(self, remote: Endpoint, jobs: Sequence[Job]) -> None:
        self.names = [f"text-{number}" for number in range(len(jobs))]
        self.base_url = ""
        self._model = remote.model
        self._given = dict(zip(self.names, (job.generation for job in jobs), strict=True))
        self._seen: dict[str, tuple[str, str]] = {}
        self._remote = AsyncOpenAI(
            base_url=remote.base_url, api_key=_key(remote), timeout=SECONDS, max_retries=RETRIES
        )

    def exchange(self, number: int) -> tuple[str, str] | tuple[None, None]:
        """What was sent in place of a prefix and what came back; Nones where nothing was."""
        return self._seen.get(self.names[number], (None, None))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Listen on loopback."""
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._relay)
        run = web.AppRunner(app, access_log=None)
        try:
            await run.setup()
            await web.TCPSite(run, HOST, 0).start()
            self.base_url = f"http://{HOST}:{run.addresses[0][1]}/v1"
            yield
        finally:
            await run.cleanup()
            await self._remote.close()

    async def _relay(self, request: web.Request) -> web.Response:
        body = await request.json()
        name = body["model"]
        given = self._given[name]
        try:
            answer = _completion(given) if given is not None else await self._ask(body)
        except OpenAIError as exc:
            status = exc.status_code if isinstance(exc, APIStatusError) else 502
            error = {"message": "the remote failed", "type": type(exc).__name__}
            return web.json_response({"error": error}, status=status)
        written = answer["choices"][0]["message"]["content"] or ""
        self._seen[name] = (_document(body["messages"][-1]["content"]), written)
        return web.json_response(answer)

    async def _ask(self, body: dict[str, Any]) -> dict[str, Any]:
        body = {**body, "model": self._model}
        answer: ChatCompletion = await self._remote.chat.completions.create(**body)
        return answer.model_dump(mode="json")


def _completion(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {
        "id": "given",
        "object": "chat.completion",
        "created": 0,
        "model": "given",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
    }


def _document(prompt: str) -> str:
    """What stands in the shipped template's place."""
    head, tail = Prompts().remote_continuation.split("{document}")
    return prompt.removeprefix(head).removesuffix(tail)


def _key(endpoint: Endpoint) -> str:
    return os.environ.get(endpoint.key_variable, "none")
