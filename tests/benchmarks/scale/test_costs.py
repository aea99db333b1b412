"""Measured costs: of a small corpus, on real pools."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.scale.costs import build_job, measure_costs, measure_pool
from benchmarks.scale.page import WORKERS, render_page
from benchmarks.scale.record import Record, RecordError, read_record
from tests.proxy.corpus.documents import documents, write_jsonl

DOCUMENTS, ROWS = 60, 10


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "texts.jsonl", documents(DOCUMENTS))


def test_parts_are_those_of_the_run(source: Path, tmp_path: Path) -> None:
    found = measure_costs(build_job(source, "rantext_ldp", ROWS), tmp_path / "run")
    assert found.documents == ROWS
    assert len(found.worker) == DOCUMENTS / ROWS - 1  # the first block warms up
    assert min(*found.worker, found.charge, found.write, found.moved) > 0
    assert 0 <= found.waiting < found.driver
    assert found.read == pytest.approx(source.stat().st_size / DOCUMENTS)
    parts = sorted((tmp_path / "run" / "out" / "data").iterdir())
    text = "".join(part.read_text("utf-8") for part in parts)
    assert found.written == pytest.approx(len(text.encode()) / DOCUMENTS)
    released = [json.loads(line)["released"] for line in text.splitlines()]
    assert len(released) == DOCUMENTS
    assert 5 < found.tokens < max(map(len, released))


def test_a_pool_is_measured(source: Path, tmp_path: Path) -> None:
    found = measure_pool(build_job(source, "rantext_ldp", ROWS), tmp_path / "run", 2)
    assert (found.workers, found.documents) == (2, DOCUMENTS)
    assert found.rate > 0
    assert found.cpu >= 0
    assert min(found.driver_mb, found.worker_mb) > 10
    assert len(list((tmp_path / "run" / "out" / "data").iterdir())) == DOCUMENTS / ROWS


def test_a_record_is_read_as_it_was_written(source: Path, tmp_path: Path) -> None:
    costs = measure_costs(build_job(source, "rantext_ldp", ROWS), tmp_path / "run")
    path = tmp_path / "made" / "scale.json"
    Record({"cores": 2}, DOCUMENTS, costs=[costs]).write(path)
    found = read_record(path)
    assert found.costs[0].driver == pytest.approx(costs.driver, rel=1e-5)
    path.write_text("{}")
    for wrong in (path, tmp_path / "none.json"):
        with pytest.raises(RecordError):
            read_record(wrong)


def test_the_page_is_made_of_its_record() -> None:
    root = Path(__file__).parents[3]
    record = read_record(root / "docs" / "results" / "scale.json")
    assert render_page(record) == (root / "docs" / "scale.md").read_text("utf-8")
    assert {run.workers for run in record.runs} == {1, 2}
    assert WORKERS[-1] == 1000
