"""The bundled model's card: its figures are those of the files beside it, and of that model."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.bundled_model.card import BEGIN, END, splice

BUNDLED = Path(__file__).resolve().parents[3] / "extraction" / "bundled"
MOST_BYTES = 24_000_000


def read(name: str) -> Any:
    return json.loads((BUNDLED / name).read_text())


def test_the_card_is_made_of_the_files_beside_it() -> None:
    card = (BUNDLED / "MODEL_CARD.md").read_text()
    assert splice(card, read("training.json"), read("measurements.json")) == card


def test_the_figures_are_about_the_shipped_file() -> None:
    data = (BUNDLED / "model.gguf").read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    assert read("training.json")["model_sha256"] == digest
    assert read("measurements.json")["model_sha256"] == digest
    assert len(data) <= MOST_BYTES


def test_the_demo_outputs_are_of_the_twenty_texts() -> None:
    lines = (BUNDLED.parents[1] / "benchmarks" / "demo_texts.jsonl").read_text().splitlines()
    texts = [json.loads(line) for line in lines]
    shown = [
        {"kind": one["kind"], "text": one["text"]} for one in read("measurements.json")["demo"]
    ]
    assert shown == texts
    assert len({text["kind"] for text in texts}) == 20


def test_only_what_stands_between_the_marks_changes() -> None:
    card = f"before\n{BEGIN}\nold figures\n{END}\nafter\n"
    new = splice(card, read("training.json"), read("measurements.json"))
    assert new.startswith(f"before\n{BEGIN}\n")
    assert new.endswith(f"{END}\nafter\n")
    assert "old figures" not in new


def test_outputs_are_shown_as_they_are_and_not_read_as_markdown() -> None:
    measured = read("measurements.json")
    measured["demo"][0]["answer"] = "a <b>bold</b> *claim*\n# heading | cell"
    new = splice(f"{BEGIN}\n{END}", read("training.json"), measured)
    assert r"a \<b\>bold\</b\> \*claim\* \# heading \| cell" in new


@pytest.mark.parametrize("card", ["", BEGIN, END, f"{BEGIN}{BEGIN}{END}"])
def test_a_card_without_its_marks_is_refused(card: str) -> None:
    with pytest.raises(ValueError, match="must hold the mark"):
        splice(card, read("training.json"), read("measurements.json"))
