"""Names in every format and escape leave hidden, in valid syntax, and come back byte for byte."""

from __future__ import annotations

import ast
import csv
import html
import io
import json
import quopri
import random
import re
import shlex
import tomllib
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, quote_plus, unquote_plus

import aiohttp
import pytest
import yaml

from perturb import EmbeddingTable
from tests.proxy.conftest import Proxy, running_proxy
from tests.proxy.gateway.remotes import SETTINGS, echo
from tests.proxy.gateway.test_echo import ask

GIVEN = ["Mirjam", "Jürgen", "Renée", "Ottoline", "Tadeusz", "Ingeborg", "Göran", "Petra"]
SURNAMES = (
    *("Brandvold", "Žižkovská", "Pfannenstiel", "Çelik", "Łątka", "Tørnkvist", "O'Rourke"),
    *("Müller-Lüdenscheidt", "Thistlewood", "Strauß"),
)
Person = tuple[str, str]


def _decode(value: Any) -> str:
    """Return all strings of JSON, also of JSON in a string."""
    if isinstance(value, str):
        return _decode(json.loads(value)) if value[:1] in ("{", "[") else value
    if isinstance(value, dict):
        value = [*value, *value.values()]
    return " ".join(map(_decode, value)) if isinstance(value, list) else str(value)


def _unquote(text: str) -> str:
    assert not re.search(r"%(?![0-9A-Fa-f]{2})", text)
    return unquote_plus(text)


def _read_rows(text: str) -> str:
    rows = [*csv.reader(io.StringIO(text), strict=True)]
    assert len({*map(len, rows)}) == 1
    return str(rows)


def _read_code(text: str) -> str:
    found = (n.value for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Constant))
    return " ".join(map(str, found))


def _write_rtf(text: str) -> str:
    def spell(letter: str) -> str:
        byte = letter.encode("cp1252", "ignore")
        return f"\\'{byte[0]:02x}" if byte else f"\\u{ord(letter)}?"

    return "".join(c if c.isascii() else spell(c) for c in text)


def _read_rtf(text: str) -> str:
    text = re.sub(r"\\u(\d+)\?", lambda found: chr(int(found[1])), text)
    return re.sub(r"\\'(..)", lambda found: bytes.fromhex(found[1]).decode("cp1252"), text)


def _join(person: Person) -> str:
    return " ".join(person)


def _turn(person: Person) -> str:
    return f"{person[1]}, {person[0]}"


# How a person is written, and how what leaves is read, which fails if it is not valid.
FORMATS: dict[str, tuple[Callable[[Person], str], Callable[[str], str]]] = {
    "JSON": (
        lambda p: json.dumps([{"id": 1, "name": _join(p), "active": True}]),
        lambda text: _decode(json.loads(text)),
    ),
    "JSON in JSON": (
        lambda p: json.dumps({"body": json.dumps({"customer": _join(p), "n": 1.5})}),
        lambda text: _decode(json.loads(text)),
    ),
    "JSON Lines": (
        lambda p: f"{json.dumps({'name': _join(p)})}\n{json.dumps({'id': 2})}\n",
        lambda text: " ".join(_decode(json.loads(line)) for line in text.splitlines()),
    ),
    "CSV": (lambda p: f'"id","name","note"\n"1","{_turn(p)}","a ""b"" c"\n', _read_rows),
    "YAML": (lambda p: f'owners:\n  - name: "{_join(p)}"\n', lambda t: str(yaml.safe_load(t))),
    "TOML": (
        lambda p: f"[customer]\nname = {json.dumps(_join(p))}\n",
        lambda text: str(tomllib.loads(text)),
    ),
    "XML": (
        lambda p: (
            f"<customers><customer><name>{html.escape(_join(p))}</name></customer></customers>"
        ),
        lambda text: " ".join(ElementTree.fromstring(text).itertext()),
    ),
    "address": (lambda p: f"GET /search?name={quote(_join(p))}&n=1 HTTP/1.1", _unquote),
    "address, surname first": (lambda p: f"GET /find?name={quote(_turn(p))}&n=1", _unquote),
    "form": (lambda p: f"customer_name={quote_plus(_turn(p))}&page=2", _unquote),
    "form of two": (
        lambda p: f"customer_name={quote_plus(_join(p))}&email=a%40b.example&n=1",
        _unquote,
    ),
    "iCalendar": (
        lambda p: f'BEGIN:VEVENT\r\nATTENDEE;CN="{_join(p)}":mailto:a@b.example\r\nEND:VEVENT\r\n',
        str,
    ),
    "Python": (lambda p: f"CONTACTS = [{{'name': {_join(p)!r}}}]\n", _read_code),
    "Python, ASCII": (lambda p: f"CONTACTS = [{{'name': {_join(p)!a}}}]\n", _read_code),
    "shell": (
        lambda p: f"git config user.name {shlex.quote(_join(p))}",
        lambda text: " ".join(shlex.split(text)),
    ),
    "SQL": (
        lambda p: (
            "CREATE TABLE staff (id INT, -- number, key\n full_name TEXT);\n"
            f"INSERT INTO staff VALUES (1, '{_join(p).replace(chr(39), chr(39) * 2)}');"
        ),
        lambda text: text.replace("''", "'"),
    ),
    "RTF": (lambda p: "{\\rtf1 Sehr geehrte Frau " + _write_rtf(_join(p)) + ",}", _read_rtf),
    "mail": (
        lambda p: (
            "Content-Transfer-Encoding: quoted-printable\n\n"
            + quopri.encodestring(f"Dear {_join(p)},\n\nthanks.\n".encode()).decode()
        ),
        lambda text: quopri.decodestring(text.encode()).decode(),
    ),
    "LaTeX": (
        lambda p: (
            "\\begin{letter}{x}\\opening{Dear Mrs "
            + _join(p).replace("ü", '\\"u').replace("ø", "{\\o}").replace("ß", "{\\ss}")
            + ",}\\end{letter}"
        ),
        lambda t: t.replace('\\"u', "ü").replace("{\\o}", "ø").replace("{\\ss}", "ß"),
    ),
}


