"""Whole words against tokens: what counts as a word that is read."""

from __future__ import annotations

import pytest

from benchmarks.harness.records import Estimate, Record
from benchmarks.utility.vocabularies import Vocabularies, find_parts, interpolate
from perturb.vocabulary.vocabulary import Variant
from perturb.vocabulary.words import WORD
from tests.tables import bundled_table

TEXT = "Anna’s interpretability wasn't, naïvely,\n\nwell-known in 2024: 東京 x²."


@pytest.mark.parametrize("variant", ["clean", "words"])
def test_parts_are_the_words_and_cover_every_release_once(variant: Variant) -> None:
    table = bundled_table(variant)
    vocabulary = table.vocabulary
    is_word, _ = table.places(vocabulary.encode(TEXT))
    parts = find_parts(vocabulary, is_word, TEXT)
    assert len(parts) == len(WORD.findall(TEXT))
    assert [part.word for part in parts[:4]] == ["anna", "interpretability", "wasn", "naively"]
    covered = [j for part in parts for j in part.releases]
    assert covered == sorted(set(covered))
    assert len(covered) >= int(is_word.sum()) - 2  # tokens may join a letter and what follows it
    if variant == "words":
        assert [len(part.releases) for part in parts] == [1] * len(parts)


@pytest.mark.parametrize("variant", ["clean", "words"])
def test_an_attacker_who_sees_the_raw_words_reads_those_in_the_vocabulary(
    variant: Variant,
) -> None:
    table = bundled_table(variant)
    vocabulary = table.vocabulary
    text = "The river and the meeting, Monday; Qvarnström"
    is_word, places = table.places(vocabulary.encode(text))
    names = [vocabulary.words[i].casefold() for i in places]
    read = [
        "".join(names[j] for j in part.releases) == part.word
        for part in find_parts(vocabulary, is_word, text)
    ]
    assert read[:6] == [True] * 6
    assert variant == "clean" or not read[6], "no word of V spells it"


def test_levels_between_points_are_interpolated_and_none_beyond() -> None:
    assert interpolate([0.3, 0.1], [0.4, 0.2], 0.2) == pytest.approx(0.3)
    assert interpolate([0.3, 0.1], [0.4, 0.2], 0.31) is None


def test_section_compares_at_the_stronger_attacker() -> None:
    def record(variant: str, epsilon: float, free: float, context: float, cosine: float) -> Record:
        values = {"free": free, "context": context, "cosine": cosine}
        found = {name: Estimate.exact(value) for name, value in values.items()}
        case = {"vocabulary": variant, "epsilon": epsilon, "dataset": "x"}
        return Record("vocabularies", case, found, (), 1, "", "", "", 1.0)

    records = [
        record("clean", 6, 0.05, 0.10, 0.10),
        record("clean", 8, 0.10, 0.20, 0.30),
        record("words", 6, 0.10, 0.05, 0.20),
        record("words", 8, 0.20, 0.15, 0.40),
    ]
    table = list(Vocabularies().render(records))[-1]
    assert "| 15% | 0.200 | 0.300 |" in table
    assert not list(Vocabularies().render([]))
