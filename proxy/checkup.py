"""`inferdpt check`: is everything there that `serve` needs, and if not, what fixes it."""

from __future__ import annotations

import asyncio

from extraction.errors import LocalModelError
from perturb import PerturbError, load_table
from perturb.embeddings import BUNDLED_TABLE
from proxy.auth import Keyring
from proxy.config import Config, is_loopback
from proxy.errors import ApiError, ConfigError
from proxy.local import local_server, paraphraser
from proxy.policy import Policy
from proxy.store import open_store
from proxy.upstream import RemoteClient

__all__ = ["check"]


def check(config: Config) -> int:
    """Print one line for each part; return 0 if all is well, else 1."""
    return asyncio.run(_check(config))


async def _check(config: Config) -> int:
    problems = [
        _table(config),
        await _remote(config),
        await _local(config),
        await _exposure(config),
    ]
    return 1 if any(problems) else 0


def _table(config: Config) -> bool:
    try:
        table = load_table(config.privacy.table or BUNDLED_TABLE)
        Policy(config, table)
    except (PerturbError, ApiError) as exc:
        return _bad("table", str(exc), "set privacy.table or run `inferdpt embeddings build`")
    model = table.provenance.get("model", "unknown model")
    return _good("table", f"{len(table)} words, {table.vectors.shape[1]} dimensions, {model}")


async def _remote(config: Config) -> bool:
    remote = config.remote
    if remote.key is None:
        print(f"  note    remote: no key; set {remote.api_key_env} if the remote wants one")
    client = RemoteClient(remote)
    try:
        wrong = await client.reachable()
    finally:
        await client.aclose()
    if wrong:
        return _bad("remote", f"{remote.base_url}: {wrong}", "check remote.base_url and the key")
    return _good("remote", f"{remote.base_url} answers; models {', '.join(remote.models)}")


async def _local(config: Config) -> bool:
    hints = {
        "external": "start the server, or set local.base_url",
        "embedded": "pip install 'inferdpt[embedded]'",
        "vllm": "pip install 'inferdpt[vllm]', and check local.vllm.model and args",
    }
    try:
        async with local_server(config.local, clips=config.server_clips) as backend:
            if not await backend.ready():
                return _bad("local", f"{backend.base_url} does not answer", hints["external"])
            context = config.local.context_tokens or await backend.context_tokens()
            try:
                model = await paraphraser(config.privacy, backend)
            except LocalModelError as exc:
                return _bad("paraphraser", str(exc), "see privacy.parameters in config.yaml")
    except LocalModelError as exc:
        return _bad("local", str(exc), hints[config.local.mode])
    if model is not None:
        _good("paraphraser", "the model that paraphrases answers")
    size = f"{context} tokens" if context else "context unknown: set local.context_tokens"
    return _good("local", f"{config.local.mode} model answers; {size}")


async def _exposure(config: Config) -> bool:
    """The store, and who may ask."""
    server = config.server
    try:
        async with open_store(config.store) as store:
            keyring = Keyring(store, server)
            await keyring.check()
            stored = [key for key in await keyring.listed() if key.revoked is None]
            _good("store", f"{store}; {(await store.info())['releases']} texts")
    except ConfigError as exc:
        return _bad("store", str(exc), "see store and server in config.yaml")
    count = len(server.keys) + len(stored)
    keys = f"{count} client keys" if count else "no client keys, loopback only"
    where = "this machine only" if is_loopback(server.host) else "the network: put TLS before it"
    return _good("server", f"{server.host}:{server.port}, {where}; {keys}")


def _good(part: str, text: str) -> bool:
    print(f"  ok      {part}: {text}")
    return False


def _bad(part: str, text: str, fix: str) -> bool:
    print(f"  PROBLEM {part}: {text}\n          fix: {fix}")
    return True
