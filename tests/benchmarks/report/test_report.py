"""A run's records as a page and figures, compared with another run's."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import benchmarks
from benchmarks.__main__ import main
from benchmarks.attacks.bayes import Bayes
from benchmarks.attacks.inversion import Inversion
from benchmarks.harness.datasets import DataError
from benchmarks.harness.records import Estimate, Record, Records
from benchmarks.report.compare import compare
from benchmarks.report.page import write_report
from benchmarks.run import run
from benchmarks.utility.channel_figures import ChannelFigures
from benchmarks.utility.list_sizes import ListSizes
from tests.benchmarks.small_context import SET, small_context, small_table

ROOT = Path(benchmarks.__file__).parent.parent
RESULTS = ROOT / "docs" / "results"
QUICK = (ChannelFigures(), ListSizes(), Inversion(), Bayes())


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A run over a small table, and what its answers might have been."""
    where = tmp_path_factory.mktemp("report")
    context = small_context(where, small_table(), "rantext", "rantext_ldp", epsilons=(3.0, 6.0))
    made = run(context, known={e.name: e for e in QUICK})
    records = Records(context.folder)
    for label, cosine in (("rantext", 0.2), ("rantext_ldp", 0.3)):
        for epsilon in (3.0, 6.0):
            case = {"mechanism": label, "epsilon": epsilon, "dataset": SET}
            low, high = cosine + epsilon / 100, cosine + epsilon / 50
            values = {"cosine minilm": Estimate((low + high) / 2, low, high, 20)}
            values |= {"bert_score": Estimate.exact(0.5), "bleu": Estimate.exact(1.0)}
            records.add(filled(made[0], "similarity", case, values))
            gain = Estimate(0.1, 0.05, 0.15, 20) if epsilon > 3 else Estimate(0.1, -0.1, 0.3, 20)
            values = {"similarity": gain, "coherence": gain, "shown": {"similarity": epsilon > 3}}
            contrast = {"arm": "pipeline", "minus": "local", **case}
            records.add(filled(made[0], "lift", contrast, values))
    return context.folder


def filled(like: Record, experiment: str, case: dict, values: dict) -> Record:
    return replace(like, experiment=experiment, case=case, values=values)


def read_pages(folder, to):
    """Write both pages of a run; return their text."""
    first = write_report(folder, to)
    return first.read_text("utf-8") + (to / "results-details.md").read_text("utf-8")


def test_the_pages_hold_the_figures_and_what_follows_from_them(folder, tmp_path):
    page = read_pages(folder, tmp_path)
    for record in Records(folder):
        if record.experiment == "inversion":
            assert f"{100 * record.values['top_10'].value:.1f} (" in page
    assert page.count("In 2 of 4 cases the answer came closer") == 1
    assert "`rantext` 6 on demo: +0.100 (+0.050 to +0.150)" in page
    drawn = set(re.findall(r"\]\((\w+\.png)\)", page))
    assert drawn == {"frontier.png", "list_sizes.png"}
    assert {path.name for path in tmp_path.glob("*.png")} == drawn


def test_where_no_gain_is_shown_the_advice_is_to_stay_local(folder, tmp_path):
    poorer = tmp_path / "run"
    poorer.mkdir()
    (poorer / "suite.json").write_bytes((folder / "suite.json").read_bytes())
    records = Records(poorer)
    for record in Records(folder):
        if record.experiment != "lift" or record.case["epsilon"] == 3.0:
            records.add(record)
    page = read_pages(poorer, tmp_path)
    assert "none of 2 cases shows an answer closer" in " ".join(page.split())
    assert "`local_only`" in page


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(DataError):
        write_report(tmp_path, tmp_path)
    assert main(["report", str(tmp_path)]) == 2


def test_a_run_reproduces_itself_and_not_one_that_is_apart(folder, tmp_path, capsys):
    same = compare(folder, folder)
    assert same.figures == same.equal > 0
    assert same.apart == ()
    other = Records(tmp_path)
    for record in Records(folder):
        if record.experiment == "inversion":
            moved = Estimate(0.99, 0.98, 1.0, record.values["top_1"].n)
            record = replace(record, values={**record.values, "top_1": moved})
        other.add(record)
    assert main(["compare", str(folder), str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert said.count("top_1: ") == 4
    assert said.endswith("4 with disjoint 95 % intervals\n")
    with pytest.raises(DataError, match="no measurement in common"):
        compare(folder, tmp_path / "empty")


def test_the_results_page_is_made_of_the_records_beside_it(tmp_path):
    write_report(RESULTS, tmp_path)
    for name in ("results.md", "results-details.md"):
        page = (ROOT / "docs" / name).read_text("utf-8")
        assert (tmp_path / name).read_text("utf-8") == page
        for figure in re.findall(r"\]\((\w+\.png)\)", page):
            assert (ROOT / "docs" / figure).is_file()
    assert not [record.breaches for record in Records(RESULTS) if record.breaches]


def test_the_first_page_is_short_and_leads_to_every_table(tmp_path):
    first = write_report(RESULTS, tmp_path).read_text("utf-8")
    assert len(first.split()) < 2500
    details = (tmp_path / "results-details.md").read_text("utf-8")
    titles = re.findall(r"^###? (.+)$", details, re.MULTILINE)
    assert titles
    assert all(f"[{title}](results-details.md#" in first for title in titles)
