"""Actions of the operator, of a key and of a request: kept, refused, and never weaker."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from itertools import product
from typing import Any

import aiohttp
import pytest

from perturb import EmbeddingTable
from perturb.selective.profiles import ACTIONS
from proxy.access.auth import Grant
from proxy.api.app_keys import KEYRING, LEDGER
from tests.absence import find_leaks
from tests.perturb.marking import words
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.proxy.gateway.remotes import CARD, MAIL, SECRETS, SETTINGS, TEXT, echo, leaked

# Terms that no draw makes, for the operator, a request and a key.
OURS, ASKED, KEYS = "quarfle", "plumwhistle inn", "the zorbleck"
DATED = f"{TEXT} It is due on 12 May 2024 at {OURS}, {ASKED} or {KEYS}."


@pytest.fixture
async def proxy(table: EmbeddingTable) -> AsyncIterator[Proxy]:
    parameters = words({"DATE_TIME": "keep", "PASSWORD": "refuse"}, deny=[OURS])
    settings = {**SETTINGS, "privacy": {**SETTINGS["privacy"], "parameters": parameters}}
    async with running_proxy(table, settings) as running:
        yield running


async def ask(
    proxy: Proxy, text: str = DATED, key: str = "unused", path: str = "chat", **options: Any
) -> tuple[int, dict[str, Any]]:
    body: dict[str, Any] = {
        "model": MODEL,
        "messages": [{"role": "user", "content": text}],
        "inferdpt": options,
    }
    if path == "preview":
        body = {"text": text, **options}
    url = {"chat": "chat/completions", "preview": "privacy/perturb"}[path]
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(f"{proxy.base_url}/{url}", json=body) as reply,
    ):
        return reply.status, await reply.json()


async def test_what_is_kept_leaves_and_is_counted(proxy: Proxy) -> None:
    code, told = await ask(proxy)
    assert code == 200
    (body,) = proxy.remote.bodies
    sent = body["messages"][-1]["content"]
    assert "It is due on 12 May 2024 at " in sent
    assert leaked(proxy, (*SECRETS, OURS)) == []
    receipt = told["inferdpt"]
    assert receipt["actions"]["keep"] == {"DATE_TIME": 1}
    assert receipt["entities"]["CUSTOM"] == 1
    assert "DATE_TIME" not in receipt["entities"]
    assert find_leaks([OURS], json.dumps(receipt)) == []


@pytest.mark.parametrize("path", ["chat", "preview"])
async def test_a_refused_type_is_400_and_nothing_is_sent_or_charged(
    proxy: Proxy, path: str
) -> None:
    code, told = await ask(proxy, path=path, actions={"CREDIT_CARD": "refuse"})
    assert (code, told["error"]["code"]) == (400, "refused_part")
    assert "CREDIT_CARD" in told["error"]["message"]
    assert CARD not in json.dumps(told)
    assert proxy.remote.received == []
    assert await proxy.app[LEDGER].totals() == {}
    code, _ = await ask(proxy, "the password: hunter2x", path=path)
    assert code == 400
    assert proxy.remote.received == []


@pytest.mark.usefixtures("seeded_draws")
@pytest.mark.parametrize(("present", "asked"), list(product(ACTIONS, repeat=2)))
async def test_a_request_is_never_weaker(table: EmbeddingTable, present: str, asked: str) -> None:
    if "value" in (present, asked):
        kind, raw = "DATE_TIME", "12 May 2024"
        if "surrogate" in (present, asked):
            return  # no type has both
    else:
        kind, raw = "EMAIL_ADDRESS", MAIL
    parameters = words({kind: present})
    settings = {**SETTINGS, "privacy": {**SETTINGS["privacy"], "parameters": parameters}}
    async with running_proxy(table, settings) as proxy:
        code, told = await ask(proxy, actions={kind: asked})
        if ACTIONS.index(asked) < ACTIONS.index(present):
            assert (code, told["error"]["param"]) == (400, "inferdpt.actions")
            assert f"weaker than the {present} in force" in told["error"]["message"]
            assert proxy.remote.received == []
            return
        assert code == (400 if asked == "refuse" else 200)
        if asked != "refuse":
            assert (raw in json.dumps(proxy.remote.bodies)) == (
                asked == "keep"
            ) or asked == "value"


@pytest.mark.parametrize(
    "actions",
    [
        {"NOBODY SHOULD READ": "refuse"},
        {"AGE": "NOBODY SHOULD READ"},
        {"AGE": 5},
        {"PASSWORD": "replace"},
        {"CUSTOM": "keep"},
        ["AGE"],
    ],
)
async def test_bad_actions_are_refused_without_their_text(proxy: Proxy, actions: Any) -> None:
    code, told = await ask(proxy, actions=actions)
    assert code == 400
    assert told["error"]["param"].startswith("inferdpt.actions")
    assert "NOBODY" not in json.dumps(told)


async def test_actions_need_a_mechanism_that_marks_parts(table: EmbeddingTable) -> None:
    settings = {"privacy": {"mechanism": "rantext_ldp"}}
    async with running_proxy(table, settings) as proxy:
        code, told = await ask(proxy, actions={"AGE": "refuse"})
        assert (code, told["error"]["param"]) == (400, "inferdpt.actions")
        grant = Grant(actions={"AGE": "refuse"})
        _, key = await proxy.app[KEYRING].create("alice", grant)
        code, told = await ask(proxy, key=key)
        assert (code, told["error"]["code"]) == (403, "not_permitted")
        assert proxy.remote.received == []


@pytest.mark.parametrize("path", ["chat", "preview"])
async def test_a_request_names_terms_of_its_own(proxy: Proxy, path: str) -> None:
    code, told = await ask(proxy, path=path, deny=["bluebird", ASKED])
    assert code == 200
    receipt = told["inferdpt"] if path == "chat" else told["receipt"]
    assert receipt["entities"]["CUSTOM"] == 2
    sent = json.dumps(proxy.remote.bodies) if path == "chat" else told["text"]
    assert find_leaks([ASKED], sent) == []
    assert find_leaks(["bluebird", ASKED], json.dumps(told)) == []
    code, told = await ask(proxy, path=path)
    assert code == 200
    sent = json.dumps(proxy.remote.bodies) if path == "chat" else told["text"]
    assert ASKED in sent  # terms hold for their own request


@pytest.mark.parametrize(
    ("options", "param"),
    [
        ({"deny": ["?!"]}, "inferdpt.deny"),
        ({"deny": "NOBODY"}, "inferdpt.deny"),
        ({"deny": [7]}, "inferdpt.deny"),
        ({"deny": ["NOBODY " * 40]}, "inferdpt.deny"),
        ({"deny": ["a"] * 201}, "inferdpt.deny"),
        ({"thresholds": {"PERSON": 0.5}}, "inferdpt.thresholds"),  # no detector here
        ({"thresholds": {"PERSON": "NOBODY"}}, "inferdpt.thresholds"),
    ],
)
async def test_bad_demands_are_refused_without_their_text(
    proxy: Proxy, options: dict[str, Any], param: str
) -> None:
    code, told = await ask(proxy, **options)
    assert code == 400
    assert told["error"]["param"].startswith(param)
    assert "NOBODY" not in json.dumps(told)
    assert proxy.remote.received == []


async def test_a_request_and_a_key_lower_thresholds(table: EmbeddingTable) -> None:
    pytest.importorskip("onnxruntime")
    parameters = words(policy=["regex", "detector"])
    settings = {**SETTINGS, "privacy": {**SETTINGS["privacy"], "parameters": parameters}}
    text = "the clerk, a nurse of forty, saw it"
    async with running_proxy(table, settings) as proxy:
        _, usual = await proxy.app[KEYRING].create("alice", Grant())
        _, key = await proxy.app[KEYRING].create("alice", Grant(thresholds={"OTHER_NAME": 1e-7}))
        _, plain = await ask(proxy, text, usual, path="preview")
        for options in (
            {"key": key},
            {"key": usual, "thresholds": {"OTHER_NAME": 1e-7}},
            {"key": key, "thresholds": {"OTHER_NAME": 0.9}},
        ):
            code, told = await ask(proxy, text, path="preview", **options)
            assert code == 200
            assert told["receipt"]["released"] > plain["receipt"]["released"]


class TestKeys:
    async def key(self, proxy: Proxy, **actions: str) -> str:
        _, key = await proxy.app[KEYRING].create("alice", Grant(actions=actions))
        return key

    @pytest.mark.usefixtures("seeded_draws")
    async def test_a_keys_actions_hold_for_its_requests(self, proxy: Proxy) -> None:
        key = await self.key(proxy, DATE_TIME="replace", PASSWORD="keep")
        code, told = await ask(proxy, key=key)
        assert code == 200
        assert told["inferdpt"]["entities"]["DATE_TIME"] == 1
        assert "12 May 2024" not in json.dumps(proxy.remote.bodies)
        code, _ = await ask(proxy, "the password: hunter2x", key=key)
        assert code == 400  # the operator's is stronger than the key's

    async def test_a_request_is_never_weaker_than_its_key(self, proxy: Proxy) -> None:
        key = await self.key(proxy, DATE_TIME="replace")
        code, told = await ask(proxy, key=key, actions={"DATE_TIME": "keep"})
        assert (code, told["error"]["param"]) == (400, "inferdpt.actions")
        assert proxy.remote.received == []
        code, _ = await ask(proxy, key=key, actions={"DATE_TIME": "refuse"})
        assert code == 400
        other = await self.key(proxy)
        code, _ = await ask(proxy, key=other, actions={"DATE_TIME": "keep"})
        assert code == 200  # what one key may not is not kept for another

    async def test_a_keys_terms_are_always_marked(self, proxy: Proxy) -> None:
        _, key = await proxy.app[KEYRING].create("alice", Grant(deny=(KEYS,)))
        code, told = await ask(proxy, key=key, deny=[ASKED])
        assert code == 200
        assert told["inferdpt"]["entities"]["CUSTOM"] == 3  # and the operator's
        assert leaked(proxy, (OURS, ASKED, KEYS)) == []


async def test_surrogates_come_back_as_the_raw_values(table: EmbeddingTable) -> None:
    parameters = words({"*": "surrogate"})
    settings = {**SETTINGS, "privacy": {**SETTINGS["privacy"], "parameters": parameters}}
    async with running_proxy(table, settings) as proxy:
        proxy.remote.behaviour = echo
        text = f"{TEXT} Did K. Kowalewski's letter come? Kowalewski asked."
        code, told = await ask(proxy, text)
        assert code == 200
        sent = proxy.remote.bodies[0]["messages"][-1]["content"]
        assert leaked(proxy) == []
        assert ".example, about card" in sent
        receipt = told["inferdpt"]
        assert receipt["actions"]["surrogate"]["EMAIL_ADDRESS"] == 1
        assert receipt["epsilon"]["per_token"] == "infinity"
        assert receipt["budget"]["charged"]["unbounded"] >= receipt["unbounded"] > 0
        assert receipt["ambiguous"] == receipt["unrestored"] == 0
        assert told["choices"][0]["message"]["content"] == f"Sure: {text}"


async def test_one_person_has_one_surrogate_in_all_messages(table: EmbeddingTable) -> None:
    parameters = words({"*": "surrogate"})
    settings = {**SETTINGS, "privacy": {**SETTINGS["privacy"], "parameters": parameters}}
    async with running_proxy(table, settings) as proxy:
        first = "Please ask Xylander Wutke about it."
        later = "Did X. Wutke answer? His address is xylander.wutke@firm.example.org."
        turns = [
            {"role": "user", "content": first},
            {"role": "assistant", "content": "I asked Xylander Wutke."},
            {"role": "user", "content": later},
        ]
        for length in (1, 3):
            await proxy.client().chat.completions.create(model=MODEL, messages=turns[:length])  # type: ignore
        alone, (one, two, three) = (
            [message["content"] for message in body["messages"]] for body in proxy.remote.bodies
        )
        assert alone == [one]  # what was released stays as it is
        given, name = one.removeprefix("Please ask ").removesuffix(" about it.").split()
        assert two == f"I asked {given} {name}."
        assert three.startswith(f"Did {given[0]}. {name} answer? His address is ")
        assert f"{given}.{name}@".lower() in three
        assert leaked(proxy, ("Xylander", "Wutke")) == []


@pytest.mark.usefixtures("seeded_draws")  # an age now and then does not come back, and gets a tag
async def test_values_leave_near_their_own(table: EmbeddingTable) -> None:
    parameters = words({"*": "value"}, value_epsilon=0.2)
    settings = {**SETTINGS, "privacy": {**SETTINGS["privacy"], "parameters": parameters}}
    async with running_proxy(table, settings) as proxy:
        proxy.remote.behaviour = echo
        text = "I am 47 years old and paid 1,300 euros to Xylophonist Kowalewski."
        code, told = await ask(proxy, text)
        assert code == 200
        sent = proxy.remote.bodies[0]["messages"][-1]["content"]
        assert re.fullmatch(r"I am \d+ years? old and paid [\d,]+ euros? to \w+ \w+\.", sent)
        drawn = {"surrogate": {"NAME": 1}, "value": {"AGE": 1, "MONEY": 1}}
        assert told["inferdpt"]["actions"] == drawn
        assert "0.2·|x − x'|-private" in told["inferdpt"]["statement"]
