"""The local model of a plug-in: how it is configured, built, checked and closed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from extraction.backends.plugged import GROUP
from extraction.errors import LocalModelUnavailable
from perturb import plugins
from perturb.errors import PluginError
from proxy.checkup import _check_local
from proxy.config.settings import Config, load_config
from proxy.errors import ConfigError
from proxy.local import local_backend, local_model, local_server
from tests.plugins import lay_distribution

SOURCE = """
from tests.extraction.backends.test_contract import Sound

class Counted(Sound):
    closed = 0

    async def aclose(self):
        Counted.closed += 1
"""


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    points = {"counted": "acme_local:Counted", "gone": "acme_local:Gone"}
    lay_distribution(tmp_path, monkeypatch, "acme_local", {GROUP: points}, SOURCE)
    yield
    plugins._plugins.cache_clear()


def configured(name: str = "counted", **more: Any) -> Config:
    local = {"mode": "plugin", "plugin": {"name": name, "options": more.pop("options", {})}}
    return load_config(None, {"local": local | more}, {})


async def test_a_plugin_is_built_with_its_options_and_closed() -> None:
    async with local_backend(configured(options={"down": False}).local) as backend:
        assert await backend.ready()
        assert type(backend).__name__ == "Counted"
    assert type(backend).closed == 1  # type: ignore[attr-defined]


async def test_a_broken_plugin_is_named() -> None:
    with pytest.raises(PluginError, match=r"^acme_local 1\.0 \(entry point gone = .*AttributeErr"):
        async with local_backend(configured("gone").local):
            pass


async def test_a_plugin_is_no_server() -> None:
    with pytest.raises(LocalModelUnavailable, match="not a server"):
        async with local_server(configured().local):
            pass


async def test_dp_prompt_needs_a_server() -> None:
    config = load_config(
        None,
        {
            "privacy": {"mechanism": "dp_prompt", "parameters": {"clip": [-5, 5]}},
            "local": {"mode": "plugin", "plugin": {"name": "counted"}},
        },
        {},
    )
    async with local_backend(config.local) as backend:
        with pytest.raises(LocalModelUnavailable, match="paraphrases with a server"):
            await local_model(config.privacy, backend)


@pytest.mark.parametrize(
    ("local", "said"),
    [
        ({"mode": "plugin"}, "mode plugin needs plugin.name"),
        (
            {"mode": "plugin", "plugin": {"name": "x"}, "embeddings_model": "y"},
            "embeddings_model needs a server, which mode plugin is not",
        ),
    ],
)
def test_settings_that_do_not_fit_are_refused(local: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load_config(None, {"local": local}, {})


def test_check_tells_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert not asyncio.run(_check_local(configured()))
    assert "plugin model answers" in capsys.readouterr().out
    assert asyncio.run(_check_local(configured(options={"down": True})))
    assert "the plug-in's model does not answer" in capsys.readouterr().out
    assert asyncio.run(_check_local(configured("gone")))
    out = capsys.readouterr().out
    assert "acme_local 1.0" in out
    assert "see local.plugin" in out
