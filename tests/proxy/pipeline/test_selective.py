"""`selective` through the proxy: what is marked never leaves, and comes back in the answer."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import openai
import pytest
from aiohttp import web

from perturb import EmbeddingTable, Perturbation, Perturber, get_mechanism
from proxy.errors import GuardRefused
from proxy.release import Release
from proxy.remote.guard import Clearance, check
from tests.absence import find_leaks
from tests.catastrophe import CATASTROPHIC, ENDLESS
from tests.perturb.marking import WORDS
from tests.proxy.conftest import MODEL, Proxy, running_proxy, sanitizing
from tests.servers import FakeServer, answer, completion

TEXT = (
    "Please write a letter to Xylophonist Kowalewski, who wrote from xylo.k82@example.com, about "
    "card 4095-2609-9393-4932. Mr. Kowalewski likes green tea and long walks by the sea."
)
SECRETS = ("Xylophonist", "Kowalewski", "xylo.k82", "4095-2609-9393-4932")
PARAMETERS = {"policy": "regex", "patterns": {"PROJECT": r"zephyr-\w+"}}


@pytest.fixture
def settings() -> dict[str, Any]:
    return {"privacy": {"mechanism": "selective", "epsilon": 6, "parameters": PARAMETERS}}


async def ask(proxy: Proxy, *turns: str, **more: Any) -> Any:
    roles = ("user", "assistant")
    messages = [{"role": roles[i % 2], "content": text} for i, text in enumerate(turns)]
    return await proxy.client().chat.completions.create(model=MODEL, messages=messages, **more)


async def echo(server: FakeServer, request: web.Request, body: dict[str, Any]) -> web.Response:
    """A remote that answers with what it was sent."""
    return web.json_response(completion("Sure: " + body["messages"][-1]["content"]))


async def test_only_marked_parts_change_and_the_local_model_gets_them_back(proxy: Proxy) -> None:
    proxy.remote.behaviour = echo  # type: ignore[assignment]
    made = await ask(proxy, TEXT, extra_body={"inferdpt": {"receipt": "full"}})
    [message] = proxy.sent()
    assert message["content"].startswith("Please write a letter to ")
    assert message["content"].endswith(" likes green tea and long walks by the sea.")
    assert find_leaks(SECRETS, *proxy.remote.received) == []
    # the local model reads the remote's generation with the raw values in their places
    prompt = proxy.local.bodies[-1]["messages"][-1]["content"]
    generation = prompt.split("<<<\n")[1].split("\n>>>")[0]
    for secret in ("xylo.k82@example.com", "4095-2609-9393-4932", "Xylophonist Kowalewski"):
        assert secret in generation
    # the receipt holds what left and what came back, never the raw values
    receipt = made.model_extra["inferdpt"]
    assert receipt["exchanges"][0]["generation"] == "Sure: " + message["content"]
    assert find_leaks(SECRETS, json.dumps(receipt)) == []
    assert receipt["entities"] == {
        "CREDIT_CARD": 1,
        "EMAIL_ADDRESS": 1,
        "PERSON": 2,
        "TITLE": 1,
    }
    assert (receipt["guarantee"], receipt["epsilon"]["all_tokens"]) == ("none", "infinity")
    assert find_leaks(SECRETS, *proxy.log) == []


class TestSlow:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        parameters = {"policy": "digits", "patterns": {"CASE": CATASTROPHIC}}
        return {"privacy": {"mechanism": "selective", "epsilon": 6, "parameters": parameters}}

    async def test_a_pattern_that_takes_too_long_refuses_the_request(self, proxy: Proxy) -> None:
        """Nothing leaves, for the parts that it would have marked are not known."""
        await ask(proxy, "The case of Ann is aaa")
        seen = len(proxy.remote.received)
        with pytest.raises(openai.InternalServerError) as info:
            await ask(proxy, ENDLESS)
        assert info.value.code == "expression_timeout"
        assert "patterns.CASE ran out of time" in info.value.message
        assert len(proxy.remote.received) == seen
        assert ENDLESS not in info.value.message + "\n".join(proxy.log)


async def test_one_conversation_has_one_replacement_and_the_history_is_the_remotes(
    proxy: Proxy,
) -> None:
    proxy.remote.behaviour = echo  # type: ignore[assignment]
    proxy.local.text = "Dear Xylophonist Kowalewski, thank you."
    first = await ask(proxy, TEXT)
    said = first.choices[0].message.content
    assert said == proxy.local.text
    name = re.findall(r"a letter to (\S+ \S+), who", proxy.sent()[0]["content"])[0]
    await ask(proxy, TEXT, said, "Please thank Xylophonist Kowalewski again.")
    resent, history, new = proxy.sent()
    assert resent == proxy.sent(0)[0]
    assert history["content"] == "Sure: " + resent["content"]
    assert new["content"] == f"Please thank {name} again."


async def test_streams_and_choices_are_restored_alike(proxy: Proxy) -> None:
    async def remote(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
        return await echo(server, request, body)

    proxy.remote.behaviour = remote
    stream = await ask(proxy, TEXT, stream=True, n=2)
    indices = {choice.index async for chunk in stream for choice in chunk.choices}
    assert indices == {0, 1}
    assert len(proxy.remote.bodies) == 1
    assert len(proxy.local.bodies) == 2
    for body in proxy.local.bodies:
        assert "xylo.k82@example.com" in body["messages"][-1]["content"].split("<<<")[1]
    proxy.remote.behaviour = answer


async def test_no_marked_canary_leaves_in_many_requests(proxy: Proxy) -> None:
    made = random.Random(7)
    canaries: set[str] = set()

    def canary() -> str:
        canaries.add(word := "".join(made.choices("bcdfghjklmnpqrstvwxz", k=12)))
        return word

    def number() -> str:
        canaries.add(digits := "".join(made.choices("123456789", k=14)))
        return digits

    kinds: list[Callable[[], str]] = [
        lambda: f"zephyr-{canary()} is late",
        lambda: f"write to {canary()}.{canary()}@{canary()}.example",
        lambda: f"see https://{canary()}.example/{canary()}?q={canary()}#{number()}",
        lambda: f"then Mr. {canary().capitalize()} {canary().title()} called from {number()}",
        lambda: f"key {canary()}-{number()} or #{number()}",
        lambda: f"then {canary().title()}😀 {canary().upper()}, {canary().title()}😀{number()}",
    ]
    for i in range(60):
        turns = [
            " / ".join(made.choice(kinds)() for _ in range(3)) for _ in range(2 * (i % 2) + 1)
        ]
        await ask(proxy, *turns)
    assert len(proxy.remote.bodies) == 60
    assert len(canaries) > 400
    assert find_leaks(canaries, *proxy.remote.received) == []
    # the search finds what is there
    assert set(find_leaks(canaries, *proxy.local.received)) == canaries
    assert find_leaks(canaries, *proxy.log) == []


async def test_public_text_is_public(table: EmbeddingTable, proxy: Proxy) -> None:
    await ask(proxy, "<public>At most 1000 words of 2024.</public> We hired 1000 in 2024.")
    await ask(proxy, "<public>Answer Kowalewski.</public> Mr. Kowalewski is ill.")
    sent = proxy.sent()[-1]["content"]
    assert sent.startswith("Answer Kowalewski. ")
    assert sent.count("Kowalewski") == 1
    public = {"system": "public", "mechanism": "selective", "parameters": WORDS}
    async with running_proxy(table, {"privacy": public}) as open_one:
        await open_one.client().chat.completions.create(
            model=MODEL,
            messages=[
                {"role": "system", "content": "The knowledge cutoff is 2023."},
                {"role": "user", "content": "What happened to our sales in 2023?"},
            ],
        )
        assert len(open_one.remote.bodies) == 1


def test_common_words_and_short_parts_are_no_secrets(table: EmbeddingTable) -> None:
    sanitizer = Perturber(get_mechanism("selective", table, epsilon=6, **WORDS))
    raw = "we met Monday in America, Kowalewski and Bo 411, 4711, 471147114 for Anna Smith"
    done = sanitizer.perturb(raw)
    assert sanitizer.secrets(raw, done) == ("471147114", "Anna Smith", "Kowalewski")
    # what a replacement can be is not held against one
    assert sanitizer.secrets(raw, done, unrepeatable=True) == ("Kowalewski",)


def test_the_guard_reads_everything_beside_the_segments(table: EmbeddingTable) -> None:
    sanitizer = Perturber(get_mechanism("selective", table, epsilon=6, **WORDS))
    done = sanitizer.perturb(TEXT)
    clearance = Clearance((Release(TEXT, done, sanitizer, b""),), (TEXT,), ("Letters to 4932",))

    def body(**more: Any) -> bytes:
        return json.dumps({"messages": [{"content": done.text}], **more}).encode()

    check(body(user="Mr. Kowalewskis"), clearance)
    for leak in ({"user": "Mr. KOWALEWSKI"}, {"metadata": {"4095-2609-9393-4932": 1}}):
        with pytest.raises(GuardRefused, match="holds a sensitive part"):
            check(body(**leak), clearance)


class PassesThrough(Perturber):
    """Broken: lets the text out and says that it replaced nothing."""

    def perturb(self, text: str, rng: Any = None, **more: Any) -> Perturbation:
        return replace(super().perturb(text, rng, **more), text=text, replaced=(), words=())


class RawDigits(Perturber):
    """Broken: leaves numbers as they are."""

    def perturb(self, text: str, rng: Any = None, **more: Any) -> Perturbation:
        done = super().perturb(text, rng, **more)
        parts, out, end = [], "", 0
        for part in done.replaced or ():
            raw = text[part.start : part.end]
            parts.append(replace(part, text=part.text if re.search("[a-z]", raw) else raw))
            out += text[end : part.start] + parts[-1].text
            end = part.end
        return replace(done, text=out + text[end:], replaced=tuple(parts))


class MissesOne(Perturber):
    """Broken: forgets the last marked part."""

    def perturb(self, text: str, rng: Any = None, **more: Any) -> Perturbation:
        done = super().perturb(text, rng, **more)
        last = (done.replaced or ())[-1]
        tail = text[last.end :]
        head = done.text[: len(done.text) - len(tail) - len(last.text)]
        kept = (done.replaced or ())[:-1]
        return replace(done, text=head + text[last.start :], replaced=kept, words=done.words[:-1])


class ChangesTheRest(Perturber):
    """Broken: writes beside what it replaces."""

    def perturb(self, text: str, rng: Any = None, **more: Any) -> Perturbation:
        done = super().perturb(text, rng, **more)
        return replace(done, text=done.text + " Kowalewski")


@pytest.mark.parametrize("broken", [PassesThrough, RawDigits, MissesOne, ChangesTheRest])
async def test_a_broken_sanitizer_sends_nothing(
    table: EmbeddingTable, settings: dict[str, Any], broken: type[Perturber]
) -> None:
    async with running_proxy(table, settings, sanitizing(broken)) as proxy:
        with pytest.raises(openai.InternalServerError) as info:
            await ask(proxy, TEXT)
        assert info.value.code == "guard_refused"
        assert proxy.remote.received == []
