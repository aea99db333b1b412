"""Files: uploaded, listed, read, deleted, limited; and forms that lie."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import aiohttp
import openai
import pytest

from perturb import EmbeddingTable
from proxy.api.app_keys import STORE
from proxy.batches import store
from tests.databases import database, postgres_url
from tests.limits import LIMIT
from tests.proxy.batches.jobs import CHATS, ENABLED, chats, jsonl, run, start, upload
from tests.proxy.conftest import Proxy, running_proxy
from tests.servers import hang

__all__ = ["database", "postgres_url"]

LIMITS = {
    "enabled": True,
    "file_bytes": 60_000,
    "lines": 40,
    "line_bytes": 20_000,
    "tenant_files": 5,
    "tenant_bytes": 100_000,
    "tenant_batches": 2,
}
BOUNDARY = "zzboundaryzz"
SECRET = "zzcanaryzz"


@pytest.fixture
def settings() -> dict[str, Any]:
    return ENABLED


@pytest.fixture
async def stored(
    table: EmbeddingTable, settings: dict[str, Any], database: dict[str, Any]
) -> AsyncIterator[Proxy]:
    """`proxy`, on each database."""
    async with running_proxy(table, {**settings, "store": database}) as running:
        yield running


@pytest.mark.parametrize(
    "data", [b"a", b"a\n", b"\n\na\r\n\r\n", b"a\x00\xff\n" * 500, b"x" * 300_000 + b"\ny"]
)
async def test_a_file_comes_back_byte_for_byte(stored: Proxy, data: bytes) -> None:
    client = stored.client()
    file = await client.files.create(file=("näme.jsonl", data), purpose="batch")
    assert (file.bytes, file.purpose, file.status) == (len(data), "batch", "uploaded")
    assert file.filename == "näme.jsonl"
    assert (await client.files.content(file.id)).content == data
    assert await client.files.retrieve(file.id) == file


async def test_files_are_listed_page_by_page(stored: Proxy) -> None:
    client = stored.client()
    made = [await upload(client, b"a\n", f"{i}.jsonl") for i in range(5)]
    pages = await client.files.list(limit=2, order="asc")
    assert [file.id for file in pages.data] == made[:2]
    assert [file.id async for file in client.files.list(limit=2, order="asc")] == made
    assert [file.id async for file in client.files.list(limit=2)] == made[::-1]
    assert (await client.files.list(purpose="batch_output")).data == []
    for query in ({"limit": 0}, {"limit": 10_001}, {"order": "up"}, {"limit": "9" * 5000}):
        with pytest.raises(openai.BadRequestError):
            await client.get("/files", cast_to=object, options={"params": query})
    with pytest.raises(openai.NotFoundError):
        await client.files.list(after="file-x")


async def test_batches_are_listed_page_by_page(stored: Proxy) -> None:
    client = stored.client()
    made = [(await start(client, jsonl(*chats(1)))).id for _ in range(3)]
    assert [batch.id async for batch in client.batches.list(limit=2)] == made[::-1]


async def test_a_deleted_file_is_gone(stored: Proxy) -> None:
    client = stored.client()
    file = await upload(client, b"a\n" * 500)
    assert (await client.files.delete(file)).deleted
    for call in (client.files.retrieve, client.files.content, client.files.delete):
        with pytest.raises(openai.NotFoundError):
            await call(file)
    info = await stored.app[STORE].info()
    assert (info["files"], info["file_lines"]) == (0, 0)


async def test_a_file_that_is_deleted_while_it_is_read_ends_the_connection(stored: Proxy) -> None:
    """Its length was announced: a client would wait for the rest."""
    client = stored.client()
    file = await upload(client, (b"a" * 9_999 + b"\n") * 1_500)
    root, port = stored.root.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(root, int(port), limit=1)
    writer.write(f"GET /v1/files/{file}/content HTTP/1.1\r\nHost: {root}\r\n\r\n".encode())
    async with asyncio.timeout(LIMIT):
        assert await reader.read(1)
        await client.files.delete(file)
        with suppress(ConnectionError):
            while await reader.read(1 << 16):
                pass
    writer.close()


@pytest.mark.parametrize("path", ["/v1/files/{}/content", "/console/records/export"])
async def test_no_body_follows_a_head(proxy: Proxy, path: str) -> None:
    """The next answer on the connection would be taken for it."""
    file = await upload(proxy.client(), b"a\n" * 50)
    root, port = proxy.root.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(root, int(port))
    for asked in (path.format(file), "/health"):
        writer.write(f"HEAD {asked} HTTP/1.1\r\nHost: {root}\r\n\r\n".encode())
        async with asyncio.timeout(LIMIT):
            head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 "), asked
    writer.close()


class TestLimits:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"batches": LIMITS}

    @pytest.mark.parametrize(
        ("data", "word"),
        [
            (b"a" * 60_001, "60000 bytes"),
            (b"a" * 200_000, "bytes"),
            (b"\n" * 41, "40 lines"),
            (b"\n" * 40 + b"a", "40 lines"),
            (b"a" * 20_001, "20000 bytes"),
        ],
    )
    async def test_a_file_beyond_a_limit_is_refused(
        self, proxy: Proxy, data: bytes, word: str
    ) -> None:
        with pytest.raises(openai.APIStatusError, match=word) as refused:
            await upload(proxy.client(), data)
        assert refused.value.status_code == 413
        assert (await proxy.app[STORE].info())["files"] == 0

    async def test_a_file_at_the_limits_is_kept(self, proxy: Proxy) -> None:
        line = b"a" * 1499 + b"\n"
        file = await proxy.client().files.create(file=("a", line * 40), purpose="batch")
        assert file.bytes == 60_000

    async def test_a_tenant_has_a_number_of_files(self, stored: Proxy) -> None:
        client = stored.client()
        files = [await upload(client, b"a\n") for _ in range(5)]
        with pytest.raises(openai.APIStatusError, match="at most 5 files"):
            await upload(client, b"a\n")
        await client.files.delete(files[0])
        await upload(client, b"a\n")

    async def test_a_tenant_has_a_number_of_bytes(self, stored: Proxy) -> None:
        client = stored.client()
        data = (b"a" * 9_999 + b"\n") * 5
        first = await upload(client, data)
        await upload(client, data)
        with pytest.raises(openai.APIStatusError, match="at most 100000 bytes"):
            await upload(client, b"a\n")
        await client.files.delete(first)
        await upload(client, data)

    async def test_a_tenant_has_a_number_of_batches(self, stored: Proxy) -> None:
        client = stored.client()
        stored.remote.behaviour = hang
        file = await upload(client, jsonl(*chats(2)))
        made = [
            await client.batches.create(
                input_file_id=file, endpoint=CHATS, completion_window="24h"
            )
            for _ in range(2)
        ]
        with pytest.raises(openai.RateLimitError, match="At most 2 batches") as refused:
            await client.batches.create(
                input_file_id=file, endpoint=CHATS, completion_window="24h"
            )
        assert refused.value.response.headers["x-should-retry"] == "false"
        assert len(made) == 2

    async def test_a_tenant_has_a_number_of_ended_batches(
        self, stored: Proxy, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Else who makes and ends them in a loop fills the store."""
        monkeypatch.setattr(store, "KEPT", 2)
        client = stored.client()
        for _ in range(4):
            batch = await run(client, b"{\n")
            assert batch.status == "failed"
        with pytest.raises(openai.RateLimitError, match="At most 4 batches are kept"):
            await run(client, b"{\n")


