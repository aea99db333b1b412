"""The need for a key: a start, `keys` and `doctor` say what the running proxy does."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import openai
import pytest

from proxy.access.auth import Grant, Keyring
from proxy.cli.main import main
from proxy.config.settings import Server
from proxy.config.store import StoreSettings as Settings
from proxy.errors import ConfigError
from proxy.storage.opening import open_store
from tests.proxy.conftest import MODEL
from tests.proxy.served import Served, serve

OPEN = "open to this machine without a key"


async def status(served: Served, key: str) -> int:
    async with openai.AsyncOpenAI(base_url=served.base_url, api_key=key, max_retries=0) as client:
        try:
            await client.chat.completions.create(
                model=MODEL, messages=[{"role": "user", "content": "The board met."}]
            )
        except openai.APIStatusError as exc:
            return exc.status_code
        return 200


async def run(capsys: Any, *arguments: str) -> tuple[int, str]:
    done = await asyncio.to_thread(main, [*arguments, "--config", os.devnull])
    found = capsys.readouterr()
    return done, " ".join((found.out + found.err).split())


async def checked(capsys: Any, served: Served) -> tuple[int, str]:
    urls = ("--remote-base-url", served.remote.base_url, "--local-base-url", served.local.base_url)
    done, out = await run(capsys, "doctor", *urls)
    return done, out[out.index("store: ") :]


async def test_everybody_says_what_the_running_proxy_does(capsys: Any) -> None:
    async with serve() as served:
        assert OPEN in served.line
        assert await status(served, "none") == 200
        done, said = await checked(capsys, served)
        assert (done, OPEN in said) == (0, True)

        _, said = await run(capsys, "keys", "create", "alice")
        key = said.split()[-1]
        assert "Until now a proxy on this store was open to this machine without a key" in said
        assert "every client needs one, even of a running proxy, and even after all keys" in said
        assert [await status(served, k) for k in ("none", key)] == [401, 200]
        done, said = await checked(capsys, served)
        assert (done, "keys required, 1 in force" in said, OPEN in said) == (0, True, False)
        _, said = await run(capsys, "keys", "create", "bob")
        assert "keys required, 2 in force" in said
        assert "Until now" not in said

        done, said = await run(capsys, "keys", "reopen")
        assert (done, "keys in force: 2; revoke them first" in said) == (2, True)
        other = (await run(capsys, "keys", "list"))[1].split("bob")[0].split()[-1]
        _, said = await run(capsys, "keys", "revoke", other)
        assert "keys required, 1 in force" in said
        _, said = await run(capsys, "keys", "revoke", key.split("-")[2])
        assert "keys required, none in force" in said
        assert "every request is refused" in said
        assert [await status(served, k) for k in ("none", key)] == [401, 401]
        done, said = await checked(capsys, served)
        assert (done, "PROBLEM server: keys required, none in force" in said) == (1, True)
        assert "inferdpt keys reopen" in said

    async with serve() as served:  # revoking opens nothing, not even at a new start
        assert "keys required, none in force" in served.line
        assert await status(served, "none") == 401
        done, said = await run(capsys, "keys", "reopen")
        assert (done, "stays as it is until it is restarted" in said) == (0, True)
        assert await status(served, "none") == 401
    async with serve() as served:
        assert OPEN in served.line
        assert await status(served, "none") == 200
        done, said = await checked(capsys, served)
        assert (done, OPEN in said) == (0, True)


CONFIGURED: Any = [{"tenant": "a", "sha256": "0" * 64}]
SIGNING_IN: Any = {"issuer": "https://a.example", "client_id": "p", "roles": {"x": "member"}}


@pytest.mark.parametrize(
    "server",
    [
        Server(host="0.0.0.0"),
        Server(keys=CONFIGURED),
        Server(oidc=SIGNING_IN),
    ],
)
async def test_what_the_configuration_locks_no_command_opens(
    tmp_path: Path, server: Server
) -> None:
    async with open_store(Settings(folder=str(tmp_path / "keys"))) as store:
        keyring = Keyring(store, server)
        id_, _ = await keyring.create("alice", Grant())
        await keyring.revoke(id_)
        with pytest.raises(ConfigError, match=r"server\.oidc demands keys"):
            await keyring.reopen()
        assert len(await keyring.list_keys()) == 1
        assert (await keyring.mode()).startswith("keys required")
