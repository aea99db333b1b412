"""The walk of a chat request in CONTRIBUTING.md can be followed in the code."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parent.parent
LONGEST = 15
_STEP = re.compile(r"^\d+\. `([a-z_.]+)`", re.MULTILINE)


def steps() -> list[str]:
    return _STEP.findall((ROOT / "CONTRIBUTING.md").read_text("utf-8"))


def imported(module: str) -> set[str]:
    """Return the modules that a module imports from, also through a package and inside
    functions."""
    spec = find_spec(module)
    assert spec is not None, module
    names = set()
    for node in ast.walk(ast.parse(Path(spec.origin or "").read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            source = node.module or ""
            names.add(source)
            found = (getattr(import_module(source), alias.name, None) for alias in node.names)
            names |= {getattr(each, "__module__", source) for each in found}
    return names


def test_the_walk_is_short_and_enters_each_module_once() -> None:
    walk = steps()
    assert 10 <= len(walk) <= LONGEST
    assert len(set(walk)) == len(walk)


def test_each_module_is_reached_from_one_before_it() -> None:
    reached: set[str] = set()
    for place, module in enumerate(steps()):
        assert place == 0 or module in reached, module
        reached |= imported(module)
