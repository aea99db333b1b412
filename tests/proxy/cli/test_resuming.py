"""Long commands that are killed (kill -9) continue when they are started again, and give the same
result."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perturb import Vocabulary
from perturb.vocabulary.embeddings import save_table
from perturb.vocabulary.table_build import build_table
from perturb.vocabulary.vocabulary import load_encoding
from tests.limits import LIMIT
from tests.perturb.vocabulary.test_embed import EmbeddingServer

pytestmark = pytest.mark.hostile
ROOT = Path(__file__).parents[3]
RESUMED = "an unfinished audit is resumed"
PLACES = ("sea", "hill", "town", "river", "field", "wood")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table whose audit takes some seconds."""
    vocabulary = Vocabulary(load_encoding(), 1600)
    rows = np.random.default_rng(8).standard_normal((1600 + len(vocabulary.others), 8))
    path = tmp_path_factory.mktemp("table") / "middle"
    provenance = {"model": "random numbers", "licence": "none", "created": "2025-01-01"}
    save_table(build_table(vocabulary, rows, provenance=provenance), path)
    return path


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    """A server that takes a moment for each batch."""
    running = EmbeddingServer()

    def reply(body: dict[str, Any]) -> Any:
        time.sleep(0.1)
        return running.answer(body)

    running.reply = reply
    yield running
    running.close()


def start(arguments: Sequence[str], state: Path) -> subprocess.Popen[str]:
    variables = {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **variables, "INFERDPT_STATE_DIR": str(state)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(arguments: Sequence[str], state: Path) -> tuple[str, str]:
    """Return what a command prints."""
    process = start(arguments, state)
    out, errors = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, errors
    return out, errors


def kill_once(arguments: Sequence[str], state: Path, begun: Callable[[], bool]) -> str:
    """Start a command, kill it once it has finished a part, and return its errors."""
    process = start(arguments, state)
    deadline = time.monotonic() + LIMIT
    try:
        while not begun():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.01)
    finally:
        process.send_signal(signal.SIGKILL)
        _, errors = process.communicate()
    assert process.returncode == -signal.SIGKILL
    return errors


def audit(table: Path, epsilon: str = "6") -> list[str]:
    options = ("--mechanism", "rantext", "--epsilon", epsilon, "--table", str(table), "--json")
    return ["-m", "proxy.cli.main", "privacy", "audit", *options]