@pytest.fixture
async def people(table: EmbeddingTable) -> Any:
    privacy = {"mechanism": "selective", "parameters": {"profile": "people"}}
    async with running_proxy(table, {**SETTINGS, "privacy": privacy}) as running:
        running.remote.behaviour = echo
        yield running


@pytest.mark.parametrize("seed", [20, 21])
async def test_a_name_is_hidden_in_any_format(people: Proxy, seed: int) -> None:
    draw = random.Random(seed)
    async with aiohttp.ClientSession() as session:
        for name, (write, understand) in FORMATS.items():
            for surname in draw.sample(SURNAMES, 3):
                text = write((draw.choice(GIVEN), surname))
                assert surname in understand(text), name
                for stream in (False, True):
                    answer, receipt = await ask(
                        session, people, "chat/completions", text, stream=stream
                    )
                    assert answer == f"Sure: {text}", name
                    assert receipt["unrestored"] == 0, name
                left = people.remote.bodies[-1]["messages"][-1]["content"]
                assert surname not in understand(left), (name, left)


@pytest.mark.parametrize(
    ("text", "used"),
    [
        (json.dumps([{"name": "Mirjam Çelik"}]), "Dear Mirjam Çelik, Ms Çelik's file"),
        ("customer = 'Mirjam Tørnkvist'".encode("ascii", "backslashreplace").decode(), None),
        ("GET /search?name=Mirjam%20Tørnkvist&n=1".replace("ø", "%C3%B8"), None),
        ("GET /search?name=Mirjam+Tørnkvist&n=1".replace("ø", "%C3%B8"), None),
        ("cp scans/Mirjam\\ Tørnkvist.pdf /tmp # customer", None),
    ],
)
async def test_a_name_that_is_written_with_escapes_is_used_without_them(
    people: Proxy, text: str, used: str | None
) -> None:
    used = used or "Dear Mirjam Tørnkvist, Ms Tørnkvist's file"
    async with aiohttp.ClientSession() as session:
        await ask(session, people, "chat/completions", text, stream=False)
        left = people.remote.bodies[-1]["messages"][-1]["content"]
        found = re.search(r"([A-Z][a-z]+)(?: |%20|\+|\\ )([A-Z][a-z]+)", left)
        assert found, left
        written = f"Dear {found[1]} {found[2]}, Ms {found[2]}'s file"

        async def answer(server: Any, request: Any, body: dict[str, Any]) -> Any:
            return await echo(server, request, {**body, "messages": [{"content": written}]})

        people.remote.behaviour = answer
        for stream in (False, True):
            told, _ = await ask(session, people, "chat/completions", text, stream=stream)
            assert told == f"Sure: {used}"
