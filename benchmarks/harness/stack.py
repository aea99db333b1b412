"""Run the whole path of a user's evaluation script: the `openai` client, the real proxy, a
remote behind a recording relay, and a local model, all over HTTP."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal

from aiohttp import web
from openai import APIStatusError, AsyncOpenAI, OpenAIError
from openai.types.chat import ChatCompletion
from tqdm import tqdm

from benchmarks.harness.suite import Endpoint, Suite
from extraction.extractor import Extraction
from extraction.prompts import Prompts, fill
from perturb import EmbeddingTable
from proxy.config.settings import load_config
from proxy.local import HOST, local_server
from proxy.loopback import run_proxy

__all__ = ["Job", "Relay", "Reply", "Setting", "ask", "build_completion", "extract_document"]

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
    """Define the servers that answer.

    Attributes:
        target: the proxy; the proxy with its local model alone; or the remote without a proxy,
            which gets the raw prefix.
        privacy: the proxy's `privacy` section.
        extraction: what the local model sees of a generation; `all` as in the paper.
        remote: in place of the suite's.
    """

    target: Literal["proxy", "local", "remote"]
    privacy: Mapping[str, Any]
    extraction: Extraction = "all"
    remote: Endpoint | None = None


@dataclass(frozen=True)
class Job:
    """Hold a prefix to continue.

    Attributes:
        key: set, id and draw, which identify the text.
        prefix: the private document.
        seed: of the sampling, in both models.
        generation: a fixed answer of the remote; None asks the model.
    """

    key: tuple[str, str, int]
    prefix: str
    seed: int
    generation: str | None = None


@dataclass(frozen=True)
class Reply:
    """Hold the remote's input, its output, and the answer. The first two are None if the remote
    was not called."""

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
    """Continue every prefix, several at once, and pass each to `keep` when it is done. The proxy
    has a state folder of its own, so nothing comes from an earlier point's memo.

    Raises:
        OpenAIError: a server failed for good; the texts kept so far stay kept.
    """
    async with AsyncExitStack() as stack:
        local = await stack.enter_async_context(_run_model(suite.local))
        remote = await stack.enter_async_context(_run_model(setting.remote or suite.remote))
        relay = Relay(remote, jobs)
        await stack.enter_async_context(relay.running())
        if setting.target == "remote":
            base_url = relay.base_url
        else:
            settings = _set_up_proxy(relay, local, setting)
            base_url = await stack.enter_async_context(run_proxy(table, settings))
        client = await stack.enter_async_context(
            AsyncOpenAI(base_url=base_url, api_key="any", timeout=2 * SECONDS, max_retries=0)
        )
        slots = asyncio.Semaphore(IN_FLIGHT)
        with tqdm(total=len(jobs), unit="text", leave=False, disable=None) as bar:

            async def one(number: int, job: Job) -> None:
                async with slots:
                    answer = await _continue(client, setting.target, relay.names[number], job)
                sent, generation = relay.exchange(number)
                keep(job, Reply(sent, generation, answer))
                bar.update()

            await _run_together([one(number, job) for number, job in enumerate(jobs)])


async def _continue(client: AsyncOpenAI, target: str, name: str, job: Job) -> str:
    """Return one continuation, through the same interface that users have."""
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


async def _run_together(jobs: Sequence[Any]) -> None:
    """Run all jobs at once. The first failure cancels the rest and is raised as itself."""
    try:
        async with asyncio.TaskGroup() as group:
            for job in jobs:
                group.create_task(job)
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None


@asynccontextmanager
async def _run_model(endpoint: Endpoint | None) -> AsyncIterator[Endpoint]:
    """Yield the endpoint of a model; None starts the bundled one. Each role has a server of its
    own, so that both of two cores compute."""
    if endpoint is not None:
        yield endpoint
        return
    engine = {"context": CONTEXT, "parallel": PARALLEL, "threads": 1}
    config = load_config(None, {"local": {"mode": "embedded", "embedded": engine}})
    async with local_server(config.local) as server:
        yield Endpoint(base_url=server.base_url, model=BUNDLED)


def _set_up_proxy(relay: Relay, local: Endpoint, setting: Setting) -> dict[str, Any]:
    """Return the configuration of the proxy between a relay and a local model."""
    return {
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
            "api_key": _read_key(local),
            "context_tokens": CONTEXT if local.model == BUNDLED else None,
            "extraction": setting.extraction,
            "timeout_seconds": SECONDS,
        },
    }


class Relay:
    """Relay requests to the remote, and record what it receives and writes.

    Each text is requested under a model name of its own, `names[i]` for the i-th job, so that a
    body can be matched to its text even though its words are perturbed.

    Args:
        remote: the model behind the relay; it gets the bodies under its own name.
        jobs: the texts; one with a fixed generation is answered with that.
    """

    def __init__(self, remote: Endpoint, jobs: Sequence[Job]) -> None:
        self.names = [f"text-{number}" for number in range(len(jobs))]
        self.base_url = ""
        self._model = remote.model
        self._given = dict(zip(self.names, (job.generation for job in jobs), strict=True))
        self._seen: dict[str, tuple[str, str]] = {}
        self._remote = AsyncOpenAI(
            base_url=remote.base_url,
            api_key=_read_key(remote),
            timeout=SECONDS,
            max_retries=RETRIES,
        )

    def exchange(self, number: int) -> tuple[str, str] | tuple[None, None]:
        """Return the text sent in place of a prefix and the remote's answer; two Nones if nothing
        was sent."""
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
            answer = build_completion(given) if given is not None else await self._ask(body)
        except OpenAIError as exc:
            status = exc.status_code if isinstance(exc, APIStatusError) else 502
            error = {"message": "the remote failed", "type": type(exc).__name__}
            return web.json_response({"error": error}, status=status)
        written = answer["choices"][0]["message"]["content"] or ""
        self._seen[name] = (extract_document(body["messages"][-1]["content"]), written)
        return web.json_response(answer)

    async def _ask(self, body: dict[str, Any]) -> dict[str, Any]:
        body = {**body, "model": self._model}
        answer: ChatCompletion = await self._remote.chat.completions.create(**body)
        return answer.model_dump(mode="json")


def build_completion(text: str) -> dict[str, Any]:
    """Return a chat completion that says a text."""
    message = {"role": "assistant", "content": text}
    return {
        "id": "given",
        "object": "chat.completion",
        "created": 0,
        "model": "given",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
    }


def extract_document(prompt: str) -> str:
    """Return the document in a prompt made from the shipped template."""
    head, tail = Prompts().remote_continuation.split("{document}")
    return prompt.removeprefix(head).removesuffix(tail)


def _read_key(endpoint: Endpoint) -> str:
    return os.environ.get(endpoint.key_variable, "none")
