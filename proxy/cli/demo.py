"""`inferdpt demo`: a letter through the gateway, and a document on the whole path with a small
model in both roles, over HTTP on loopback."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import shutil
import sys
import textwrap
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from aiohttp import web
from openai import AsyncOpenAI

from extraction.errors import ModelFileError
from extraction.models import DEFAULT, ModelStore, find_model
from perturb.release import format_sum, format_upper
from proxy.config.settings import Local, load_config
from proxy.config.store import models_folder
from proxy.config.upstreams.local import DEMO_MODEL, SHIPPED_MODEL
from proxy.local import HOST, describe_running, local_server
from proxy.loopback import run_proxy

__all__ = ["DEMO_TEXT", "LETTER", "Run", "Trip", "demo", "run", "show", "show_letter"]

INDENT = " " * 4
WIDEST = 100
SHOWN = 1  # of what the remote still learns
BOLD, DIM = "1", "2"


@dataclass(frozen=True)
class Run:
    """Hold what happened to a text under one mechanism.

    Attributes:
        sent: the messages of each request to the remote.
        size: the bytes of these requests.
        answer: the final answer.
        receipt: the full receipt.
    """

    sent: Sequence[Sequence[dict[str, str]]]
    size: int
    answer: str
    receipt: dict[str, Any]

    @property
    def left(self) -> str:
        """Return every text that left the machine; of the system's only the length, since it is
        the same for every document."""
        return "\n".join(
            f"[{len(m['content'])} characters of instructions, the same for every document]"
            if m["role"] == "system"
            else m["content"]
            for messages in self.sent
            for m in messages
        )

    @property
    def generation(self) -> str:
        """Return the remote's generation."""
        return self.receipt["exchanges"][0]["generation"] or "(nothing)"


@dataclass(frozen=True)
class Trip:
    """Hold the way of a letter through the gateway.

    Attributes:
        left: what the remote received for the letter.
        answered: the remote's answer.
        got: the answer that the client got.
        receipt: the full receipt.
    """

    left: str
    answered: str
    got: str
    receipt: dict[str, Any]


def show_letter(letter: str, trip: Trip) -> None:
    """Print a letter beside what left, and the remote's answer beside what the client got."""
    _print_title("A letter through the gateway", "needs no local model")
    _print_columns(["your letter", "what left the machine"], style=DIM)
    _print_columns([letter, trip.left])
    print()
    _print_columns(["the remote's answer, by a program here", "what you get"], style=DIM)
    _print_columns([trip.answered, trip.got])
    receipt = trip.receipt
    kinds = ", ".join(f"{n} {kind}" for kind, n in receipt["entities"].items())
    _print_columns(
        [
            f"Replaced: {kinds}. {receipt['restored']} came back, {receipt['unrestored']} did "
            "not. The rest left as it is, without protection: no ε."
        ],
        style=DIM,
    )
    print()


def show(text: str, run: Run, name: str) -> None:
    """Print a request, each step of its way, and the receipt.

    Args:
        text: what the user wrote.
        name: the model in both roles.
    """
    _print_title("A document, with a local model", f"{name} plays the remote, too")
    _print_step("1. Your request", "the document stays on this machine", text)
    note = f"{run.receipt['mechanism']}: {run.size} bytes to the remote"
    _print_step("2. What left the machine", note, run.left)
    _print_step("3. The remote's answer to that", f"written by {name}", run.generation)
    how = f"by {name}: the better of two, of which one may use 3"
    _print_step("4. Your answer", how, run.answer)
    _print_step("5. The receipt", _state_release(run.receipt), _summarize(run.receipt))


def _total(receipt: dict[str, Any]) -> float:
    return float(receipt["epsilon"]["all_tokens"])


def _state_release(receipt: dict[str, Any]) -> str:
    released, epsilon = receipt["released"], receipt["epsilon"]
    nominal = format_upper(epsilon["nominal"])
    if receipt["unit"] == "document":
        return f"{released} public passage, ε = {nominal} for the whole document"
    if receipt["guarantee"] == "none":
        return f"{released} words, nominal ε {nominal} per token: no bound is proved"
    proved = (
        f"{format_upper(epsilon['per_token'])} per token, {format_sum(_total(receipt))} for all"
    )
    return f"{released} words, nominal ε {nominal}, proved: {proved}"


def _summarize(receipt: dict[str, Any]) -> str:
    reveals = receipt["reveals"]
    replaced = ", ".join(f"{n} {kind}" for kind, n in receipt["entities"].items())
    more = f"; and {len(reveals) - SHOWN} more" if len(reveals) > SHOWN else ""
    return (
        f"Replaced: {replaced}.\n" if replaced else ""
    ) + f"The remote still learns: {'; '.join(reveals[:SHOWN])}{more}."


