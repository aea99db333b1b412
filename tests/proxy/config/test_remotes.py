"""Several remotes in the configuration: their names, their keys, and what is said of them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from proxy.checkup import check
from proxy.config.hints import base_url_hints
from proxy.config.settings import load_config
from proxy.config.show import MASK, effective_settings
from proxy.errors import ConfigError
from proxy.workers.supervisor import divide
from tests.perturb.marking import WORDS
from tests.servers import fake_server

URL = "https://models.example/v1"
OWN: dict[str, Any] = {"base_url": URL, "models": {"m": "n"}}


def load(remotes: Any, environment: dict[str, str] | None = None, **more: Any) -> Any:
    return load_config(None, {"remotes": remotes, **more}, environment or {})


def test_a_remote_has_the_settings_of_the_default_one() -> None:
    config = load({"a": {**OWN, "retries": 5}})
    assert list(config.every_remote) == ["default", "a"]
    assert (config.remotes["a"].retries, config.remotes["a"].timeout_seconds) == (5, 120.0)
    assert config.remote == load_config(None, None, {}).remote


def test_no_remote_inherits_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    monkeypatch.setenv("INFERDPT_A_KEY", "sk-a")
    config = load(
        {"a": {**OWN, "api_key_env": "INFERDPT_A_KEY"}, "b": {**OWN, "models": {"o": "o"}}}
    )
    assert [remote.key for remote in config.every_remote.values()] == ["sk-openai", "sk-a", None]


@pytest.mark.parametrize(
    ("remotes", "words"),
    [
        ({"a": OWN, "b": OWN}, ["remotes.a.models", "remotes.b.models", "'m'"]),
        (
            {"a": {**OWN, "models": {"gpt-4o": "x"}}},
            ["remote.models", "remotes.a.models", "'gpt-4o'"],
        ),
        ({"a": {"models": {"m": "n"}}}, ["remotes.a.base_url", "Field required"]),
        ({"a": {**OWN, "models": {}}}, ["remotes.a: models must have a name"]),
        (
            {"a": {**OWN, "base_url": "http://u:hidden@"}},
            ["remotes.a.base_url", "must be an address"],
        ),
        ({"a": {**OWN, "basurl": 1}}, ["remotes.a.basurl", "did you mean remotes.a.base_url?"]),
        ({"a": {**OWN, "api_key": "hidden\n1"}}, ["remotes.a", "api_key must hold"]),
        ({"default": OWN}, ["remotes.default", "the alias must be"]),
        ({"A b": OWN}, ["the alias must be"]),
        ({"": OWN}, ["the alias must be"]),
        ([OWN], ["remotes", "a mapping"]),
    ],
)
def test_errors_name_the_remote_and_the_key(remotes: Any, words: list[str]) -> None:
    with pytest.raises(ConfigError) as info:
        load(remotes)
    for word in words:
        assert word in str(info.value)
    assert "hidden" not in str(info.value)


def test_an_error_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(
        f"remotes:\n  a:\n    base_url: {URL}\n    models: {{m: n}}\n    retries: -1\n"
    )
    with pytest.raises(ConfigError, match=r"config.yaml:5: remotes.a.retries: "):
        load_config(path, None, {})


def test_what_needs_a_local_model_is_refused_for_every_remote() -> None:
    local = {"local": {"mode": "none"}, "privacy": {"mechanism": "selective", "parameters": WORDS}}
    with pytest.raises(ConfigError, match="remotes.a.on_remote_failure local_only needs a local"):
        load({"a": {**OWN, "on_remote_failure": "local_only"}}, **local)


def test_a_variable_holds_all_of_them() -> None:
    environment = {"INFERDPT_REMOTES": f"{{a: {{base_url: '{URL}', models: {{m: n}}}}}}"}
    assert load_config(None, None, environment).remotes["a"].base_url == URL
    with pytest.raises(ConfigError, match="INFERDPT_REMOTES: remotes.a.base_url"):
        load_config(None, None, {"INFERDPT_REMOTES": "{a: {base_url: x, models: {m: n}}}"})


def test_they_are_shown_without_secrets(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(
        "remotes:\n  a:\n    base_url: https://user:hidden@models.example/v1\n"
        "    api_key: hidden\n    models: {m: n}\n"
        "  b: {base_url: https://b.example/v1, api_key_env: B_KEY, models: {o: o}}\n"
    )
    rows = {row.name: row for row in effective_settings(path, None, {})}
    assert rows["remotes.a.base_url"][1:] == (URL, f"{path}:3")
    assert rows["remotes.a.api_key"].value == f"'{MASK}'"
    assert rows["remotes.a.retries"][1:] == ("2", "default")
    assert "remotes" not in rows
    assert not any("hidden" in str(row) for row in rows.values())


def test_a_key_of_the_environment_is_shown_with_its_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("B_KEY", "sk-hidden")
    rows = effective_settings(None, {"remotes": {"b": {**OWN, "api_key_env": "B_KEY"}}}, {})
    (row,) = (row for row in rows if row.name == "remotes.b.api_key")
    assert (row.value, row.origin) == (f"'{MASK}'", "B_KEY")


def test_hints_name_the_remote() -> None:
    config = load({"a": {**OWN, "base_url": "https://models.example/v1/messages"}})
    assert base_url_hints(config) == [
        "remotes.a.base_url ends with /messages: leave out that part"
    ]


def test_workers_divide_the_limits_of_every_remote() -> None:
    config = load({"a": {**OWN, "concurrency": 9}}, server={"workers": 4})
    assert divide(config).remotes["a"].concurrency == 2
    with pytest.raises(ConfigError, match="server.workers must be <= remotes.a.concurrency"):
        load({"a": {**OWN, "concurrency": 3}}, server={"workers": 4})


async def test_the_check_reaches_every_remote(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with fake_server() as first, fake_server() as second:
        config = load(
            {"a": {**OWN, "base_url": second.base_url}},
            remote={"base_url": first.base_url, "api_key": "k"},
            local={"mode": "none"},
            privacy={"mechanism": "selective", "parameters": WORDS},
            store={"folder": str(tmp_path)},
        )
        assert await asyncio.to_thread(check, config) == 0
        told = capsys.readouterr().out
        assert f"ok      remote: {first.base_url} answers; models gpt-4o" in told
        assert f"ok      remotes.a: {second.base_url} answers; models m" in told
        assert "note    remotes.a: no key; set api_key_env if the remote needs one" in told
        await second.stop()
        assert await asyncio.to_thread(check, config) == 1
        assert "PROBLEM remotes.a" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("models", "rule"),
    [
        ("all", "must be a mapping of names, a list of names and patterns, or discover"),
        (5, "must be a mapping of names, a list of names and patterns, or discover"),
        (["a b"], "a name in a list must be 1 to 128 letters"),
        (["a\n"], "a name in a list must be 1 to 128 letters"),
        (["x" * 129], "a name in a list must be 1 to 128 letters"),
        ([{"a": "b"}], "a name in a list must be 1 to 128 letters"),
        ({"gpt-*": "gpt-*"}, "patterns with * must stand in a list"),
        ({"a": 5}, "a mapping must lead from names to names"),
    ],
)
@pytest.mark.parametrize("named", [False, True])
def test_models_of_another_form_are_refused(models: Any, rule: str, named: bool) -> None:
    settings = {"remotes": {"a": {**OWN, "models": models}}} if named else {}
    with pytest.raises(ConfigError) as info:
        load_config(None, settings or {"remote": {"models": models}}, {})
    place = "remotes.a.models" if named else "remote.models"
    assert f"the command line: {place}: {rule}" in str(info.value)
    assert str(info.value).count("\n") == 0


def test_a_key_of_another_api_is_not_sent() -> None:
    far = "https://api.anthropic.com/v1"
    for remote, rule in (
        ({"api": "messages"}, "needs a base_url"),
        ({"api": "messages", "base_url": far}, "OPENAI_API_KEY is the key of another API"),
    ):
        with pytest.raises(ConfigError, match=f"remote: .*{rule}"):
            load_config(None, {"remote": remote}, {})
    named = {"api": "messages", "base_url": far}
    load_config(None, {"remote": {**named, "api_key_env": "ANTHROPIC_API_KEY"}}, {})
    load_config(None, {"remote": {**named, "api_key": "k"}}, {})
    assert load({"a": named}).remotes["a"].key is None


def test_listed_names_of_two_remotes_are_told_apart() -> None:
    config = load({"a": {**OWN, "models": ["m", "p-*"]}, "b": {**OWN, "models": ["m"]}})
    assert config.remotes["a"].names("a") == {"a/m": "m"}
    assert config.remotes["a"].patterns == ("p-*",)
    with pytest.raises(ConfigError, match="'a/m'"):
        load({"a": {**OWN, "models": ["m"]}, "b": {**OWN, "models": {"a/m": "x"}}})


def test_models_can_be_set_by_a_variable() -> None:
    for value, expected in (("discover", "discover"), ("[a, 'b-*']", ("a", "b-*"))):
        found = load_config(None, None, {"INFERDPT_REMOTE__MODELS": value})
        assert found.remote.models == expected


async def test_the_check_looks_for_models_on_the_list(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with fake_server() as server:  # it lists one, `fake`
        for models, line in (
            ("discover", "models a/fake"),
            (["f*", "b"], "models a/b, a/fake"),
            (["gpt-*"], "lists no model of remotes.a.models"),
        ):
            config = load(
                {"a": {"base_url": server.base_url, "models": models}},
                remote={"models": {}},
                local={"mode": "none"},
                privacy={"mechanism": "selective", "parameters": WORDS},
                store={"folder": str(tmp_path)},
            )
            status = await asyncio.to_thread(check, config)
            assert status == (1 if models == ["gpt-*"] else 0)
            assert line in capsys.readouterr().out
