"""The local model's server, in any of its three ways: reached, supervised, or bundled; and the
model that paraphrases, where DP-Prompt needs one."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import extraction
from extraction.errors import LocalModelUnavailable
from extraction.openai_server import OpenAIServer
from extraction.paraphrase import Paraphraser
from extraction.paraphrase_server import ServerParaphraser
from extraction.paraphrase_transformers import TransformersParaphraser, load_model
from extraction.server_process import ServerProcess
from proxy.config import Local, Privacy

__all__ = ["free_port", "local_server", "paraphraser", "vllm_command"]

HOST = "127.0.0.1"
FOLDER = Path(extraction.__file__).parent
BUNDLED_MODEL = FOLDER / "bundled" / "model.gguf"
# vLLM's second model runner takes processors of another kind and refuses ours at start.
V1_RUNNER = {"VLLM_USE_V2_MODEL_RUNNER": "0"}
CLIP_ARGUMENTS = (
    *("--logits-processors", "extraction.vllm_clip:ClipLogits"),
    *("--logprobs-mode", "processed_logprobs"),
)
VICUNA_TEMPLATE = FOLDER / "templates" / "vicuna.jinja"


@asynccontextmanager
async def local_server(config: Local, *, clips: bool = False) -> AsyncIterator[OpenAIServer]:
    """A backend whose server is up for as long as the block runs.

    An `external` server is not waited for: `/ready` tells whether it answers.

    Args:
        config: which server, and how it is reached or started.
        clips: a vLLM that is started here loads the logits processor of DP-Prompt.

    Raises:
        LocalModelUnavailable: a server that is to be started here does not come up.
    """
    if config.mode == "external":
        command: list[str] = []
        base_url, model, seconds, env = config.base_url, config.model, 0.0, {}
    elif config.mode == "vllm":
        port = config.vllm.port or free_port()
        command = vllm_command(config, port, clips=clips)
        base_url, model = f"http://{HOST}:{port}/v1", config.model or config.vllm.model
        seconds, env = config.vllm.ready_seconds, config.vllm.env
        if clips:
            env = {**V1_RUNNER, **env}
    else:
        port = free_port()
        command = _embedded_command(config, port)
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


async def paraphraser(privacy: Privacy, server: OpenAIServer) -> Paraphraser | None:
    """The model that paraphrases; None where the mechanism is not DP-Prompt.

    A server that answers has to prove here that it clips; one that does not answer yet, before
    its first paraphrase.

    Raises:
        LocalModelError: there is no such model, or the server does not clip.
    """
    wanted = privacy.paraphrasing
    if wanted is None:
        return None
    if wanted.model is not None:
        model, tokenizer = await asyncio.to_thread(load_model, wanted.model)
        return TransformersParaphraser(wanted.model, model, tokenizer)
    made = ServerParaphraser(server)
    if wanted.mode == "dp" and await server.ready():
        await made.prove()
    return made


def vllm_command(config: Local, port: int, *, clips: bool = False) -> list[str]:
    """`vllm serve MODEL …`. Vicuna's weights ship no chat template, so ours goes with them."""
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


def _embedded_command(config: Local, port: int) -> list[str]:
    model = Path(config.embedded.model) if config.embedded.model else BUNDLED_MODEL
    if not model.is_file():
        raise LocalModelUnavailable(f"no model file at {model}")
    return [
        *(sys.executable, "-m", "extraction.llama_server"),
        *("--model", str(model), "--host", HOST, "--port", str(port)),
        *("--context", str(config.embedded.context)),
        *("--parallel", str(config.embedded.parallel)),
        *("--threads", str(config.embedded.threads)),
        *("--parent", str(os.getpid())),
    ]


def free_port() -> int:
    """A port nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port
