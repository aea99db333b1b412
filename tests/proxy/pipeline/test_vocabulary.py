"""`privacy.vocabulary` and `--vocabulary`: which words there are, and that the receipt says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from perturb import TableError
from perturb.vocabulary.embeddings import BUNDLED_PAPER
from perturb.vocabulary.words import load_vocabulary
from proxy.api.app_keys import TABLE
from proxy.app import build_app
from proxy.cli.main import main
from proxy.config.settings import ConfigError, load_config
from tests.proxy.conftest import MODEL, running_proxy
from tests.tables import bundled_table

DEVIATION = "without the 27 words of exclusion list version 1"


@pytest.fixture
def letter(tmp_path: Path) -> Path:
    path = tmp_path / "letter.txt"
    path.write_text("The meeting is on Monday.")
    return path


@pytest.mark.parametrize("variant", ["clean", "paper", "words"])
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


def test_command_draws_a_whole_word_for_each_word(
    letter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    letter.write_text("Interpretability wasn't discussed.")
    assert main(["perturb", str(letter), "--vocabulary", "words", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    words = set(load_vocabulary("words").words)
    assert shown["receipt"]["released"] == 3
    assert "whole words of public text" in shown["receipt"]["vocabulary"]
    assert set(shown["text"].rstrip(".").split()) <= words


@pytest.mark.statistical
def test_command_certifies_whole_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "certificate.json"
    arguments = ["--mechanism", "rantext_ldp", "--epsilon", "8", "--vocabulary", "words"]
    assert main(["certify", *arguments, "--out", str(path)]) == 0
    assert "list version 1" in capsys.readouterr().out
    privacy = {"mechanism": "rantext_ldp", "epsilon": 8, "require_certificate": True}
    for vocabulary in ("words", "clean"):
        settings = {**privacy, "vocabulary": vocabulary, "certificates": [str(path)]}
        config = load_config(None, {"privacy": settings})
        if vocabulary == "words":
            build_app(config)
        else:
            with pytest.raises(ConfigError, match="the certificate is for table"):
                build_app(config)


async def test_words_of_a_chat_leave_as_whole_words() -> None:
    words = bundled_table("words")
    settings = {"privacy": {"vocabulary": "words", "mechanism": "rantext_ldp", "epsilon": 3}}
    text = "Dear Ms Qvarnström,\n\nthe adenocarcinoma wasn't found in May.\n\nWard 4B."
    async with running_proxy(words, settings) as proxy:
        assert proxy.app[TABLE].vocabulary.variant == "words"
        messages: Any = [{"role": "user", "content": text}]
        for stream in (False, True):
            client = proxy.client()
            done: Any = await client.chat.completions.create(
                model=MODEL, messages=messages, stream=stream
            )
            if stream:
                assert [chunk async for chunk in done]
        first, second = (body["messages"] for body in proxy.remote.bodies)
        assert first == second, "one text is perturbed once"
        sent = " ".join(message["content"] for message in first)
        assert not [raw for raw in ("Qvarn", "carcinoma", "4B") if raw in sent]
        reply = await proxy.client().completions.create(model=MODEL, prompt=[64, 15140])
        assert reply.choices[0].text


def test_refute_takes_the_vocabulary(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--mechanism", "rantext_ldp", "--epsilon", "3", "--vocabulary", "paper"]
    assert main(["refute", *arguments, "--samples", "2000", "--json", "--seed", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["refuted"] is False
