"""nginx and Caddy in front: chats and streams pass, headers of clients end, nothing is kept."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import openai
import pytest

from perturb import EmbeddingTable
from proxy.access.admission import FORM_BYTES
from proxy.access.auth import Grant
from proxy.api.app_keys import CONFIG, KEYRING
from proxy.config.server import Limits
from proxy.config.store import Batches
from tests.deploy.fronts import FRONTS, NAME, Front, Nginx
from tests.limits import LIMIT
from tests.proxy.chats import user
from tests.proxy.conftest import MODEL, Proxy, running_proxy, table
from tests.servers import fake_server, hang_mid_stream

__all__ = ["table"]

CONFIG_OF_NGINX = Path(__file__).parents[2] / "deploy" / "nginx" / "inferdpt.conf"
FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP")
CLAIMED = "198.51.100.77"
NGINX_BUFFERS = (
    # the proxy's own answers ask nginx not to, too
    ("proxy_buffering off;", "proxy_buffering on; proxy_ignore_headers X-Accel-Buffering;"),
    ("proxy_request_buffering off;", ""),
)


@pytest.fixture(params=FRONTS, ids=lambda kind: kind.program)
def kind(request: pytest.FixtureRequest) -> type[Front]:
    front: type[Front] = request.param
    return front


@asynccontextmanager
async def fronted(
    table: EmbeddingTable, kind: type[Front], folder: Path, **settings: Any
) -> AsyncIterator[tuple[Proxy, Front, str]]:
    """A proxy with a key behind a server."""
    async with running_proxy(table, {}) as proxy:
        _, key = await proxy.app[KEYRING].create("alice", Grant())
        port = int(proxy.root.rsplit(":", 1)[1])
        async with kind.start(folder, port, **settings) as front:
            yield proxy, front, key


@asynccontextmanager
async def client_of(front: Front, key: str) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(
        base_url=f"{front.url}/v1",
        api_key=key,
        max_retries=0,
        http_client=openai.DefaultAsyncHttpxClient(verify=front.tls),
    ) as client:
        yield client


async def test_a_chat_a_wrong_key_and_a_wrong_path(
    table: EmbeddingTable, kind: type[Front], tmp_path: Path
) -> None:
    async with fronted(table, kind, tmp_path) as (proxy, front, key):
        async with client_of(front, key) as client:
            done = await client.chat.completions.create(model=MODEL, messages=user("A text."))
            assert done.choices[0].message.content == proxy.local.text
            with pytest.raises(openai.NotFoundError) as caught:
                await client.get("/nothing", cast_to=object)
            assert caught.value.type == "invalid_request_error"
        async with client_of(front, "sk-wrong") as client:
            with pytest.raises(openai.AuthenticationError):
                await client.models.list()


async def test_a_proxy_without_keys_is_not_opened_to_the_network(
    table: EmbeddingTable, kind: type[Front], tmp_path: Path
) -> None:
    """No claim of a client makes the network loopback, which is all that it serves."""
    async with running_proxy(table, {}) as proxy:
        port = int(proxy.root.rsplit(":", 1)[1])
        assert (await list_models(kind, tmp_path, port, "localhost"))[0] == 200
        open_to_all = {"change": kind.named(NAME)}
        for claimed in ("localhost", "127.0.0.1", NAME):
            status, text = await list_models(kind, tmp_path, port, claimed, **open_to_all)
            assert '"object"' not in text, claimed
            assert kind is not Nginx or status == 403  # Caddy itself serves one name only


async def list_models(
    kind: type[Front], folder: Path, port: int, host: str, **settings: Any
) -> tuple[int, str]:
    """Ask for the list of models under a name of the client's choice."""
    async with (
        kind.start(folder, port, **settings) as front,
        aiohttp.ClientSession() as session,
        session.get(f"{front.url}/v1/models", ssl=front.tls, headers={"Host": host}) as answer,
    ):
        return answer.status, await answer.text()


