"""Releases: the same bytes from the same files, and what a package index asks for."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from scripts.release.build import build, normalize

ROOT = Path(__file__).parents[1]
EPOCH = 1_800_000_000
SKIPPED = shutil.ignore_patterns("__pycache__", "*.pyc")
CODE = ("perturb", "extraction", "proxy")


def pack(names: list[str], *, mode: int, time: int, owner: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size, member.mode, member.mtime, member.uname = 4, mode, time, owner
            tar.addfile(member, io.BytesIO(b"text"))
    return out.getvalue()


def test_archives_of_the_same_files_become_the_same() -> None:
    one = pack(["a/b", "a/c"], mode=0o600, time=1, owner="alice")
    other = pack(["a/c", "a/b"], mode=0o664, time=2, owner="bob")
    assert one != other
    assert normalize(one, EPOCH) == normalize(other, EPOCH)
    assert normalize(one, EPOCH) != normalize(one, EPOCH + 1)
    with tarfile.open(fileobj=io.BytesIO(normalize(one, EPOCH))) as tar:
        assert {(m.mtime, m.mode, m.uname) for m in tar.getmembers()} == {(EPOCH, 0o644, "")}


def test_programs_stay_programs() -> None:
    made = normalize(pack(["a/run"], mode=0o700, time=1, owner="alice"), EPOCH)
    with tarfile.open(fileobj=io.BytesIO(made)) as tar:
        assert tar.getmember("a/run").mode == 0o755


def build_copy(tree: Path, out: Path, mask: int, time: int) -> list[Path]:
    """Copy what is installed, with other modes and times, and build it."""
    for name in CODE:
        shutil.copytree(ROOT / name, tree / name, ignore=SKIPPED)
    for name in ("pyproject.toml", "README.md", "LICENSE", "MANIFEST.in", "constraints.txt"):
        shutil.copyfile(ROOT / name, tree / name)
    for path in tree.rglob("*"):
        path.chmod(path.stat().st_mode & ~mask)
        os.utime(path, (time, time))
    return build(tree, out, EPOCH)


@pytest.mark.wheel
def test_two_builds_are_the_same_and_can_be_published(tmp_path: Path) -> None:
    hashes = []
    for name, mask, time in (("one", 0o000, 1_600_000_000), ("other", 0o077, 1_700_000_000)):
        made = build_copy(tmp_path / name, tmp_path / f"out-{name}", mask, time)
        assert [path.suffix for path in made] == [".gz", ".whl"]
        hashes.append([hashlib.sha256(path.read_bytes()).hexdigest() for path in made])
        done = subprocess.run(
            [sys.executable, "-m", "twine", "check", "--strict", *map(str, made)],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout
    assert hashes[0] == hashes[1]
