"""Reach or start the local model's server, and prepare it for the mechanism."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import extraction
from extraction.backends.base import Backend
from extraction.backends.openai_server import OpenAIServer
from extraction.backends.plugged import load_backend
from extraction.backends.server_process import ServerProcess
from extraction.errors import LocalModelUnavailable
from extraction.models import MODELS
from perturb.text.suggest import did_you_mean
from proxy.config.settings import Local, Privacy
from proxy.config.upstreams.local import BUNDLED
from proxy.sanitizers import sanitizer_class

__all__ = [
    "build_vllm_command",
    "describe_running",
    "find_free_port",
    "local_backend",
    "local_model",
    "local_server",
]

HOST = "127.0.0.1"
CONTEXT = 1024  # tokens: what the bundled model was trained for
MOST_THREADS = 4  # the more there are, the more often one of them is late
FOLDER = Path(extraction.__file__).parent
BUNDLED_MODEL = FOLDER / "bundled" / "model.gguf"
# vLLM's second model runner takes another kind of logits processor and refuses ours at start.
V1_RUNNER = {"VLLM_USE_V2_MODEL_RUNNER": "0"}
CLIP_ARGUMENTS = (
    *("--logits-processors", "extraction.dp_prompt.vllm_clip:ClipLogits"),
    *("--logprobs-mode", "processed_logprobs"),
)
VICUNA_TEMPLATE = FOLDER / "templates" / "vicuna.jinja"


@asynccontextmanager
async def local_backend(config: Local, *, clips: bool = False) -> AsyncIterator[Backend]:
    """Yield the local model: a plug-in's, or else a server's.

    Raises:
        PluginError: the plug-in cannot be used.
        LocalModelUnavailable: as `local_server`, whose arguments these are.
    """
    if config.mode != "plugin":
        async with local_server(config, clips=clips) as server:
            yield server
        return
    plugin = config.plugin
    backend = await asyncio.to_thread(load_backend, plugin.name, plugin.options)
    try:
        yield backend
    finally:
        await backend.aclose()


@asynccontextmanager
async def local_server(
    config: Local, *, clips: bool = False, port: int | None = None
) -> AsyncIterator[OpenAIServer]:
    """Yield the backend of a server, which runs as long as the block if it is started here.

    An `external` server is not waited for; `/ready` tells if it answers.

    Args:
        config: the server's settings.
        clips: whether a vLLM started here loads the logits processor of DP-Prompt.
        port: of a server started here; None takes the configured one, or a free one.

    Raises:
        LocalModelUnavailable: a server started here does not become ready.
    """
    if config.mode == "plugin":
        raise LocalModelUnavailable("local.mode plugin is a model in this process, not a server")
    if config.mode == "none":
        raise LocalModelUnavailable("local.mode none has no local model")
    if config.mode == "external":
        command: list[str] = []
        base_url, model, seconds, env = config.base_url, config.model, 0.0, {}
    elif config.mode == "vllm":
        port = port or config.vllm.port or find_free_port()
        command = build_vllm_command(config, port, clips=clips)
        base_url, model = f"http://{HOST}:{port}/v1", config.model or config.vllm.model
        seconds, env = config.vllm.ready_seconds, config.vllm.env
        if clips:
            env = {**V1_RUNNER, **env}
    else:
        port = port or find_free_port()
        command = _build_embedded_command(config, port)
        base_url, model = f"http://{HOST}:{port}/v1", None
        seconds, env = config.embedded.ready_seconds, {}
    backend = OpenAIServer(
        base_url,
        model=model,
        api_key=config.key,
        timeout=config.timeout_seconds,
        concurrency=config.concurrency,
    )
    process = None
    try:
        if command:
            process = ServerProcess(command, ready=backend.ready, ready_seconds=seconds, env=env)
            await process.start()
        yield backend
    finally:
        await backend.aclose()
        if process is not None:
            await process.stop()


def describe_running(config: Local, port: int) -> Local:
    """Return the settings with which other processes reach a server started on a port."""
    model = config.model or config.vllm.model if config.mode == "vllm" else None
    if config.is_bundled:
        model = BUNDLED
    url = f"http://{HOST}:{port}/v1"
    return config.model_copy(update={"mode": "external", "base_url": url, "model": model})


async def local_model(privacy: Privacy, server: Backend) -> Any:
    """Return the mechanism's share of the local model; None if it needs none.

    Raises:
        LocalModelError: there is no such model, or the server lacks a required feature.
    """
    kind = sanitizer_class(privacy.mechanism)
    return await kind.prepare(privacy.checked_parameters, server)


def build_vllm_command(config: Local, port: int, *, clips: bool = False) -> list[str]:
    """Build the command `vllm serve MODEL …`.

    Vicuna's weights come without a chat template, so ours is used for them.
    """
    vllm = config.vllm
    template = vllm.chat_template
    if template is None and "vicuna" in vllm.model.lower():
        template = str(VICUNA_TEMPLATE)
    return [
        *vllm.command,
        vllm.model,
        *("--host", HOST, "--port", str(port)),
        *("--served-model-name", config.model or vllm.model),
        *(("--chat-template", template) if template else ()),
        *(CLIP_ARGUMENTS if clips else ()),
        *vllm.args,
    ]


def _build_embedded_command(config: Local, port: int) -> list[str]:
    embedded, pulled = config.embedded, config.embedded.pulled
    context, threads = CONTEXT, _count_threads()
    if embedded.is_bundled:
        model, threads = BUNDLED_MODEL, 1
        own = ["--alias", BUNDLED, "--penalize-repetition"]
    elif pulled is not None:
        model, context = pulled.path, pulled.model.context
        own = ["--alias", pulled.model.name, "--sha256", pulled.sha256]
        if pulled.model.template is not None:
            own += ["--chat-template", str(FOLDER / "templates" / pulled.model.template)]
    else:
        model = Path(embedded.model or "")
        own = ["--alias", model.stem]
        if not model.is_file():
            hint = did_you_mean(str(model), MODELS)
            raise LocalModelUnavailable(f"no model file at {model}{hint}")
    return [
        *(sys.executable, "-m", "extraction.backends.llama_server"),
        *("--model", str(model), "--host", HOST, "--port", str(port)),
        *("--context", str(embedded.context or context)),
        *("--parallel", str(embedded.parallel)),
        *("--threads", str(embedded.threads or threads)),
        *("--parent", str(os.getpid())),
        *own,
    ]


def _count_threads() -> int:
    """Return the threads of a model where no setting says otherwise.

    llama.cpp's threads spin until the last of them has done its share of each layer. Where
    another process holds one of their processors, all wait for it: with two threads on two
    processors, one other busy process made a model of 135 M parameters 20 times slower, whatever
    the engine's polling, and with one thread it made no difference.
    """
    own = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return min(max(own // 2, 1), MOST_THREADS)


def find_free_port() -> int:
    """Find a port that is free now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port
