"""The targets: the proxy in several configurations, other gateways, the upstream itself."""

from __future__ import annotations

import json
import secrets
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import yaml

from benchmarks.load.databases import create_database
from benchmarks.load.processes import Child, LoadError, post, start_child
from benchmarks.load.rivals import LITELLM, VLLM_ROUTER, Rival, build_environment
from benchmarks.load.upstream import MODEL, Upstream
from proxy.local import find_free_port

__all__ = ["Bare", "Direct", "LiteLLM", "Proxy", "Running", "Target", "VllmRouter"]

ROOT = Path(__file__).parents[2]
READY_SECONDS = 180.0
ANSWER_SECONDS = 10.0
CONTEXT_TOKENS = 16384  # the longest document fits whole


@dataclass(frozen=True)
class Running:
    """Name a target that answers. `ready_seconds` lie between its start and its first answer."""

    url: str
    child: Child
    ready_seconds: float


@dataclass(frozen=True)
class Target(ABC):
    """Start something that answers chat requests, with the upstream behind it.

    `rival` is what has to be installed for it. `profiled` targets are Python of this environment.
    """

    rival: ClassVar[Rival | None] = None
    profiled: ClassVar[bool] = False

    @property
    @abstractmethod
    def name(self) -> str:
        """Return the name in tables."""

    @abstractmethod
    def start(self, folder: Path, upstream: Upstream) -> Any:
        """Return a context manager that runs it and gives a `Running`."""


@dataclass(frozen=True)
class Direct(Target):
    """Use the upstream itself: the limit of what any gateway could reach."""

    @property
    def name(self) -> str:
        return "nginx"

    @contextmanager
    def start(self, folder: Path, upstream: Upstream) -> Iterator[Running]:
        yield Running(f"{upstream.base_url}/chat/completions", upstream.child, 0.0)


@dataclass(frozen=True)
class Proxy(Target):
    """Run this project's proxy, with the upstream as its remote and as its local model.

    Args:
        mechanism: the sanitizer of every request.
        store: `sqlite` or `postgresql`; both are durable.
        workers: processes, given to `inferdpt serve --workers` if more than one.
        gateway: whether the remote's answer is restored and returned, without a local model.
    """

    profiled = True
    mechanism: str = "rantext_ldp"
    store: str = "sqlite"
    workers: int = 1
    gateway: bool = False

    @property
    def name(self) -> str:
        mode = " as a gateway" if self.gateway else ""
        store = "" if self.store == "sqlite" else f", {self.store}"
        workers = "" if self.workers == 1 else f", {self.workers} workers"
        return f"inferdpt {self.mechanism}{mode}{store}{workers}"

    @contextmanager
    def start(self, folder: Path, upstream: Upstream) -> Iterator[Running]:
        port = find_free_port()
        with ExitStack() as stack:
            store: dict[str, Any] = {"folder": str(folder / "state")}
            if self.store == "postgresql":
                store = {"url": stack.enter_context(create_database())}
            config = _write_config(folder, self._settings(port, store, upstream))
            command = [sys.executable, "-m", "proxy.cli.main", "serve", "--config", str(config)]
            if self.workers > 1:
                command += ["--workers", str(self.workers)]
            env = {
                "INFERDPT_SECRET": secrets.token_hex(32),
                "OPENAI_API_KEY": "sk-load",
                "PYTHONPATH": str(ROOT),
            }
            yield stack.enter_context(_serve(command, folder, port, env))

    def _settings(self, port: int, store: dict[str, Any], upstream: Upstream) -> dict[str, Any]:
        local: dict[str, Any] = {
            "mode": "external",
            "base_url": upstream.base_url,
            "context_tokens": CONTEXT_TOKENS,
        }
        return {
            "server": {"port": port},
            "privacy": {"mechanism": self.mechanism},
            "remote": {"base_url": upstream.base_url, "models": {MODEL: MODEL}},
            "local": {"mode": "none"} if self.gateway else local,
            "store": store,
        }


@dataclass(frozen=True)
class Bare(Target):
    """Run the sanitizer in a bare server: the limit of what our proxy could reach."""

    mechanism: str = "rantext_ldp"

    @property
    def name(self) -> str:
        return f"bare server, {self.mechanism}"

    @contextmanager
    def start(self, folder: Path, upstream: Upstream) -> Iterator[Running]:
        port = find_free_port()
        command = [sys.executable, "-m", "benchmarks.bare_server", "--port", str(port)]
        command += ["--upstream", upstream.base_url, "--mechanism", self.mechanism]
        folder.mkdir(parents=True, exist_ok=True)
        with _serve(command, folder, port, {"PYTHONPATH": str(ROOT)}) as running:
            yield running


@dataclass(frozen=True)
class LiteLLM(Target):
    """Run LiteLLM's proxy: one hop, one worker, no database, its log at errors."""

    rival = LITELLM

    @property
    def name(self) -> str:
        return "LiteLLM"

    @contextmanager
    def start(self, folder: Path, upstream: Upstream) -> Iterator[Running]:
        port = find_free_port()
        model = {"model": f"openai/{MODEL}", "api_base": upstream.base_url, "api_key": "sk-load"}
        settings = {
            "model_list": [{"model_name": MODEL, "litellm_params": model}],
            "litellm_settings": {"telemetry": False},
        }
        config = _write_config(folder, settings)
        command = [str(build_environment(LITELLM) / "litellm"), "--config", str(config)]
        command += ["--host", "127.0.0.1", "--port", str(port), "--num_workers", "1"]
        env = {
            # no keys, as the others
            "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # no download at the start
            "LITELLM_LOG": "ERROR",
            "LITELLM_MODE": "PRODUCTION",
        }
        with _serve(command, folder, port, env) as running:
            yield running


@dataclass(frozen=True)
class VllmRouter(Target):
    """Run vLLM's router: one hop, written in Rust."""

    rival = VLLM_ROUTER

    @property
    def name(self) -> str:
        return "vllm-router"

    @contextmanager
    def start(self, folder: Path, upstream: Upstream) -> Iterator[Running]:
        port = find_free_port()
        command = [str(build_environment(VLLM_ROUTER) / "vllm-router"), "--host", "127.0.0.1"]
        command += ["--port", str(port), "--prometheus-port", str(find_free_port())]
        command += ["--worker-urls", upstream.root_url, "--policy", "round_robin"]
        command += ["--log-level", "error"]
        with _serve(command, folder, port, {}) as running:
            yield running


def _write_config(folder: Path, settings: dict[str, Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "config.yaml"
    config.write_text(yaml.safe_dump(settings), "utf-8")
    return config


@contextmanager
def _serve(command: list[str], folder: Path, port: int, env: dict[str, str]) -> Iterator[Running]:
    """Run a server until the end, and wait for its first good answer."""
    url = f"http://127.0.0.1:{port}/v1/chat/completions"
    message = {"role": "user", "content": "The first request waits until the server is ready."}
    body = json.dumps({"model": MODEL, "messages": [message]}).encode()
    refused = b""

    def answers() -> bool:
        nonlocal refused
        status, answer = post(url, body, ANSWER_SECONDS)
        refused = answer if status not in (0, 200) else refused
        return status == 200

    begin = time.monotonic()
    with start_child(command, folder, env=env) as child:
        try:
            child.wait_until(answers, READY_SECONDS)
        except LoadError as exc:
            raise LoadError(f"{command[0]}: {exc} {refused[:500].decode()}") from exc
        yield Running(url, child, time.monotonic() - begin)
