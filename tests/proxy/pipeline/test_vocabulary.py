"""`privacy.vocabulary` and `--vocabulary`: which words there are, and that the receipt says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from perturb import TableError
from perturb.vocabulary.embeddings import BUNDLED_PAPER
from proxy.api.app_keys import TABLE
from proxy.app import build_app
from proxy.cli.main import main
from proxy.config.settings import ConfigError, load_config

DEVIATION = "without the 27 words of exclusion list version 1"


@pytest.fixture
def letter(tmp_path: Path) -> Path:
    path = tmp_path / "letter.txt"
    path.write_text("The meeting is on Monday.")
    return path


@pytest.mark.parametrize("variant", ["clean", "paper"])
def test_operator_chooses_the_vocabulary(variant: str) -> None:
    app = build_app(load_config(None, {"privacy": {"vocabulary": variant}}))
    assert app[TABLE].vocabulary.variant == variant


def test_clean_is_the_default() -> None:
    assert load_config(None).privacy.vocabulary == "clean"


def test_unknown_vocabulary_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"privacy\.vocabulary"):
        load_config(None, {"privacy": {"vocabulary": "rude"}})


def test_table_of_another_vocabulary_is_not_served() -> None:
    config = load_config(None, {"privacy": {"table": str(BUNDLED_PAPER)}})
    with pytest.raises(TableError, match="set `vocabulary: paper`, or build it again"):
        build_app(config)


@pytest.mark.parametrize(
    ("arguments", "said"), [((), DEVIATION), (("--vocabulary", "paper"), "of cl100k_base")]
)
def test_receipt_of_the_command_names_the_vocabulary(
    arguments: tuple[str, ...], said: str, letter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["perturb", str(letter), *arguments, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["receipt"]["vocabulary"]
    assert shown.startswith("V: the first 11,000 words of cl100k_base")
    assert said in shown
    assert (DEVIATION in shown) != bool(arguments)


def test_refute_takes_the_vocabulary(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--mechanism", "rantext_ldp", "--epsilon", "3", "--vocabulary", "paper"]
    assert main(["refute", *arguments, "--samples", "2000", "--json", "--seed", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["refuted"] is False
