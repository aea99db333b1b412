"""Children are stopped with all their descendants, however a measurement ends."""

from __future__ import annotations

import sys
from pathlib import Path

import psutil
import pytest

from benchmarks.load.processes import Child, LoadError, start_child
from tests.limits import LIMIT

PARENT = (
    "import subprocess, sys, time\n"
    "busy = 'import time\\nwhile True: time.sleep(.001)'\n"
    "child = subprocess.Popen([sys.executable, '-c', busy])\n"
    "print(child.pid, flush=True)\n"
    "time.sleep(1000)\n"
)


def _start_tree(child: Child) -> list[psutil.Process]:
    child.wait_until(lambda: child.log.read_text().endswith("\n"), LIMIT)
    return [psutil.Process(child.pid), psutil.Process(int(child.log.read_text()))]


@pytest.mark.parametrize("ending", [KeyboardInterrupt, SystemExit, LoadError])
def test_the_whole_tree_ends(tmp_path: Path, ending: type[BaseException]) -> None:
    tree = []

    def measure() -> None:
        with start_child([sys.executable, "-c", PARENT], tmp_path) as child:
            tree.extend(_start_tree(child))
            raise ending

    with pytest.raises(ending):
        measure()
    assert len(tree) == 2
    _, alive = psutil.wait_procs(tree, timeout=LIMIT)
    assert alive == []


def test_usage_is_of_the_whole_tree(tmp_path: Path) -> None:
    with start_child([sys.executable, "-c", PARENT], tmp_path) as child:
        tree = _start_tree(child)
        assert child.usage().rss_bytes > max(process.memory_info().rss for process in tree)
        # The parent sleeps, and the child's time grows: the clock shows hundredths of a second.
        own = sum(tree[0].cpu_times()[:2]) + 0.02
        child.wait_until(lambda: child.usage().cpu_seconds > own, LIMIT)


def test_a_child_that_ends_early_shows_its_output(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "raise SystemExit('no such option')"]
    with (
        start_child(command, tmp_path) as child,
        pytest.raises(LoadError, match="exited with 1: no such option"),
    ):
        child.wait_until(lambda: False, LIMIT)


def test_a_child_that_is_never_ready_is_given_up(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import time; time.sleep(1000)"]
    with start_child(command, tmp_path) as child, pytest.raises(LoadError, match="not ready"):
        child.wait_until(lambda: False, 0.1)
