"""A run measures what is not there yet, goes on where it stopped, and fails on a breach."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import yaml

import benchmarks.__main__ as command
from benchmarks.harness.context import Context
from benchmarks.harness.datasets import DataError
from benchmarks.harness.experiment import Experiment, Outcome
from benchmarks.harness.records import Estimate, Records
from benchmarks.harness.suite import load_suite
from benchmarks.run import load_last_suite, read_commit, run

SAMPLE = {"id": "1", "prefix": "a day", "continuation": " at sea", "document": "a day at sea"}


class Toy(Experiment):
    """Writes down what it was asked to measure."""

    name = "toy"
    about = "a toy"

    def __init__(self, name="toy", breaches=(), stop_after=None):
        self.name, self.breaches, self.stop_after = name, tuple(breaches), stop_after
        self.measured = []

    def cases(self, context):
        for subject, epsilon in context.suite.points():
            yield {"mechanism": subject.label, "epsilon": epsilon}

    def measure(self, case, context):
        if len(self.measured) == self.stop_after:
            raise KeyboardInterrupt
        self.measured.append(case["epsilon"])
        drawn = float(context.rng(self.name, case).random())
        return Outcome({"drawn": Estimate.exact(drawn)}, self.breaches)

    def render(self, records, figure=None):
        return [f"{len(records)} toys"]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data" / "open_ended").mkdir(parents=True)
    (tmp_path / "data" / "open_ended" / "tiny.jsonl").write_text(json.dumps(SAMPLE))
    values = {
        "texts": 2,
        "answers": 2,
        "datasets": ["tiny"],
        "epsilons": [1, 2, 3],
        "subjects": [{"mechanism": "rantext"}],
    }
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(values))
    return tmp_path


def context_of(folder, out="out", **changes):
    suite = load_suite(str(folder / "mine.yaml"), changes)
    return Context(suite, folder / "data" / "open_ended", None, folder / out)


def go(folder, *toys, out="out", **changes):
    return run(context_of(folder, out, **changes), known={toy.name: toy for toy in toys})


def test_every_case_is_measured_and_on_the_disk(folder):
    records = go(folder, Toy())
    assert [r.case["epsilon"] for r in records] == [1, 2, 3]
    assert list(Records(folder / "out")) == records
    assert {len(r.data) for r in records} == {len(r.suite) for r in records} == {64}


def test_what_is_measured_is_not_measured_again(folder):
    first = go(folder, Toy())
    again = Toy()
    assert go(folder, again) == first
    assert again.measured == []


def test_a_stopped_run_goes_on_and_finds_what_it_would_have_found(folder):
    with pytest.raises(KeyboardInterrupt):
        go(folder, Toy(stop_after=1))
    rest = Toy()
    resumed = go(folder, rest)
    assert rest.measured == [2, 3]
    whole = go(folder, Toy(), out="whole")
    assert [r.values for r in resumed] == [r.values for r in whole]


def test_a_run_killed_while_it_wrote_measures_that_case_again(folder):
    go(folder, Toy())
    path = folder / "out" / "records.jsonl"
    path.write_bytes(path.read_bytes()[:-30])
    rest = Toy()
    assert len(go(folder, rest)) == 3
    assert rest.measured == [3]


def test_other_data_are_measured_again(folder):
    first = go(folder, Toy())
    path = folder / "data" / "open_ended" / "tiny.jsonl"
    path.write_text(path.read_text().replace("sea", "war"))
    again = Toy()
    second = go(folder, again)
    assert again.measured == [1, 2, 3]
    assert {r.data for r in first}.isdisjoint(r.data for r in second)
    assert len(list(Records(folder / "out"))) == 6


@pytest.mark.parametrize("name", ["corpus", "authors"])
def test_optional_data_are_part_of_the_data(folder, name):
    path = folder / name
    path.write_bytes(b"x")
    suite, sets = load_suite(str(folder / "mine.yaml")), folder / "data" / "open_ended"
    parts = {"corpus": None, "authors": None}
    with_it = Context(suite, sets, folder=folder, **{**parts, name: path}).data_digest
    assert with_it != Context(suite, sets, folder=folder, **parts).data_digest


def test_another_suite_is_measured_beside(folder):
    go(folder, Toy())
    more = Toy()
    records = go(folder, more, epsilons=[3, 4])
    assert more.measured == [3, 4]
    assert [r.case["epsilon"] for r in records] == [3, 4]


def test_only_what_is_asked_for_in_that_order_and_once(folder):
    one, two, three = (Toy(name) for name in ("one", "two", "three"))
    records = go(folder, one, two, three, experiments=["three", "one", "three"], epsilons=[1, 1])
    assert [r.experiment for r in records] == ["three", "one"]
    assert (one.measured, two.measured, three.measured) == ([1], [], [1])
    assert [r.experiment for r in go(folder, one, two, three, epsilons=[1, 1])] == [
        "one",
        "two",
        "three",
    ]


def test_points_are_measured_one_after_the_other_and_come_back_by_experiment(folder):
    """A channel is read once for all experiments."""
    records = go(folder, Toy("one"), Toy("two"), epsilons=[1, 2])
    made = [(r.experiment, r.case["epsilon"]) for r in Records(folder / "out")]
    assert made == [("one", 1), ("two", 1), ("one", 2), ("two", 2)]
    given = [(r.experiment, r.case["epsilon"]) for r in records]
    assert given == [("one", 1), ("one", 2), ("two", 1), ("two", 2)]


def test_the_folder_holds_the_suite_that_was_run_last(folder):
    with pytest.raises(DataError, match=r"suite\.json: No such"):
        load_last_suite(folder / "out")
    go(folder, Toy())
    go(folder, Toy(), seed=5)
    assert load_last_suite(folder / "out") == context_of(folder, seed=5).suite


def test_an_unknown_experiment_is_an_error_before_anything_is_measured(folder):
    toy = Toy()
    with pytest.raises(DataError, match="experiments must be of toy, got 'toi'"):
        go(folder, toy, experiments=["toy", "toi"])
    assert toy.measured == []


def test_missing_data_are_an_error_before_anything_is_measured(folder):
    toy = Toy()
    with pytest.raises(DataError, match=r"none\.jsonl: cannot be read"):
        go(folder, toy, datasets=["none"])
    assert toy.measured == []


# -- the draws of a context -----------------------------------------------------------------


def test_a_draw_depends_on_seed_and_names_alone(folder):
    context = context_of(folder)
    first = context.rng("a", 1).random(3).tolist()
    context.rng("b", 1).random(3)
    assert context.rng("a", 1).random(3).tolist() == first
    assert context_of(folder, seed=1).rng("a", 1).random(3).tolist() != first
    assert context.rng("a", 2).random(3).tolist() != first
    assert context.rng("a1").random(3).tolist() != first


def test_releases_are_aligned_and_another_draw_is_fresh_noise(folder):
    lines = [
        {**SAMPLE, "id": str(i), "prefix": text}
        for i, text in enumerate(["a day at sea", "…", "the house stood on the hill", "unread"])
    ]
    path = folder / "data" / "open_ended" / "tiny.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    context = context_of(folder, subjects=[{"mechanism": "rantext_ldp"}], texts=3)
    words = context.table.vocabulary.words
    found = context.releases("rantext_ldp", 1.0, "tiny")
    raw = [" ".join(words[i] for i in release.raw) for release in found]
    assert raw == ["a day at sea", "", "the house stood on the"]  # hill is not in V
    assert [len(r.released) for r in found] == [4, 0, 5]
    again = context_of(folder, subjects=[{"mechanism": "rantext_ldp"}], texts=3)
    same = again.releases("rantext_ldp", 1.0, "tiny")
    fresh = again.releases("rantext_ldp", 1.0, "tiny", draw=1)
    assert [r.released.tolist() for r in same] == [r.released.tolist() for r in found]
    assert [r.released.tolist() for r in fresh] != [r.released.tolist() for r in found]


# -- the command ----------------------------------------------------------------------------


@pytest.fixture
def toys(monkeypatch):
    """The project's experiments are these for the command."""
    known = {toy.name: toy for toy in (Toy("sound"), Toy("broken", breaches=["too much"]))}
    monkeypatch.setattr("benchmarks.run.list_experiments", lambda: known)
    monkeypatch.setattr(command, "list_experiments", lambda: known)
    return known


