"""`dataset.map(perturb, batched=True)`: the releases of `inferdpt corpus run`, and no raw text."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from integrations.datasets import Perturb
from perturb import ParameterError
from proxy.cli.main import main
from proxy.corpus.columns import read_key
from proxy.corpus.inputs.records import ADDED
from proxy.errors import ConfigError
from tests.proxy.corpus.documents import KEY, documents, write_jsonl

COUNT = 40


def columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


def make(**options: Any) -> Perturb:
    return Perturb(**{"owner": "owner", "key": KEY, **options})


def test_a_batch_has_releases_in_the_place_of_texts() -> None:
    given = documents(COUNT)
    made = make()(columns(given))
    assert made.column_names == ["id", "owner", "kind", *ADDED]
    assert made["kind"].to_pylist() == [row["kind"] for row in given]
    assert made["outcome"].to_pylist() == ["released"] * COUNT
    assert not {row["text"] for row in given} & set(made["released"].to_pylist())
    assert all(epsilon > 0 for epsilon in made["epsilon"].to_pylist())


def test_batches_of_any_size_and_order_have_the_same_releases() -> None:
    given = documents(COUNT)
    whole = make()(columns(given))["released"].to_pylist()
    perturb = make()
    parts = [perturb(columns(given[i : i + 7])) for i in range(0, COUNT, 7)]
    assert [text for part in parts for text in part["released"].to_pylist()] == whole
    assert make()(columns(given[::-1]))["released"].to_pylist() == whole[::-1]
    assert make(key=bytes(32))(columns(given))["released"].to_pylist() != whole


def test_they_are_the_releases_of_corpus_run(tmp_path: Path, monkeypatch: Any) -> None:
    """From the same secret: so a run that charges the ledger draws nothing anew."""
    monkeypatch.setenv("INFERDPT_SECRET", "ab" * 32)
    source = write_jsonl(tmp_path / "rows.jsonl", documents(COUNT))
    out = tmp_path / "out"
    arguments = ("--id", "id", "--owner", "owner", "--epsilon", "6", "--workers", "1")
    assert main(["corpus", "run", str(source), "--out", str(out), *arguments]) == 0
    files = sorted((out / "data").iterdir())
    rows = [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]
    run = {row["id"]: row["released"] for row in rows}
    made = Perturb(owner="owner")(columns(documents(COUNT)))
    assert dict(zip(made["id"].to_pylist(), made["released"].to_pylist(), strict=True)) == run


def test_a_pickle_is_its_settings_alone() -> None:
    """Equal settings give equal bytes, before and after a call, and other settings others."""
    perturb = make(mechanism="selective", consistent=True, policy="regex")
    before = pickle.dumps(perturb)
    given = columns(documents(3))
    made = perturb(given)
    assert pickle.dumps(perturb) == before
    assert pickle.dumps(make(mechanism="selective", policy="regex", consistent=True)) == before
    assert pickle.dumps(make(mechanism="selective", policy="digits", consistent=True)) != before
    assert len(before) < 2000  # no table
    assert pickle.loads(before)(given).equals(made)


def test_a_document_that_fails_has_an_outcome_and_nothing_of_its_text() -> None:
    batch = {
        "id": ["a", None, "c"],
        "owner": ["o", "o", "o"],
        "text": [None, "canary one", "canary two"],
        "extra": ["canary three"] * 3,
    }
    made = make(drop=("extra",))(batch)
    assert made["outcome"].to_pylist() == ["BadText", "BadId", "released"]
    assert made["released"].to_pylist()[:2] == [None, None]
    assert "canary" not in str(made.drop_columns("released").to_pylist())


@pytest.mark.parametrize(
    ("options", "batch", "rule"),
    [
        ({}, {"text": ["x"], "id": ["a"]}, "owner: there is no column 'owner'"),
        ({"text": "body"}, {"text": ["x"], "id": ["a"], "owner": ["o"]}, "text: there is no"),
        (
            {},
            {"text": ["x"], "id": ["a"], "owner": ["o"], "released": ["y"]},
            "a column 'released', which is added: drop it",
        ),
    ],
)
def test_a_wrong_column_is_named(options: Any, batch: Any, rule: str) -> None:
    with pytest.raises(ParameterError, match=rule):
        make(**options)(batch)


def test_wrong_settings_fail_before_any_batch(monkeypatch: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        make(epsilon=-1)
    with pytest.raises(ParameterError, match="key must have >= 32 bytes, got 5"):
        make(key=b"short")
    with pytest.raises(ParameterError, match="id must name a column"):
        make(id=None)
    with pytest.raises(ConfigError, match="INFERDPT_SECRET"):
        Perturb()  # this state has no secret yet
    monkeypatch.setenv("INFERDPT_SECRET", "cd" * 32)
    assert len(read_key()) == 32
    assert "key" not in repr(Perturb()._sanitizer)


class TestWithDatasets:
    """The package itself; `make test-ray` installs it."""

    pytestmark = pytest.mark.ray

    @pytest.fixture
    def datasets(self, tmp_path: Path, monkeypatch: Any) -> Any:
        reason = "datasets is not installed: make test-ray installs it"
        found = pytest.importorskip("datasets", reason=reason)
        monkeypatch.setattr(found.config, "HF_DATASETS_CACHE", tmp_path / "cache")
        return found

    @pytest.mark.parametrize("workers", [None, 2])
    def test_map_returns_the_releases_and_no_text(self, datasets: Any, workers: Any) -> None:
        given = documents(COUNT)
        data = datasets.Dataset.from_list(given)
        safe = data.map(make(), batched=True, batch_size=7, num_proc=workers)
        assert safe.column_names == ["id", "owner", "kind", *ADDED]
        assert safe["released"][:] == make()(columns(given))["released"].to_pylist()

    def test_arrow_keeps_types(self, datasets: Any) -> None:
        features = datasets.Features(
            {
                "id": datasets.Value("string"),
                "owner": datasets.Value("string"),
                "text": datasets.Value("string"),
                "kind": datasets.Value("int8"),
            }
        )
        data = datasets.Dataset.from_list(documents(5), features=features).with_format("arrow")
        safe = data.map(make(), batched=True)
        assert safe.features["kind"].dtype == "int8"
        assert "text" not in safe.column_names

    def test_a_fingerprint_belongs_to_the_settings(self, datasets: Any, tmp_path: Path) -> None:
        datasets.Dataset.from_list(documents(COUNT)).save_to_disk(tmp_path / "data")

        def run(perturb: Perturb) -> Any:
            return datasets.load_from_disk(tmp_path / "data").map(perturb, batched=True)

        perturb = make()
        first, again = run(perturb), run(perturb)  # the second call comes after a warm one
        assert first._fingerprint == again._fingerprint == run(make())._fingerprint
        assert first.cache_files == again.cache_files != []
        assert run(make(epsilon=5.0))._fingerprint != first._fingerprint

    def test_columns_without_a_value_in_the_first_batch_have_their_type(
        self, datasets: Any
    ) -> None:
        rows = [
            {**row, "text": None if i < 5 else row["text"]} for i, row in enumerate(documents(9))
        ]
        data = datasets.Dataset.from_list(rows, features=None)
        safe = data.map(make(), batched=True, batch_size=5)
        assert safe.features["epsilon"].dtype == "float64"
        assert safe["outcome"][:] == ["BadText"] * 5 + ["released"] * 4


def test_a_table_may_be_given_and_keeps_its_other_columns() -> None:
    table = pa.table({**columns(documents(3)), "n": pa.array([1, 2, 3], pa.int8())})
    assert make()(table).schema.field("n").type == pa.int8()