def _print_title(title: str, note: str = "") -> None:
    note = f"  {_style(DIM, f'({note})')}" if note else ""
    print(f"{_style(BOLD, title)}{note}")


def _print_step(title: str, note: str, text: str) -> None:
    _print_title(title, note)
    _print_columns([text])
    print()


def _print_columns(texts: Sequence[str], style: str = "") -> None:
    """Print texts side by side, or below each other where the terminal is narrow."""
    width = _width() - len(INDENT)
    each = (width - len(INDENT) * (len(texts) - 1)) // len(texts)
    if each < 30:
        for text in texts:
            _print_columns([text], style)
        return
    columns = [
        [
            piece
            for line in text.splitlines()
            for piece in textwrap.wrap(line, each, break_on_hyphens=False) or [""]
        ]
        for text in texts
    ]
    for row in itertools.zip_longest(*columns, fillvalue=""):
        line = INDENT.join(cell.ljust(each) for cell in row).rstrip()
        print(f"{INDENT}{_style(style, line) if style else line}".rstrip())


def _width() -> int:
    return min(shutil.get_terminal_size((WIDEST, 24)).columns, WIDEST)


def _style(code: str, text: str) -> str:
    return f"\033[{code}m{text}\033[0m" if sys.stdout.isatty() else text


DEMO_TEXT = (
    "The old lighthouse at the mouth of the river was built in 1874, after a winter in which "
    "four ships were lost on the rocks. For more than a century its keepers lived there with "
    "their families, and the last of them left in the spring of 1986. This year the town council "
    "decided to open the tower to visitors."
)
LETTER = """\
Please answer this letter in a few words.

From: Mira Holzapfel <mira.holzapfel@kestrel-optik.de>

My daughter Aylin, born 14 March 2015, broke her glasses on a school trip to Paris. Please pay \
the 184 EUR to DE89 3704 0044 0532 0130 00, or call me: +49 30 23125 441.

Mira Holzapfel, Lindenallee 14, 10115 Berlin"""
REQUEST = "Summarise this in one sentence:"
MODEL = "demo"
ANSWER_TOKENS = 60
Answer = Callable[[bytes], Awaitable[bytes]]


async def demo(text: str, mechanism: str, epsilon: float, local: Local, letter: str = "") -> None:
    """Send a letter through the gateway, if there is one, and a request about a text on the whole
    path; print each step.

    Args:
        local: the model that plays both the remote and the local model.
    """
    name = DEMO_MODEL if local.is_bundled else _name(local)
    async with local_server(local) as model:
        if letter:
            show_letter(letter, await _send_letter(letter))
        answered = await _answer(text, mechanism, epsilon, local, model.base_url)
    show(f"{REQUEST} {text}", answered, name)
    if local.is_bundled:
        print(
            f"{DEMO_MODEL}: it shows the path and cannot answer. For one that can, run "
            f"`inferdpt models pull {DEFAULT}`.\n"
        )
    print(
        "Use it from any OpenAI client, as a gateway or with a local model:\n"
        "  inferdpt serve --no-local --mechanism selective --remote-model gpt-4o\n"
        "  inferdpt serve --remote-model gpt-4o --local-base-url http://127.0.0.1:8000/v1"
    )


def run(text: str, mechanism: str, epsilon: float, model: str = DEFAULT, letter: str = "") -> None:
    """Run the command.

    Args:
        model: the name of a model, which is pulled if it is not there, or `SHIPPED_MODEL`, which
            also stands in for a model that cannot be had.

    Raises:
        ModelFileError: no model has this name.
    """
    asyncio.run(demo(text, mechanism, epsilon, _prepare(model), letter))


def _prepare(name: str) -> Local:
    """Return the settings of a model that is there, or those of the bundled one."""
    if name != SHIPPED_MODEL:
        wanted, store = find_model(name), ModelStore(models_folder())
        if store.find(wanted) is None:
            print(f"fetching {name} ({wanted.size / 1e6:.0f} MB), once …", file=sys.stderr)
        try:
            store.pull(wanted)
        except ModelFileError as exc:
            print(f"{DEMO_MODEL} instead: {exc}\n", file=sys.stderr)
            name = SHIPPED_MODEL
    own = {"mode": "embedded", "embedded": {"model": name}}
    return load_config(None, {"local": own}).local


