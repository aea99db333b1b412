"""A gateway starts only with a sanitizer whose releases can be restored."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import openai
import pytest
import typer

from perturb import EmbeddingTable, Perturber
from proxy.app import build_app
from proxy.checkup import check
from proxy.cli.settings import build_overrides
from proxy.config.settings import load_config
from proxy.errors import ConfigError
from tests.proxy.conftest import MODEL, Proxy, running_proxy, sanitizing
from tests.proxy.gateway.remotes import NAME, SETTINGS, TEXT, echo
from tests.proxy.pipeline.test_selective import ChangesTheRest, MissesOne, PassesThrough, RawDigits
from tests.servers import fake_server


@pytest.mark.parametrize(
    "privacy",
    [
        {"mechanism": "rantext"},
        {"mechanism": "rantext_ldp"},
        {"mechanism": "surrogate"},
        {"mechanism": "dp_prompt", "parameters": {"clip": [-9.5, 9.5]}},
        {"mechanism": "selective", "parameters": {"policy": "all"}},
    ],
)
def test_other_sanitizers_refuse_to_start(table: EmbeddingTable, privacy: dict[str, Any]) -> None:
    config = load_config(None, {"local": {"mode": "none"}, "privacy": privacy}, {})
    with pytest.raises(ConfigError, match="Set privacy.mechanism to selective") as info:
        build_app(config, table=table)
    assert privacy["mechanism"] in str(info.value)


@pytest.mark.parametrize(
    "settings",
    [
        {"limits": {"on_budget": "local_only"}},
        {"remote": {"on_remote_failure": "local_only"}},
        {"local": {"mode": "none", "embeddings_model": "x"}},
    ],
)
def test_what_needs_a_local_model_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="needs a"):
        load_config(None, {**SETTINGS, **settings}, {})


def test_the_command_line_starts_a_gateway() -> None:
    assert build_overrides(no_local=True) == {"local": {"mode": "none"}}
    with pytest.raises(typer.BadParameter, match="excludes"):
        build_overrides(no_local=True, local_model="m")


async def test_the_check_knows_gateways(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with fake_server() as remote:
        settings = {
            **SETTINGS,
            "remote": {"base_url": remote.base_url, "api_key": "k"},
            "store": {"folder": str(tmp_path)},
        }
        status = await asyncio.to_thread(check, load_config(None, settings, {}))
    assert status == 0
    assert "ok      local: none" in capsys.readouterr().out


@pytest.mark.parametrize("broken", [PassesThrough, RawDigits, MissesOne, ChangesTheRest])
async def test_a_broken_sanitizer_sends_nothing(
    table: EmbeddingTable, broken: type[Perturber]
) -> None:
    async with running_proxy(table, SETTINGS, sanitizing(broken)) as proxy:
        with pytest.raises(openai.InternalServerError) as info:
            await proxy.client().chat.completions.create(
                model=MODEL, messages=[{"role": "user", "content": TEXT}]
            )
        assert info.value.code == "guard_refused"
        assert proxy.remote.received == []


class TestPublicSystem:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {**SETTINGS, "privacy": {**SETTINGS["privacy"], "system": "public"}}

    async def test_the_operator_may_make_system_texts_public(self, proxy: Proxy) -> None:
        proxy.remote.behaviour = echo
        system = "You are Hal, as of 2024-05-01."
        messages: list[Any] = [
            {"role": "system", "content": system},
            {"role": "user", "content": TEXT},
        ]
        made = await proxy.client().chat.completions.create(model=MODEL, messages=messages)
        assert proxy.sent()[0]["content"] == system
        assert made.choices[0].message.content == f"Sure: {TEXT}"
        messages[0]["content"] = f"You are {NAME}, call 555-013-2479."
        with pytest.raises(openai.BadRequestError) as info:
            await proxy.client().chat.completions.create(model=MODEL, messages=messages)
        assert info.value.code == "sensitive_public_text"
