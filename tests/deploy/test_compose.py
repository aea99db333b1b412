"""The compose file: its schema, its files, and who has a way out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from proxy.config.settings import load_config
from tests.schemas import find_faults

ROOT = Path(__file__).parents[2]
FILE = ROOT / "deploy" / "compose.yaml"
PROJECT: dict[str, Any] = yaml.safe_load(FILE.read_text("utf-8"))
SERVICES: dict[str, Any] = PROJECT["services"]
PROFILES = {
    "open-webui": "chat",
    "vllm": "vllm",
    "prometheus": "monitoring",
    "alertmanager": "monitoring",
    "grafana": "monitoring",
}


def test_it_follows_the_schema(tmp_path: Path) -> None:
    broken = tmp_path / "compose.yaml"
    broken.write_text(FILE.read_text("utf-8").replace("read_only: true", "readonly: true"))
    faults = find_faults("vendor.compose-spec", [FILE, broken])
    assert {*faults} == {broken}, faults


def test_the_proxy_and_its_database_start_without_a_profile() -> None:
    assert {name: one["profiles"][0] for name, one in SERVICES.items() if "profiles" in one} == (
        PROFILES
    )
    assert set(SERVICES) - set(PROFILES) == {"proxy", "postgres"}


def test_only_the_proxy_has_a_way_out() -> None:
    """`pages` publishes the ports of pages, which needs a network that is not internal."""
    inside = {name for name, one in PROJECT["networks"].items() if (one or {}).get("internal")}
    out = {name for name, one in SERVICES.items() if set(one["networks"]) - inside}
    assert inside == {"inside", "watching"}
    assert out == {"proxy", "open-webui", "grafana", "alertmanager"}
    assert [name for name, one in SERVICES.items() if "outside" in one["networks"]] == ["proxy"]
    assert not {"vllm", "postgres"} & out


def test_alertmanager_reaches_prometheus_and_its_receivers_alone() -> None:
    """Its messages leave, so it shares no network with what holds texts."""
    own = SERVICES["alertmanager"]["networks"]
    beside = {name for name, one in SERVICES.items() if {*own} & {*one["networks"]}}
    assert beside == {"alertmanager", "prometheus"}
    assert [name for name, one in SERVICES.items() if "messages" in one["networks"]] == [
        "alertmanager"
    ]


def test_ports_are_open_to_this_machine_only() -> None:
    ports = [port for one in SERVICES.values() for port in one.get("ports", ())]
    assert len(ports) == 3
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_the_proxy_has_no_privileges() -> None:
    proxy = SERVICES["proxy"]
    assert (proxy["read_only"], proxy["cap_drop"]) == (True, ["ALL"])
    assert proxy["security_opt"] == ["no-new-privileges:true"]


def test_no_secret_is_in_the_file() -> None:
    for one in SERVICES.values():
        for name, value in one.get("environment", {}).items():
            if any(word in name for word in ("KEY", "SECRET", "PASSWORD")):
                assert value.startswith("${"), name


def test_files_that_it_mounts_are_there() -> None:
    mounts = [mount for one in SERVICES.values() for mount in one.get("volumes", ())]
    files = [mount.partition(":")[0] for mount in mounts if mount.startswith(".")]
    assert len(files) >= 3
    for name in files:
        assert (FILE.parent / name).exists(), name
    build = SERVICES["proxy"]["build"]
    assert (FILE.parent / build["context"] / build["dockerfile"]).is_file()


@pytest.mark.parametrize(
    ("chosen", "mode", "mechanism"),
    [
        ({}, "none", "selective"),
        (
            {"INFERDPT_LOCAL__MODE": "external", "INFERDPT_PRIVACY__MECHANISM": "surrogate"},
            "external",
            "surrogate",
        ),
    ],
)
def test_the_settings_are_valid(chosen: dict[str, str], mode: str, mechanism: str) -> None:
    own = SERVICES["proxy"]["environment"]
    defaults = {
        name: found[1]
        for name, value in own.items()
        if (found := re.fullmatch(r"\$\{\w+:-(\w+)\}", value))
    }
    variables = {**defaults, **chosen, "PGPASSWORD": "x"}
    config = load_config(FILE.with_name("compose-config.yaml"), {}, variables)
    assert (config.local.mode, config.privacy.mechanism) == (mode, mechanism)
    assert config.local.candidates == 2
    assert config.store.url is not None
    assert "@postgres/" in config.store.url.get_secret_value()
