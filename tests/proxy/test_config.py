"""The configuration: documented, strict, and silent about secrets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from proxy.cli import main
from proxy.config import Config, is_loopback, load_config
from proxy.errors import ConfigError

ROOT = Path(__file__).parents[2]


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    return path


def test_config_yaml_states_every_setting_with_its_default() -> None:
    stated = yaml.safe_load((ROOT / "config.yaml").read_text())
    assert stated == Config().model_dump(mode="json")


def test_every_setting_in_config_yaml_stands_where_a_comment_can() -> None:
    lines = (ROOT / "config.yaml").read_text().splitlines()
    keys = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    bare = [line for line in keys if "#" not in line]
    # values that their section's comment or their own name explains
    assert len(bare) <= 0.4 * len(keys), bare


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("privcy: {}", ["privcy", "unknown key"]),
        ("privacy: {mechanisms: x}", ["privacy.mechanisms", "unknown key"]),
        ("privacy: {mechanism: rot13}", ["privacy", "mechanism must be one of", "rantext_ldp"]),
        ("privacy: {epsilon: -1}", ["privacy", "epsilon must be > 0"]),
        ("privacy: {parameters: {seed: 1}}", ["privacy", "seed"]),
        ("privacy: {parameters: {bogus: 1}}", ["privacy", "does not have"]),
        ("privacy: {mechanism: rantext_ldp, epsilon: 30}", ["privacy", "epsilon must be <= 18"]),
        ("limits: {mechanisms: [rot13]}", ["limits.mechanisms", "must be one of"]),
        ("server: {port: 99999}", ["server.port"]),
        (
            "prompts: {remote_continuation: 'no placeholder'}",
            ["remote_continuation", "{document}"],
        ),
        ("prompts: {bogus: x}", ["unknown template"]),
        ("remote: {models: {}}", ["remote.models"]),
        ("privacy: {mechanism: dp_prompt}", ["privacy", "clip", "inferdpt clip-bounds"]),
        (
            "privacy: {mechanism: dp_prompt, parameters: {clip: [-1, 1], top_k: 5}}",
            ["privacy", "top_k must not be set in mode dp"],
        ),
        (
            "privacy: {mechanism: dp_prompt, parameters: {clip: [-1, 1], top_p: 0.9}}",
            ["privacy", "dp_prompt does not have"],
        ),
        (
            "privacy: {mechanism: dp_prompt, parameters: {clip: [-1, 1]}}",
            ["llama.cpp", "cannot clip logits", "engine: transformers"],
        ),
        ("limits: {mechanisms: [dp_prompt]}", ["limits.mechanisms", "privacy.mechanism"]),
        ("[1, 2]", ["mapping"]),
        ("a: [", ["not valid YAML"]),
    ],
)
def test_errors_name_the_file_and_the_key(tmp_path: Path, text: str, words: list[str]) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as info:
        load_config(path)
    for word in (str(path), *words):
        assert word in str(info.value)


@pytest.mark.parametrize(
    ("parameters", "local", "clips"),
    [
        ({"clip": [-1, 1]}, "external", True),
        ({"clip": [-1, 1]}, "vllm", True),
        ({"clip": [-1, 1], "mode": "quasi"}, "embedded", False),
        ({"mode": "topk", "top_k": 5}, "embedded", False),
        ({"clip": [-1, 1], "engine": "transformers", "model": "m"}, "embedded", False),
    ],
)
def test_dp_prompt_clips_on_the_server_only_where_it_must(
    parameters: Any, local: str, clips: bool
) -> None:
    privacy = {"mechanism": "dp_prompt", "parameters": parameters}
    config = load_config(None, {"privacy": privacy, "local": {"mode": local}})
    assert config.server_clips is clips


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nowhere.yaml"):
        load_config(tmp_path / "nowhere.yaml")


def test_secrets_are_masked_and_come_from_the_environment(monkeypatch: Any) -> None:
    config = load_config(None, {"remote": {"api_key": "sk-secret"}})
    assert "sk-secret" not in repr(config)
    assert config.remote.key == "sk-secret"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-env")
    assert load_config(None).remote.key == "sk-env"
    monkeypatch.setenv("OTHER", "sk-other")
    assert load_config(None, {"remote": {"api_key_env": "OTHER"}}).remote.key == "sk-other"


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.0.2.1", False),
        ("example.org", False),
    ],
)
def test_loopback(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


def test_the_command_refuses_a_public_address_without_keys(capsys: Any) -> None:
    assert main(["serve", "--host", "0.0.0.0", "--port", "0"]) == 2
    assert "server.keys" in capsys.readouterr().err


def test_the_command_line_lies_over_the_file(tmp_path: Path) -> None:
    import argparse

    from proxy.cli import _config

    path = write(tmp_path, "remote: {models: {a: b}}\nlocal: {mode: vllm}\nserver: {port: 1}")
    args = argparse.Namespace(
        config=str(path),
        host=None,
        port=0,
        remote_base_url="http://127.0.0.1:1/v1",
        remote_model="gpt-x",
        local_base_url="http://127.0.0.1:2/v1",
        local_model="vicuna",
        mechanism="rantext_ldp",
        epsilon=8.0,
    )
    config = _config(args)
    assert config.remote.models == {"gpt-x": "gpt-x"}
    assert (config.local.mode, config.local.model) == ("external", "vicuna")
    assert (config.server.port, config.privacy.epsilon) == (0, 8.0)
    assert config.privacy.mechanism == "rantext_ldp"
