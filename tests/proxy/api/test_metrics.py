"""/metrics: operators see everything, and a tenant nothing that another's doing changes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import openai
import pytest
from aiohttp import web

from perturb import EmbeddingTable
from proxy.access.auth import Grant
from proxy.api.app_keys import KEYRING, LEDGER
from tests.perturb.marking import words
from tests.proxy.chats import user
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.servers import completion, status

WORDS = 37  # a count that nothing else here has


@pytest.fixture
async def proxy(table: EmbeddingTable) -> AsyncIterator[Proxy]:
    settings = {"server": {"operators": ["ops"]}, "privacy": {"mechanism": "rantext_ldp"}}
    async with running_proxy(table, settings) as running:
        yield running


async def made(proxy: Proxy, tenant: str, **grant: Any) -> str:
    _, key = await proxy.app[KEYRING].create(tenant, Grant.model_validate(grant))
    return key


async def metrics(proxy: Proxy, key: str) -> str:
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.get(f"{proxy.root}/metrics") as response,
    ):
        assert response.status == 200
        return await response.text()


async def be_busy(proxy: Proxy, key: str) -> None:
    """Everything that is counted: words drawn and reused, errors of every side, refusals."""
    client = proxy.client(api_key=key)
    for _ in range(2):
        await client.chat.completions.create(model=MODEL, messages=user("word " * WORDS))
    await client.responses.create(model=MODEL, input="Another text.")
    with pytest.raises(openai.NotFoundError):
        await client.embeddings.create(model="x", input="Another text.")
    with pytest.raises(openai.PermissionDeniedError):  # over the key's budget
        await client.chat.completions.create(model=MODEL, messages=user("other " * 500))
    for server in (proxy.local, proxy.remote):
        server.behaviour = status(500)
        with pytest.raises(openai.InternalServerError):
            await client.chat.completions.create(model=MODEL, messages=user("One text."))
        server.behaviour = None


async def test_a_tenant_sees_nothing_change_when_another_is_active(proxy: Proxy) -> None:
    alice, bob = (
        await made(proxy, "alice"),
        await made(proxy, "bob", budget_tokens={"request": 99}),
    )
    ops = await made(proxy, "ops")
    await proxy.client(api_key=alice).chat.completions.create(model=MODEL, messages=user("Mine."))
    before = await metrics(proxy, alice)
    assert 'tenant="alice"' in before
    await be_busy(proxy, bob)
    assert await metrics(proxy, alice) == before
    seen = await metrics(proxy, ops)
    for name in (
        # "One text." was sent twice, too
        f'inferdpt_tokens_reused_total{{mechanism="rantext_ldp"}} {WORDS + 2}.0',
        "inferdpt_tokens_perturbed_total",
        "inferdpt_epsilon_nominal_total",
        'inferdpt_requests_total{path="/v1/responses",status="200"} 1.0',
        'inferdpt_budget_exceeded_total{limit="request"} 1.0',
        'inferdpt_stage_seconds_count{stage="remote"}',
        "inferdpt_requests_in_flight 1.0",
        'inferdpt_upstream_errors_total{code="remote_error",remote="default",side="remote"} 1.0',
        'inferdpt_ledger_tokens{tenant="bob"}',
    ):
        assert name in seen


async def test_every_series_a_tenant_sees_is_its_own(proxy: Proxy) -> None:
    alice = await made(proxy, "alice")
    await be_busy(proxy, await made(proxy, "bob", budget_tokens={"request": 99}))
    assert await metrics(proxy, alice) == ""
    await proxy.client(api_key=alice).chat.completions.create(model=MODEL, messages=user("Mine."))
    lines = (await metrics(proxy, alice)).splitlines()
    series = [line for line in lines if not line.startswith("#")]
    assert len(series) == 5
    assert all('{tenant="alice"}' in line for line in series)


async def test_an_open_proxy_shows_everything(table: EmbeddingTable) -> None:
    async with running_proxy(table, {}) as proxy:
        await proxy.client().chat.completions.create(model=MODEL, messages=user("Mine."))
        assert "inferdpt_tokens_perturbed_total{" in await metrics(proxy, "any")


def read(page: str, name: str, **labels: str) -> float:
    """Return a sample of a page; 0 if it is not there."""
    spelled = ",".join(f'{key}="{value}"' for key, value in sorted(labels.items()))
    found = [line for line in page.splitlines() if line.startswith(f"{name}{{{spelled}}} ")]
    return float(found[0].split()[-1]) if found else 0.0


PRICES = {"telemetry": {"prices": {MODEL: {"prompt": 2.5, "completion": 10}}}}
GATEWAY = {"local": {"mode": "none"}, "privacy": {"mechanism": "selective", "parameters": words()}}


@pytest.mark.parametrize("mode", [{}, GATEWAY], ids=["pipeline", "gateway"])
@pytest.mark.parametrize("stream", [False, True])
async def test_tokens_of_the_remote_and_their_price(
    table: EmbeddingTable, mode: dict[str, Any], stream: bool
) -> None:
    """The fake remote states 11 tokens read and 3 written for each answer."""
    async with running_proxy(table, {**mode, **PRICES}) as proxy:
        client = proxy.client()
        for model in (MODEL, MODEL, "org/other"):
            made: Any = await client.chat.completions.create(
                model=model, messages=user("Mine."), stream=stream, max_tokens=20
            )
            if stream:
                async for _ in made:
                    pass
        page = await metrics(proxy, "any")
    for model, calls in ((MODEL, 2), ("org/other", 1)):
        tokens = {
            kind: read(page, "inferdpt_remote_tokens_total", kind=kind, model=model)
            for kind in ("prompt", "completion")
        }
        assert tokens == {"prompt": 11.0 * calls, "completion": 3.0 * calls}
    cost = read(page, "inferdpt_remote_cost_total", model=MODEL)
    assert cost == pytest.approx(2 * (11 * 2.5 + 3 * 10) / 1e6)
    assert 'cost_total{model="org/other"}' not in page


async def test_a_remote_that_states_wrong_tokens_is_read(table: EmbeddingTable) -> None:
    async def answer(*_: Any) -> Any:
        body = completion("One two three.") | {"usage": {"prompt_tokens": "many"}}
        return web.json_response(body)

    async with running_proxy(table, {}) as proxy:
        proxy.remote.behaviour = answer
        await proxy.client().chat.completions.create(model=MODEL, messages=user("Mine."))
        page = await metrics(proxy, "any")
    assert "inferdpt_remote_tokens_total{" not in page
    assert read(page, "inferdpt_remote_unstated_total", model=MODEL) == 1.0


@pytest.mark.parametrize(
    ("mechanism", "unit", "guarantee"),
    [("rantext_ldp", "token", "ldp"), ("surrogate", "document", "ldp")],
)
async def test_charges_by_unit_and_texts_by_release(
    table: EmbeddingTable, mechanism: str, unit: str, guarantee: str
) -> None:
    async with running_proxy(table, {"privacy": {"mechanism": mechanism}}) as proxy:
        for text in ("The board met on Monday.", "The board met on Monday.", "Another one."):
            await proxy.client().chat.completions.create(model=MODEL, messages=user(text))
        page = await metrics(proxy, "any")
        (totals,) = (await proxy.app[LEDGER].totals()).values()
    labels = {"guarantee": guarantee, "mechanism": mechanism, "unit": unit}
    charged = read(page, "inferdpt_epsilon_charged_total", **labels)
    assert charged == pytest.approx(totals["proved"] + totals["nominal"])
    assert charged > 0
    texts = {
        release: read(page, "inferdpt_texts_total", release=release)
        for release in ("new", "remembered")
    }
    assert texts == {"new": 2.0, "remembered": 1.0}


async def test_errors_by_their_cause(proxy: Proxy) -> None:
    ops = await made(proxy, "ops")
    await be_busy(proxy, await made(proxy, "bob", budget_tokens={"request": 99}))
    page = await metrics(proxy, ops)
    for code in ("privacy_budget_exceeded", "local_model_unavailable", "remote_error"):
        assert read(page, "inferdpt_errors_total", code=code) == 1.0, code
