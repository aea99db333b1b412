"""The reference of the settings is made from the settings themselves."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from proxy.config.commented import commented_config
from proxy.config.fields import iterate_settings
from proxy.config.reference import config_schema, settings_page
from proxy.config.settings import Config, load_config

ROOT = Path(__file__).parents[3]
SCHEMA: Callable[[], Any] = cache(config_schema)


def test_every_setting_and_section_is_described() -> None:
    for setting in iterate_settings(Config):
        assert setting.description.endswith((".", ".)")), setting.name


def test_the_rules_are_those_of_the_models() -> None:
    rules = {setting.name: setting.rule for setting in iterate_settings(Config)}
    assert rules["server.port"] == "0 to 65535"
    assert rules["local.context_tokens"] == "256 or more"
    assert rules["limits.delta"] == "above 0 and below 1"
    assert rules["limits.epsilon_max"] == "above 0"
    assert rules["privacy.public_findings"] == "refuse, warn or allow"
    assert rules["memo.paragraphs"] == "true or false"
    assert rules["server.host"] == ""


def test_the_commented_file_is_the_default_configuration(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(commented_config())
    assert load_config(path, None, {}) == Config()
    assert max(map(len, commented_config().splitlines())) < 130


def test_the_page_of_settings_is_up_to_date() -> None:
    """`python -m proxy.config.reference > docs/settings.md`"""
    page = settings_page()
    assert page == (ROOT / "docs" / "settings.md").read_text()
    for setting in iterate_settings(Config):
        own = f"\n## {setting.name}\n"  # a setting without a section
        assert f"| `{setting.place[-1]}` | " in page or own in page


class TestSchema:
    def section(self, *place: str) -> Any:
        found = schema = SCHEMA()
        for part in place:
            found = found["properties"][part]
            if "$ref" in found:
                found = schema["$defs"][found["$ref"].rpartition("/")[2]]
        return found

    def test_it_refuses_unknown_keys_everywhere(self) -> None:
        schema = SCHEMA()
        for model in (schema, *schema["$defs"].values()):
            assert model["additionalProperties"] is False

    def test_every_property_is_described(self) -> None:
        schema = SCHEMA()
        for model in (schema, *schema["$defs"].values()):
            for name, field in model["properties"].items():
                assert field.get("description"), name

    def test_it_states_ranges_choices_and_secrets(self) -> None:
        port = self.section("server", "port")
        assert (port["minimum"], port["maximum"], port["default"]) == (0, 65535, 8100)
        assert self.section("privacy", "oov")["enum"] == ["map", "drop"]
        assert {"type": "string", "format": "password", "writeOnly": True} in self.section(
            "remote", "api_key"
        )["anyOf"]

    def test_the_shipped_file_has_no_other_keys(self) -> None:
        def walk(value: Any, *place: str) -> None:
            for key, inner in value.items():
                found = self.section(*place, key)
                if isinstance(inner, dict) and "properties" in found:
                    walk(inner, *place, key)

        walk(yaml.safe_load((ROOT / "config.yaml").read_text()))
