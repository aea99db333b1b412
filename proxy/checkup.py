"""Find what is wrong with what `serve` needs, and name what mends it: `inferdpt doctor`."""

from __future__ import annotations

import asyncio
import logging
import shutil
from pathlib import Path
from typing import Any
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
from proxy.access.admission import open_rates
from proxy.access.auth import Client, Grant, Keyring
from proxy.config.hints import base_url_hints, without_user
from proxy.config.settings import Config, Remote, Server, is_loopback
from proxy.config.upstreams.remote import find_place, make_prefix
from proxy.console.oidc import Provider
from proxy.demonstrations import read_demonstrations
from proxy.errors import ApiError, ConfigError
from proxy.local import local_backend, local_model
from proxy.pipeline.policy import RequestPolicy
from proxy.remote.identity import UntrustedCertificate, look_at
from proxy.remote.remotes import find_served, read_names
from proxy.remote.upstream import RemoteClient
from proxy.storage.opening import find_folder, open_store
from proxy.storage.store import Store

__all__ = ["check", "warn"]

logger = logging.getLogger("inferdpt.start")
DAY = 86_400.0  # seconds
EXPIRY_DAYS = 14  # before the end of a certificate
SKEW_SECONDS = 60.0  # between two clocks; the remote's is told to a second, and late
DISK_BYTES = 200_000_000  # the database and its log grow, and a full disk refuses every request


def check(config: Config) -> int:
    """Print one line for each part. Return 0 if all is well, else 1."""
    return asyncio.run(_check(config))


async def _check(config: Config) -> int:
    for hint in base_url_hints(config):
        print(f"  note    {hint}")
    problems = [
        _check_table(config),
        *[await _check_remote(alias, remote) for alias, remote in config.every_remote.items()],
        *[await _check_identity(alias, remote) for alias, remote in config.every_remote.items()],
        await _check_local(config),
        _check_disk(config),
        await _check_signing_in(config.server),
        await _check_exposure(config),
    ]
    return 1 if any(problems) else 0


async def warn(config: Config, local: Backend | None) -> None:
    """Log problems that would fail the first request, without sending any text."""
    for hint in base_url_hints(config):
        logger.warning(hint)
    for alias, remote in config.every_remote.items():
        await _warn_remote(find_place(alias), remote)
    if local is not None and not await local.ready():
        logger.warning("local: %s does not answer. See `inferdpt doctor`.", _place(local))


async def _warn_remote(place: str, remote: Remote) -> None:
    if not remote.key and not is_loopback(urlsplit(remote.base_url).hostname or ""):
        logger.warning("%s: %s", place, _explain_key(remote))
    try:
        await _list_models(remote)
    except ApiError as exc:
        url = without_user(remote.base_url)
        logger.warning("%s: %s: %s See `inferdpt doctor`.", place, url, exc.message)


def _explain_key(remote: Remote) -> str:
    return f"no key; set {remote.api_key_env or 'api_key_env'} if the remote needs one"


async def _list_models(remote: Remote) -> Any:
    """Return the list of models of a remote; raise `ApiError`."""
    client = RemoteClient(remote)
    try:
        return await client.list_models()
    finally:
        await client.aclose()


def _place(local: Backend) -> str:
    """Return the place of the local model, for messages."""
    if isinstance(local, OpenAIServer):
        return without_user(local.base_url)
    return "the plug-in's model"


def _check_table(config: Config) -> bool:
    try:
        table = load_table(config.privacy.table, config.privacy.vocabulary)
        RequestPolicy(config, table)
        read_demonstrations(
            config.privacy.demonstrations,
            table.vocabulary,
            at_most=config.limits.document_tokens,
        )
    except VocabularyError as exc:
        return _print_bad("tokenizer", str(exc), install_command("offline"))
    except TableError as exc:
        return _print_bad("table", str(exc), "set privacy.table or run `inferdpt table build`")
    except CertificateError as exc:
        return _print_bad("certificate", str(exc), "make it with `inferdpt privacy certify`")
    except MissingPackage as exc:
        return _print_bad("mechanism", str(exc), "run that command")
    except ConfigError as exc:
        return _print_bad("settings", str(exc), "see privacy in config.yaml")
    except (PerturbError, ApiError) as exc:
        return _print_bad("mechanism", str(exc), "see privacy and limits in config.yaml")
    model = table.provenance.get("model", "unknown model")
    words = f"{len(table)} words ({config.privacy.vocabulary})"
    return _print_good("table", f"{words}, {table.vectors.shape[1]} dimensions, {model}")


async def _check_remote(alias: str, remote: Remote) -> bool:
    place, url = find_place(alias), without_user(remote.base_url)
    if remote.key is None:
        print(f"  note    {place}: {_explain_key(remote)}")
    try:
        told = await _list_models(remote)
    except ApiError as exc:
        return _print_bad(place, f"{url}: {exc.message}", f"check {place}.base_url and the key")
    names = list(remote.names(alias))
    if remote.patterns:
        try:
            found = find_served(remote, read_names(told))
        except ValueError:
            found = []
        if not found:
            fix = f"name the models in {place}.models"
            return _print_bad(place, f"{url} lists no model of {place}.models", fix)
        names += [make_prefix(alias) + name for name in found]
    return _print_good(place, f"{url} answers; models {', '.join(names)}")


