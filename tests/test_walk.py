"""The walk of a chat request in CONTRIBUTING.md can be followed in the code; none gets longer."""

from __future__ import annotations

import ast
import asyncio
import logging
import re
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tests.proxy.chats import user
from tests.proxy.conftest import MODEL, running_proxy
from tests.tables import bundled_table

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


class Steps:
    """The project's modules that run, and how often one calls another; in all threads."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.switches = 0
        self._last: dict[int, str] = {}

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        name = frame.f_globals.get("__name__", "")
        if event != "call" or name.partition(".")[0] not in ("perturb", "extraction", "proxy"):
            return
        self.modules.add(name)
        thread = threading.get_ident()
        self.switches += self._last.get(thread) != name
        self._last[thread] = name


@contextmanager
def stepping(steps: Steps) -> Iterator[None]:
    # Only threads that start now have the profile function.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor())
    threading.setprofile(steps)
    sys.setprofile(steps)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]


# What runs in one warm streamed chat, and a little room. Merge modules rather than raise it.
MOST = {"chat": (45, 610), "selective": (76, 1290), "gateway": (80, 1340)}
SETTINGS: dict[str, dict[str, Any]] = {
    "chat": {"privacy": {"mechanism": "rantext_ldp"}},
    "selective": {"privacy": {"mechanism": "selective"}},
    "gateway": {"privacy": {"mechanism": "selective"}, "local": {"mode": "none"}},
}


@pytest.mark.parametrize("mode", MOST)
async def test_a_chat_runs_through_no_more_modules(mode: str) -> None:
    """The shortest of a few walks: on a busy machine an answer comes in more pieces."""
    modules, switches = MOST[mode]
    async with running_proxy(bundled_table(), SETTINGS[mode]) as proxy:
        # As the server does: the test's own client logs a score of lines for each chat.
        logging.getLogger().setLevel(logging.WARNING)
        for number in range(13):
            steps = Steps()
            warm = number < 3
            with nullcontext() if warm else stepping(steps):
                told = await proxy.client().chat.completions.create(
                    model=MODEL,
                    messages=user(f"Mira Holzapfel built lighthouse {number} in 1874."),
                    stream=True,
                )
                async for _ in told:
                    pass
            if not warm and steps.switches <= switches and len(steps.modules) <= modules:
                break
    assert len(steps.modules) <= modules, sorted(steps.modules)
    assert switches // 4 < steps.switches <= switches
