"""Bodies that no endpoint may accept, each made by breaking a good one in one way."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.hostile.canary_words import HostileCanaries
from tests.proxy.conftest import MODEL

__all__ = ["WAYS", "Malformed", "malformed"]

Make = Callable[[HostileCanaries, dict[str, Any]], bytes]


@dataclass(frozen=True)
class Malformed:
    """A body, the path it goes to, and the way in which it is wrong."""

    way: str
    path: str
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


def malformed(c: HostileCanaries, count: int) -> list[Malformed]:
    """Return so many bodies, every way equally often."""
    names = list(WAYS)
    out = []
    for i in range(count):
        path, good = _good(c)
        way = names[i % len(names)]
        headers = {}
        if way in ENCODED:
            headers["Content-Encoding"] = ENCODED[way]
        out.append(Malformed(way, path, WAYS[way](c, good), headers))
    return out


def _good(c: HostileCanaries) -> tuple[str, dict[str, Any]]:
    turn = {"role": "user", "content": c.text(), "name": c.word()}
    bodies: dict[str, dict[str, Any]] = {
        "chat/completions": {"model": MODEL, "messages": [turn], "temperature": 0.5},
        "completions": {"model": MODEL, "prompt": c.text(), "stop": [c.word()]},
        "responses": {"model": MODEL, "input": c.text(), "metadata": {"a": c.word()}},
        "embeddings": {"model": "fake-embeddings", "input": [c.text(), c.text()]},
        "privacy/perturb": {"text": c.text(), "epsilon": 6.0},
    }
    path = c.random.choice(list(bodies))
    return path, bodies[path]


def _cut(c: HostileCanaries, good: dict[str, Any]) -> bytes:
    data = json.dumps(good).encode()
    return data[: c.random.randrange(len(data))]


def _swapped(c: HostileCanaries, good: dict[str, Any]) -> bytes:
    """Put a byte that JSON cannot have at any place."""
    data = bytearray(json.dumps(good).encode())
    data[c.random.randrange(len(data))] = c.random.choice(b"\x00\x01\x1f\x80\xbf\xc0\xf5\xff")
    return bytes(data)


def _with(text: str) -> Make:
    """Put an extra member, written as it is, in front of the others."""

    def make(c: HostileCanaries, good: dict[str, Any]) -> bytes:
        filled = text.replace("CANARY", c.word()).replace("KEY", c.key())
        return (
            b"{" + filled.encode("utf-8", "surrogatepass") + b"," + json.dumps(good)[1:].encode()
        )

    return make


def _as(encoding: str) -> Make:
    return lambda c, good: json.dumps({**good, "user": "ü" + c.word()}, ensure_ascii=False).encode(
        encoding, "replace"
    )


def _around(before: str, after: str = "") -> Make:
    def make(c: HostileCanaries, good: dict[str, Any]) -> bytes:
        return (before + json.dumps(good) + after.replace("CANARY", c.word())).encode()

    return make


def _instead(text: str) -> Make:
    return lambda c, good: text.replace("CANARY", c.word()).encode()


WAYS: dict[str, Make] = {
    "cut": _cut,
    "cut once more": _cut,
    "a byte swapped": _swapped,
    "another byte swapped": _swapped,
    "UTF-16": _as("utf-16"),
    "UTF-32": _as("utf-32"),
    "Latin-1": _as("latin-1"),
    "UTF-7": _with('"user": +AGEAYgBj-CANARY'),
    "lone surrogate in UTF-8": _with('"user": "CANARY\ud800"'),
    "overlong UTF-8": lambda c, good: b'{"user": "\xc0\xaf' + c.word().encode() + b'"}',
    "NUL in a string": _with('"user": "CANARY\x00"'),
    "newline in a string": _with('"user": "CANARY\n"'),
    "bad escape": _with('"user": "\\xCANARY"'),
    "half an escape": _with('"user": "\\u12"'),
    "NaN": _with('"top_p": NaN'),
    "Infinity": _with('"top_p": -Infinity'),
    "number beyond floats": _with('"top_p": 1e999'),
    "number of 5,000 digits": _with('"seed": ' + "7" * 5000),
    "leading zero": _with('"seed": 007'),
    "hexadecimal": _with('"seed": 0x10'),
    "bare point": _with('"top_p": .5'),
    "Python words": _with('"stream": True, "user": None'),
    "duplicate key": _with('"user": "CANARY", "user": "x"'),
    "duplicate key, escaped": _with('"user": "CANARY", "us\\u0065r": "x"'),
    "duplicate key, deep": _with('"metadata": {"a": [{"b": 1, "b": "CANARY"}]}'),
    "unquoted key": _with("user: 1"),
    "single quotes": _with("'user': 'CANARY'"),
    "comment": _with('/* CANARY */ "user": "x"'),
    "trailing comma": lambda c, good: json.dumps(good)[:-1].encode() + b",}",
    "two objects": _around("", '{"user": "CANARY"}'),
    "garbage behind": _around("", " CANARY"),
    "bytes before": _around("\ufeff"),
    "XSSI prefix": _around(")]}'\n"),
    "form": _instead("model=gpt-4o&messages=CANARY"),
    "XML": _instead("<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'CANARY'>]><a>&b;</a>"),
    "YAML": _instead("model: gpt-4o\nmessages: [CANARY]"),
    "empty": _instead(""),
    "blank": _instead(" \r\n\t"),
    "a string": _instead('"CANARY"'),
    "a list": _instead('[{"a": "CANARY"}]'),
    "a number": _instead("12"),
    "null": _instead("null"),
    "nested lists": lambda c, good: b"[" * 100_000,
    "nested objects": lambda c, good: b'{"a":' * 50_000,
    "nested and closed": _with('"metadata": ' + '{"a":' * 100 + '"CANARY"' + "}" * 100),
    "only closed": lambda c, good: b"]" * 1000,
    "unknown field": _with('"KEY": "CANARY"'),
    "unknown field without name": _with('"": "CANARY"'),
    "wrong role of types": _with('"model": ["CANARY"]'),
    "no gzip": lambda c, good: json.dumps(good).encode(),
    "half a gzip": lambda c, good: gzip.compress(json.dumps(good).encode())[:-12],
    "garbled gzip": lambda c, good: gzip.compress(b"x")[:10] + c.word().encode(),
    "gzip of no JSON": lambda c, good: gzip.compress(c.text().encode()),
    "no deflate": lambda c, good: c.word().encode(),
    "deflate of no JSON": lambda c, good: zlib.compress(c.text().encode()),
    "unknown encoding": lambda c, good: c.text().encode(),
}
ENCODED = {
    "no gzip": "gzip",
    "half a gzip": "gzip",
    "garbled gzip": "gzip",
    "gzip of no JSON": "gzip",
    "no deflate": "deflate",
    "deflate of no JSON": "deflate",
    "unknown encoding": "snappy",
}
