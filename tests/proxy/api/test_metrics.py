"""/metrics: operators see everything, and a tenant nothing that another's doing changes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import openai
import pytest

from perturb import EmbeddingTable
from proxy.access.grants import Grant
from proxy.api.app_keys import KEYRING
from tests.proxy.chats import user
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.servers import status

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
        'inferdpt_upstream_errors_total{code="remote_error",side="remote"} 1.0',
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
