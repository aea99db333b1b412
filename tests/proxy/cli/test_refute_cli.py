"""`inferdpt privacy refute`, `inferdpt privacy account` and `inferdpt privacy perturb --lines`."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from perturb import Perturber, get_mechanism, seeded_generator
from proxy.cli.main import main
from proxy.cli.privacy.refute import _wrap_sanitizer
from tests.limits import LIMIT
from tests.perturb.marking import WORDS

IDENTITY = shlex.join([sys.executable, "-c", "import sys; sys.stdout.write(sys.stdin.read())"])


def test_refute_says_that_a_mechanism_breaks_its_claim(capsys: pytest.CaptureFixture[str]) -> None:
    command = "refute --mechanism rantext --epsilon 3 --set noise=published --samples 20000"
    assert main([*command.split(), "--seed", "1", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["refuted"]
    assert found["claim"] == 3
    assert found["epsilon_lower"] > 3


def test_refute_does_not_contradict_a_proof(capsys: pytest.CaptureFixture[str]) -> None:
    command = "refute --mechanism rantext_ldp --epsilon 3 --samples 20000 --seed 1"
    assert main(command.split()) == 0
    assert "claimed ε = 3: not refuted" in capsys.readouterr().out


def test_refute_runs_a_program(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("alpha\nbeta\n\n", "utf-8")
    arguments = ["refute", "--command", IDENTITY, "--words", str(words), "--samples", "4000"]
    assert main([*arguments, "--claim", "4"]) == 1
    assert "claimed ε = 4: refuted" in capsys.readouterr().out
    assert main(arguments) == 0  # nothing was claimed


@pytest.mark.parametrize(
    ("program", "seconds", "said"),
    [
        ("raise SystemExit(3)", LIMIT, "the command failed with status 3"),
        ("print('one')", LIMIT, "one line for each line it reads"),
        ("import time; time.sleep(600)", 2, "the command took longer than 2 s"),
    ],
)
def test_a_program_that_fails_is_named(
    program: str, seconds: float, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = shlex.join([sys.executable, "-c", program])
    argv = ["refute", "--command", command, "--timeout", str(seconds), "--samples", "2000"]
    assert main(argv) == 2
    assert said in capsys.readouterr().err


def test_our_lines_are_drawn_afresh_where_a_text_would_repeat_itself() -> None:
    """selective gives equal words of one text one replacement: lines must not be one text."""
    mechanism = get_mechanism("selective", epsilon=1, patterns={"WORD": "[A-Za-z]+"}, **WORDS)
    sanitize = _wrap_sanitizer(Perturber(mechanism), seeded_generator(1))
    assert len(set(sanitize(["alpha"] * 50))) > 40


def test_account_names_the_smallest_bound(capsys: pytest.CaptureFixture[str]) -> None:
    command = "account --mechanism rantext_ldp --epsilon 6 --tokens 100"
    assert main([*command.split(), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [bound["bound"] for bound in found["bounds"]] == [
        "basic",
        "zCDP",
        "privacy loss distribution",
    ]
    assert found["bounds"][0] == {"bound": "basic", "epsilon": 600.0, "delta": 0.0}
    assert found["unit"] == "token"
    assert found["best"]["bound"] == "privacy loss distribution"
    assert main(command.split()) == 0
    assert "<- smallest" in capsys.readouterr().out


def test_account_of_a_mechanism_without_a_bound_is_infinite(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["account", "--mechanism", "rantext", "--tokens", "5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["best"]["epsilon"] == "infinity"


def test_perturb_lines_writes_a_line_for_each(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "lines.txt"
    file.write_text("the first\r\n\nanother one. Yes\n", "utf-8")
    assert main(["perturb", str(file), "--lines", "--mechanism", "rantext_ldp"]) == 0
    lines = capsys.readouterr().out.removesuffix("\n").split("\n")
    assert len(lines) == 3
    assert [len(line.replace(".", "").split()) for line in lines] == [2, 0, 3]


@pytest.mark.parametrize("setting", ["noise", "noise=[", "=x: ["])
def test_a_bad_setting_is_refused(setting: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["account", "--tokens", "5", "--set", setting]) == 2
    assert "--set takes NAME=VALUE" in capsys.readouterr().err


def test_an_unknown_parameter_is_refused_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["account", "--tokens", "5", "--set", "nois=x"]) == 2
    assert "rantext_ldp has no parameter 'nois'" in capsys.readouterr().err
