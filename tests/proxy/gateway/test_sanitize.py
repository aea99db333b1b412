"""Chats that are released to a caller who sends them: as a gateway sends them, and charged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from proxy.api.app_keys import LEDGER, PIPELINE
from proxy.pipeline.plan import Plan
from tests.perturb.marking import words
from tests.proxy.conftest import MODEL, Proxy
from tests.proxy.gateway.everywhere import MAKERS
from tests.proxy.gateway.remotes import MAIL, NAME, SETTINGS, TEXT, leaked
from tests.proxy.gateway.test_canaries import PATTERN, Planter


async def post(proxy: Proxy, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    url = f"{proxy.base_url}/{path}"
    async with aiohttp.ClientSession() as session, session.post(url, json=body) as reply:
        return reply.status, await reply.json()


def chat(text: str = TEXT) -> dict[str, Any]:
    return {"model": MODEL, "messages": [{"role": "user", "content": text}], "temperature": 0.5}


async def test_the_body_is_what_a_chat_sends(proxy: Proxy) -> None:
    code, told = await post(proxy, "privacy/sanitize", chat())
    assert (code, told["object"]) == (200, "privacy.sanitization")
    assert proxy.remote.received == []
    charged = await proxy.app[LEDGER].totals()
    await post(proxy, "chat/completions", chat())
    assert proxy.remote.bodies == [told["body"]]
    assert leaked(proxy) == []
    both = await proxy.app[LEDGER].totals()
    for account in (charged, both):  # the same bytes cost nothing new
        assert account["anonymous"]["tokens"] == 5


async def test_the_replacements_lead_back(proxy: Proxy) -> None:
    _, told = await post(proxy, "privacy/sanitize", chat())
    text = told["body"]["messages"][0]["content"]
    assert {NAME, MAIL} <= set(told["replacements"].values())
    for released, raw in told["replacements"].items():
        text = text.replace(released, raw)
    assert text == TEXT
    assert told["receipt"]["entities"] == {"CREDIT_CARD": 1, "EMAIL_ADDRESS": 1, "PERSON": 1}


async def test_strings_of_json_lead_back_as_a_whole(proxy: Proxy) -> None:
    schema = {"type": "object", "properties": {"to": {"type": "string", "enum": [MAIL, "all"]}}}
    function = {"name": "send", "parameters": schema}
    body = {**chat(), "tools": [{"type": "function", "function": function}]}
    _, told = await post(proxy, "privacy/sanitize", body)
    sent = told["body"]["tools"][0]["function"]["parameters"]["properties"]["to"]["enum"]
    assert sent[0] != MAIL
    assert told["wholes"] == {sent[0]: MAIL}


async def test_what_cannot_be_read_is_refused(proxy: Proxy) -> None:
    code, told = await post(proxy, "privacy/sanitize", {**chat(), "secret": NAME})
    assert (code, told["error"]["code"]) == (400, "unknown_parameter")
    assert NAME not in json.dumps(told)
    assert await proxy.app[LEDGER].totals() == {}


@pytest.mark.usefixtures("seeded_draws")
class TestCanaries:
    @pytest.fixture
    def settings(self, tmp_path: Path) -> dict[str, Any]:
        privacy = {**SETTINGS["privacy"], "parameters": words(patterns={"PROJECT": PATTERN})}
        return {**SETTINGS, "privacy": privacy, "store": {"folder": str(tmp_path)}}

    async def test_no_position_leaks(self, proxy: Proxy) -> None:
        plant = Planter()
        code, told = await post(proxy, "privacy/sanitize", MAKERS["chat/completions"](plant))
        assert code == 200
        assert len(plant.planted) > 40
        assert plant.found_in(json.dumps(told["body"])) == []
        assert plant.found_in(json.dumps(told["receipt"])) == []
        assert plant.found_in("\n".join(proxy.log)) == []
        assert plant.found_in(json.dumps(told["replacements"])) != []


async def test_the_guard_reads_the_body(proxy: Proxy) -> None:
    """A body that is changed after it was cleared is not released."""
    honest = proxy.app[PIPELINE].plan_chat

    async def careless(*arguments: Any, **more: Any) -> Plan:
        plan: Plan = await honest(*arguments, **more)
        assert plan.exchanges[0].outgoing is not None
        plan.exchanges[0].outgoing.body["messages"][0]["content"] += f" {NAME}"
        return plan

    proxy.app[PIPELINE].plan_chat = careless  # type: ignore
    code, told = await post(proxy, "privacy/sanitize", chat())
    assert (code, told["error"]["code"]) == (500, "guard_refused")
    assert NAME not in json.dumps(told)


class TestWithALocalModel:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {}

    async def test_it_is_not_served(self, proxy: Proxy) -> None:
        code, told = await post(proxy, "privacy/sanitize", chat())
        assert (code, told["error"]["code"]) == (404, "not_found")
