"""The text that the detector is trained on: labels lie on what they name, and nothing is both
trained on and kept for measuring."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from detector.code import read_own_files, write_code, write_mixed
from detector.corpora import (
    LABELS,
    OPEN,
    WIKIGOLD_TRAINED,
    Example,
    find_units,
    read_corpora,
    read_records,
)
from detector.sentences import write_sentences

from perturb.selective.detector import DETECTED


def test_sentences_are_labelled_on_whole_words_and_repeatable() -> None:
    examples = list(write_sentences(400, 7))
    assert examples == list(write_sentences(400, 7))
    assert examples != list(write_sentences(400, 8))
    found = set()
    for example in examples:
        assert "{" not in example.text
        for start, end, (label,) in example.parts:
            found.add(label)
            assert example.text[start:end].strip() == example.text[start:end] != ""
            assert not (start and example.text[start - 1].isalnum())
            assert not example.text[end : end + 1].isalpha()
    assert found == set(LABELS[1:]) == set(DETECTED)


Written = Callable[[int, int], Iterator[Example]]


@pytest.mark.parametrize("write", [write_code, write_mixed, read_own_files])
def test_code_is_repeatable_and_its_parts_are_whole_words(write: Written) -> None:
    examples = list(write(150, 7))
    assert examples == list(write(150, 7))
    assert examples != list(write(150, 8))
    for example in examples:
        assert "«" not in example.text.replace("«name»", "")
        for start, end, _ in example.parts:
            assert example.text[start:end].strip() == example.text[start:end] != ""
            assert not (start and example.text[start - 1].isalnum())


def test_people_are_named_in_chats_and_in_code() -> None:
    for examples in (write_sentences(300, 7, "chat"), write_code(300, 7)):
        people = {e.text[s:t] for e in examples for s, t, labels in e.parts if "PERSON" in labels}
        assert len(people) > 100
    lower = [e for e in write_sentences(600, 7, "chat") if e.text.islower() and e.parts]
    assert len(lower) > 20


def test_nothing_is_private_in_ordinary_texts() -> None:
    examples = list(write_sentences(600, 7, "ordinary"))
    assert all("{" not in example.text for example in examples)
    assert all("O" in labels for example in examples for _, _, labels in example.parts)
    assert len({example.text for example in examples}) > 500


def write(folder: Path, name: str, records: list[dict[str, Any]]) -> None:
    text = "".join(json.dumps(record) + "\n" for record in records)
    (folder / f"{name}.jsonl").write_text(text, "utf-8")


def test_what_is_kept_for_measuring_is_not_trained_on(tmp_path: Path) -> None:
    many = [{"text": f"sentence {i}", "spans": []} for i in range(WIKIGOLD_TRAINED + 9)]
    cities = ["Rome", "Oslo"] * 100
    span = {"type": "GPE", "start": 0, "end": 4}
    synthetic = [{"text": f"{c} of {i // 2}", "spans": [span]} for i, c in enumerate(cities)]
    cases = [{"text": t, "spans": []} for i in range(10) for t in ("PROCEDIMIENTO", f"caso {i}")]
    split = [{"text": s, "split": s, "spans": []} for s in ("train", "dev")]
    write(tmp_path, "wikigold", many)
    write(tmp_path, "presidio_synthetic", synthetic)
    write(tmp_path, "echr_es", cases)
    write(tmp_path, "tab_dev", split)
    write(tmp_path, "pupa_dev", [{"text": f"ask {n}", "units": []} for n in range(500)])
    held: dict[str, set[str]] = {
        name: {r["text"] for r, kept in read_records(tmp_path, name) if kept} for name in OPEN
    }
    assert held["tab_dev"] == {"dev"}
    assert len(held["wikigold"]) == 9
    assert held["echr_es"] == {"PROCEDIMIENTO", *(f"caso {i}" for i in range(4, 10))}
    # Both sentences of a template are on the same side.
    assert {t.replace("Rome", "Oslo") for t in held["presidio_synthetic"]} <= held[
        "presidio_synthetic"
    ]
    assert 0 < len(held["presidio_synthetic"]) < len(synthetic)
    assert held["pupa_dev"] == {f"ask {n}" for n in range(400, 500)}
    trained = [example.text for example in read_corpora(tmp_path, lambda text: iter(()))]
    kept = set().union(*held.values()) - {"PROCEDIMIENTO"}
    assert not kept.intersection(trained)
    assert len(trained) > len(many)


def test_units_are_typed_by_what_their_words_are_guessed_to_be(tmp_path: Path) -> None:
    text = (
        "tom of Acme Corp, see https://acme.example/x, tom@acme.example. Acme is my ko. 1-22-333"
    )
    units = ["tom", "acme corp", "https://acme.example/x", "tom@acme.example", "ko", "1-22-333"]
    guessed = {"tom": "PERSON", "Acme": "PERSON", "Corp": "ORGANIZATION"}
    for name in OPEN:
        write(tmp_path, name, [{"text": text, "units": units}] if name == "pupa_dev" else [])

    def guess(text: str) -> Iterator[tuple[int, int, str]]:
        for word, label in guessed.items():
            for start, end in find_units(text, [word]):
                yield start, end, label

    (example,) = read_corpora(tmp_path, guess)
    found = {example.text[s:e]: set(labels) for s, e, labels in example.parts}
    assert found["tom"] == {*LABELS}  # three small letters may be anything
    assert found["Acme Corp"] == {"PERSON", "ORGANIZATION"}
    assert found["https://acme.example/x"] == found["tom@acme.example"] == {"ID"}
    assert found["Acme"] == found["ko"] == {*LABELS}
    assert "ID" in found["1-22-333"]
    assert "O" in example.outside
    assert "PERSON" not in example.outside
