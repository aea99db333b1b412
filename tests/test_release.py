"""Releases: fragments of the changelog, and the bill of materials of what is installed."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.release.hashes import EXTRAS, IMAGE, RELEASE, TOOLS, read_hashes
from scripts.release.sbom import describe, find_faults, list_needed, read_extras, read_pins

ROOT = Path(__file__).parents[1]
CHANGES = ROOT / "changes"
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["towncrier"]
KINDS = [each["directory"] for each in SETTINGS["type"]]
NAME = re.compile(rf"\+[a-z0-9]+(-[a-z0-9]+)*\.({'|'.join(KINDS)})\.md")
PINS = read_pins((ROOT / "constraints.txt").read_text("utf-8"))


def read_names(text: str) -> dict[str, str]:
    """The pinned versions in a file of requirements with hashes."""
    pairs = (pin.split("==") for pin in read_hashes(text))
    return {canonicalize_name(name.partition("[")[0]): version for name, version in pairs}


@pytest.mark.parametrize("path", [IMAGE, RELEASE], ids=["image", "release"])
def test_every_requirement_has_one_version_and_hashes(path: Path) -> None:
    text = path.read_text("utf-8")
    found = read_hashes(text)
    assert found
    for pin, hashes in found.items():
        assert re.fullmatch(r"[\w.\[\],-]+==[\w.]+", pin), pin
        assert hashes, pin
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", each) for each in hashes), pin
    assert sum(map(len, found.values())) == text.count("--hash=")
    names = read_names(text)
    assert {name: PINS[name] for name in names if name in PINS} == {
        name: version for name, version in names.items() if name in PINS
    }, "stale: make hashes"


def test_the_requirements_are_those_of_the_image_and_of_the_release() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"]
    assert set(read_extras((ROOT / "deploy" / "Containerfile").read_text("utf-8"))) <= set(EXTRAS)
    needed = [
        *project["project"]["dependencies"],
        *project["build-system"]["requires"],
        *(line for extra in EXTRAS for line in extras[extra]),
    ]
    names = {canonicalize_name(Requirement(line).name) for line in needed}
    assert names <= set(read_names(IMAGE.read_text("utf-8"))), "stale: make hashes"
    assert set(TOOLS) <= set(read_names(RELEASE.read_text("utf-8"))), "stale: make hashes"


def test_the_image_installs_no_file_without_its_hash() -> None:
    text = (ROOT / "deploy" / "Containerfile").read_text("utf-8").replace("\\\n", " ")
    commands = re.findall(r"bin/pip (?:download|install) [^&]*", text)
    assert len(commands) == 2
    assert re.search(
        r"^bin/pip download .*--require-hashes .*-r /src/requirements.txt", commands[0]
    )
    assert "--no-index --find-links /wheels" in commands[1]


def need(module: str) -> None:
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed (make install)")


def find_bad_fragments(folder: Path) -> list[str]:
    """The files that are no fragments, or whose text is not one paragraph."""
    return [
        path.name
        for path in sorted(folder.iterdir())
        if path.name != "README.md"
        and not (
            NAME.fullmatch(path.name)
            and (text := path.read_text("utf-8")).endswith(".\n")
            and "\n\n" not in text
            and not text.startswith(("-", "#", "*"))
        )
    ]


def test_fragments_are_well_named() -> None:
    assert find_bad_fragments(CHANGES) == []
    guide = (CHANGES / "README.md").read_text("utf-8")
    assert re.findall(r"^\| `(\w+)` \|", guide, re.MULTILINE) == KINDS


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("+thing.md", "A thing.\n"),
        ("+thing.misc.md", "A thing.\n"),
        ("12.feature.md", "A thing.\n"),
        ("+Thing.fix.md", "A thing.\n"),
        ("+thing.fix.md", "A thing\n"),
        ("+thing.fix.md", "- A thing.\n"),
        ("+thing.fix.md", "A thing.\n\nAnother.\n"),
    ],
)
def test_a_bad_fragment_is_found(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    (tmp_path / "+good-one.feature.md").write_text("A thing.\n")
    assert find_bad_fragments(tmp_path) == [name]


def run_towncrier(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "towncrier", "build", "--version", "9.9.9"]
    return subprocess.run(
        [*command, "--date", "2030-01-31", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def copy_project(to: Path) -> Path:
    shutil.copytree(CHANGES, to / "changes")
    for name in ("pyproject.toml", "CHANGELOG.md"):
        shutil.copyfile(ROOT / name, to / name)
    return to


def test_a_release_moves_the_fragments_into_the_changelog(tmp_path: Path) -> None:
    need("towncrier")
    folder = copy_project(tmp_path)
    (folder / "changes" / "+a-hole.security.md").write_text("A hole is closed.\n")
    (folder / "changes" / "+a-thing.feature.md").write_text("A thing is new.\n")
    before = (folder / "CHANGELOG.md").read_text("utf-8")
    draft = run_towncrier(folder, "--draft")
    assert "## 9.9.9 (2030-01-31)" in draft
    assert (folder / "CHANGELOG.md").read_text("utf-8") == before
    run_towncrier(folder, "--yes")
    after = (folder / "CHANGELOG.md").read_text("utf-8")
    assert [path.name for path in (folder / "changes").iterdir()] == ["README.md"]
    head, section, rest = re.split(r"(?=^## )", after, maxsplit=2, flags=re.MULTILINE)
    assert before.startswith(head.rstrip())
    assert section.index("- A hole is closed.") < section.index("- A thing is new.")
    assert before.endswith(rest)


def test_the_image_and_its_extras_are_read() -> None:
    text = (ROOT / "deploy" / "Containerfile").read_text("utf-8")
    assert read_extras(text) == ["embedded", "postgres"]
    with pytest.raises(ValueError, match="EXTRAS"):
        read_extras("FROM scratch\n")


def test_what_a_package_needs_is_followed_through_extras_and_markers() -> None:
    requires = {
        "a": ["b>=1", "c ; extra == 'more'", "d ; python_version < '3'", "B.Two[fast]"],
        "b-two": ["e ; extra == 'fast'", "f ; extra == 'slow'"],
        "e": ["A"],
    }
    assert list_needed(requires, "A", []) == {"a", "b", "b-two", "e"}
    assert list_needed(requires, "a", ["more"]) == {"a", "b", "b-two", "c", "e"}


@pytest.fixture(scope="module")
def bill(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    need("cyclonedx_py")
    return describe(Path(sys.executable), tmp_path_factory.mktemp("sbom") / "bill.json")


@pytest.mark.wheel  # the list of a whole environment takes as long as its installation
def test_every_pinned_package_that_the_proxy_needs_is_on_the_bill(bill: dict[str, Any]) -> None:
    installed = {
        canonicalize_name(each.metadata["Name"]): each.requires or []
        for each in importlib.metadata.distributions()
    }
    needed = list_needed(installed, "inferdpt", ["embedded", "otel"])
    assert len(needed) > 30
    assert {"aiohttp", "numpy", "xllamacpp", "opentelemetry-sdk"} <= needed
    assert find_faults(bill, needed, PINS) == []
    assert bill["bomFormat"] == "CycloneDX"
    assert bill["metadata"]["component"]["name"] == "inferdpt"
    assert "timestamp" not in bill["metadata"]


@pytest.mark.wheel
def test_a_package_that_is_missing_or_of_another_version_is_found(bill: dict[str, Any]) -> None:
    numpy = {"name": "numpy", "version": "0.1"}
    left = [each for each in bill["components"] if each["name"] not in ("aiohttp", "numpy")]
    assert find_faults({"components": [*left, numpy]}, ["aiohttp", "numpy", "inferdpt"], PINS) == [
        "aiohttp is missing",
        f"numpy is 0.1, constraints.txt has {PINS['numpy']}",
    ]
    pins = {name: version for name, version in PINS.items() if name != "pyyaml"}
    assert find_faults(bill, ["pyyaml"], pins) == [
        "pyyaml has no pinned version in constraints.txt"
    ]
