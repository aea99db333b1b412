"""The guard refuses what a broken mechanism, template or caller would let out."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import openai
import pytest
from aiohttp import ClientHandlerType, ClientRequest, ClientResponse, web

from extraction.codec import dump
from perturb import EmbeddingTable, Perturbation, Perturber, get_mechanism, seeded_generator
from perturb.mechanisms.base import Draw, too_many_kept
from perturb.mechanisms.rantext import RanText
from proxy.api.app_keys import LEDGER, POLICY, STORE
from proxy.config.settings import Remote
from proxy.errors import ApiError, GuardRefused
from proxy.release import Release
from proxy.remote import upstream
from proxy.remote.guard import Clearance, check
from proxy.remote.upstream import RemoteClient
from tests.limits import LIMIT
from tests.proxy.conftest import MODEL, running_proxy
from tests.servers import FakeServer, fake_server, hang

TEXT = "The board met on Monday to discuss the merger with our largest competitor in town."
TEMPLATE = "Extend this text please:\n{document}"


def clearance(table: EmbeddingTable, **change: Any) -> tuple[Clearance, str]:
    perturber = Perturber(get_mechanism("rantext", table, epsilon=6.0))
    done = perturber.perturb(TEXT, seeded_generator(5))
    release = Release(TEXT, done, perturber, b"")
    return Clearance(
        **{
            "pieces": (release,),
            "private": (TEXT,),
            "constants": (TEMPLATE,),
            **change,
        }
    ), done.text


def body(*contents: str) -> bytes:
    messages = [{"role": "user", "content": content} for content in contents]
    return json.dumps({"model": "m", "messages": messages, "temperature": 0.5}).encode()


def test_an_honest_body_passes(table: EmbeddingTable) -> None:
    ok, released = clearance(table)
    check(body(TEMPLATE.replace("{document}", released)), ok)


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda released: [TEXT], "not what the mechanism returned"),
        (lambda released: [released + "x" if released[-1] == "." else released[:-1]], None),
        (lambda released: [released[:-4]], "not what the mechanism returned"),
        (lambda released: [released, "they met on Monday to discuss the thing"], "repeats"),
        (lambda released: [released + " MONDAY, to discuss… the\nmerger"], "repeats"),
        (lambda released: [released, "harmless words of someone else"], None),
    ],
)
def test_bodies_are_held_against_the_clearance(
    table: EmbeddingTable, make: Callable[[str], list[str]], rule: str | None
) -> None:
    ok, released = clearance(table)
    if rule is None:
        check(body(*make(released)), ok)
        return
    with pytest.raises(GuardRefused, match=rule):
        check(body(*make(released)), ok)


def test_keys_and_every_other_string_are_looked_at(table: EmbeddingTable) -> None:
    ok, released = clearance(table)
    leak = "met on Monday to discuss"
    places: list[dict[str, Any]] = [
        {"user": leak},
        {"metadata": {leak: 1}},
        {"stop": ["x", [leak]]},
        {"messages": [{"content": released, "name": leak}]},
        {"messages": [{"content": released}, {"content": leak}]},
    ]
    for extra in places:
        data = {"messages": [{"content": released}], **extra}
        with pytest.raises(GuardRefused, match="repeats"):
            check(json.dumps(data).encode(), ok)


def test_a_short_private_text_counts_as_a_whole(table: EmbeddingTable) -> None:
    ok, _ = clearance(table, pieces=(), private=("Anna Schmidt resigned",))
    with pytest.raises(GuardRefused, match="repeats"):
        check(body("News: Anna Schmidt resigned!"), ok)
    check(body("News: Anna resigned!"), ok)


def test_words_of_the_operators_template_are_no_leak(table: EmbeddingTable) -> None:
    ok, _ = clearance(table, pieces=(), private=("please: extend this text please, quickly",))
    check(body("Extend this text please:"), ok)


def test_something_that_is_not_json_is_refused(table: EmbeddingTable) -> None:
    ok, _ = clearance(table)
    messages = (b'{"messages": [{}]}', b'{"messages": [{"content": [1]}]}')
    for data in (b"\xff{", b"[]", b"{}", *messages):
        with pytest.raises(GuardRefused, match="not a chat request"):
            check(data, ok)


def test_short_releases_are_not_looked_for_inside_the_remotes_own_words(
    table: EmbeddingTable,
) -> None:
    """A generation of an earlier turn holds every digit and mark; the follow-up is one of them."""
    perturber = Perturber(get_mechanism("rantext_ldp", table, epsilon=8.0))
    generation = "First, 1. the 2 board; 3! met? 456 ok 7890 yes: continue..."
    for raw in ("?", "2", "!", ".", "3.", "ok", "yes", "continue", "ok ok"):
        for seed in range(40):
            done = perturber.perturb(raw, seeded_generator(seed))
            pieces = (
                Release(TEXT, perturber.perturb(TEXT, seeded_generator(seed)), perturber, b""),
                generation,
                Release(raw, done, perturber, b""),
            )
            contents = [p if isinstance(p, str) else p.sanitized.text for p in pieces]
            check(body(*contents), Clearance(pieces, (TEXT, raw), ()))


def test_scripts_without_blanks_count_by_the_character(table: EmbeddingTable) -> None:
    ok, _ = clearance(table, pieces=(), private=("患者は昨日から高熱が続いている",))
    with pytest.raises(GuardRefused, match="repeats"):
        check(body("なお、高熱が続いているとのこと"), ok)
    check(body("高熱の人"), ok)


def test_the_remote_models_name_is_no_leak(table: EmbeddingTable) -> None:
    name = "meta-llama/Llama-3.1-8B-Instruct"
    ok, _ = clearance(table, pieces=(), private=(f"We serve {name} here",), constants=(name,))
    check(json.dumps({"model": name, "messages": []}).encode(), ok)


def test_kept_words_are_bounded_by_the_channel() -> None:
    rates = np.full(200, 0.02)
    assert not too_many_kept(4, rates)
    assert not too_many_kept(14, rates)
    assert too_many_kept(40, rates)
    assert too_many_kept(1, np.zeros(5))
    assert not too_many_kept(200, np.ones(200))


def test_an_honest_mechanism_is_never_refused(table: EmbeddingTable) -> None:
    """Clopper–Pearson aside: 400 draws at a false-alarm rate of 1e-9 each show none."""
    text = TEXT * 5
    for name, epsilon in (("rantext", 6.0), ("rantext", 14.0), ("rantext_ldp", 10.0)):
        perturber = Perturber(get_mechanism(name, table, epsilon=epsilon))
        for seed in range(30):
            done = perturber.perturb(text, seeded_generator(seed))
            release = Release(text, done, perturber, b"")
            check(body(done.text), Clearance((release,), (text,), ()))


class Identity(RanText):
    """Broken: releases every word as it is, and says it is RANTEXT."""

    def draw(self, words: Any, rng: np.random.Generator) -> Draw:
        return Draw(np.asarray(words, dtype=np.int32))


class Leaky(Perturber):
    """Broken: draws well and writes the raw text beside it."""

    def perturb(self, text: str, rng: Any = None, **more: Any) -> Perturbation:
        done = super().perturb(text, rng)
        return Perturbation(done.text + " " + text.split()[-1], done.words, done.receipt)


class Stale(Perturber):
    """Broken: returns another document's perturbation."""

    def perturb(self, text: str, rng: Any = None, **more: Any) -> Perturbation:
        return super().perturb("Something else entirely", rng)


