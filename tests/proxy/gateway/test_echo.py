"""What is replaced comes back byte for byte from a remote that echoes, or the receipt says so."""

from __future__ import annotations

import json
import random
import re
from collections.abc import AsyncIterator
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from perturb.selective.patterns import NAME, shape_types
from perturb.selective.patterns.secrets import SECRETS
from tests.perturb.selective.test_patterns import BY_TYPE
from tests.perturb.selective.test_policies import MARKED
from tests.proxy.conftest import MODEL, Proxy
from tests.proxy.gateway.remotes import echo
from tests.servers import FakeServer

# A word in small letters, or a digit, is left where it comes back, and counted. These never are.
DISTINCT = re.compile(r"[^\s\"'(),;]*\d[^\s\"'(),;]{5,}|-----BEGIN[\s\S]*-----")
ORDINARY = "it is a table of the words, and no more than that: see here, or ask for more."
ROUTES = ("chat/completions", "responses", "messages")
MORE = {
    "LOCATION": ["company,city\nLindenhof Logistik,Ulm\n"],
    "BIRTHPLACE": ["Ada Winter was born on 3 May 1984 in Ulm, and"],
    "RESIDENCE": ["name,city\nAda Winter,Ulm\n"],
    "ORGANIZATION": ["name,company\nAda Winter,Lindenhof Logistik\n"],
    "PASSWORD": [
        "psql postgresql://billing:hunter22@db.kestrel.internal:5432/prod?sslmode=require",
        "see https://ada:s3cr3tPw@site.example/a?b=c, (https://ada:s3cr3tPw@site.example).",
        "export DB_PASSWORD=hunter2x APP_TOKEN_LIVE='hunter2y'",
        "jdbc:oracle:thin:scott/Tiger42x@//orcl.kestrel.local:1521/pdb1",
    ],
    "MONEY": ["for € 1,200 only", "für 1.200 € nur (₹ 500) und 3.000 €, ja"],
    NAME: [
        "Ada  Winter",
        "Ada Winter\nPaul Sommer",
        "Ada\tWinter",
        "Ada\n\nWinter met Ada Winter",
    ],
    "PHONE_NUMBER": ["?phone=%2B49%20151%2023456781"],
}


def write(tree: Any, draw: random.Random) -> str:
    """Write a text that an expression matches."""
    out = ""
    for code, value in tree:
        if code is codes.LITERAL:
            out += chr(value)
        elif code is codes.IN:
            out += draw.choice([c for c in map(chr, range(48, 123)) if _is_in(c, value)])
        elif code in (codes.MAX_REPEAT, codes.POSSESSIVE_REPEAT):
            least, most, inner = value
            for _ in range(draw.randint(least, min(most, least + 4))):
                out += write(inner, draw)
        elif code is codes.SUBPATTERN:
            out += write(value[3], draw)
        elif code is codes.BRANCH:
            out += write(draw.choice(value[1]), draw)
    return out


def _is_in(character: str, group: Any) -> bool:
    kinds = {codes.CATEGORY_DIGIT: str.isdigit, codes.CATEGORY_WORD: str.isalnum}
    for code, value in group:
        if code is codes.LITERAL and value == ord(character):
            return True
        if code is codes.RANGE and value[0] <= ord(character) <= value[1]:
            return True
        if code is codes.CATEGORY and kinds[value](character):
            return True
    return False


def make_tokens() -> list[str]:
    """Write two tokens of each form in which an issuer writes its keys."""
    draw = random.Random(3)
    tokens = SECRETS[1].pattern.pattern
    branches = next(v[1] for code, v in parser.parse(tokens) if code is codes.BRANCH)
    return [f"the key {write(branch, draw)} is old" for branch in branches for _ in range(2)]


def make_texts() -> dict[str, list[str]]:
    """Return texts with parts of every shipped type."""
    texts: dict[str, list[str]] = {}
    for type_, lines in BY_TYPE.items():
        shown = lines if "-----BEGIN" not in lines else lines.replace("\n", "\x00")
        for line in filter(None, map(str.strip, shown.splitlines())):
            plain = re.sub(r"(?<!\[)\[|\](?!\])", "", line).replace("\x00", "\n")
            texts.setdefault(type_, []).append(plain)
    for text, _, type_ in MARKED:
        texts.setdefault(type_ or NAME, []).append(text)
    texts["API_KEY"] += make_tokens()
    texts["API_KEY"] += ["slack token xoxb-00000-00000-EXAMPLENOTAREALTOKEN"]
    for type_, more in MORE.items():
        texts.setdefault(type_, []).extend(more)
    return texts


TEXTS = make_texts()


def test_every_shipped_type_has_a_text() -> None:
    assert set(shape_types()) <= set(TEXTS)


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as made:
        yield made


async def ask(
    session: aiohttp.ClientSession, proxy: Proxy, route: str, text: str, *, stream: bool
) -> tuple[str, dict[str, Any]]:
    """Return the answer's text, and the receipt."""
    body: dict[str, Any] = {"model": MODEL, "stream": stream}
    if route == "responses":
        body["input"] = text
    else:
        body |= {"messages": [{"role": "user", "content": text}], "max_tokens": 100}
    async with session.post(f"{proxy.base_url}/{route}", json=body) as reply:
        told = await reply.text()
        assert reply.status == 200, told
    if not stream:
        made = json.loads(told)
        return _read(route, made), made["inferdpt"]
    lines = [line[6:] for line in told.splitlines() if line.startswith("data: {")]
    answer, receipt = "", {}
    for event in map(json.loads, lines):
        if route == "chat/completions":
            for choice in event["choices"]:
                answer += choice["delta"].get("content") or ""
        elif event["type"] in ("response.output_text.delta", "content_block_delta"):
            delta = event["delta"]
            answer += delta if isinstance(delta, str) else delta["text"]
        receipt = event.get("inferdpt") or event.get("response", {}).get("inferdpt") or receipt
    return answer, receipt


def _read(route: str, made: dict[str, Any]) -> str:
    if route == "chat/completions":
        return str(made["choices"][0]["message"]["content"])
    item = made["output"][0] if route == "responses" else made
    return str(item["content"][0]["text"])


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("route", ROUTES)
async def test_what_is_replaced_comes_back_or_is_counted(
    proxy: Proxy, session: aiohttp.ClientSession, route: str, stream: bool
) -> None:
    proxy.remote.behaviour = echo
    for type_, texts in TEXTS.items():
        every = stream and route == ROUTES[0]
        some = texts if every else texts[:: max(1, len(texts) // 4)]
        for text in some:
            answer, receipt = await ask(session, proxy, route, text, stream=stream)
            if answer == f"Sure: {text}":
                continue
            assert receipt["ambiguous"] + receipt["unrestored"], (type_, text, answer)
            for part in DISTINCT.findall(text):
                assert part in answer, (type_, text, answer)


async def test_a_remote_that_answers_in_ordinary_words_is_not_changed(
    proxy: Proxy, session: aiohttp.ClientSession
) -> None:
    """No replacement is an ordinary word in small letters that would be restored."""

    async def answer_in_words(server: FakeServer, request: web.Request, body: Any) -> Any:
        return await echo(server, request, {**body, "messages": [{"content": ORDINARY}]})

    proxy.remote.behaviour = answer_in_words
    for texts in TEXTS.values():
        for text in texts[::3]:
            answer, _ = await ask(session, proxy, ROUTES[0], text, stream=True)
            assert answer == f"Sure: {ORDINARY}"