def form(*parts: tuple[str, bytes], end: bytes = b"--") -> bytes:
    out = b""
    for disposition, content in parts:
        out += f"--{BOUNDARY}\r\nContent-Disposition: form-data; {disposition}\r\n\r\n".encode()
        out += content + b"\r\n"
    return out + f"--{BOUNDARY}".encode() + end + b"\r\n"


PURPOSE = ('name="purpose"', b"batch")
FILE = ('name="file"; filename="a.jsonl"', b"a\n")
NESTED = f"--{BOUNDARY}\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\n--x--\r\n"
LIES = [
    b"",
    b"\x00" * 1000,
    form(),
    form(FILE),
    form(PURPOSE),
    form(('name="purpose"', b"fine-tune"), FILE),
    form(PURPOSE, PURPOSE, FILE),
    form(PURPOSE, FILE, FILE),
    form(PURPOSE, FILE, ('name="more"', SECRET.encode())),
    form(PURPOSE, FILE, ("", b"x")),
    form(PURPOSE, FILE, end=b""),
    form(PURPOSE, FILE)[:-30],
    form(('name="purpose"', b"b" * 10_000), FILE),
    form(PURPOSE, ('name="file"; filename="a"\r\nX-Long: ' + "x" * 100_000, b"a\n")),
    form(PURPOSE, ('name="file"; filename="a"' + "\r\nX-A: b" * 5000, b"a\n")),
    form(PURPOSE, ('name="file"; filename="a"', b"")),
    form(PURPOSE, ('name="file"; filename="a"', b"\n \n")),
    NESTED.encode() + form(PURPOSE, FILE),
    form(PURPOSE, FILE, ('name="expires_after[seconds]"', b"3600")),
    form(
        *(PURPOSE, FILE, ('name="expires_after[anchor]"', b"created_at")),
        ('name="expires_after[seconds]"', SECRET.encode()),
    ),
    form(
        *(PURPOSE, FILE, ('name="expires_after[anchor]"', b"created_at")),
        ('name="expires_after[seconds]"', b"9" * 90),
    ),
    form(PURPOSE, (f'name="file"; name*{"9" * 5000}="a"', b"x\n")),
    form(PURPOSE, (f'name="file"; filename*{"9" * 5000}*="a"', b"x\n")),
]