BROKEN: dict[str, Callable[[Perturber], Perturber]] = {
    "identity": lambda p: Perturber(Identity(p.mechanism.table, p.mechanism.parameters)),
    "leaky": lambda p: Leaky(p.mechanism),
    "stale": lambda p: Stale(p.mechanism),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_a_broken_perturber_sends_nothing(table: EmbeddingTable, name: str) -> None:
    def break_it(app: web.Application) -> None:
        policy = app[POLICY]
        honest = policy.sanitizer
        policy.sanitizer = lambda *given: BROKEN[name](honest(*given))  # type: ignore[method-assign]

    # Falling back to the local model would hide it: the guard's word is final.
    settings = {"remote": {"on_remote_failure": "local_only", "retries": 2}}
    async with running_proxy(table, settings, break_it) as proxy:
        with pytest.raises(openai.InternalServerError) as info:
            await proxy.client().chat.completions.create(
                model=MODEL, messages=[{"role": "user", "content": TEXT}]
            )
        assert (info.value.status_code, info.value.code) == (500, "guard_refused")
        assert info.value.response.headers["x-should-retry"] == "false"
        assert proxy.remote.received == []
        assert proxy.local.bodies == []
        assert any("guard_refused" in line for line in proxy.log)
        assert "Monday" not in "\n".join(proxy.log)
        # Nothing is stored, either: what was refused may be the raw text.
        assert (await proxy.app[STORE].info())["releases"] == 0
        assert (await proxy.app[LEDGER].totals()) == {}


async def test_an_instruction_that_repeats_the_document_is_refused(table: EmbeddingTable) -> None:
    async with running_proxy(table, {}) as proxy:
        with pytest.raises(openai.InternalServerError) as info:
            await proxy.client().chat.completions.create(
                model=MODEL,
                messages=[{"role": "user", "content": TEXT}],
                extra_body={"inferdpt": {"instruction": "Why they met on Monday to discuss it"}},
            )
        assert info.value.code == "guard_refused"
        assert proxy.remote.received == []


@pytest.mark.parametrize("task", ["chat", "instruct"])
async def test_local_system_turns_and_dropped_turns_are_private(
    table: EmbeddingTable, task: str
) -> None:
    """Text that the task leaves out must not come back through the public instruction."""
    secret = "Our head of sales leaves the company in May"
    turns = {
        "chat": [{"role": "system", "content": secret}, {"role": "user", "content": TEXT}],
        "instruct": [
            {"role": "user", "content": secret},
            {"role": "assistant", "content": "I see."},
            {"role": "user", "content": TEXT},
        ],
    }
    async with running_proxy(table, {}) as proxy:
        with pytest.raises(openai.InternalServerError) as info:
            await proxy.client().chat.completions.create(
                model=MODEL,
                messages=turns[task],
                extra_body={"inferdpt": {"task": task, "instruction": f"Note: {secret}!"}},
            )
        assert info.value.code == "guard_refused"
        assert proxy.remote.received == []


async def test_without_clearance_nothing_leaves() -> None:
    """Whoever finds another way to the HTTP client does not get past the guard."""
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
    async with fake_server() as server:
        client = RemoteClient(Remote(base_url=server.base_url, retries=0))
        with pytest.raises(GuardRefused):
            async with client._http.open("/chat/completions", dump(body), seconds=LIMIT):
                pass
        session = client._http._open_session()
        for settings in ({"json": body}, {"data": dump(body)}, {"data": io.BytesIO(dump(body))}):
            with pytest.raises(GuardRefused):
                await session.post(server.base_url + "/chat/completions", **settings)
        with pytest.raises(GuardRefused):
            await session.get(server.base_url + "/models")
        await client.aclose()
        assert server.received == []


async def test_the_look_is_not_charged_to_the_remote(monkeypatch: pytest.MonkeyPatch) -> None:
    """The event loop's clock goes ten minutes ahead with every look."""
    loop, ahead = asyncio.get_running_loop(), 0.0
    monkeypatch.setattr(loop, "time", lambda now=loop.time: now() + ahead)

    class Slow(Clearance):
        def check(self, body: bytes) -> None:
            nonlocal ahead
            ahead += 600.0
            super().check(body)

    async def silent(server: FakeServer, request: web.Request, body: Any) -> web.StreamResponse:
        nonlocal ahead
        ahead += 600.0
        return await hang(server, request, body)

    async with fake_server() as server:
        client = RemoteClient(Remote(base_url=server.base_url, retries=0, timeout_seconds=LIMIT))
        for _ in range(2):
            await client.generate({"model": "m", "messages": []}, Slow((), (), ()))
        server.behaviour = silent
        with pytest.raises(ApiError) as info:
            await client.generate({"model": "m", "messages": []}, Slow((), (), ()))
        assert info.value.code == "remote_timeout"
        await client.aclose()


async def test_other_bytes_than_were_looked_at_do_not_leave(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nor does a try that something made of them after the look."""

    async def change(request: ClientRequest, send: ClientHandlerType) -> ClientResponse:
        await request.update_body(dump({"messages": [], "user": "secret"}))
        return await send(request)

    async with fake_server() as server:
        client = RemoteClient(Remote(base_url=server.base_url, retries=0))
        session = client._http._open_session(kept=True)
        request = session._request

        def request_changed(*args: Any, middlewares: Any, **settings: Any) -> Any:
            return request(*args, middlewares=[change, *middlewares], **settings)

        monkeypatch.setattr(session, "_request", request_changed)
        seen: list[bytes | None] = []

        async def refuse(data: bytes | None) -> None:
            seen.append(data)
            if data != b"{}":
                raise GuardRefused("other bytes")

        client._http._inspector = refuse
        with pytest.raises(GuardRefused):
            async with client._http.open("/chat/completions", b"{}", seconds=LIMIT):
                pass
        await client.aclose()
        assert seen[-1] != b"{}"
        assert server.received == []


async def test_a_body_that_is_no_plain_bytes_leaves_with_no_clearance(
    table: EmbeddingTable,
) -> None:
    """A body that the guard cannot see whole may change after it looked."""
    ok, released = clearance(table)
    async with fake_server() as server:
        client = RemoteClient(Remote(base_url=server.base_url, retries=0))
        token = upstream._clearance.set([ok])
        with pytest.raises(GuardRefused):
            await client._http._open_session().post(
                server.base_url + "/chat/completions", data=io.BytesIO(body(released))
            )
        upstream._clearance.reset(token)
        await client.aclose()
        assert server.received == []
