"""The benchmark of policies counts what it says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.pii import Share, is_covered, main, measure
from perturb import Span, get_mechanism, load_table

LINES = [
    {
        "text": "then Anna Schmidt paid from DE89370400440532013000, says eve",
        "spans": [
            {"type": "PERSON", "start": 5, "end": 17},
            {"type": "IBAN_CODE", "start": 28, "end": 50},
            {"type": "PERSON", "start": 57, "end": 60},
        ],
    },
    {"text": "in 1984 nobody was there", "spans": []},
]


def test_shares_are_counted_by_type() -> None:
    recall, precision = measure(get_mechanism("selective", load_table()), LINES)
    assert recall == {"IBAN_CODE": Share(1, 1), "PERSON": Share(1, 2), "all": Share(2, 3)}
    assert precision == {
        "DATE_TIME": Share(0, 1),
        "IBAN_CODE": Share(1, 1),
        "NAME": Share(1, 1),
        "all": Share(2, 3),
    }


def test_a_label_is_a_type_by_another_name() -> None:
    spans = [{"label": span["type"], **span} for span in LINES[0]["spans"]]
    for span in spans:
        del span["type"]
    renamed = [{**LINES[0], "spans": spans}, LINES[1]]
    mechanism = get_mechanism("selective", load_table())
    assert measure(mechanism, renamed) == measure(mechanism, LINES)


def test_a_part_is_found_when_all_its_letters_and_digits_are_marked() -> None:
    text = "Ann-Lee x"
    assert is_covered(text, Span(0, 7, "P"), [Span(0, 3, "X"), Span(4, 7, "X")])
    assert not is_covered(text, Span(0, 7, "P"), [Span(0, 6, "X")])
    assert not is_covered(text, Span(0, 7, "P"), [])


def test_the_interval_is_clopper_pearsons() -> None:
    low, high = Share(0, 10).interval
    assert low == 0.0
    assert high == pytest.approx(1 - 0.025**0.1)


def test_the_command_prints_both_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps(line) + "\n" for line in LINES), "utf-8")
    main([str(data)])
    printed = capsys.readouterr().out
    assert "PERSON" in printed
    assert "1 of 2" in printed
    main([str(data), "--json"])
    assert json.loads(capsys.readouterr().out)["recall"]["PERSON"][:2] == [1, 2]
