"""Which model the embedded engine runs, and how it is told that it is a demonstration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import aiohttp
import pytest

from extraction.errors import LocalModelUnavailable
from extraction.models import DEFAULT, MODELS
from perturb import EmbeddingTable
from proxy.config.settings import Local, load_config
from proxy.config.store import models_folder
from proxy.local import (
    BUNDLED_MODEL,
    _build_embedded_command,
    _count_threads,
    describe_running,
    local_server,
)
from tests.proxy.conftest import MODEL, Proxy, running_proxy

HASH = "ab" * 32


def configured(**embedded: Any) -> Local:
    return load_config(None, {"local": {"mode": "embedded", "embedded": embedded}}, {}).local


def lay(name: str) -> Path:
    """Put a file into the store, as if it had been pulled."""
    models_folder().mkdir(parents=True, exist_ok=True)
    (models_folder() / f"{name}.json").write_text(f'{{"sha256": "{HASH}", "origin": "a test"}}')
    path = models_folder() / f"{name}.gguf"
    path.write_bytes(b"GGUF")
    return path


def options(local: Local) -> dict[str, str]:
    """Return the options of the command that starts the engine."""
    words = _build_embedded_command(local, 1)[3:]
    return {
        word: "" if i + 1 == len(words) or words[i + 1].startswith("--") else words[i + 1]
        for i, word in enumerate(words)
        if word.startswith("--")
    }


def test_without_a_pulled_model_the_bundled_one_runs() -> None:
    local = configured()
    assert local.is_bundled
    assert local.description == (
        "embedded (DEMO MODEL; for a real one: inferdpt models pull smollm2-135m)"
    )
    found = options(local)
    assert found["--model"] == str(BUNDLED_MODEL)
    assert (found["--context"], found["--threads"]) == ("1024", "1")
    assert "--penalize-repetition" in found


def test_the_pulled_default_runs_with_its_hash() -> None:
    path, local = lay(DEFAULT), configured()
    assert not local.is_bundled
    assert local.description == "embedded (smollm2-135m)"
    found = options(local)
    assert found["--model"] == str(path)
    assert found["--sha256"] == MODELS[DEFAULT].sha256  # not what the note says
    assert found["--context"] == "4096"
    assert found["--threads"] == str(_count_threads())
    assert "--penalize-repetition" not in found


def test_a_model_is_named_and_needs_its_template() -> None:
    lay("vicuna-7b-v1.5")
    found = options(configured(model="vicuna-7b-v1.5", context=512, threads=3))
    assert (found["--sha256"], found["--alias"]) == (HASH, "vicuna-7b-v1.5")
    assert (found["--context"], found["--threads"]) == ("512", "3")
    assert Path(found["--chat-template"]).name == "vicuna.jinja"


def test_the_bundled_one_can_be_named_although_another_was_pulled() -> None:
    lay(DEFAULT)
    assert configured(model="bundled").is_bundled
    assert options(configured(model="bundled"))["--model"] == str(BUNDLED_MODEL)


def test_a_file_of_ones_own_runs_without_a_hash(tmp_path: Path) -> None:
    (file := tmp_path / "mine.gguf").write_bytes(b"GGUF")
    found = options(configured(model=str(file)))
    assert (found["--model"], found["--alias"]) == (str(file), "mine")
    assert not {"--sha256", "--penalize-repetition"} & set(found)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("smollm2-360m", "smollm2-360m was not pulled; run `inferdpt models pull smollm2-360m`"),
        ("smollm2-36m", "no model file at smollm2-36m; did you mean 'smollm2-360m'?"),
        ("/nowhere/x.gguf", "no model file at /nowhere/x.gguf"),
    ],
)
async def test_a_model_that_is_not_there_is_told(name: str, message: str) -> None:
    with pytest.raises(LocalModelUnavailable, match=message.replace("?", r"\?")):
        async with local_server(configured(model=name)):
            pass


async def test_a_pulled_model_that_was_changed_does_not_start() -> None:
    lay(DEFAULT)
    with pytest.raises(LocalModelUnavailable, match="smollm2-135m: its SHA-256 must be"):
        async with local_server(configured()):
            pass


def test_a_model_pulled_while_a_proxy_runs_is_for_its_next_start() -> None:
    local = configured()
    assert local.is_bundled
    lay(DEFAULT)
    assert local.is_bundled
    assert not configured().is_bundled


def test_workers_know_that_the_engine_they_share_is_a_demonstration() -> None:
    assert describe_running(configured(), 8101).is_bundled
    lay(DEFAULT)
    assert not describe_running(configured(), 8101).is_bundled


async def read_health(proxy: Proxy) -> Any:
    async with (
        aiohttp.ClientSession() as session,
        session.get(proxy.base_url.removesuffix("/v1") + "/health") as response,
    ):
        return await response.json()


async def read_receipt(proxy: Proxy) -> Any:
    done = await proxy.client().chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": "The board met on Monday."}]
    )
    return done.inferdpt  # type: ignore[attr-defined]


async def test_health_and_receipts_say_demo_model(table: EmbeddingTable) -> None:
    async with running_proxy(table, {"local": {"model": "inferdpt-bundled"}}) as proxy:
        assert await read_health(proxy) == {"status": "ok", "local": "DEMO MODEL"}
        assert (await read_receipt(proxy))["local"] == "DEMO MODEL"
    async with running_proxy(table, {}) as proxy:
        assert await read_health(proxy) == {"status": "ok"}
        assert "local" not in await read_receipt(proxy)
