"""Kill drivers and workers of runs at random moments, and check what is there in the end."""

from __future__ import annotations

import json
import os
import random
import signal
from pathlib import Path

import pytest

from tests.proxy.corpus.documents import Driver, documents, released, run_command

__all__ = ["check_after_kills", "kill_and_resume", "ledger_covers", "read_accounts", "same_parts"]


def read_accounts(out: Path) -> dict[str, dict]:
    lines = (out / "accounts.jsonl").read_text("utf-8").splitlines()
    return {row["owner"]: row for row in map(json.loads, lines)}


def ledger_covers(out: Path) -> None:
    """Each owner was charged exactly the sum of the releases that can be seen."""
    sums: dict[str, float] = {}
    for row in released(out):
        if row["outcome"] == "released":
            sums[row["owner"]] = sums.get(row["owner"], 0.0) + row["epsilon"]
    charged = {name: row["epsilon"]["charged"] for name, row in read_accounts(out).items()}
    assert charged == pytest.approx(sums)


def same_parts(one: Path, other: Path) -> bool:
    names = sorted(path.name for path in (one / "data").iterdir())
    return names == sorted(path.name for path in (other / "data").iterdir()) and all(
        (one / "data" / name).read_bytes() == (other / "data" / name).read_bytes()
        for name in names
    )


def kill_and_resume(
    source: Path, out: Path, state: Path, kills: int, seed: int, *options: str
) -> int:
    """Kill workers and drivers after random numbers of blocks; then let a run finish. Return how
    many kills met a living process."""
    generator = random.Random(seed)
    done = 0
    for _ in range(3 * kills):  # runs that are over before their kill do not count
        if done >= kills:
            break
        driver = Driver(source, out, state, *options)
        missing = [n for n in range(driver.blocks) if n not in driver.parts()]
        driver.wait_for_parts(driver.blocks - generator.randrange(1, len(missing)))
        workers = driver.workers()
        if workers and generator.random() < 0.5:
            os.kill(generator.choice(workers), signal.SIGKILL)
            done += 1
            driver.wait_for_parts(len(driver.parts()) + generator.randrange(3))
        done += driver.kill()
        for path in list((out / "data").iterdir())[::2]:  # as if the kill had come earlier
            path.unlink()
    Driver(source, out, state, *options).finish()
    return done


def check_after_kills(source: Path, out: Path, state: Path, count: int, *options: str) -> None:
    assert [row["id"] for row in released(out)] == [row["id"] for row in documents(count)]
    assert not list(out.rglob("*.partial"))
    ledger_covers(out)
    calm = out.with_name("calm")
    done = run_command(source, calm, state, *options, "--workers", "1")
    assert done.returncode == 0, done.stderr
    assert same_parts(out, calm)  # no document was drawn twice
    assert read_accounts(out) == read_accounts(calm)
