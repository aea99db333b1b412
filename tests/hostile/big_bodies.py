"""Bodies near the limit of 8 MB that cost the reader most."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable

from tests.proxy.conftest import MODEL

__all__ = ["BIG"]

SIZE = 7_800_000
HEAD = f'{{"model": "{MODEL}", '.encode()


def _repeated(before: bytes, unit: bytes, after: bytes) -> Callable[[], tuple[str, bytes]]:
    """Return a maker of a chat body filled up with a unit; the last one loses its comma."""
    return lambda: (
        "chat/completions",
        HEAD + before + (unit * (SIZE // len(unit))).rstrip(b",") + after,
    )


def _to(path: str, made: Callable[[], tuple[str, bytes]]) -> Callable[[], tuple[str, bytes]]:
    return lambda: (path, made()[1])


def _keys(count: int) -> bytes:
    return b",".join(b'"k%d":1' % i for i in range(count))


def _unknown_keys() -> tuple[str, bytes]:
    return "chat/completions", HEAD + b'"messages": [],' + _keys(600_000) + b"}"


def _bias() -> tuple[str, bytes]:
    body = b'"messages": [{"role": "user", "content": "x"}], "logit_bias": {'
    return "chat/completions", HEAD + body + _keys(600_000).replace(b":1", b':"a"') + b"}}"


def _text_parts() -> tuple[str, bytes]:
    parts = [{"type": "text", "text": "The board met on Monday to decide. " * 4}] * 40_000
    turns = [{"role": "user", "content": parts}]
    return "chat/completions", json.dumps({"model": MODEL, "messages": turns}).encode()


def _bomb() -> tuple[str, bytes]:
    packer = zlib.compressobj(1, wbits=31)
    begin = packer.compress(HEAD + b'"user": "')
    block = b"a" * 2**20
    blocks = b"".join(packer.compress(block) for _ in range(1000))
    return "chat/completions", begin + blocks + packer.compress(b'"}') + packer.flush()


_TURN = b'"messages": [{"role": "user", "content": '
BIG: dict[str, Callable[[], tuple[str, bytes]]] = {
    "messages of numbers": _repeated(b'"messages": [', b"1,", b"]}"),
    "messages of empty objects": _repeated(b'"messages": [', b"{},", b"]}"),
    "messages of messages": _repeated(b'"messages": [', b'{"role":"user","content":"a"},', b"]}"),
    "messages with unknown keys": _repeated(b'"messages": [', b'{"role":"user","x":1},', b"]}"),
    "content of numbers": _repeated(_TURN + b"[", b"1,", b"]}]}"),
    "content of empty parts": _repeated(_TURN + b"[", b"{},", b"]}]}"),
    "40,000 text parts": _text_parts,
    "600,000 unknown keys": _unknown_keys,
    "600,000 biases": _bias,
    "tools of numbers": _repeated(_TURN + b'"x"}], "tools": [', b"1,", b"]}"),
    "stops of numbers": _repeated(_TURN + b'"x"}], "stop": [', b"1,", b"]}"),
    "float prompts": _to("completions", _repeated(b'"prompt": [', b"1.5,", b"]}")),
    "prompts of lists": _to("completions", _repeated(b'"prompt": [', b"[],", b"]}")),
    "prompts of floats in a list": _to("completions", _repeated(b'"prompt": [[', b"1.5,", b"]]}")),
    "one endless prompt of ids": _to("completions", _repeated(b'"prompt": [', b"7,", b"]}")),
    "input of numbers": _to("responses", _repeated(b'"input": [', b"1,", b"]}")),
    "input of empty items": _to("responses", _repeated(b'"input": [', b"{},", b"]}")),
    "include of numbers": _to("responses", _repeated(b'"input": "x", "include": [', b"1,", b"]}")),
    "embeddings of floats": _to("embeddings", _repeated(b'"input": [', b"1.5,", b"]}")),
    "perturb of a list": _to("privacy/perturb", _repeated(b'"text": [', b"1,", b"]}")),
    "brackets": _repeated(b'"messages": ', b"[", b"}"),
    "opened strings": _repeated(b'"messages": ', b'"a",', b"}"),
    "backslashes": _repeated(b'"messages": "', b"\\\\", b'"}'),
    "digits": _repeated(b'"seed": ', b"7", b"}"),
    "gzip of 1 GB": _bomb,
    "blanks": _repeated(b"", b" ", b"}"),
}
