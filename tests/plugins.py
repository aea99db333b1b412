"""Distributions with entry points, laid on the path as an installer would lay them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from perturb import plugins

__all__ = ["lay_distribution"]


def lay_distribution(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    entries: dict[str, dict[str, str]],
    source: str = "",
) -> None:
    """Lay a distribution of one module, named like it, and put it on the path.

    Args:
        entries: by group, the entry points: name to what stands behind `=`.
        source: of the module.
    """
    root = folder / name
    info = root / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [
        line
        for group, points in entries.items()
        for line in (f"[{group}]", *(f"{key} = {value}" for key, value in points.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    (root / f"{name}.py").write_text(source)
    monkeypatch.syspath_prepend(str(root))
    sys.modules.pop(name, None)  # of an earlier test's distribution
    plugins._plugins.cache_clear()
