"""The pandas UDF on a local Spark: the releases of one process, whatever the partitions."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from perturb import ParameterError
from proxy.corpus.columns import build_column_sanitizer
from proxy.corpus.inputs.records import ADDED, Columns
from tests.proxy.corpus.documents import KEY, documents

pytestmark = pytest.mark.ray
COUNT = 60
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    sql = pytest.importorskip("pyspark.sql", reason="PySpark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs a Java runtime (default-jre-headless)")
    patch = pytest.MonkeyPatch()
    patch.setenv("PYSPARK_PYTHON", sys.executable)  # of the workers
    session = (
        sql.SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
        .config("spark.executorEnv.PYTHONPATH", str(ROOT))
        .getOrCreate()
    )
    yield session
    session.stop()
    patch.undo()


def expected() -> dict[str, str]:
    given = documents(COUNT)
    sanitizer = build_column_sanitizer("rantext_ldp", 6.0, {}, Columns("text", "id", "owner"), KEY)
    made = sanitizer.release(*([row[name] for row in given] for name in ("text", "id", "owner")))
    names = (row["id"] for row in given)
    return dict(zip(names, made["released"].to_pylist(), strict=True))


@pytest.mark.parametrize("partitions", [1, 3])
def test_a_frame_has_the_releases_of_one_process(spark: Any, partitions: int) -> None:
    from integrations.spark import make_sanitizer

    frame = spark.createDataFrame(documents(COUNT)).repartition(partitions)
    sanitize = make_sanitizer("rantext_ldp", epsilon=6, key=KEY)
    made = frame.withColumn("made", sanitize("text", "id", "owner"))
    safe = made.select("id", "kind", "made.*")
    assert safe.columns == ["id", "kind", *ADDED]
    rows = safe.collect()
    assert {row["id"]: row["released"] for row in rows} == expected()
    assert {row["outcome"] for row in rows} == {"released"}


def test_a_document_that_fails_has_an_outcome_alone(spark: Any) -> None:
    from integrations.spark import make_sanitizer

    rows = [("a", None, "o"), (None, "canary", "o"), ("c", "one text", "o")]
    frame = spark.createDataFrame(rows, "id string, text string, owner string")
    sanitize = make_sanitizer(key=KEY)
    made = frame.select("id", sanitize("text", "id", "owner").alias("made")).select("id", "made.*")
    found = {row["id"]: row for row in made.collect()}
    assert [found[name]["outcome"] for name in ("a", None, "c")] == [
        "BadText",
        "BadId",
        "released",
    ]
    assert found["a"]["released"] is found["a"]["epsilon"] is found[None]["released"] is None


def test_wrong_settings_fail_on_the_driver(spark: Any) -> None:
    from integrations.spark import make_sanitizer

    with pytest.raises(ParameterError, match="epsilon"):
        make_sanitizer(epsilon=-1, key=KEY)