def _name(local: Local) -> str:
    assert local.embedded.pulled is not None
    return local.embedded.pulled.model.name


async def _send_letter(letter: str) -> Trip:
    """Send a letter through a gateway of its own to a program that plays the remote."""
    bodies: list[bytes] = []
    answers: list[str] = []

    async def answer(body: bytes) -> bytes:
        bodies.append(body)
        answers.append(_answer_letter(json.loads(body)["messages"][-1]["content"]))
        message = {"role": "assistant", "content": answers[-1]}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        head = {"id": "demo", "object": "chat.completion", "created": 0, "model": MODEL}
        return json.dumps({**head, "choices": [choice]}).encode()

    settings = {"privacy": {"mechanism": "selective"}, "local": {"mode": "none"}}
    async with _serve(settings, answer) as client:
        answered = await client.chat.completions.create(
            model=MODEL,
            messages=[{"role": "user", "content": letter}],
            extra_body={"inferdpt": {"receipt": "full"}},
        )
    assert answered.model_extra is not None
    return Trip(
        left=json.loads(bodies[0])["messages"][-1]["content"],
        answered=answers[0],
        got=answered.choices[0].message.content or "",
        receipt=answered.model_extra["inferdpt"],
    )


def _answer_letter(text: str) -> str:
    """Answer a letter from what stands in it, without a model."""

    def find(pattern: str) -> str:
        found = re.search(pattern, text)
        return found[1] if found else "(not found)"

    name, child = find(r"From: (.*?) <"), find(r"daughter (\w+)")
    account, phone = find(r"EUR to (.*?), or"), find(r"call me: ([+\d ()-]+)")
    return (
        f"Dear {name},\nwe are sorry to hear about the glasses of {child}. The 184 EUR will be "
        f"on your account {account} this week. If anything is open, we will call {phone} or "
        f"write to {find(r'<(.*?)>')}."
    )


def _ask(model_url: str) -> Answer:
    """Let the model at a URL play the remote."""

    async def ask(body: bytes) -> bytes:
        url, headers = f"{model_url}/chat/completions", {"Content-Type": "application/json"}
        async with (
            aiohttp.ClientSession() as session,
            session.post(url, data=body, headers=headers, raise_for_status=True) as answer,
        ):
            return await answer.read()

    return ask


async def _answer(text: str, mechanism: str, epsilon: float, local: Local, model_url: str) -> Run:
    """Answer a request about a text through a proxy of its own."""
    bodies: list[bytes] = []
    ask = _ask(model_url)

    async def answer(body: bytes) -> bytes:
        bodies.append(body)
        return await ask(body)

    # The model that runs already, by the settings that it would have here. Of two answers, one
    # without the remote's, the one nearest to the document is kept: a small model copies from
    # whatever it is shown.
    running = describe_running(local, urlsplit(model_url).port or 0)
    settings = {
        "privacy": {"mechanism": mechanism, "epsilon": epsilon},
        "local": {**running.model_dump(), "candidates": 2},
    }
    async with _serve(settings, answer) as client:
        answered = await client.chat.completions.create(
            model=MODEL,
            messages=[{"role": "user", "content": f"<public>{REQUEST}</public> {text}"}],
            max_tokens=ANSWER_TOKENS,
            temperature=0,
            extra_body={"inferdpt": {"receipt": "full"}},
        )
    assert answered.model_extra is not None
    return Run(
        sent=[json.loads(body)["messages"] for body in bodies],
        size=sum(map(len, bodies)),
        answer=(answered.choices[0].message.content or "").strip(),
        receipt=answered.model_extra["inferdpt"],
    )


@asynccontextmanager
async def _serve(settings: Mapping[str, Any], answer: Answer) -> AsyncIterator[AsyncOpenAI]:
    """Run a proxy with these settings in front of a remote that answers so, both on loopback, and
    yield a client of it."""

    async def relay(request: web.Request) -> web.Response:
        body = await answer(await request.read())
        return web.Response(body=body, content_type="application/json")

    remote = web.Application()
    remote.router.add_post("/v1/chat/completions", relay)
    running = web.AppRunner(remote, access_log=None)
    await running.setup()
    try:
        await web.TCPSite(running, HOST, 0).start()
        base_url = f"http://{HOST}:{running.addresses[0][1]}/v1"
        behind = {"base_url": base_url, "models": {MODEL: MODEL}, "api_key": "demo"}
        async with (
            run_proxy(None, {**settings, "remote": behind}) as url,
            AsyncOpenAI(base_url=url, api_key="demo") as client,
        ):
            yield client
    finally:
        await running.cleanup()
