"""Measurements come back from the disk as they were made, also after a run was killed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.harness.datasets import DataError
from benchmarks.harness.records import Estimate, Record, Records, key

RECORD = Record(
    experiment="toy",
    case={"mechanism": "rantext", "epsilon": 3.0},
    values={"rate": Estimate(0.5, 0.25, 0.75, 8), "words": ["é", 1], "none": None},
    breaches=("too much",),
    seed=1,
    suite="s",
    data="d",
    commit="c",
    seconds=0.5,
)
OTHER = replace(RECORD, case={"mechanism": "tem", "epsilon": 3.0})


def lines(folder):
    return (folder / "records.jsonl").read_bytes()


def test_a_record_comes_back_as_it_was(tmp_path):
    records = Records(tmp_path / "new" / "folder")
    records.add(RECORD)
    records.add(OTHER)
    assert list(records) == list(Records(tmp_path / "new" / "folder")) == [RECORD, OTHER]


def test_it_is_on_the_disk_at_once_one_line_each(tmp_path):
    records = Records(tmp_path)
    records.add(RECORD)
    assert lines(tmp_path).count(b"\n") == 1
    assert list(Records(tmp_path)) == [RECORD]


def test_a_later_measurement_of_the_same_takes_the_place_of_the_first(tmp_path):
    records = Records(tmp_path)
    records.add(RECORD)
    records.add(replace(RECORD, values={}, commit="later"))
    assert [r.commit for r in records] == [r.commit for r in Records(tmp_path)] == ["later"]


def test_the_key_is_all_but_outcome_and_commit():
    same = replace(RECORD, values={}, breaches=(), commit="x", seconds=9.0)
    assert same.key == RECORD.key
    assert RECORD.key == key("toy", RECORD.case, 1, "s", "d")
    for change in ({"experiment": "x"}, {"case": {}}, {"seed": 2}, {"suite": "x"}, {"data": "x"}):
        assert replace(RECORD, **change).key != RECORD.key


def test_the_key_does_not_depend_on_the_order_of_a_case():
    turned = dict(reversed(RECORD.case.items()))
    assert replace(RECORD, case=turned).key == RECORD.key


@pytest.mark.parametrize("kept", [0, 1, 20, -1])
def test_a_line_that_was_being_written_is_cut_off(tmp_path, kept):
    """Wherever it was cut, in the middle of an é too."""
    records = Records(tmp_path)
    records.add(RECORD)
    whole = lines(tmp_path)
    records.add(OTHER)
    second = lines(tmp_path)[len(whole) :]
    cut = second.index("é".encode()) + 1
    for end in (kept, cut):
        (tmp_path / "records.jsonl").write_bytes(whole + second[:end])
        resumed = Records(tmp_path)
        assert list(resumed) == [RECORD]
        assert lines(tmp_path) == whole
        resumed.add(OTHER)
        assert list(Records(tmp_path)) == [RECORD, OTHER]


@pytest.mark.parametrize(
    "foreign",
    [
        b"hello",
        b"",
        b"5",
        b"{}",
        b"[]",
        b"\xff",
        b'{"values": {}, "breaches": []}',
        b'{"values": [], "breaches": []}',
        b'{"values": {}, "breaches": null}',
    ],
)
def test_a_foreign_line_is_an_error_that_names_it(tmp_path, foreign):
    Records(tmp_path).add(RECORD)
    before = lines(tmp_path) + foreign + b"\n"
    (tmp_path / "records.jsonl").write_bytes(before)
    with pytest.raises(DataError, match=r"records\.jsonl, line 2: not a measurement"):
        Records(tmp_path)
    assert lines(tmp_path) == before


def test_what_json_cannot_hold_leaves_the_file_as_it_was(tmp_path):
    records = Records(tmp_path)
    records.add(RECORD)
    before = lines(tmp_path)
    with pytest.raises(TypeError):
        records.add(replace(OTHER, values={"x": object()}))
    assert lines(tmp_path) == before
    assert list(records) == [RECORD]
