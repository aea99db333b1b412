"""The text that the detector is trained on: labels lie on what they name, and nothing is both
trained on and kept for measuring."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from detector.corpora import LABELS, OPEN, WIKIGOLD_TRAINED, read_corpora, read_records
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
    trained = [example.text for example in read_corpora(tmp_path)]
    kept = set().union(*held.values()) - {"PROCEDIMIENTO"}
    assert not kept.intersection(trained)
    assert len(trained) > len(many)
