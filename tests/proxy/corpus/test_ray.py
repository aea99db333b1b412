"""The Ray engine: the bytes of one process, also when actors and drivers are killed."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from proxy.cli.main import main
from proxy.corpus.inputs.records import OURS, Columns
from proxy.corpus.inputs.source import find_source
from tests.proxy.corpus.documents import Driver, documents, released, run_command, write_jsonl
from tests.proxy.corpus.kills import check_after_kills, same_parts

pytestmark = pytest.mark.ray
COUNT = 300
OPTIONS = ("--rows", "10", "--workers", "2")


@pytest.fixture
def ray_state(tmp_path: Path) -> Path:
    pytest.importorskip("ray", reason="Ray is not installed: make test-ray installs it")
    return tmp_path / "state"


def test_ray_releases_the_bytes_of_one_process(tmp_path, ray_state):
    source = write_jsonl(tmp_path / "rows.jsonl", documents(COUNT))
    done = run_command(source, tmp_path / "ray", ray_state, *OPTIONS, "--engine", "ray")
    assert done.returncode == 0, done.stderr
    one = run_command(source, tmp_path / "one", ray_state, "--rows", "10", "--workers", "1")
    assert one.returncode == 0, one.stderr
    assert len(released(tmp_path / "ray")) == COUNT
    assert same_parts(tmp_path / "ray", tmp_path / "one")


def test_killed_actors_and_drivers_lose_nothing(tmp_path, ray_state):
    source, out = write_jsonl(tmp_path / "rows.jsonl", documents(COUNT)), tmp_path / "out"
    options = (*OPTIONS, "--engine", "ray")
    driver = Driver(source, out, ray_state, *options)
    driver.wait_for_parts(5)
    actors = driver.workers(b"ray::MapWorker")  # its agents end the whole node
    assert actors
    os.kill(actors[0], signal.SIGKILL)
    driver.wait_for_parts(12)
    driver.kill()
    Driver(source, out, ray_state, *options).finish()
    check_after_kills(source, out, ray_state, COUNT, "--rows", "10")


def test_an_error_in_an_actor_is_said_without_text(tmp_path, ray_state):
    source = tmp_path / "rows.parquet"
    rows = [{**row, "text": row["text"].encode() + b"\xff"} for row in documents(30)]
    table = pa.Table.from_pylist(rows)
    place = table.schema.get_field_index("text")
    damaged = table["text"].cast(pa.binary()).combine_chunks().view(pa.string())
    pq.write_table(table.set_column(place, "text", damaged), source)
    done = run_command(source, tmp_path / "out", ray_state, *OPTIONS, "--engine", "ray")
    assert done.returncode == 2
    assert "inferdpt: Ray failed" in done.stderr
    assert "Anna" not in done.stderr + done.stdout


def test_a_data_set_that_was_saved_is_read(tmp_path):
    datasets = pytest.importorskip("datasets", reason="make test-ray installs it")
    rows = documents(57)
    datasets.Dataset.from_list(rows).save_to_disk(tmp_path / "saved", num_shards=3)
    source = find_source(str(tmp_path / "saved"), Columns("text", "id", "owner"), 10)
    texts = [t for b in source.blocks() for t in source.read(b)[f"{OURS}text"].to_pylist()]
    assert texts == [row["text"] for row in rows]


def test_without_ray_the_command_says_what_to_install(tmp_path, monkeypatch, capsys):
    """Runs where Ray is installed, too."""
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    monkeypatch.setenv("INFERDPT_STATE_DIR", str(tmp_path / "state"))
    source = write_jsonl(tmp_path / "rows.jsonl", documents(3))
    out = str(tmp_path / "out")
    assert main(["corpus", "run", str(source), "--out", out, "--engine", "ray"]) == 2
    assert "[ray]" in capsys.readouterr().err
    assert json.loads((tmp_path / "out" / "run.json").read_text())["version"] == 2
