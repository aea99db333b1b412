"""Every experiment renders its own section; no report module knows the names of its values."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import benchmarks.report
from benchmarks.attacks.gpt import GptInference
from benchmarks.attacks.in_context.masked import InputInference
from benchmarks.experiments import list_experiments
from benchmarks.harness.records import Estimate, Record
from benchmarks.report.page import ATTACKS, UTILITY

REPORT = sorted(Path(benchmarks.report.__file__).parent.glob("*.py"))


def value_reads(tree: ast.AST) -> list[str]:
    """Expressions that take a value of a record by its name."""
    found = []
    for node in ast.walk(tree):
        inner = node.value if isinstance(node, ast.Subscript) else None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            inner = node.func.value if node.func.attr in ("get", "pop") else None
        if isinstance(inner, ast.Attribute) and inner.attr == "values":
            found.append(ast.unparse(node))
    return found


@pytest.mark.parametrize("path", REPORT, ids=lambda path: path.stem)
def test_no_report_module_knows_a_value_of_an_experiment(path):
    assert value_reads(ast.parse(path.read_text("utf-8"))) == []


@pytest.mark.parametrize("source", ["r.values['success']", "record.values.get('cosine')"])
def test_a_planted_read_is_caught(source):
    assert value_reads(ast.parse(source)) == [source]


def test_every_experiment_stands_on_the_page_once():
    on_page = [kind.name for kind in (*ATTACKS, *UTILITY)]
    assert sorted(on_page) == sorted(list_experiments())


@pytest.mark.parametrize("experiment", list_experiments().values(), ids=lambda e: e.name)
def test_without_records_there_is_no_section(experiment):
    assert list(experiment.render([])) == []


@pytest.mark.parametrize("kind", [InputInference, GptInference])
def test_guesses_of_named_models_are_on_the_page(kind):
    case = {"mechanism": "rantext", "epsilon": 6.0, "dataset": "demo", "model": "some-model"}
    rates = {"success": 0.25, "prior": 0.125, "failed": 0.5}
    values = {name: Estimate.exact(rate) for name, rate in rates.items()}
    record = Record(kind.name, case, values, (), 1, "suite", "data", "commit", 0.5)
    [section] = kind().render([record])
    assert "| `rantext` | 6 | demo | some-model | 25.0 | 12.5 |" in section
