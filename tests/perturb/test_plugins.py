"""Entry points: found by name, loaded late, and refused with the name of who brought them."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from perturb import plugins
from perturb.errors import PluginError
from perturb.plugins import find_plugin, plugin_names
from tests.plugins import lay_distribution

GROUP = "inferdpt.tested"
BUILT_IN = {"own": PluginError}


@pytest.fixture(autouse=True)
def _afresh() -> Iterator[None]:
    yield
    plugins._plugins.cache_clear()
    plugins._warn.cache_clear()
    sys.modules.pop("acme", None)


def test_a_plugin_is_found_by_name_and_loaded_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_distribution(tmp_path, monkeypatch, "acme", {GROUP: {"mine": "acme:mine"}}, "mine = 3\n")
    assert plugin_names(GROUP, BUILT_IN) == ("mine",)
    found = find_plugin(GROUP, "mine")
    assert found is not None
    assert "acme" not in sys.modules
    assert found.load() == 3
    assert found.version == "acme 1.0"
    assert find_plugin(GROUP, "other") is None
    assert plugin_names("inferdpt.nothing", BUILT_IN) == ()


@pytest.mark.parametrize(
    ("value", "source", "said"),
    [
        ("acme:mine", "1 / 0", "ZeroDivisionError"),
        ("acme:mine", "", "AttributeError"),
        ("acme_gone:mine", "", "ModuleNotFoundError"),
        ("acme:mine", "def", "SyntaxError"),
    ],
)
def test_a_plugin_that_cannot_be_loaded_is_named(
    value: str, source: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_distribution(tmp_path, monkeypatch, "acme", {GROUP: {"mine": value}}, source)
    assert plugin_names(GROUP, BUILT_IN) == ("mine",)  # it hurts nobody who does not ask for it
    found = find_plugin(GROUP, "mine")
    assert found is not None
    with pytest.raises(PluginError) as caught:
        found.load()
    assert str(caught.value).startswith(
        f"acme 1.0 (entry point mine = {value} in {GROUP}) cannot be loaded: {said}: "
    )


def test_a_name_that_two_distributions_have_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("acme", "bcme"):
        lay_distribution(tmp_path, monkeypatch, name, {GROUP: {"mine": f"{name}:mine"}})
    assert plugin_names(GROUP, BUILT_IN) == ("mine",)
    with pytest.raises(PluginError, match=r"'mine' is registered twice: by .*acme 1\.0.*bcme 1"):
        find_plugin(GROUP, "mine")


def test_a_built_in_name_is_never_taken_and_a_warning_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    lay_distribution(tmp_path, monkeypatch, "acme", {GROUP: {"own": "acme:own"}})
    with caplog.at_level(logging.WARNING, "inferdpt.plugins"):
        assert plugin_names(GROUP, BUILT_IN) == plugin_names(GROUP, BUILT_IN) == ()
    [line] = caplog.messages
    assert line == (
        f"acme 1.0 (entry point own = acme:own in {GROUP}) is not used: the name is built in"
    )


def test_a_class_that_registered_itself_is_no_intruder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    lay_distribution(tmp_path, monkeypatch, "acme", {GROUP: {"own": "perturb.errors:PluginError"}})
    assert plugin_names(GROUP, BUILT_IN) == ()
    assert caplog.messages == []