async def read_first_word(
    table: EmbeddingTable, kind: type[Front], folder: Path, **settings: Any
) -> tuple[bool, str]:
    """Stream an answer of which the second half waits. Returns whether it had to be released
    before the first word arrived, and the whole answer."""
    async with fronted(table, kind, folder, **settings) as (proxy, front, key):
        proxy.local.behaviour = hang_mid_stream
        words: list[str] = []
        async with client_of(front, key) as client, asyncio.timeout(LIMIT):
            releasing = asyncio.create_task(release_later(proxy)) if settings else None
            released = None
            stream = await client.chat.completions.create(
                model=MODEL, messages=user("A text."), stream=True
            )
            async for step in stream:
                if step.choices and (word := step.choices[0].delta.content):
                    words.append(word)
                    if released is None:
                        released = proxy.local.release.is_set()
                        proxy.local.release.set()
            if releasing is not None:
                await releasing
    assert released is not None
    return released, "".join(words)


async def release_later(proxy: Proxy) -> None:
    """Release the second half once the first is on its way."""
    await proxy.local.started.wait()
    await asyncio.sleep(1)  # the first word would have arrived by then
    proxy.local.release.set()


async def test_a_stream_arrives_piece_by_piece(
    table: EmbeddingTable, kind: type[Front], tmp_path: Path
) -> None:
    assert await read_first_word(table, kind, tmp_path) == (False, "One ")


async def test_a_server_that_buffers_would_be_noticed(
    table: EmbeddingTable, tmp_path: Path
) -> None:
    found = await read_first_word(table, Nginx, tmp_path, change=NGINX_BUFFERS)
    assert found == (True, "One ")


async def test_forwarded_headers_end(kind: type[Front], tmp_path: Path) -> None:
    claims = dict.fromkeys(FORWARDED, CLAIMED)
    async with fake_server() as behind, kind.start(tmp_path, behind.port) as front:
        async with (
            aiohttp.ClientSession(headers={**claims, "X-Kept": "kept"}) as session,
            session.get(f"{front.url}/v1/models", ssl=front.tls) as answer,
        ):
            assert answer.status == 200
        (received,) = behind.received
    names = {line.partition(b":")[0].decode().lower() for line in received.splitlines()}
    assert "x-kept" in names
    assert not {name.lower() for name in FORWARDED} & names
    assert CLAIMED.encode() not in received
    assert f"Host: {front.url.removeprefix('https://').split(':')[0]}".encode() in received


def test_nginx_passes_all_that_the_proxy_takes() -> None:
    [limit] = re.findall(r"client_max_body_size (\d+);", CONFIG_OF_NGINX.read_text("utf-8"))
    largest = max(Limits().body_bytes, Batches().file_bytes + FORM_BYTES)
    assert largest < int(limit) < 1.1 * largest


async def test_long_bodies_are_refused(
    table: EmbeddingTable, kind: type[Front], tmp_path: Path
) -> None:
    async with fronted(table, kind, tmp_path) as (proxy, front, key):
        most = proxy.app[CONFIG].limits.body_bytes
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        async with aiohttp.ClientSession(headers=headers) as session:
            seen = {}
            for size in (most + 1, 3 * most):
                async with session.post(
                    f"{front.url}/v1/chat/completions", data=b"x" * size, ssl=front.tls
                ) as answer:
                    seen[size] = answer.status, await answer.read()
    assert [status for status, _ in seen.values()] == [413, 413]
    assert b'"request_too_large"' in seen[most + 1][1]
    if kind is Nginx:  # Caddy leaves both to the proxy
        assert b'"request_too_large"' not in seen[3 * most][1]


@pytest.mark.parametrize("change", [(), NGINX_BUFFERS], ids=["kept", "changed"])
async def test_nginx_writes_no_body_to_a_file(
    table: EmbeddingTable, tmp_path: Path, change: tuple[tuple[str, str], ...]
) -> None:
    async with fronted(table, Nginx, tmp_path, change=change) as (_, front, key):
        async with client_of(front, key) as client:
            long = "A sentence of six short words. " * 3000
            with pytest.raises(openai.APIStatusError):
                await client.chat.completions.create(model="unknown", messages=user(long))
        log = (front.folder / "error.log").read_text("utf-8")
    assert ("buffered to a temporary file" in log) == bool(change)
