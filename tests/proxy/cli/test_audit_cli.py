"""`inferdpt privacy audit` and `inferdpt privacy certify` on a small table."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from perturb import PerturbError, Vocabulary, get_mechanism, load_table
from perturb.audit.certificate import check_certificate, load_certificate
from perturb.errors import MissingPackage
from perturb.install import install_command
from perturb.vocabulary.embeddings import save_table
from perturb.vocabulary.table_build import build_table
from perturb.vocabulary.vocabulary import load_encoding
from proxy.cli.main import main
from tests.proxy.cli.commands import run

PNG = b"\x89PNG"


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    vocabulary = Vocabulary(load_encoding(), 60)
    rows = np.random.default_rng(8).standard_normal((60 + len(vocabulary.others), 4))
    provenance = {"model": "random numbers", "licence": "none", "created": "2025-01-01"}
    path = tmp_path_factory.mktemp("table") / "small"
    save_table(build_table(vocabulary, rows, provenance=provenance), path)
    return path


def audit_json(capsys, table: Path, *more: str) -> dict:
    assert run("audit", "--table", str(table), "--json", *more) == 0
    return json.loads(capsys.readouterr().out)


def test_audit_prints_aligned_lines(capsys, table: Path) -> None:
    args = ("--mechanism", "rantext_ldp", "--epsilon", "4", "--set", "shape=knn")
    assert run("audit", *args, "--table", str(table)) == 0
    out = capsys.readouterr().out
    assert out.startswith("each released token is 4-LDP with respect to replacing that token")
    lines = [line for line in out.splitlines()[1:] if line]
    starts = {len(line) - len(line.lstrip().split("  ", 1)[1].lstrip()) for line in lines}
    assert len(starts) == 1, "all values begin in one column"
    for name in ("smallest ε", "δ at ε asked for", "word guessed", "information", "mean cosine"):
        assert sum(line.startswith(name) for line in lines) == 1
    assert any(line.startswith("smallest ε") and line.endswith(" 4") for line in lines)


@pytest.mark.parametrize("name", ["rantext", "custext", "santext", "madlib"])
def test_audit_of_every_kind_prints(name: str, capsys, table: Path) -> None:
    assert run("audit", "--mechanism", name, "--epsilon", "3", "--table", str(table)) == 0
    out = capsys.readouterr().out
    assert "smallest ε" in out
    assert ("note:" in out) == (name != "santext")


def test_audit_takes_prior_and_settings(capsys, table: Path) -> None:
    published = audit_json(
        capsys, table, "--mechanism", "rantext", "--epsilon", "3", "--set", "noise=published"
    )
    assert published["parameters"] == {"epsilon": 3.0, "noise": "published"}
    assert published["prior"] == "unigram"
    uniform = audit_json(capsys, table, "--mechanism", "santext", "--prior", "uniform")
    assert uniform["prior_best"] == pytest.approx(1 / 60)
    assert uniform["epsilon_nominal"] == 6.0


def test_audit_draws_a_figure(capsys, table: Path, tmp_path: Path) -> None:
    for name in ("rantext", "rantext_ldp", "custext", "madlib"):
        path = tmp_path / f"{name}.png"
        args = ("--mechanism", name, "--epsilon", "3", "--figure", str(path))
        assert run("audit", "--table", str(table), *args) == 0
        assert path.read_bytes().startswith(PNG)


def test_figure_without_matplotlib_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, table: Path, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingPackage, match=re.escape(install_command("audit"))):
        run(
            "audit", "--mechanism", "santext", "--table", str(table), "--figure",
            str(tmp_path / "a.png"),
        )  # fmt: skip


def test_certify_writes_a_certificate_that_checks(capsys, table: Path, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    args = ("--mechanism", "exponential", "--epsilon", "5", "--table", str(table))
    assert run("certify", *args, "--out", str(path)) == 0
    out = capsys.readouterr().out
    assert out.startswith("proved: ε = ")
    assert "60 words" in out
    mechanism = get_mechanism("exponential", load_table(table), epsilon=5)
    check_certificate(load_certificate(path), mechanism)


def test_certify_prints_json_without_a_file(capsys, table: Path) -> None:
    args = ("--mechanism", "rantext_ldp", "--set", "shape=knn", "--table", str(table))
    assert run("certify", *args) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["mechanism"] == "rantext_ldp"
    assert float(data["epsilon_proved"]) == pytest.approx(6.0)


def test_certify_takes_only_what_has_a_proof(capsys, table: Path) -> None:
    with pytest.raises(SystemExit):
        main(["certify", "--mechanism", "rantext", "--table", str(table)])
    assert "invalid choice" in capsys.readouterr().err


def test_damaged_table_is_an_error(table: Path, tmp_path: Path) -> None:
    for suffix in ("npz", "json"):
        data = table.with_name(f"small.{suffix}").read_bytes()
        (tmp_path / f"small.{suffix}").write_bytes(data)
    data = bytearray((tmp_path / "small.npz").read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "small.npz").write_bytes(data)
    with pytest.raises(PerturbError, match="SHA-256 differs"):
        run("certify", "--mechanism", "rantext_ldp", "--table", str(tmp_path / "small"))


def test_audit_of_a_choice_prints_the_figures_of_its_law(capsys) -> None:
    assert main(["privacy", "audit", "--mechanism", "surrogate", "--epsilon", "12"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("this text as a whole: ε = 12, whatever its length")
    lines = dict(re.split(r" {2,}", line) for line in out.splitlines()[2:])
    assert lines["passages"] == "23,400"
    assert 11.9 < float(lines["epsilon proved"]) <= 12
    assert float(lines["one of 1000 documents named"]) == pytest.approx(0.9939, abs=1e-3)


def test_a_figure_of_a_choice_is_refused(capsys, tmp_path: Path) -> None:
    out = str(tmp_path / "audit.png")
    with pytest.raises(SystemExit):
        main(["audit", "--mechanism", "surrogate", "--figure", out])
    assert "--figure: surrogate has numbers only" in capsys.readouterr().err
