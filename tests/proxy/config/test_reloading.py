"""What changes while the proxy runs, and what needs a restart."""

from __future__ import annotations

from typing import Any

import pytest

from proxy.config.settings import Config, load_config
from proxy.reload import CHANGEABLE, FIXED, find_changes

SERVED: dict[str, Any] = {"privacy": {"mechanism": "selective"}, "local": {"mode": "none"}}


def load(**sections: Any) -> Config:
    return load_config(None, sections, {})


def test_the_named_settings_exist() -> None:
    for section, names in [*CHANGEABLE.items(), *FIXED.items()]:
        known = type(getattr(Config(), section)).model_fields
        assert set(names or ()) <= set(known)


@pytest.mark.parametrize(
    ("section", "value", "live", "fixed"),
    [
        ("server", {"operators": ["alice"]}, ["server.operators"], []),
        ("server", {"port": 8101}, [], ["server.port"]),
        ("server", {"workers": 1, "host": "::1"}, [], ["server.host"]),
        ("limits", {"budget": {"day": 5}}, ["limits.budget"], []),
        ("limits", {"shared": "store"}, [], ["limits.shared"]),
        ("privacy", {"epsilon": 8.0}, ["privacy.epsilon"], []),
        ("privacy", {"vocabulary": "words"}, [], ["privacy.vocabulary"]),
        ("telemetry", {"prices": {"m": {"prompt": 1}}}, ["telemetry.prices"], []),
        ("telemetry", {"traces": "http://127.0.0.1:1/v1"}, [], ["telemetry.traces"]),
        ("store", {"folder": "/x"}, [], ["store"]),
        ("remote", {"base_url": "http://127.0.0.1:1/v1"}, [], ["remote"]),
    ],
)
def test_each_setting_is_named(
    section: str, value: dict[str, Any], live: list[str], fixed: list[str]
) -> None:
    found = find_changes(load(), load(**{section: value}))
    assert (list(found.live), list(found.fixed)) == (live, fixed)


def test_nothing_is_named_where_nothing_differs() -> None:
    found = find_changes(load(**SERVED), load(**SERVED))
    assert (found.live, found.fixed) == ((), ())


def test_a_mechanism_of_the_local_model_needs_a_restart() -> None:
    external = {"mode": "external", "base_url": "http://127.0.0.1:1/v1"}
    before = load(local=external)
    parameters = {"clip": [-9.5, 9.5]}
    after = load(local=external, privacy={"mechanism": "dp_prompt", "parameters": parameters})
    assert set(find_changes(before, after).fixed) == {"privacy.mechanism", "privacy.parameters"}
