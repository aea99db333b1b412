"""The configuration: documented, strict, and silent about secrets."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from proxy.cli.main import main
from proxy.cli.settings import build_overrides
from proxy.config.commented import commented_config
from proxy.config.settings import Config, is_loopback, load_config
from proxy.errors import ConfigError

ROOT = Path(__file__).parents[3]


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    return path


def test_config_yaml_states_every_setting_with_its_default() -> None:
    stated = yaml.safe_load((ROOT / "config.yaml").read_text())
    assert stated == Config().model_dump(mode="json")


def test_config_yaml_is_what_config_init_writes() -> None:
    assert (ROOT / "config.yaml").read_text() == commented_config()


def test_every_setting_in_config_yaml_is_explained_above_it() -> None:
    lines = (ROOT / "config.yaml").read_text().splitlines()
    for above, line in pairwise(lines):
        if re.match(r" *\w+:", line):
            assert above.lstrip().startswith("# "), line


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
        ("privacy: {mechanism: dp_prompt}", ["privacy", "clip", "inferdpt privacy clip-bounds"]),
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
    ("text", "words"),
    [
        ("server: {}\na: [", ":2:5: is not valid YAML (expected the node content, but found"),
        ("server: {}\n\n\x07\n", ":3: is not valid YAML (special characters are not allowed)"),
        ("server:\n  host: @x\n", ":2:9: is not valid YAML (found character '@' that cannot"),
        ("server:\n  - a\n  b: c\n", ":3:3: is not valid YAML"),
        ("server: {}\n# \udcff\n", ":2: is not valid YAML (not UTF-8)"),
        ("server:\n  port: 1\nprivcy: {}\n", ":3: privcy: unknown key; did you mean privacy?"),
        (
            "privacy:\n  oov: map\n  mechanisms: x\n",
            ":3: privacy.mechanisms: unknown key; did you mean privacy.mechanism?",
        ),
        (
            "server:\n  keys:\n    - tenant: a\n      sha265: x\n",
            ":4: server.keys.0.sha265: unknown key; did you mean server.keys.0.sha256?",
        ),
        ("limits:\n  budget: {days: 5}", "did you mean limits.budget.day?"),
        ("epsilon: 5", ":1: epsilon: unknown key here; did you mean privacy.epsilon?"),
        (
            "base_url: x",
            "unknown key here; did you mean remote.base_url or local.base_url?",
        ),
        ("store: {zzz: 1}", ":1: store.zzz: unknown key; there are url, folder, secret_file"),
        ("\n\nserver:\n\n  port: 99999", ":5: server.port: "),
        (
            "privacy:\n  mechanism: custext\n  parameters: {sizes: 3}",
            "does not have 'sizes'; it has size; did you mean 'size'?",
        ),
        ("privacy: {parameters: {epsilon: 3}}", "rantext does not have 'epsilon'"),
    ],
)
def test_errors_name_the_line_and_what_was_meant(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ConfigError) as info:
        load_config(path)
    assert f"{path}{words}" in str(info.value) or words[0] != ":"
    assert words in str(info.value)


@pytest.mark.parametrize(
    ("text", "over", "origin"),
    [
        ("server: {port: 1}", {"server": {"port": -1}}, "the command line: server.port: "),
        ("server: {port: -1}", {"server": {"host": "::1"}}, "{path}:1: server.port: "),
        (
            "privacy: {mechanism: rantext_ldp}",
            {"privacy": {"epsilon": 99.0}},
            "{path}:1 and the command line: privacy: epsilon",
        ),
    ],
)
def test_errors_say_where_a_value_was_set(
    tmp_path: Path, text: str, over: Any, origin: str
) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as info:
        load_config(path, over)
    assert str(info.value).startswith(origin.replace("{path}", str(path)))


def test_a_parameter_of_a_mechanism_is_suggested_on_the_command_line(capsys: Any) -> None:
    assert main(["perturb", "-", "--mechanism", "custext", "--set", "sizes=3"]) == 2
    said = "custext has no parameter 'sizes'; it has epsilon, size; did you mean 'size'?"
    assert said in capsys.readouterr().err


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


@pytest.mark.parametrize("side", ["remote", "local"])
@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ("http://user:hidden@[::1", "must be an address"),
        ("http://user:hidden@host:x/v1", "must be an address"),
        ("http://user:hidden@host:99999/v1", "must be an address"),
        ("", "must begin with http:// or https://"),
        ("127.0.0.1:18902/v1", "must begin with http:// or https://"),
        ("user:hidden@host/v1", "must begin with http:// or https://"),
        ("ftp://user:hidden@host/v1", "must begin with http:// or https://"),
        ("http://", "must name a host"),
        ("http://user:hidden@host:0/v1", "must name a host"),
        ("http://user:hidden@host /v1", "must name a host"),
        ("https://user:hidden@host/v1?api-version=2", "must not have a query"),
        ("https://user:hidden@host/v1#a", "must not have a query"),
    ],
)
def test_a_base_url_that_cannot_be_asked_is_refused(side: str, url: str, rule: str) -> None:
    with pytest.raises(ConfigError) as info:
        load_config(None, {side: {"base_url": url}})
    assert f"{side}.base_url: {rule}" in str(info.value)
    assert "hidden" not in str(info.value)


@pytest.mark.parametrize("side", ["remote", "local"])
@pytest.mark.parametrize(
    "url",
    [
        "http://[::1]:8000/v1",
        "https://user:p%23@host.example/openai/v1/",
        "HTTP://LOCALHOST/v1",
        "http://bücher.example/v1",
    ],
)
def test_a_base_url_of_any_usual_form_is_taken(side: str, url: str) -> None:
    assert getattr(load_config(None, {side: {"base_url": url}}), side).base_url == url


@pytest.mark.parametrize("side", ["remote", "local"])
def test_a_key_that_no_header_can_hold_is_refused(side: str, monkeypatch: Any) -> None:
    with pytest.raises(ConfigError) as info:
        load_config(None, {side: {"api_key": "hid\nden"}})
    assert f"{side}: api_key must hold printable" in str(info.value)
    monkeypatch.setenv("ODD_KEY", "hid\rden")
    with pytest.raises(ConfigError) as other:
        load_config(None, {side: {"api_key_env": "ODD_KEY"}})
    assert f"{side}: ODD_KEY must hold printable" in str(other.value)
    assert "den" not in str(info.value) + str(other.value)
    monkeypatch.setenv("ODD_KEY", "sk-1\n")  # as a file's content comes
    load_config(None, {side: {"api_key_env": "ODD_KEY"}})


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
    path = write(tmp_path, "remote: {models: {a: b}}\nlocal: {mode: vllm}\nserver: {port: 1}")
    over = build_overrides(
        port=0,
        remote_base_url="http://127.0.0.1:1/v1",
        remote_model="gpt-x",
        local_base_url="http://127.0.0.1:2/v1",
        local_model="vicuna",
        mechanism="rantext_ldp",
        epsilon=8.0,
    )
    config = load_config(path, over)
    assert config.remote.models == {"gpt-x": "gpt-x"}
    assert (config.local.mode, config.local.model) == ("external", "vicuna")
    assert (config.server.port, config.privacy.epsilon) == (0, 8.0)
    assert config.privacy.mechanism == "rantext_ldp"