def test_a_killed_audit_continues(table: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    parts = "unfinished/*/*.part"
    kill_once(audit(table), state, lambda: any(state.glob(parts)))
    errors = kill_once(audit(table, "5"), state, lambda: len(list(state.glob(parts))) == 2)
    assert RESUMED not in errors, "another ε is another audit"
    resumed, errors = finish(audit(table), state)
    assert RESUMED in errors
    whole, errors = finish(audit(table), state)
    assert RESUMED not in errors, "a finished audit leaves nothing behind"
    assert resumed == whole
    assert len(list((state / "unfinished").iterdir())) == 1, "the audit of the other ε"


def test_a_killed_audit_is_not_resumed_with_another_table(table: Path, tmp_path: Path) -> None:
    state, moved = tmp_path / "state", tmp_path / "moved"
    for suffix in (".npz", ".json"):
        moved.with_suffix(suffix).write_bytes(table.with_suffix(suffix).read_bytes())
    kill_once(audit(moved), state, lambda: any(state.glob("unfinished/*/*.part")))
    vocabulary = Vocabulary(load_encoding(), 60)
    rows = np.random.default_rng(9).standard_normal((60 + len(vocabulary.others), 4))
    save_table(build_table(vocabulary, rows, provenance={}), moved)
    out, errors = finish(audit(moved), state)
    assert RESUMED not in errors
    assert json.loads(out)["words"] == 60


def test_a_killed_table_build_asks_for_no_word_twice(
    server: EmbeddingServer, tmp_path: Path
) -> None:
    def build(name: str) -> list[str]:
        options = ("--model", "m", "--endpoint", server.url, "--size", "300", "--batch", "8192")
        return ["-m", "proxy.cli.main", "table", "build", "--out", str(tmp_path / name), *options]

    kill_once(build("mine"), tmp_path, lambda: any(tmp_path.glob("mine.partial/*.part")))
    kept = [path.name for path in (tmp_path / "mine.partial").glob("*.part")]
    before = len(server.words)
    assert before - len(kept) in (0, 1), "at most the batch on its way is lost"
    finish(build("mine"), tmp_path)
    asked = server.words[before:]
    vocabulary = Vocabulary(load_encoding(), 300)
    everything = [*vocabulary.words, *vocabulary.others]
    assert sum(map(len, asked)) == len(everything) - 8192 * len(kept)
    finish(build("whole"), tmp_path)
    assert digest(tmp_path / "mine.npz") == digest(tmp_path / "whole.npz")
    assert not (tmp_path / "mine.partial").exists()


def test_a_killed_codebook_build_asks_for_no_passage_twice(
    server: EmbeddingServer, tmp_path: Path
) -> None:
    texts = tmp_path / "texts.jsonl"
    lines = [
        f"The {a} of number {i} lies behind the {b}, and nobody knows who first went there. " * 5
        for i in range(60)
        for a, b in product(PLACES, PLACES)
    ]
    texts.write_text("".join(json.dumps({"text": line}) + "\n" for line in lines))

    def build(name: str) -> list[str]:
        options = ("--licence", "CC0", "--endpoint", server.url, "--model", "m")
        out = ("--out", str(tmp_path / name))
        return ["-m", "proxy.cli.main", "codebook", "build", str(texts), *out, *options]

    kill_once(build("mine"), tmp_path, lambda: any(tmp_path.glob("mine.partial/*.part")))
    kept = list((tmp_path / "mine.partial").glob("*.part"))
    before = len(server.words)
    finish(build("mine"), tmp_path)
    again = sum(map(len, server.words[before:]))
    finish(build("whole"), tmp_path)
    total = sum(map(len, server.words[before:])) - again
    assert again == total - 512 * len(kept)
    assert digest(tmp_path / "mine") == digest(tmp_path / "whole")


SLOW_SUITE = """
import sys, time
from pathlib import Path
from benchmarks.harness.context import Context
from benchmarks.harness.experiment import Experiment, Outcome
from benchmarks.harness.records import Estimate
from benchmarks.harness.suite import load_suite
from benchmarks.run import run


class Slow(Experiment):
    name = about = "slow"

    def cases(self, context):
        return [{"case": i} for i in range(6)]

    def measure(self, case, context):
        time.sleep(0.3)
        print("measured", case["case"], flush=True)
        return Outcome({"drawn": Estimate.exact(float(context.rng("slow", case).random()))})

    def render(self, records, figure=None):
        return []


folder = Path(sys.argv[1])
suite = load_suite(str(folder / "mine.yaml"))
context = Context(suite, folder / "data", None, folder / sys.argv[2])
for record in run(context, known={"slow": Slow()}):
    print(record.case, record.values)
"""


def test_a_killed_benchmark_measures_no_case_twice(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    sample = {"id": "1", "prefix": "a", "continuation": "b", "document": "ab"}
    (tmp_path / "data" / "tiny.jsonl").write_text(json.dumps(sample))
    suite = {"name": "mine", "texts": 2, "answers": 2, "datasets": ["tiny"], "epsilons": [1]}
    (tmp_path / "mine.yaml").write_text(json.dumps({**suite, "subjects": [{"mechanism": "tem"}]}))
    script = tmp_path / "slow.py"
    script.write_text(SLOW_SUITE)
    records = tmp_path / "out" / "records.jsonl"

    def command(name: str) -> list[str]:
        return [str(script), str(tmp_path), name]

    kill_once(command("out"), tmp_path, lambda: records.exists() and records.stat().st_size > 0)
    done = len(records.read_bytes().splitlines())
    resumed, _ = finish(command("out"), tmp_path)
    whole, _ = finish(command("whole"), tmp_path)
    measured = [line for line in resumed.splitlines() if line.startswith("measured")]
    assert len(measured) <= 6 - done + 1
    assert results(resumed) == results(whole)


def results(printed: str) -> list[str]:
    return [line for line in printed.splitlines() if line.startswith("{")]


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
