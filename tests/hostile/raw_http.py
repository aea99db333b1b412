"""Requests that are no good HTTP, as the bytes of one connection."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.hostile.canary_words import HostileCanaries
from tests.hostile.stage import chat_body

__all__ = ["RAW"]

Make = Callable[[HostileCanaries], bytes]
PATH = b"/v1/chat/completions"


def _request(
    body: bytes = b"",
    *fields: bytes,
    line: bytes = b"POST " + PATH + b" HTTP/1.1",
    length: int | None = None,
) -> bytes:
    given = [b"Content-Length: %d" % (len(body) if length is None else length)]
    if any(field.lower().startswith((b"content-length", b"transfer-enc")) for field in fields):
        given = []
    return b"\r\n".join([line, b"Host: 127.0.0.1", *given, *fields, b"", body])


def _line(line: bytes) -> Make:
    return lambda c: _request(line=line.replace(b"CANARY", c.word().encode()))


def _fields(*fields: bytes) -> Make:
    return lambda c: _request(
        _bad(c), *(field.replace(b"CANARY", c.word().encode()) for field in fields)
    )


def _chunked(body: bytes) -> Make:
    return lambda c: _request(
        body.replace(b"CANARY", c.word().encode()), b"Transfer-Encoding: chunked"
    )


def _bad(c: HostileCanaries) -> bytes:
    return json.dumps({c.key(): c.word()}).encode()


def _good(c: HostileCanaries) -> bytes:
    return json.dumps(chat_body(c.text())).encode()


RAW: dict[str, Make] = {
    "no HTTP at all": lambda c: c.word().encode() + b"\r\n\r\n",
    "TLS hello": lambda c: b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + c.word().encode(),
    "HTTP/2 preface": lambda c: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + c.word().encode(),
    "NULs": lambda c: bytes(500) + c.word().encode() + b"\r\n\r\n",
    "only line ends": lambda c: b"\r\n" * 500 + c.word().encode() + b"\r\n\r\n",
    "HTTP/0.9": _line(b"GET /CANARY"),
    "HTTP/3.0": _line(b"POST " + PATH + b" HTTP/3.0"),
    "HTTP/9.9": _line(b"POST /CANARY HTTP/9.9"),
    "lower-case version": _line(b"POST /CANARY http/1.1"),
    "no version": _line(b"POST /CANARY"),
    "blanks in the target": _line(b"POST /CANARY CANARY x HTTP/1.1"),
    "NUL in the target": _line(b"POST /CANARY\x00 HTTP/1.1"),
    "bytes in the target": _line(b"POST /CANARY\xff\xfe HTTP/1.1"),
    "bad percent": _line(b"POST /%zz%CANARY HTTP/1.1"),
    "absolute target": _line(b"POST http://CANARY:99999/x HTTP/1.1"),
    "CONNECT": _line(b"CONNECT CANARY:443 HTTP/1.1"),
    "TRACE": _line(b"TRACE /CANARY HTTP/1.1"),
    "made-up method": _line(b"CANARY /v1/models HTTP/1.1"),
    "lower-case method": _line(b"post /CANARY HTTP/1.1"),
    "bytes as method": _line(b"\x80\x81 /CANARY HTTP/1.1"),
    "long method": _line(b"A" * 9000 + b" /CANARY HTTP/1.1"),
    "long target": _line(b"POST /" + b"CANARY" * 2000 + b" HTTP/1.1"),
    "stars": _line(b"OPTIONS * HTTP/1.1"),
    "climbing": _line(b"GET /../../../../etc/CANARY HTTP/1.1"),
    "long header": _fields(b"X-A: " + b"CANARY" * 2000),
    "long header's name": _fields(b"X-" + b"CANARY" * 2000 + b": a"),
    "many headers": _fields(*(b"X-%d: CANARY" % i for i in range(4000))),
    "header without colon": _fields(b"CANARY"),
    "blank before the colon": _fields(b"X-CANARY : x"),
    "folded header": _fields(b"X-A: a\r\n CANARY"),
    "NUL in a header": _fields(b"X-A: CANARY\x00"),
    "bare CR in a header": _fields(b"X-A: CANARY\rX-B: b"),
    "bytes as header's name": _fields(b"\xff\xfe: CANARY"),
    "empty header's name": _fields(b": CANARY"),
    "two hosts": _fields(b"Host: CANARY"),
    "expects the unknown": _fields(b"Expect: CANARY"),
    "upgrade": _fields(b"Connection: Upgrade", b"Upgrade: CANARY"),
    "websocket": _fields(
        b"Connection: Upgrade", b"Upgrade: websocket", b"Sec-WebSocket-Key: CANARY"
    ),
    "length not a number": _fields(b"Content-Length: CANARY"),
    "negative length": _fields(b"Content-Length: -5"),
    "signed length": _fields(b"Content-Length: +5"),
    "hexadecimal length": _fields(b"Content-Length: 0x5"),
    "length beyond all": _fields(b"Content-Length: " + b"9" * 40),
    "two lengths": _fields(b"Content-Length: 5", b"Content-Length: 6"),
    "list of lengths": _fields(b"Content-Length: 5, 6"),
    "length and chunks": _fields(b"Content-Length: 5", b"Transfer-Encoding: chunked"),
    "unknown coding": _fields(b"Transfer-Encoding: CANARY"),
    "chunked twice": _fields(b"Transfer-Encoding: chunked, chunked"),
    "chunked, then not": _fields(b"Transfer-Encoding: chunked, identity"),
    "shorter than said": lambda c: _request(_good(c), length=100_000),
    "longer than said": lambda c: _request(_good(c), length=20),
    "no body, half a head": lambda c: _request(_good(c))[:60],
    "chunk without size": _chunked(b"\r\nCANARY\r\n0\r\n\r\n"),
    "chunk of no number": _chunked(b"CANARY\r\nabc\r\n0\r\n\r\n"),
    "negative chunk": _chunked(b"-5\r\nCANARY\r\n0\r\n\r\n"),
    "chunk beyond all": _chunked(b"f" * 30 + b"\r\nCANARY"),
    "chunk longer than said": _chunked(b"3\r\nCANARY\r\n0\r\n\r\n"),
    "chunk shorter than said": _chunked(b"ff\r\nCANARY\r\n0\r\n\r\n"),
    "chunk cut off": _chunked(b"5\r\nab"),
    "chunk with an endless extension": _chunked(
        b"5;" + b"CANARY" * 4000 + b"\r\nabcde\r\n0\r\n\r\n"
    ),
    "chunk ended by LF": _chunked(b"5\nabcde\n0\n\n"),
    "trailers": _chunked(b"2\r\n[]\r\n0\r\nX-A: CANARY\r\n\r\n"),
    "garbage behind": lambda c: _request(_bad(c)) + c.word().encode() + b"\r\n\r\n",
    "bytes behind": lambda c: _request(_bad(c)) + b"\xff\x00" * 100 + c.word().encode(),
    "smuggled": lambda c: _request(
        b"0\r\n\r\nGET /" + c.word().encode() + b" HTTP/1.1\r\n\r\n",
        b"Content-Length: 5",
        b"Transfer-Encoding: chunked",
    ),
    "a hundred at once": lambda c: _request(_bad(c)) * 100,
    "line ends of LF": lambda c: _request(_bad(c)).replace(b"\r\n", b"\n"),
}
