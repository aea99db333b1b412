"""Documents of a made-up corpus, its files, and what a run made of them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from proxy.corpus.engines import WorkerSpec
from proxy.corpus.inputs.records import Columns
from proxy.corpus.inputs.source import find_source
from proxy.corpus.stage import Recipe
from tests.limits import LIMIT

__all__ = ["KEY", "Driver", "documents", "job", "released", "run_command", "write_jsonl"]

KEY = bytes(range(32))
OWNERS = 7


def documents(count: int) -> list[dict[str, Any]]:
    """Documents with an id, an owner, a text, and a column that is kept."""
    return [
        {
            "id": f"note {i}",
            "owner": f"owner {i % OWNERS}",
            "text": f"The meeting of group {i} is on Monday, said Anna at number {i * 37}.",
            "kind": i % 3,
        }
        for i in range(count)
    ]


def write_jsonl(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return path


def job(path: Path, rows: int = 10, key: bytes = KEY, **recipe: Any) -> WorkerSpec:
    source = find_source(str(path), Columns("text", "id", "owner"), rows)
    return WorkerSpec(source, Recipe(**{"mechanism": "rantext_ldp", **recipe}), key)


def released(out: Path) -> list[dict[str, Any]]:
    """The rows of a run, in the order of the input; each must be there once."""
    rows: list[dict[str, Any]] = []
    for path in sorted((out / "data").iterdir()):
        if path.suffix == ".jsonl":
            rows += map(json.loads, path.read_text("utf-8").splitlines())
        else:
            rows += pq.read_table(path).to_pylist()
    return rows


def command(source: Path, out: Path, *options: str) -> list[str]:
    program = [sys.executable, "-m", "proxy.cli.main", "corpus", "run", str(source)]
    return [*program, "--out", str(out), "--id", "id", "--owner", "owner", *options]


def run_command(
    source: Path, out: Path, state: Path, *options: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(source, out, *options),
        env={**os.environ, "INFERDPT_STATE_DIR": str(state)},
        capture_output=True,
        text=True,
        timeout=5 * LIMIT,
    )


class Driver:
    """A run in a process of its own, which can be killed, and whose workers can be.

    Attributes:
        blocks: how many blocks the run has, in the end.
    """

    def __init__(self, source: Path, out: Path, state: Path, *options: str) -> None:
        rows = int(options[options.index("--rows") + 1])
        self.blocks = -(-len(source.read_text("utf-8").splitlines()) // rows)
        self._out = out
        self._process = subprocess.Popen(
            command(source, out, *options),
            env={**os.environ, "INFERDPT_STATE_DIR": str(state)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def parts(self) -> set[int]:
        """The blocks that are written."""
        found = (self._out / "data").glob("part-*.jsonl")
        return {int(path.stem.removeprefix("part-")) for path in found}

    def wait_for_parts(self, count: int) -> None:
        """Wait until so many blocks are written, or the run is over."""
        deadline = time.monotonic() + 5 * LIMIT
        while self._process.poll() is None and len(self.parts()) < count:
            assert time.monotonic() < deadline
            time.sleep(0.005)

    def workers(self, name: bytes = b"spawn_main") -> list[int]:
        """The processes below it that have such a command line."""
        parents: dict[int, int] = {}
        named: set[int] = set()
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError, ValueError):
                number = int(entry.name)
                stat = (entry / "stat").read_text()
                parents[number] = int(stat.rpartition(")")[2].split()[1])
                if name in (entry / "cmdline").read_bytes():
                    named.add(number)
        return [number for number in named if self._is_below(number, parents)]

    def _is_below(self, number: int, parents: dict[int, int]) -> bool:
        while number in parents:
            number = parents[number]
            if number == self._process.pid:
                return True
        return False

    def kill(self) -> bool:
        """Kill it; return whether it was still running."""
        self._process.kill()
        _, said = self._process.communicate(timeout=LIMIT)
        code = self._process.returncode
        assert code in (0, -signal.SIGKILL), (code, said)
        return code != 0

    def finish(self) -> None:
        _, said = self._process.communicate(timeout=5 * LIMIT)
        assert self._process.returncode == 0, said
