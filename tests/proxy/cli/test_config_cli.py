"""`inferdpt config`: a commented file, the settings in force, a schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from proxy.cli.main import main
from proxy.config.settings import Config, load_config


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_init_writes_a_file_that_loads_and_keeps_one_that_is_there(capsys: Any) -> None:
    assert main(["config", "init"]) == 0
    assert load_config("config.yaml") == Config()
    Path("config.yaml").write_text("server: {port: 1}")
    assert main(["config", "init"]) == 2
    assert "inferdpt: config.yaml: File exists" in capsys.readouterr().err
    assert Path("config.yaml").read_text() == "server: {port: 1}"


def test_init_writes_to_standard_output(capsys: Any) -> None:
    assert main(["config", "init", "-"]) == 0
    assert yaml.safe_load(capsys.readouterr().out) == Config().model_dump(mode="json")
    assert not Path("config.yaml").exists()


def test_show_names_the_last_source_and_masks_secrets(
    monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    Path("config.yaml").write_text(
        "server:\n  port: 1\nlocal: {api_key: hidden-1}\nprivacy: {epsilon: 3}"
    )
    monkeypatch.setenv("INFERDPT_PRIVACY__EPSILON", "4")
    monkeypatch.setenv("OPENAI_API_KEY", "hidden-2")
    assert main(["config", "show", "--mechanism", "rantext_ldp"]) == 0
    out = capsys.readouterr().out
    assert "hidden" not in out
    lines = out.splitlines()
    assert "server.port: 1  # config.yaml:2" in lines
    assert "privacy.epsilon: 4.0  # INFERDPT_PRIVACY__EPSILON" in lines
    assert "privacy.mechanism: rantext_ldp  # the command line" in lines
    assert "memo.paragraphs: true  # default" in lines


def test_schema_is_json(capsys: Any) -> None:
    assert main(["config", "schema"]) == 0
    assert "privacy" in json.loads(capsys.readouterr().out)["properties"]
