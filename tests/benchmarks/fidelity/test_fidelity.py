"""The benchmark of fidelity: its texts, its counts against hand-made cases, and its command."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks.__main__ import main
from benchmarks.fidelity.measure import (
    Case,
    count_changed,
    measure,
    read_cases,
    read_parameters,
    read_set,
    render,
)
from benchmarks.harness.datasets import DataError
from perturb import load_table

KEEP_ALL = {"actions": {"*": "keep"}}
MAIL = "Write to mira.holz@kestrel.example about 7 boxes."


def test_the_texts_are_many_and_of_every_kind() -> None:
    cases = read_cases()
    sets = Counter(case.set for case in cases)
    assert sets["questions"] + sets["code"] + sets["files"] >= 400
    assert len({case.text for case in cases}) == len(cases)
    code = Counter(case.kind for case in cases if case.set == "code")
    assert len(code) == 8
    for kinds in ("files", "private"):
        assert len({case.kind for case in cases if case.set == kinds}) == 12
    private = [case for case in cases if case.set == "private"]
    assert all(case.private and case.keep for case in private)
    named = [case for case in cases if case.set == "named"]
    assert all(case.private and not case.keep for case in named)
    assert sets["asked"] >= 500
    assert len(named) >= 150
    others = [case for case in cases if case.set not in ("private", "named")]
    assert not any(case.private or case.units for case in others)
    unnamed = [case for case in others if case.set != "asked" and not case.names]
    assert len(unnamed) > 150


@pytest.mark.parametrize(
    ("before", "after", "but", "counts"),
    [
        ("a b c", "a b c", (), (0, 3)),
        ("a b c", "a x c", (), (1, 3)),
        ("a b c", "a c", (), (1, 3)),
        ("a b c", "x a b c y", (), (0, 3)),
        ("Ann met Bob", "Eve met Tim", ("ann", "bob"), (0, 1)),
        ("", "x", (), (0, 0)),
    ],
)
def test_changed_words_are_counted(
    before: str, after: str, but: tuple[str, ...], counts: tuple[int, int]
) -> None:
    assert count_changed(before, after, but) == counts


async def test_a_gateway_that_keeps_everything_leaks_and_spoils_nothing() -> None:
    cases = [
        Case("questions", "history", "Who was Albert Einstein?", names=("Albert Einstein",)),
        Case("private", "text", MAIL, private=(("EMAIL", "mira.holz"),), keep=("7 boxes",)),
        Case("prompts", "", MAIL, units=("mira",)),
    ]
    shares = (await measure(load_table(), KEEP_ALL, cases)).shares
    rates = {name: share.hits / share.total for name, share in shares.items()}
    assert rates["questions: unchanged"] == 1
    assert "questions: unchanged where nothing is named" not in rates
    assert rates["private: values left"] == rates["private: values left of type EMAIL"] == 1
    assert rates["private: parts that had to stay, changed"] == 0
    assert rates["prompts: private units left"] == 1
    assert rates["prompts: other words changed"] == 0
    exact = [rate for name, rate in rates.items() if "comes back exactly" in name]
    assert exact == [1] * 6
    assert not any(rate for name, rate in rates.items() if "silently" in name)


async def test_what_the_gateway_hides_does_not_leave() -> None:
    cases = [
        Case("private", "json", f'{{"note": "{MAIL}"}}', private=(("EMAIL", "mira.holz"),)),
        Case("questions", "history", MAIL),
    ]
    parameters = {"policy": ["regex"], "entities": ["EMAIL_ADDRESS"]}
    shares = (await measure(load_table(), parameters, cases)).shares
    assert shares["private: values left"].hits == 0
    assert shares["private: JSON left valid"].hits == 1
    assert shares["questions: unchanged where nothing is named"].hits == 0
    assert 0 < shares["questions: words changed"].hits < shares["questions: words changed"].total


async def test_a_refused_text_is_counted_apart() -> None:
    parameters = {"actions": {"EMAIL_ADDRESS": "refuse"}}
    found = await measure(load_table(), parameters, [Case("questions", "x", MAIL)])
    assert found.refused == 1
    assert not found.shares
    assert render({"here": found}).splitlines()[-1].split() == ["texts", "refused", "1"]


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        '{"kind": "json"}',
        '{"text": 3}',
        '{"text": "a", "keep": ["b"]}',
        '{"text": "a", "private": [["X", "b"]]}',
        '{"text": "a", "private": [["X"]]}',
    ],
)
def test_a_line_of_another_form_is_refused(tmp_path: Path, line: str) -> None:
    file = tmp_path / "set.jsonl"
    file.write_text(line + "\n")
    with pytest.raises(DataError):
        read_set(file, "set")


@pytest.mark.parametrize("text", ["[", "}", "- a", "policy: ["])
def test_parameters_must_be_a_mapping(text: str) -> None:
    assert read_parameters("policy: [regex], entities: [US_SSN]")["entities"] == ["US_SSN"]
    with pytest.raises(DataError):
        read_parameters(text)


def test_the_command_prints_a_column_for_each_setting(
    tmp_path: Path, capsys: pytest.CaptureFixture[Any]
) -> None:
    out = tmp_path / "figures.json"
    settings = ["policy: [regex]", "actions: {'*': keep}"]
    given = [part for text in settings for part in ("--parameters", text)]
    assert main(["fidelity", "--only", "texts", "--most", "2", *given, "--out", str(out)]) == 0
    table = capsys.readouterr().out
    assert all(text in table.splitlines()[0] for text in settings)
    figures = json.loads(out.read_text())
    assert [*figures] == settings
    assert (
        figures[settings[1]]["private: values left"][:2]
        == [figures[settings[1]]["private: values left"][1]] * 2
    )
    assert main(["fidelity", "--parameters", "["]) == 2
