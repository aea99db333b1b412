"""The source distribution holds what the repository does: settings, pages, examples, tests."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMED = {
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "THREAT_MODEL.md",
    "benchmarks/__main__.py",
    "config.yaml",
    "constraints.txt",
    "docs/mechanisms.md",
    "docs/recordings/demo.svg",
    "examples/evaluate.py",
    "extraction/bundled/model.gguf",
    "mkdocs.yml",
    "perturb/data/minilm.npz",
    "perturb/data/public.txt",
    "proxy/storage/migrations/versions/v0001_first.py",
    "pyproject.toml",
    "tests/test_sdist.py",
}
BUILD = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"
NEEDED = 77  # the first that reads `license = "MIT"`; pyproject.toml asks for it


def repository() -> list[str]:
    """The files git knows, and those it would add."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout.decode()
    return [name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def test_everything_in_the_repository_is_in_the_source_distribution(tmp_path: Path) -> None:
    version = importlib.metadata.version("setuptools")
    if int(version.partition(".")[0]) < NEEDED:
        pytest.skip(f"setuptools {version} is too old: pyproject.toml asks for >= {NEEDED}")
    tree, out = tmp_path / "tree", tmp_path / "out"
    files = repository()
    for name in files:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, tree / name)
    out.mkdir()
    subprocess.run(
        [sys.executable, "-c", BUILD, str(out)],
        cwd=tree,
        env={**os.environ, "PIP_NO_INDEX": "1"},
        capture_output=True,
        check=True,
        timeout=300,
    )
    (archive,) = out.iterdir()
    with tarfile.open(archive) as tar:
        packed = {one.name.partition("/")[2] for one in tar.getmembers() if one.isfile()}
    assert packed >= NAMED
    assert packed >= set(files)
    made = packed - set(files) - {"PKG-INFO", "setup.cfg"}
    assert all(name.startswith("inferdpt.egg-info/") for name in made), made
