"""The benchmark of policies counts what it says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.finding import Labelled, Part, Share, main, measure, read_labelled
from benchmarks.harness.datasets import DataError
from perturb import Span
from perturb.selective.sanitizer import Selective
from tests.perturb.marking import fixed

LINE = {
    "text": "then Anna-Lee Schmidt paid from DE89370400440532013000, says eve",
    "spans": [
        {"type": "PERSON", "start": 5, "end": 21},
        {"type": "IBAN_CODE", "start": 32, "end": 54},
        {"type": "PERSON", "start": 61, "end": 64},
    ],
}


def marks(*spans: Span) -> Selective:
    mechanism = fixed(spans).mechanism
    assert isinstance(mechanism, Selective)
    return mechanism


def shares(texts: Sequence[Labelled], *spans: Span) -> dict[str, Share]:
    return measure(marks(*spans), texts).shares


def write(folder: Path, *lines: object) -> Path:
    path = folder / "set.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def test_words_are_counted_by_hand(tmp_path: Path) -> None:
    texts = read_labelled(write(tmp_path, LINE))
    found = shares(texts, Span(0, 4, "DATE"), Span(5, 13, "NAME"), Span(32, 54, "ID"))
    assert found == {
        "false alarms": Share(1, 4),  # then; not paid, from, says
        "false alarms of type DATE": Share(1, 4),
        "precision": Share(3, 4),
        "precision of type DATE": Share(0, 1),
        "precision of type ID": Share(1, 1),
        "precision of type NAME": Share(2, 2),
        "recall": Share(3, 5),
        "recall of type IBAN_CODE": Share(1, 1),
        "recall of type PERSON": Share(2, 4),
        "whole parts": Share(1, 3),
        "whole parts of type IBAN_CODE": Share(1, 1),
        "whole parts of type PERSON": Share(0, 2),
    }


def test_a_part_that_needs_no_mask_is_neither_missed_nor_a_false_alarm() -> None:
    parts = (Part(0, 3, "P", "DIRECT"), Part(4, 7, "L", "QUASI"), Part(8, 11, "L", "NO_MASK"))
    text = [Labelled("ann was out", parts)]
    found = shares(text, Span(0, 3, "X"), Span(8, 11, "X"))
    assert found["recall"] == Share(1, 2)
    assert (found["recall DIRECT"], found["recall QUASI"]) == (Share(1, 1), Share(0, 1))
    assert "recall NO_MASK" not in found
    assert found["precision"] == Share(2, 2)
    assert "false alarms" not in found


def test_a_label_is_a_type_by_another_name(tmp_path: Path) -> None:
    spans = [{"label": s["type"], "start": s["start"], "end": s["end"]} for s in LINE["spans"]]
    renamed = read_labelled(write(tmp_path, {**LINE, "spans": spans}))
    assert renamed == read_labelled(write(tmp_path, LINE))


def test_mistakes_are_listed_with_their_types() -> None:
    found = measure(marks(Span(0, 3, "X")), [Labelled("ann saw bob", (Part(8, 11, "P"),))])
    assert found.missed == {("bob", "P"): 1}
    assert found.alarms == {("ann", "X"): 1}


def test_the_interval_is_clopper_pearsons() -> None:
    low, high = Share(0, 10).interval
    assert low == 0.0
    assert high == pytest.approx(1 - 0.025**0.1)


@pytest.mark.parametrize(
    "line",
    [
        [],
        {"text": "a"},
        {"text": "a", "spans": [{"start": 0, "end": 1}]},
        {"text": "a", "spans": [{"start": 0, "end": 2, "type": "X"}]},
        {"text": "a", "spans": [3]},
    ],
)
def test_a_malformed_line_is_refused_by_its_place(line: object, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"set\.jsonl, line 1: must hold 'text' and 'spans'"):
        read_labelled(write(tmp_path, line))


def test_the_command_prints_a_column_for_each_policy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, LINE)
    policies = ["--policy", "regex", "--policy", "digits"]
    assert main([str(tmp_path), *policies, "--words", "1"]) == 0
    printed = capsys.readouterr().out
    assert "regex" in printed
    assert "missed, regex: eve PERSON 1" in printed
    assert main([str(tmp_path), *policies, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)["set"]
    assert figures["regex"]["recall of type PERSON"][:2] == [3, 4]
    assert figures["digits"]["recall of type PERSON"][:2] == [0, 4]
    assert main([str(tmp_path), "--policy", "contact", "--json"]) == 0  # a profile without names
    figures = json.loads(capsys.readouterr().out)["set"]
    assert figures["contact"]["recall of type PERSON"][:2] == [0, 4]


def test_a_missing_file_is_an_error_of_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "none.jsonl")]) == 2
    assert capsys.readouterr().err.startswith("finding: ")
    assert main([str(tmp_path)]) == 2
