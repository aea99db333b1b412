"""Negative control: a mechanism that breaks its own claim makes a run fail."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.__main__ import main
from perturb import registry
from perturb.mechanisms.base import Draw, Words
from perturb.mechanisms.exponential import Exponential
from tests.benchmarks.small_context import SET, write_set


class Planted(Exponential):
    """Claims what the exponential mechanism proves, and keeps a word too often."""

    name = "planted"
    share = 0.3

    def draw(self, words: Words, rng: np.random.Generator) -> Draw:
        drawn = super().draw(words, rng).words
        return Draw(np.where(rng.random(len(drawn)) < self.share, words, drawn).astype(np.int32))


class Sound(Planted):
    """The same without the fault."""

    share = 0.0


def exit_status(planted: type[Planted], folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setitem(registry._REGISTRY, planted.name, planted)
    suite = folder / "suite.yaml"
    suite.write_text(
        "texts: 20\nanswers: 2\nepsilons: [1]\nsubjects: [{mechanism: planted}]\n"
        f"datasets: [{SET}]\n"
    )
    write_set(folder / "open_ended")
    where = ["--suite", str(suite), "--data", str(folder), "--out", str(folder / "out")]
    return main(["run", *where, "--only", "inversion"])


def test_a_planted_fault_fails_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    assert exit_status(Planted, tmp_path, monkeypatch) == 1
    said = capsys.readouterr().err
    assert f"BREACH inversion planted 1.0 {SET}: top_1_once: " in said
    # a run that goes on from the records of this one says so again
    assert exit_status(Planted, tmp_path, monkeypatch) == 1


def test_without_the_fault_the_run_succeeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert exit_status(Sound, tmp_path, monkeypatch) == 0
