"""Documents of a made-up corpus, its files, and what a run made of them."""

from __future__ import annotations

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

from proxy.corpus.engines import Job
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


def job(path: Path, rows: int = 10, key: bytes = KEY, **recipe: Any) -> Job:
    source = find_source(str(path), Columns("text", "id", "owner"), rows)
    return Job(source, Recipe(**{"mechanism": "rantext_ldp", **recipe}), key)


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
    """A run in a process group of its own, which can be killed with or without its workers."""

    def __init__(self, source: Path, out: Path, state: Path, *options: str) -> None:
        self.process = subprocess.Popen(
            command(source, out, *options),
            env={**os.environ, "INFERDPT_STATE_DIR": str(state)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._out = out

    def wait_for_parts(self, count: int) -> None:
        """Wait until so many blocks are written, or the run is over."""
        deadline = time.monotonic() + LIMIT
        while self.process.poll() is None and time.monotonic() < deadline:
            if len(list((self._out / "data").glob("part-*[0-9].*"))) >= count:
                return
            time.sleep(0.005)

    def workers(self) -> list[int]:
        """The processes of the pool."""
        found = []
        for entry in Path("/proc").iterdir():
            try:
                parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
                name = (entry / "cmdline").read_bytes()
            except (OSError, IndexError):
                continue
            if parent == str(self.process.pid) and b"spawn_main" in name:
                found.append(int(entry.name))
        return found

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(LIMIT)

    def finish(self) -> int:
        _, said = self.process.communicate(timeout=5 * LIMIT)
        assert self.process.returncode in (0, 1), said
        return self.process.returncode
