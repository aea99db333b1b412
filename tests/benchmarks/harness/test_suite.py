"""A suite says what is measured: every key is known, and what decides a figure is in its hash."""

from __future__ import annotations

import pytest
import yaml

from benchmarks.harness.datasets import DataError
from benchmarks.harness.suite import Subject, Suite, list_suites, load_suite

LEAST = {"texts": 2, "answers": 2, "subjects": [{"mechanism": "rantext"}]}


def written(tmp_path, **changes):
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump({**LEAST, **changes}))
    return str(path)


@pytest.mark.parametrize("name", ["full", "quick"])
def test_a_shipped_suite_loads_by_name(name):
    suite = load_suite(name)
    assert suite.name == name
    assert suite.points()
    assert all(point in suite.points() for point in suite.points(pipeline=True))
    assert len(suite.points(pipeline=True)) < len(suite.points())


def test_the_shipped_suites():
    assert list_suites() == ["full", "quick"]


def test_quick_needs_no_server():
    suite = load_suite("quick")
    assert (suite.remote, suite.local, suite.attacker) == (None, None, None)


def test_a_file_is_a_suite_named_after_it(tmp_path):
    suite = load_suite(written(tmp_path))
    assert suite.name == "mine"
    assert suite.subjects == (Subject(mechanism="rantext"),)


def test_changes_replace_keys(tmp_path):
    suite = load_suite(written(tmp_path, experiments=["a"]), {"experiments": ["b"], "texts": 5})
    assert (suite.experiments, suite.texts) == (("b",), 5)


def test_points_are_every_mechanism_at_its_own_epsilons_or_the_suites(tmp_path):
    subjects = [
        {"mechanism": "rantext_ldp", "parameters": {"shape": "knn"}},
        {"mechanism": "tem", "epsilons": [4]},
    ]
    suite = load_suite(
        written(tmp_path, subjects=subjects, epsilons=[1, 2], pipeline=["rantext_ldp knn"])
    )
    points = [(subject.label, epsilon) for subject, epsilon in suite.points()]
    assert points == [("rantext_ldp knn", 1), ("rantext_ldp knn", 2), ("tem", 4)]
    assert suite.points(pipeline=True) == suite.points()[:2]


def test_no_pipeline_is_all_of_them(tmp_path):
    suite = load_suite(written(tmp_path))
    assert suite.points(pipeline=True) == suite.points()


BAD = [
    ({"textss": 3}, "textss: Extra inputs"),
    ({"texts": 1}, "texts: Input should be greater than or equal to 2"),
    ({"subjects": [{"mechanism": "tem", "epsilon": 3}]}, "subjects.0.epsilon: Extra inputs"),
    ({"subjects": [{"mechanism": "tem"}] * 2}, "subjects: .*two subjects have the label 'tem'"),
    ({"pipeline": ["tem"]}, "pipeline: .*must be of rantext, got 'tem'"),
    ({"remote": {"model": "m"}}, "remote.base_url: Field required"),
]


@pytest.mark.parametrize(("changes", "words"), BAD, ids=[words for _, words in BAD])
def test_a_bad_key_is_named(tmp_path, changes, words):
    with pytest.raises(DataError, match=rf"mine\.yaml: {words}"):
        load_suite(written(tmp_path, **changes))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"- a\n", "must be a mapping"),
        (b"", "must be a mapping"),
        (b"a: [", "not YAML: ParserError"),
        (b"\xff\xfe\xfa", "not YAML: UnicodeDecodeError"),
    ],
)
def test_a_file_that_is_no_suite_is_an_error(tmp_path, content, words):
    path = tmp_path / "bad.yaml"
    path.write_bytes(content)
    with pytest.raises(DataError, match=words):
        load_suite(str(path))


def test_no_such_suite():
    with pytest.raises(DataError, match="must be one of full, quick or a file: quik: No such"):
        load_suite("quik")


def test_the_hash_is_of_all_that_decides_a_figure(tmp_path):
    """And not of the name, nor of which experiments are asked for: those keep what is there."""
    base = load_suite(written(tmp_path))
    assert base.digest == load_suite(written(tmp_path), {"name": "x"}).digest
    assert base.digest == load_suite(written(tmp_path), {"experiments": ["a"]}).digest
    for key in set(Suite.model_fields) - {"name", "experiments"}:
        changed = {
            "seed": 1,
            "datasets": ["arxiv"],
            "subjects": [{"mechanism": "rantext", "parameters": {"noise": "published"}}],
            "epsilons": [1],
            "pipeline": ["rantext"],
            "pipeline_epsilons": [6],
            "texts": 3,
            "answers": 3,
            "encoder": "e",
            "features": "f",
            "encoders": ["e"],
            "tokens": "t",
            "expected_texts": 3,
            "expected_draws": 3,
            "masked": ["m"],
            "causal": ["m"],
            "whole": {"documents": 3},
        }.get(key, {"base_url": "http://127.0.0.1:1/v1", "model": "m"})
        assert load_suite(written(tmp_path), {key: changed}).digest != base.digest, key


def test_answers_are_asked_for_at_the_points_of_the_pipeline(tmp_path):
    suite = load_suite("quick", {"pipeline": ["rantext"], "pipeline_epsilons": [6]})
    assert [(s.label, epsilon) for s, epsilon in suite.points(pipeline=True)] == [("rantext", 6.0)]
    every = load_suite("quick", {"pipeline": [], "pipeline_epsilons": []})
    assert every.points(pipeline=True) == every.points() == suite.points()
