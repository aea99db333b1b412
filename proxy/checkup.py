"""Check everything that `serve` needs and suggest fixes: `inferdpt check`."""

from __future__ import annotations

import asyncio
import logging
from urllib.parse import urlsplit

from extraction.backends.base import Backend
from extraction.backends.openai_server import OpenAIServer
from extraction.errors import LocalModelError
from perturb import PerturbError, load_table
from perturb.errors import (
    CertificateError,
    MissingPackage,
    PluginError,
    TableError,
    VocabularyError,
)
from perturb.install import install_command
from proxy.access.auth import Keyring
from proxy.config.hints import base_url_hints, without_user
from proxy.config.settings import Config, is_loopback
from proxy.errors import ApiError, ConfigError
from proxy.local import local_backend, local_model
from proxy.pipeline.policy import Policy
from proxy.remote.upstream import RemoteClient
from proxy.storage.opening import open_store

__all__ = ["check", "warn"]

logger = logging.getLogger("inferdpt.start")


def check(config: Config) -> int:
    """Print one line for each part. Return 0 if all is well, else 1."""
    return asyncio.run(_check(config))


async def _check(config: Config) -> int:
    for hint in base_url_hints(config):
        print(f"  note    {hint}")
    problems = [
        _check_table(config),
        await _check_remote(config),
        await _check_local(config),
        await _check_exposure(config),
    ]
    return 1 if any(problems) else 0


async def warn(config: Config, local: Backend) -> None:
    """Log problems that would fail the first request, without sending any text."""
    for hint in base_url_hints(config):
        logger.warning(hint)
    remote = config.remote
    if not remote.key and not is_loopback(urlsplit(remote.base_url).hostname or ""):
        logger.warning("remote: no key; set %s if the remote needs one", remote.api_key_env)
    client = RemoteClient(remote)
    try:
        wrong, ready = await asyncio.gather(client.probe(), local.ready())
    finally:
        await client.aclose()
    if wrong:
        url = without_user(remote.base_url)
        logger.warning("remote: %s: %s See `inferdpt check`.", url, wrong)
    if not ready:
        logger.warning("local: %s does not answer. See `inferdpt check`.", _place(local))


def _place(local: Backend) -> str:
    """Return the place of the local model, for messages."""
    if isinstance(local, OpenAIServer):
        return without_user(local.base_url)
    return "the plug-in's model"


def _check_table(config: Config) -> bool:
    try:
        table = load_table(config.privacy.table, config.privacy.vocabulary)
        Policy(config, table)
    except VocabularyError as exc:
        return _print_bad("tokenizer", str(exc), install_command("offline"))
    except TableError as exc:
        return _print_bad("table", str(exc), "set privacy.table or run `inferdpt table build`")
    except CertificateError as exc:
        return _print_bad("certificate", str(exc), "make it with `inferdpt privacy certify`")
    except MissingPackage as exc:
        return _print_bad("mechanism", str(exc), "run that command")
    except (PerturbError, ApiError) as exc:
        return _print_bad("mechanism", str(exc), "see privacy and limits in config.yaml")
    model = table.provenance.get("model", "unknown model")
    words = f"{len(table)} words ({config.privacy.vocabulary})"
    return _print_good("table", f"{words}, {table.vectors.shape[1]} dimensions, {model}")


async def _check_remote(config: Config) -> bool:
    remote, url = config.remote, without_user(config.remote.base_url)
    if remote.key is None:
        print(f"  note    remote: no key; set {remote.api_key_env} if the remote needs one")
    client = RemoteClient(remote)
    try:
        wrong = await client.probe()
    finally:
        await client.aclose()
    if wrong:
        return _print_bad(
            "remote",
            f"{url}: {wrong}",
            "check remote.base_url and the key",
        )
    return _print_good("remote", f"{url} answers; models {', '.join(remote.models)}")


async def _check_local(config: Config) -> bool:
    hints = {
        "external": "start the server, or set local.base_url",
        "embedded": f"{install_command('embedded')}, and check local.embedded",
        "plugin": "see local.plugin in config.yaml",
        "vllm": f"{install_command('vllm')}, and check local.vllm.model and args",
    }
    try:
        async with local_backend(config.local, clips=config.server_clips) as backend:
            if not await backend.ready():
                fix = hints["plugin" if config.local.mode == "plugin" else "external"]
                return _print_bad("local", f"{_place(backend)} does not answer", fix)
            context = config.local.context_tokens or await backend.context_tokens()
            try:
                model = await local_model(config.privacy, backend)
            except LocalModelError as exc:
                return _print_bad("paraphraser", str(exc), "see privacy.parameters in config.yaml")
    except (LocalModelError, PluginError) as exc:
        return _print_bad("local", str(exc), hints[config.local.mode])
    if model is not None:
        _print_good("paraphraser", "the paraphrasing model answers")
    size = f"{context} tokens" if context else "context unknown: set local.context_tokens"
    return _print_good("local", f"{config.local.mode} model answers; {size}")


async def _check_exposure(config: Config) -> bool:
    """Check the store and report the clients that are served."""
    server = config.server
    try:
        async with open_store(config.store) as store:
            keyring = Keyring(store, server)
            await keyring.check()
            mode = await keyring.mode()
            closed = await keyring.required() and not await keyring.count_in_force()
            _print_good("store", f"{store}; {(await store.info())['releases']} texts")
    except ConfigError as exc:
        return _print_bad("store", str(exc), "see store and server in config.yaml")
    if closed:
        fix = "`inferdpt keys create TENANT`, or `inferdpt keys reopen` and a restart of the proxy"
        return _print_bad("server", f"{mode}: every request is refused", fix)
    where = "this machine only" if is_loopback(server.host) else "the network: put TLS before it"
    return _print_good("server", f"{server.host}:{server.port}, {where}; {mode}")


def _print_good(part: str, text: str) -> bool:
    print(f"  ok      {part}: {text}")
    return False


def _print_bad(part: str, text: str, fix: str) -> bool:
    print(f"  PROBLEM {part}: {text}\n          fix: {fix}")
    return True
