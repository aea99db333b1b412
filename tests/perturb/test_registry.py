"""One registry of sanitizers: names, and plug-ins that are installed beside the project."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from perturb import (
    Mechanism,
    ParameterError,
    Perturber,
    Sanitizer,
    get_mechanism,
    mechanism_class,
    mechanism_names,
    register,
    sanitizer_class,
    sanitizer_names,
)
from perturb.mechanisms.tem import TEM
from perturb.registry import GROUP, built_in_names

ROOT = Path(__file__).parents[2]
PLUGIN = """
from perturb.mechanisms.tem import TEM

class Theirs(TEM):
    name = "theirs"
    summary = "somebody else's"

class Taken(TEM):
    name = "rantext"
"""
BUILT_IN = "import perturb\nassert perturb.mechanism_class('tem').name == 'tem'\n"


def test_every_name_leads_to_a_class_of_that_name() -> None:
    for name in sanitizer_names():
        cls = sanitizer_class(name)
        assert cls.name == name
        assert issubclass(cls, Sanitizer)
        assert cls.summary
    assert list(sanitizer_names()) == sorted(set(sanitizer_names()))


def test_mechanisms_are_sanitizers_and_are_found_in_the_same_registry() -> None:
    assert set(mechanism_names()) <= set(sanitizer_names())
    assert all(mechanism_class(name) is sanitizer_class(name) for name in mechanism_names())
    assert issubclass(Mechanism, Sanitizer)
    assert issubclass(Perturber, Sanitizer)


def test_a_name_is_registered_once() -> None:
    class Second(TEM):
        name = "tem"

    with pytest.raises(ParameterError, match="must have a name of its own"):
        register(Second)
    assert sanitizer_class("tem") is TEM


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ParameterError, match="mechanism must be one of custext"):
        sanitizer_class("nobody")


def test_a_mechanism_is_a_sanitizer_with_default_options() -> None:
    mechanism = get_mechanism("rantext_ldp", epsilon=6)
    made = mechanism.perturb("The meeting is on Monday.")
    mechanism.verify("The meeting is on Monday.", made)
    assert made.receipt.released == 5
    assert mechanism.divisible
    assert mechanism.mechanism is mechanism


# -- plug-ins -------------------------------------------------------------------------------


def distribution(folder: Path, name: str, points: dict[str, str], source: str = PLUGIN) -> None:
    """Write an installed distribution with these entry points, and its module."""
    (folder / f"{name}.py").write_text(source)
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [f"{point} = {value}" for point, value in points.items()]
    (info / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *lines, ""]))


def run(folder: Path, code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", BUILT_IN + code],
        env={"PYTHONPATH": f"{folder}:{ROOT}", "PATH": ""},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_a_plugin_is_loaded_late_and_works_in_the_configuration_and_the_proxy(
    tmp_path: Path,
) -> None:
    distribution(tmp_path, "theirs_dist", {"theirs": "theirs_dist:Theirs"})
    code = """
import sys
from perturb import Perturber, get_mechanism, load_table, mechanism_names, sanitizer_names
assert "theirs" in sanitizer_names() and "theirs_dist" not in sys.modules
assert "theirs" in mechanism_names()
made = Perturber(get_mechanism("theirs", epsilon=6)).perturb("The meeting is on Monday.")
assert made.receipt.mechanism == "theirs"

from proxy.access.auth import Grant
from proxy.config.settings import load_config
from proxy.pipeline.policy import RequestPolicy
from proxy.requests.protocol import Options
config = load_config(None, {"privacy": {"mechanism": "theirs", "parameters": {"beta": 0.01}}})
Grant(mechanisms=("theirs",))
sanitizer = RequestPolicy(config, load_table()).sanitizer(Options())
assert sanitizer.identity()["beta"] == 0.01 and sanitizer.name == "theirs"
"""
    run(tmp_path, code)


def test_a_plugin_that_cannot_be_loaded_is_left_out_of_the_classes(tmp_path: Path) -> None:
    points = {"theirs": "theirs_dist:Theirs", "taken": "theirs_dist:Taken", "gone": "nowhere:Gone"}
    distribution(tmp_path, "theirs_dist", points)
    code = """