async def _check_identity(alias: str, remote: Remote) -> bool:
    """Check the certificate and the clock of a remote as far as they can be seen: whether it
    answers is another check's."""
    place, url = find_place(alias), without_user(remote.base_url)
    try:
        seen = await look_at(url)
    except UntrustedCertificate as exc:
        fix = f"name the server in {place}.base_url as its certificate does, renew that, or name "
        return _print_bad("tls", f"{place}: {url}: {exc}", fix + "its issuer with SSL_CERT_FILE")
    if seen is None:
        return False
    if seen.expires_in is not None:
        days = seen.expires_in / DAY
        if days < EXPIRY_DAYS:
            fix = "renew it on the server, or tell whoever runs that"
            return _print_bad("tls", f"{place}: its certificate expires in {days:.0f} days", fix)
        _print_good("tls", f"{place}: the certificate has its name, and {days:.0f} days left")
    if seen.ahead is not None:
        if abs(seen.ahead) > SKEW_SECONDS:
            way = "behind" if seen.ahead > 0 else "ahead of"
            text = f"this machine is {abs(seen.ahead):.0f} s {way} {place}"
            return _print_bad("clock", text, "set the clock: `timedatectl set-ntp true`")
        _print_good("clock", f"as that of {place}, to {SKEW_SECONDS:.0f} s")
    return False


def _check_disk(config: Config) -> bool:
    """Check the free space for the state."""
    try:
        folder = find_folder(config.store)
        free = shutil.disk_usage(_find_existing(folder)).free
    except (ConfigError, OSError):  # the store's check says why
        return False
    text = f"{free / 1e6:,.0f} MB are free for {folder}"
    if free < DISK_BYTES:
        fix = "free some, `inferdpt store purge --older-than 30`, or set store.folder to another"
        return _print_bad("disk", text, fix)
    return _print_good("disk", text)


def _find_existing(folder: Path) -> Path:
    """Return a folder, or the nearest one above that exists."""
    return next(each for each in (folder.absolute(), *folder.absolute().parents) if each.exists())


async def _check_local(config: Config) -> bool:
    if config.local.mode == "none":
        return _print_good("local", "none: the remote's restored answer is the answer")
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


async def _check_signing_in(server: Server) -> bool:
    """Check that the provider at which people sign in can be used, if there is one."""
    if server.oidc.issuer is None:
        return False
    try:
        await Provider(server.oidc).read_keys()
    except ConfigError as exc:
        return _print_bad("oidc", str(exc), "run that command")
    except ApiError:
        text = f"the configuration or the keys of {server.oidc.issuer} cannot be read"
        return _print_bad("oidc", text, "check server.oidc.issuer; the log above says why")
    return _print_good("oidc", f"people sign in at {server.oidc.issuer}")


async def _check_exposure(config: Config) -> bool:
    """Check the store and report the clients that are served."""
    server = config.server
    try:
        async with open_store(config.store) as store:
            keyring = Keyring(store, server)
            await keyring.check()
            mode = await keyring.mode()
            locked = await keyring.required()
            alone = locked and server.oidc.issuer is None
            closed = alone and not await keyring.count_in_force()
            lost = await _find_keyless(keyring, server) if locked else []
            _print_good("store", f"{store}; {(await store.info())['releases']} texts")
            wrong = await _check_rates(config, store)
    except ConfigError as exc:
        return _print_bad("store", str(exc), "see store and server in config.yaml")
    if closed:
        fix = "`inferdpt keys create TENANT`, or `inferdpt keys reopen` and a restart of the proxy"
        return _print_bad("server", f"{mode}: every request is refused", fix)
    if lost:
        fix = f"`inferdpt keys create {lost[0]}`, or leave it out of server.operators"
        return _print_bad("keys", f"no key of the operator {', '.join(lost)} is in force", fix)
    if wrong:
        return True
    where = "this machine only" if is_loopback(server.host) else "the network: put TLS before it"
    return _print_good("server", f"{server.host}:{server.port}, {where}; {mode}")


async def _find_keyless(keyring: Keyring, server: Server) -> list[str]:
    """Return the operators without a key in force, who see nothing. A front end's is none: it
    opens no console and sees no other tenant's figures."""
    stored = {k.tenant for k in await keyring.list_keys() if k.in_force and not k.on_behalf}
    known = stored | {key.tenant for key in server.keys if not key.on_behalf}
    return [name for name in server.operators if name not in known]


async def _check_rates(config: Config, store: Store) -> bool:
    """Check the place where rate limits are counted, if the configuration names one."""
    if config.limits.shared is None:
        return False
    try:
        async with open_rates(config, store) as rates:
            await rates.take(Client("check", Grant(requests_per_minute=6000), "check"))
    except (ConfigError, ApiError) as exc:
        return _print_bad("limits", str(exc), "see limits.shared in config.yaml")
    return _print_good("limits", "the rate limits of all processes are counted together")


def _print_good(part: str, text: str) -> bool:
    print(f"  ok      {part}: {text}")
    return False


def _print_bad(part: str, text: str, fix: str) -> bool:
    print(f"  PROBLEM {part}: {text}\n          fix: {fix}")
    return True
