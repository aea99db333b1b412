"""A finding of a person leaves a preposition before the name, and no part of the name."""

from __future__ import annotations

import pytest

from perturb import Span
from perturb.selective.detector.completing import cut_edges

# The whole line is found as a person; the name is between ⟦ and ⟧.
CUT = """
Según ⟦Szabo⟧
Selon ⟦Tamsin Achterberg⟧
laut ⟦Szabo⟧
"""
WHOLE = """
Lieut. Stone
Peter J. stark
Juan Carlos bueno
Oskar Frank. Stone
Peter klein
Anna lang
Tamsin Achterberg
tamsin achterberg
Tamsin achterberg
Anna van der Berg
Maria de la Cruz
Ludwig van
J. R. Lindqvist
Dr. Lindqvist
St. John Rivers
Tamsin A. Stone
Anna-Lena Holzapfel
Achterberg, Tamsin
Mary Ann rose
Anna Maria lena
Otto von Bismarck jun
Tamsin. Achterberg
Mitra Achterberg
Oskar Lang junior
Laut
Tamsin's Achterberg
Ngozi Okonkwo Adaeze
"""


def cut(line: str) -> str:
    [span] = cut_edges(line, [Span(0, len(line), "PERSON")])
    return line[span.start : span.end]


@pytest.mark.parametrize("line", CUT.strip().splitlines())
def test_words_around_a_name_are_left_out(line: str) -> None:
    before, name, after = line.replace("⟧", "⟦").split("⟦")
    assert cut(before + name + after) == name


@pytest.mark.parametrize("line", WHOLE.strip().splitlines())
def test_no_part_of_a_name_is_left_out(line: str) -> None:
    assert cut(line) == line


def test_only_persons_are_cut() -> None:
    span = Span(0, 20, "ORGANIZATION")
    assert [*cut_edges("Jamal Musiala traf zum", [span])] == [span]