import pytest
from perturb import PluginError, mechanism_names, sanitizer_class, sanitizer_names
from perturb.audit.certificate import certifiable_names
from perturb.registry import sanitizer_classes
from proxy.cli.options import list_sanitizers
classes = sanitizer_classes()
assert set(sanitizer_names()) - set(classes) == {"taken", "gone"}
assert list(classes) == sorted(classes)
assert all(sanitizer_class(name) is kind for name, kind in classes.items())
for names in (mechanism_names(), list_sanitizers()):
    assert "theirs" in names and not {"taken", "gone"} & set(names)
assert set(certifiable_names()) <= set(classes)
for name in ("taken", "gone"):
    with pytest.raises(PluginError):
        sanitizer_class(name)
"""
    run(tmp_path, code)


BROKEN = {  # by the name of the entry point: its value, the module's source, what is said
    "absent": ("nowhere:Theirs", PLUGIN, "ModuleNotFoundError"),
    "nobody": ("nobody_dist:Nobody", PLUGIN, "AttributeError"),
    "raises": ("raises_dist:X", "raise RuntimeError('broken')", "RuntimeError: broken"),
    "leaves": ("leaves_dist:X", "raise SystemExit(3)", "SystemExit: 3"),
    "number": ("number_dist:X", "X = 3", "must be a subclass of"),
    "misnamed": ("misnamed_dist:Taken", PLUGIN, "must have the name of its entry"),
}


def test_a_broken_plugin_says_whose_it_is_and_stops_nothing_else(tmp_path: Path) -> None:
    for name, (value, source, _) in BROKEN.items():
        distribution(tmp_path, f"{name}_dist", {name: value}, source)
    code = f"""
from perturb import PluginError, mechanism_names, sanitizer_class
from proxy.config.settings import load_config
from proxy.errors import ConfigError
broken = {list(BROKEN)}
assert "rantext" in mechanism_names() and not set(broken) & set(mechanism_names())
load_config(None, {{"privacy": {{"mechanism": "tem"}}}})
for name in broken:
    try:
        sanitizer_class(name)
    except PluginError as exc:
        print(exc)
    try:
        load_config(None, {{"privacy": {{"mechanism": name}}}})
    except ConfigError as exc:
        print(exc)
"""
    lines = run(tmp_path, code).splitlines()
    for name, (value, _, said) in BROKEN.items():
        origin = f"{name}_dist 1.0 (entry point {name} = {value} in {GROUP})"
        mine = [line for line in lines if origin in line]
        assert len(mine) == 2
        assert all(said in line for line in mine)


def test_a_plugin_does_not_take_a_built_in_name(tmp_path: Path) -> None:
    distribution(tmp_path, "theirs_dist", {"rantext": "theirs_dist:Taken"})
    code = """
import logging
logging.basicConfig()
from perturb import sanitizer_class, sanitizer_names
sanitizer_names(), sanitizer_names()
assert sanitizer_class("rantext").__module__ == "perturb.mechanisms.rantext"
"""
    out = run(tmp_path, code)
    assert out.count("theirs_dist 1.0 (entry point rantext = theirs_dist:Taken") == 1
    assert "is not used: the name is built in" in out


def test_two_plugins_of_one_name_are_refused_both(tmp_path: Path) -> None:
    distribution(tmp_path, "one_dist", {"theirs": "one_dist:Theirs"})
    distribution(tmp_path, "two_dist", {"theirs": "two_dist:Theirs"})
    code = """
from perturb import PluginError, sanitizer_class
try:
    sanitizer_class("theirs")
except PluginError as exc:
    print(exc)
"""
    out = run(tmp_path, code)
    assert "'theirs' is registered twice" in out
    assert "one_dist" in out
    assert "two_dist" in out


def test_built_in_names_leave_plugins_out() -> None:
    assert set(built_in_names()) <= set(sanitizer_names())
