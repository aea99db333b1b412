"""A file is written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from perturb.files import write_atomically


def test_write_replaces_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old and long")
    write_atomically(path, b"n", memoryview(b"e"), b"w")
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["file"]
    assert path.stat().st_mode & 0o777 == 0o644


def test_failed_rename_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    with pytest.raises(OSError, match="file"):
        write_atomically(tmp_path / "file", b"data")
    assert os.listdir(tmp_path) == ["file"]


def test_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(TypeError):
        write_atomically(path, b"new", "not bytes")  # type: ignore[arg-type]
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]
