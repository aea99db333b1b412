"""The HTTP client: what leaves on a connection, and the limits within which answers are read."""

from __future__ import annotations

import json
import logging
import zlib

import psutil
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from extraction.backends.base import (
    count_characters,
    read_finish_reason,
    read_logprobs,
    read_message,
    read_usage,
    read_vector,
)
from extraction.codec import dump
from extraction.http.client import (
    LARGE,
    SMALL,
    HttpClient,
    Limit,
    Unreachable,
    Unreadable,
    parse,
)
from perturb.text.fold import replace_halves
from tests.extraction.local_servers import RECEIVED, SENT, unused_port
from tests.limits import LIMIT
from tests.servers import FakeServer, fake_server, status

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


async def ask(url: str, limit: Limit = SMALL, **settings: bool) -> bytes:
    client = HttpClient(url, key="secret", **settings)
    try:
        async with client.open("/x", dump({"text": SENT}), seconds=LIMIT) as reply:
            return await reply.read(limit)
    finally:
        await client.aclose()


# -- what leaves ----------------------------------------------------------------------------


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment that names no proxy."""
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    return monkeypatch


@pytest.mark.parametrize("name", ["http_proxy", "HTTP_PROXY", "ALL_PROXY"])
async def test_a_proxied_client_goes_through_the_environments_proxy(environment, name):
    if name == "HTTP_PROXY":
        environment.delenv("REQUEST_METHOD", raising=False)
    async with fake_server() as wanted, fake_server() as through:
        environment.setenv(name, f"http://user:word@127.0.0.1:{through.port}")
        await ask(wanted.base_url, proxied=True)
        await ask(wanted.base_url)
        assert len(through.received) == len(wanted.received) == 1
        assert b"Proxy-Authorization: Basic dXNlcjp3b3Jk\n" in through.received[0]
        environment.setenv("no_proxy", "localhost,127.0.0.1")
        await ask(wanted.base_url, proxied=True)
        assert len(through.received) == 1


async def test_a_proxy_of_another_kind_is_not_passed_by(environment):
    environment.setenv("all_proxy", "socks5://127.0.0.1:9")
    async with fake_server() as server:
        with pytest.raises(Unreachable):
            await ask(server.base_url, proxied=True)
        assert server.received == []


async def test_netrc_is_not_read(environment, tmp_path):
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login netrc-user password netrc-word\n")
    environment.setenv("NETRC", str(tmp_path / ".netrc"))
    async with fake_server() as server:
        await ask(server.base_url, proxied=True)
    assert b"Authorization: Bearer secret\n" in server.received[0]


async def test_a_user_in_the_address_takes_the_place_of_the_key():
    async with fake_server() as server:
        await ask(server.base_url.replace("//", "//user:word@"))
    assert b"Authorization: Basic dXNlcjp3b3Jk\n" in server.received[0]
    assert b"secret" not in server.received[0]


async def test_cookies_are_not_kept():
    cookie = {"Set-Cookie": "a=b; Path=/"}
    async with fake_server(behaviour=status(200, headers=cookie)) as server:
        client = HttpClient(server.base_url, key="x", kept=True)
        for _ in range(2):
            async with client.open("/x", b"{}", seconds=LIMIT) as reply:
                await reply.read(SMALL)
        await client.aclose()
    assert b"Cookie" not in b"".join(server.received)


async def test_nothing_that_is_sent_or_received_is_logged(caplog):
    caplog.set_level(logging.DEBUG)

    async def odd(server, request, body):
        request.transport.write(f"HTTP/1.1 {RECEIVED}\r\n\r\n".encode())
        return web.Response()

    async with fake_server(text=RECEIVED) as server:
        await ask(server.base_url)
        server.behaviour = odd
        with pytest.raises(Unreadable):
            await ask(server.base_url)
    assert SENT not in caplog.text
    assert RECEIVED not in caplog.text


@pytest.mark.parametrize("url", ["", "x", "ftp://127.0.0.1/v1", "http://", "http://127.0.0.1:0"])
async def test_an_address_that_is_none_is_unreachable(url):
    with pytest.raises(Unreachable):
        await ask(url)


async def test_a_refused_connection_is_unreachable():
    with pytest.raises(Unreachable):
        await ask(f"http://127.0.0.1:{unused_port()}/v1")


# -- what is read ---------------------------------------------------------------------------


async def gzip_bomb(server: FakeServer, request: web.Request, body: object) -> web.StreamResponse:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    megabyte = b"a" * 1_000_000
    first, again = (packer.compress(megabyte) + packer.flush(zlib.Z_FULL_FLUSH) for _ in "12")
    response = web.StreamResponse(headers={"Content-Encoding": "gzip"})
    await response.prepare(request)
    await response.write(first)
    for _ in range(599):  # after a full flush, equal bytes are equal blocks
        await response.write(again)
    return response


async def test_a_gzip_bomb_is_inflated_to_the_limit_and_no_further():
    process = psutil.Process()
    async with fake_server(behaviour=gzip_bomb) as server:
        before = process.memory_info().rss
        with pytest.raises(Unreadable, match="longer than 4000000 bytes"):
            await ask(server.base_url)
        assert process.memory_info().rss - before < 50e6


@pytest.mark.parametrize(
    "text",
    [
        "[" + "[]," * 500_000 + "1]",
        "[" * 150_000,
        "[" * 100_000 + "]" * 100_000,
        "",
        "{",
        "nul",
        '"' + "a" * 100,
        "{'a': 1}",
        '"\t"',
    ],
    ids=lambda text: text[:9],
)
def test_what_is_not_json_or_too_much_of_it_is_unreadable(text):
    with pytest.raises(Unreadable) as info:
        parse(text.encode(), SMALL)
    assert info.value.__cause__ is None  # it would hold the text


def test_json_in_utf8_is_read_with_or_without_its_mark():
    assert parse(b'\xef\xbb\xbf{"a": [1, NaN, -Infinity]}', SMALL) == {"a": [1, None, None]}
    assert parse(b"[" + b"9" * 5000 + b"]", SMALL) == [None]
    for data in ("[1]".encode("utf-16"), b'"\xff"', b'"\xed\xa0\x80"'):
        with pytest.raises(Unreadable):
            parse(data, SMALL)


@given(st.text(st.characters()))
def test_a_text_comes_out_in_whole_characters(text):
    whole = replace_halves(text)
    whole.encode("utf-8")
    assert whole == text or any("\ud800" <= c <= "\udfff" for c in text)


def test_each_lone_surrogate_is_one_replacement():
    assert replace_halves("a\ud800b\udc00\ud83d\ude00") == "a\ufffdb\ufffd😀"


def test_the_large_limit_holds_what_is_asked_for():
    """Vectors of 64 texts, and 4,096 tokens with twenty alternatives each."""
    vector = [0.123456789012345678] * 4096
    parse(dump({"data": [{"index": i, "embedding": vector} for i in range(64)]}), LARGE)
    token = {"token": " word", "logprob": -12.345678901234567, "bytes": [32, 119, 111, 114, 100]}
    tokens = [{**token, "top_logprobs": [token] * 20}] * 4096
    parse(dump({"choices": [{"logprobs": {"content": tokens}}]}), LARGE)


NAMES = (
    *("content", "refusal", "tool_calls", "function_call", "index", "id", "type", "function"),
    *("name", "arguments", "text", "token", "logprob", "bytes", "top_logprobs"),
    *("prompt_tokens", "completion_tokens"),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=6)
    ),
    max_leaves=30,
)
READERS = {
    "message": read_message,
    "delta": lambda value: read_message(value, streamed=True),
    "logprobs": read_logprobs,
    "usage": lambda value: vars(read_usage(value) or read_usage({})),
    "finish": read_finish_reason,
    "vector": lambda value: read_vector(value).tolist(),
}


@pytest.mark.parametrize("name", READERS)
@given(value=JSON)
def test_any_json_is_read_into_json_or_refused(name, value):
    try:
        found = READERS[name](value)
    except ValueError:
        return
    assert json.dumps(found, ensure_ascii=False, allow_nan=False).encode() is not None
    if name in ("message", "delta"):
        assert count_characters(found) >= 0
        assert set(found) <= {"content", "refusal", "tool_calls", "function_call"}
