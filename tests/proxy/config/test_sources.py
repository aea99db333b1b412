"""Settings from the file, the environment and the command line, and what is said of each."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from proxy.config.fields import iterate_settings
from proxy.config.settings import Config, load_config
from proxy.config.show import MASK, effective_settings, show_config
from proxy.errors import ConfigError

ROOT = Path(__file__).parents[3]


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    return path


class TestOrder:
    def test_each_source_overrides_the_one_before(self, tmp_path: Path) -> None:
        path = write(tmp_path, "server: {port: 1, host: '::1', drain_seconds: 2}")
        environment = {"INFERDPT_SERVER__PORT": "3", "INFERDPT_SERVER__HOST": "127.0.0.2"}
        server = load_config(path, {"server": {"port": 4}}, environment).server
        assert (server.drain_seconds, server.host, server.port) == (2, "127.0.0.2", 4)

    def test_a_mapping_is_replaced_whole_and_a_section_is_not(self, tmp_path: Path) -> None:
        path = write(tmp_path, "remote: {models: {a: b}}\nlimits: {budget: {day: 5}}")
        environment = {"INFERDPT_REMOTE__MODELS": "{c: d}", "INFERDPT_LIMITS__BUDGET__TOTAL": "9"}
        config = load_config(path, None, environment)
        assert config.remote.models == {"c": "d"}
        assert (config.limits.budget.day, config.limits.budget.total) == (5, 9)
        config = load_config(path, {"remote": {"models": {"e": "f"}}}, environment)
        assert config.remote.models == {"e": "f"}

    def test_the_processs_environment_is_read(self, monkeypatch: Any) -> None:
        monkeypatch.setenv("INFERDPT_SERVER__PORT", "1234")
        assert load_config(None).server.port == 1234


class TestEnvironment:
    @pytest.mark.parametrize(
        ("name", "value", "place", "expected"),
        [
            ("INFERDPT_SERVER__PORT", "0", "server.port", 0),
            ("INFERDPT_MEMO__PARAGRAPHS", "false", "memo.paragraphs", False),
            ("INFERDPT_LIMITS__EPSILON_MAX", "null", "limits.epsilon_max", None),
            ("INFERDPT_LIMITS__MECHANISMS", '["santext"]', "limits.mechanisms", ("santext",)),
            ("INFERDPT_SERVER__OPERATORS", "[alice, bob]", "server.operators", ("alice", "bob")),
            ("INFERDPT_REMOTE__MODELS", "{GPT: gpt-4o}", "remote.models", {"GPT": "gpt-4o"}),
            ("INFERDPT_LOCAL__VLLM__ENV", "{A: 'b'}", "local.vllm.env", {"A": "b"}),
            ("INFERDPT_LOCAL__MODEL", "123", "local.model", "123"),
            ("INFERDPT_LOCAL__MODEL", "", "local.model", None),
            ("INFERDPT_PRIVACY__PARAMETERS", "", "privacy.parameters", {}),
        ],
    )
    def test_a_variable_sets(self, name: str, value: str, place: str, expected: Any) -> None:
        found: Any = load_config(None, None, {name: value})
        for part in place.split("."):
            found = getattr(found, part)
        assert found == expected

    def test_every_setting_has_a_variable_of_its_own(self) -> None:
        settings = list(iterate_settings(Config))
        assert len({setting.variable for setting in settings}) == len(settings)

    @pytest.mark.parametrize(
        ("environment", "said"),
        [
            (
                {"INFERDPT_SERVER__PORT": "hidden"},
                "INFERDPT_SERVER__PORT: server.port: Input should be a valid integer",
            ),
            (
                {"INFERDPT_SERVER__OPERATORS": "hidden"},
                "INFERDPT_SERVER__OPERATORS: server.operators: Input should be a list",
            ),
            (
                {"INFERDPT_SERVER__OPERATORS": "[hidden"},
                "INFERDPT_SERVER__OPERATORS: server.operators: Input should be a list",
            ),
            (
                {"INFERDPT_SERVER__KEYS": "[{tenant: hidden}]"},
                "INFERDPT_SERVER__KEYS: server.keys.0.sha256: Field required",
            ),
            (
                {"INFERDPT_REMOTE__API_KEY": "hid\nden"},
                "INFERDPT_REMOTE__API_KEY: remote: api_key must hold printable",
            ),
            (
                {"INFERDPT_PRIVACY__MECHANISM": "rantext_ldp", "INFERDPT_PRIVACY__EPSILON": "99"},
                "INFERDPT_PRIVACY__MECHANISM and INFERDPT_PRIVACY__EPSILON: privacy: epsilon",
            ),
        ],
    )
    def test_errors_name_the_variable_and_not_its_value(
        self, environment: dict[str, str], said: str
    ) -> None:
        with pytest.raises(ConfigError) as info:
            load_config(None, None, environment)
        assert str(info.value).startswith(said)
        assert "hid" not in str(info.value)

    @pytest.mark.parametrize(
        ("name", "meant"),
        [
            ("INFERDPT_SERVER__PRT", "did you mean INFERDPT_SERVER__PORT?"),
            ("INFERDPT_SERVER_PORT", "did you mean INFERDPT_SERVER__PORT?"),
            ("INFERDPT_PRIVACY_EPSILON", "did you mean INFERDPT_PRIVACY__EPSILON?"),
            ("INFERDPT_REMOTE_API_KEY", "did you mean INFERDPT_REMOTE__API_KEY?"),
            ("INFERDPT_SECERT", "did you mean INFERDPT_SECRET?"),
            ("INFERDPT_STATEDIR", "did you mean INFERDPT_STATE_DIR?"),
            ("INFERDPT_LOCAL__VLLM__ENV__A", "did you mean INFERDPT_LOCAL__VLLM__ENV?"),
            ("INFERDPT_FOO__BAR", "INFERDPT_SECTION__KEY"),
            ("INFERDPT_REMOTE", "did you mean INFERDPT_REMOTES?"),
            ("INFERDPT_LIMITS", "INFERDPT_SECTION__KEY"),
        ],
    )
    def test_an_unknown_variable_is_named_with_the_one_that_was_meant(
        self, name: str, meant: str
    ) -> None:
        with pytest.raises(ConfigError) as info:
            load_config(None, None, {name: "hidden"})
        assert f"{name}: unknown setting" in str(info.value)
        assert meant in str(info.value)
        assert "hidden" not in str(info.value)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("INFERDPT_SECRET", "5a" * 32),
            ("INFERDPT_STATE_DIR", "/x"),
            ("INFERDPT_LOCAL_API_KEY", "k"),
            ("INFERDPT_TEST_KILLS", "2"),
            ("INFERDPT_HOSTILE_SEED", "1"),
            # what Kubernetes sets for services named inferdpt and inferdpt-server
            ("INFERDPT_PORT", "tcp://10.0.0.1:8100"),
            ("INFERDPT_SERVER_PORT", "tcp://10.0.0.1:8100"),
            ("INFERDPT_PORT_8100_TCP_ADDR", "10.0.0.1"),
            ("INFERDPT_SERVER_SERVICE_PORT", "8100"),
            ("INFERDPT_SERVICE_HOST", "10.0.0.1"),
            ("OTHER__PORT", "1"),
        ],
    )
    def test_variables_for_other_purposes_are_left_alone(self, name: str, value: str) -> None:
        assert load_config(None, None, {name: value}) == load_config(None, None, {})

    def test_a_variable_that_holds_a_key_is_known_by_the_setting(self, monkeypatch: Any) -> None:
        monkeypatch.setenv("INFERDPT_REMOTE_KEY", "sk-1")
        with pytest.raises(ConfigError, match="INFERDPT_REMOTE_KEY"):
            load_config(None)
        config = load_config(None, {"remote": {"api_key_env": "INFERDPT_REMOTE_KEY"}})
        assert config.remote.key == "sk-1"


class TestShow:
    def rows(self, path: Path | None, environment: dict[str, str], **over: Any) -> Any:
        return {row.name: row for row in effective_settings(path, over, environment)}

    def test_it_states_every_setting_and_where_it_was_set(self, tmp_path: Path) -> None:
        path = write(tmp_path, "server:\n  host: '::1'\nlimits: {budget: {day: 5}}\n")
        rows = self.rows(path, {"INFERDPT_REMOTE__RETRIES": "3"}, server={"port": 0})
        assert list(rows) == [setting.name for setting in iterate_settings(Config)]
        assert rows["server.host"][1:] == ("::1", f"{path}:2")
        assert rows["server.port"][1:] == ("0", "the command line")
        assert rows["limits.budget.day"][1:] == ("5.0", f"{path}:3")
        assert rows["remote.retries"][1:] == ("3", "INFERDPT_REMOTE__RETRIES")
        assert rows["remote.models"][1:] == ("{gpt-4o: gpt-4o}", "default")

    def test_secrets_are_masked(self, tmp_path: Path, monkeypatch: Any) -> None:
        monkeypatch.setenv("INFERDPT_LOCAL_API_KEY", "sk-hidden")
        path = write(
            tmp_path,
            """
            remote: {api_key: sk-hidden, base_url: "https://me:hidden@host/v1"}
            store: {url: "postgresql+asyncpg://me:hidden@host/db"}
            local:
              plugin: {name: mine, options: {token: hidden}}
              vllm:
                env: {HF_TOKEN: hidden}
                args: [--api-key, hidden, --hf-token=hidden, --max-model-len, "4096"]
            """,
        )
        assert "hidden" not in show_config(path)
        rows = self.rows(path, {})
        assert rows["remote.api_key"].value == f"'{MASK}'"
        assert rows["remote.base_url"].value == "https://host/v1"
        assert rows["local.api_key"][1:] == (f"'{MASK}'", "INFERDPT_LOCAL_API_KEY")
        assert "--max-model-len, '4096'" in rows["local.vllm.args"].value

    def test_an_error_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="privcy"):
            show_config(write(tmp_path, "privcy: {}"))


def test_the_environment_costs_nothing_where_it_sets_nothing() -> None:
    code = (
        "import sys; from proxy.config.settings import load_config; load_config(None); "
        "assert 'pydantic_settings' not in sys.modules"
    )
    clean = {k: v for k, v in os.environ.items() if not k.startswith("INFERDPT_")}
    env = {**clean, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], env=env, check=True, timeout=120)