@pytest.mark.parametrize("body", LIES, ids=range(len(LIES)))
async def test_forms_that_lie_are_refused(proxy: Proxy, body: bytes) -> None:
    status, text = await post(proxy, body, f"multipart/form-data; boundary={BOUNDARY}")
    assert status in (400, 413), text
    assert SECRET not in text + "".join(proxy.log)
    assert (await proxy.app[STORE].info())["files"] == 0
    assert "internal error" not in "".join(proxy.log)


@pytest.mark.parametrize(
    "kind",
    [
        "application/json",
        "multipart/form-data",
        f"multipart/form-data; boundary={'x' * 71}",
        "multipart/form-data; boundary=",
        f"multipart/mixed; boundary={BOUNDARY}",
        f"text/plain; multipart/form-data; boundary={BOUNDARY}",
        "multipart/form-data; boundary=another",
        f"multipart/form-data; boundary*{'9' * 5000}=x",
        f"multipart/form-data; boundary*{'9' * 5000}*=utf-8''x; boundary={BOUNDARY}",
        f"multipart/form-data; boundary*=none''{BOUNDARY}",
    ],
)
async def test_other_types_are_refused(proxy: Proxy, kind: str) -> None:
    status, _ = await post(proxy, form(PURPOSE, FILE), kind)
    assert status == 400


async def test_the_size_in_a_part_does_not_count(proxy: Proxy) -> None:
    """A part that states a length, or an encoding, is read to its boundary as it is."""
    for header in ("Content-Length: 1", "Content-Transfer-Encoding: base64"):
        part = ('name="file"; filename="a"\r\n' + header, b"aGVsbG8=\nworld\n")
        status, text = await post(
            proxy, form(PURPOSE, part), f"multipart/form-data; boundary={BOUNDARY}"
        )
        assert status == 200, text
        assert '"bytes": 15' in text


async def test_a_small_body_that_inflates_is_refused(proxy: Proxy) -> None:
    import zlib

    body = zlib.compress(form(PURPOSE, ('name="file"; filename="a"', b"\n" * 30_000_000)))
    status, _ = await post(
        *(proxy, body, f"multipart/form-data; boundary={BOUNDARY}"), encoding="deflate"
    )
    assert status == 413


async def test_without_batches_there_are_no_such_paths(table: EmbeddingTable) -> None:
    async with running_proxy(table, {}) as proxy:
        client = proxy.client()
        with pytest.raises(openai.NotFoundError):
            await upload(client, b"a\n")
        with pytest.raises(openai.NotFoundError):
            await client.batches.list()


@pytest.mark.parametrize(
    ("over", "param"),
    [
        ({"endpoint": "/v1/embeddings"}, "endpoint"),
        ({"completion_window": "1h"}, "completion_window"),
        ({"metadata": {"a": "x" * 513}}, "metadata"),
        ({"metadata": {"a" * 65: "x"}}, "metadata"),
        ({"metadata": {str(i): "x" for i in range(17)}}, "metadata"),
        ({"metadata": {"a": 1}}, "metadata"),
        ({"output_expires_after": {"anchor": "created_at", "seconds": 1}}, "output_expires"),
        ({SECRET: 1}, SECRET),
    ],
)
async def test_a_batch_that_breaks_a_rule_is_not_made(
    proxy: Proxy, over: dict[str, Any], param: str
) -> None:
    client = proxy.client()
    body = {"input_file_id": await upload(client, jsonl(*chats(1))), "endpoint": CHATS}
    with pytest.raises(openai.BadRequestError) as refused:
        await client.post(
            "/batches", body={**body, "completion_window": "24h", **over}, cast_to=object
        )
    assert param in str(refused.value.param)
    assert (await proxy.app[STORE].info())["batches"] == 0


async def post(
    proxy: Proxy, body: bytes, kind: str, encoding: str | None = None
) -> tuple[int, str]:
    headers = {"Content-Type": kind, **({"Content-Encoding": encoding} if encoding else {})}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{proxy.base_url}/files", data=body, headers=headers) as response,
    ):
        return response.status, await response.text()
