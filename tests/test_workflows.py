"""The workflow files: their schema, what they run, and what they may do. They are not run here."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

from tests.schemas import find_faults

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".github" / "workflows"
FILES = sorted(FOLDER.glob("*.yml"))
TARGET = re.compile(r"^([\w-]+):", re.MULTILINE)


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
    return found


def test_they_follow_the_schema(tmp_path: Path) -> None:
    broken = [tmp_path / path.name for path in FILES]
    for path, copy in zip(FILES, broken, strict=True):
        copy.write_text(path.read_text("utf-8").replace("runs-on:", "run-on:"))
    faults = find_faults("vendor.github-workflows", [*FILES, *broken])
    assert {*faults} == {*broken}, faults


def test_targets_that_they_make_exist() -> None:
    makefile = set(TARGET.findall((ROOT / "Makefile").read_text("utf-8")))
    made: set[str] = set()
    for path in FILES:
        for job in read(path)["jobs"].values():
            matrix = job.get("strategy", {}).get("matrix", {}).get("target", [])
            for step in job["steps"]:
                found = re.search(r"^make (.+)$", step.get("run", ""), re.MULTILINE)
                words = found[1] if found else ""
                made |= set(matrix if "matrix.target" in words else words.split())
    assert {"check", "docs", "test", "test-wheel"} <= made
    assert made <= makefile


def test_they_may_read_and_only_two_jobs_more() -> None:
    """Trusted publishing needs `id-token: write`, a release `contents: write`."""
    rights = {}
    for path in FILES:
        workflow = read(path)
        assert workflow["permissions"] == {"contents": "read"}, path.name
        for name, job in workflow["jobs"].items():
            if "permissions" in job:
                rights[path.name, name] = job["permissions"]
    assert rights == {
        ("release.yml", "publish"): {"id-token": "write"},
        ("release.yml", "assets"): {"contents": "write"},
    }


def test_actions_are_pinned_by_their_commits() -> None:
    """A tag or a branch may move. The version is a comment beside it."""
    found = [
        line for path in FILES for line in path.read_text("utf-8").splitlines() if "uses:" in line
    ]
    assert found
    for line in found:
        assert re.search(r"uses: [\w./-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+$", line), line


def test_what_is_published_is_built_of_files_whose_hashes_are_known() -> None:
    jobs = read(FOLDER / "release.yml")["jobs"]
    commands = [step["run"] for step in jobs["build"]["steps"] if "run" in step]
    installs = [command for command in commands if re.search(r"\bpip\b|\bmake\b", command)]
    assert installs == [
        "python -m pip install --require-hashes -r scripts/release/requirements.txt"
    ]
    for script in ("build", "integrations", "sbom"):
        assert f"python -m scripts.release.{script}" in commands
    assert set(jobs["publish"]["needs"]) == {"test", "build"}


def test_no_secret_is_used() -> None:
    for path in FILES:
        assert "secrets." not in path.read_text("utf-8"), path.name


def test_pythons_are_those_that_the_package_supports() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    least = project["requires-python"].removeprefix(">=")
    for path in FILES:
        assert set(re.findall(r'python-version: "([\d.]+)"', path.read_text("utf-8"))) == {least}


def test_every_test_on_postgresql_is_in_its_tier() -> None:
    """`make test` leaves them out: they would be run nowhere."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    listed = re.search(r"^ON_POSTGRES := ((?:.*\\\n)*.*)", makefile, re.MULTILINE)
    assert listed is not None
    folders = [word for word in listed[1].split() if word.startswith("tests/")]
    named = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests").rglob("test_*.py")
        if re.search(r"^from tests\.databases import", path.read_text("utf-8"), re.MULTILINE)
    }
    assert len(named) > 20
    own = ("tests/clients", "tests/hostile")  # tiers with a server of their own
    for name in named:
        assert name.startswith((*folders, *own)), name