def main(folder, *more):
    paths = ["--suite", folder / "mine.yaml", "--data", folder / "data", "--out", folder / "out"]
    return command.main(["run", *map(str, paths), *more])


def test_a_breach_makes_the_command_fail_also_when_nothing_is_measured_anew(folder, toys, capsys):
    assert main(folder, "--only", "sound") == 0
    assert capsys.readouterr().out.startswith("3 measurements in ")
    for _ in range(2):
        assert main(folder) == 1
        assert "BREACH broken rantext 1.0: too much\n" in capsys.readouterr().err
    assert toys["broken"].measured == [1, 2, 3]
    assert main(folder, "--only", "sound") == 0


def test_bad_input_is_status_2_and_one_line(folder, toys, capsys):
    assert main(folder, "--only", "unheard") == 2
    assert "benchmarks: experiments must be of sound, broken, got 'unheard'" in (
        capsys.readouterr().err
    )


def test_a_measurement_that_cannot_be_made_keeps_those_before_it(folder, toys, capsys):
    def refuse(case, context):
        raise DataError("not today")

    toys["broken"].measure = refuse
    assert main(folder) == 2
    assert capsys.readouterr().err.endswith("benchmarks: not today\n")
    assert [r.experiment for r in Records(folder / "out")] == ["sound"]


def test_authors_and_corpus_are_found_beside_the_sets(folder, toys, monkeypatch):
    seen = []
    monkeypatch.setattr(command, "run", lambda context: seen.append(context) or [])
    assert main(folder) == 0
    for name in ("authors/synthpai.jsonl", "corpus/train.jsonl.xz"):
        path = folder / "data" / name
        path.parent.mkdir()
        path.touch()
    assert main(folder) == 0
    assert (seen[0].authors, seen[0].corpus) == (None, None)
    assert seen[1].authors == folder / "data" / "authors" / "synthpai.jsonl"
    assert seen[1].corpus == folder / "data" / "corpus" / "train.jsonl.xz"


def test_list_names_suites_and_experiments(toys, capsys):
    assert command.main(["list"]) == 0
    assert capsys.readouterr().out == (
        "suites: full, quick, or a YAML file\n\nsound   a toy\nbroken  a toy\n"
    )


# -- the commit -----------------------------------------------------------------------------


def test_the_commit_says_whether_files_differ_from_it(tmp_path):
    def git(*arguments):
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        subprocess.run(["git", "-C", tmp_path, *identity, *arguments], check=True)

    git("init", "--quiet")
    Path(tmp_path / "file").write_text("one")
    git("add", "file")
    git("commit", "--quiet", "-m", "one")
    clean = read_commit(tmp_path)
    assert len(clean) == 40
    (tmp_path / "untracked").touch()
    assert read_commit(tmp_path) == clean
    (tmp_path / "file").write_text("two")
    assert read_commit(tmp_path) == clean + "+"


def test_outside_a_repository_the_commit_is_unknown(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert read_commit(tmp_path) == "unknown"
