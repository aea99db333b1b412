"""A checkpoint gives back what was saved for the same run, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perturb import EmbeddingTable, get_mechanism
from perturb.audit import report
from perturb.audit.channel import Forms
from perturb.errors import CheckpointError
from perturb.files import Checkpoint, hash_run

RUN = {"epsilon": 6.0, "table": "ab"}


def test_parts_come_back(tmp_path: Path) -> None:
    kept = Checkpoint(tmp_path / "p", RUN)
    assert kept.load("rows") is None
    assert not kept.folder.exists(), "nothing is written before there is something to keep"
    rows = np.arange(6, dtype=np.float32).reshape(2, 3)
    kept.save("rows", rows=rows, done=2)
    found = Checkpoint(tmp_path / "p", dict(reversed(RUN.items()))).load("rows")
    assert found is not None
    assert found["rows"].dtype == np.float32
    assert (found["rows"] == rows).all()
    assert found["done"] == 2
    kept.save("rows", done=3)
    assert kept.load("rows") == {"done": 3}
    kept.remove()
    assert not kept.folder.exists()


@pytest.mark.parametrize("change", [{"epsilon": 7.0}, {"table": "ac"}, {"more": None}])
def test_another_run_is_refused_and_leaves_the_parts(tmp_path: Path, change: Any) -> None:
    Checkpoint(tmp_path / "p", RUN).save("rows", done=1)
    other = {**RUN, **change}
    assert hash_run(other) != hash_run(RUN)
    with pytest.raises(CheckpointError, match="p holds an unfinished run with other settings"):
        Checkpoint(tmp_path / "p", other)
    assert Checkpoint(tmp_path / "p", RUN).load("rows") == {"done": 1}


def test_a_part_of_another_run_is_not_done(tmp_path: Path) -> None:
    for name, run in (("a", RUN), ("b", {**RUN, "epsilon": 7.0})):
        Checkpoint(tmp_path / name, run).save("rows", done=1)
    (tmp_path / "a" / "rows.part").replace(tmp_path / "b" / "rows.part")
    assert Checkpoint(tmp_path / "b", {**RUN, "epsilon": 7.0}).load("rows") is None


def test_a_part_under_another_name_is_not_done(tmp_path: Path) -> None:
    kept = Checkpoint(tmp_path / "p", RUN)
    kept.save("first", done=1)
    (tmp_path / "p" / "first.part").rename(tmp_path / "p" / "second.part")
    assert kept.load("second") is None


@pytest.mark.parametrize("place", [0, 40, -1])
def test_a_damaged_part_is_not_done(tmp_path: Path, place: int) -> None:
    kept = Checkpoint(tmp_path / "p", RUN)
    kept.save("rows", done=1)
    path = tmp_path / "p" / "rows.part"
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    assert kept.load("rows") is None
    path.write_bytes(b"")
    assert kept.load("rows") is None


class Stopping(Checkpoint):
    """Saves whenever it is asked, and stops the run after so many parts."""

    due = True  # type: ignore[assignment]
    left = 10**9

    def save(self, part: str, **arrays: Any) -> None:
        super().save(part, **arrays)
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("name", "parts"), [("rantext", 1), ("custext", 3), ("madlib", 2), ("madlib", 260)]
)
def test_a_stopped_audit_finds_what_it_would_have_found(
    name: str, parts: int, toy: EmbeddingTable, tmp_path: Path
) -> None:
    mechanism = get_mechanism(name, toy, epsilon=3.0)
    stopping = Stopping(tmp_path / "p", RUN)
    stopping.left = parts
    whole = report.audit(mechanism, "uniform")
    done: list[int] = []
    blocks = 256 + 16 if name == "madlib" else len(list(Forms(toy.vocabulary.words).blocks()))
    with pytest.raises(KeyboardInterrupt):
        report.audit(mechanism, "uniform", checkpoint=stopping)
    resumed = report.audit(
        mechanism,
        "uniform",
        lambda n, _: done.append(n),
        checkpoint=Checkpoint(tmp_path / "p", RUN),
    )
    assert resumed == whole
    assert (resumed.kept_by_word == whole.kept_by_word).all()
    assert len(done) == blocks - parts, "what was done is not done again"
