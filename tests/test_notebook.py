"""The notebook of the documentation runs, and what is kept of it is what a run prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / "docs" / "notebooks" / "mechanisms.ipynb"


def read_book(path: Path) -> Any:
    import nbformat  # takes seconds

    return nbformat.read(path, as_version=4)


def read_code(path: Path) -> list[Any]:
    return [cell for cell in read_book(path).cells if cell.cell_type == "code"]


def printed(cells: list[Any]) -> str:
    outputs = [output for cell in cells for output in cell.outputs]
    return "".join(output.text for output in outputs if output.output_type == "stream")


def kinds(cells: list[Any]) -> list[list[str]]:
    return [[output.output_type for output in cell.outputs] for cell in cells]


def test_it_is_kept_as_one_run_from_top_to_bottom_left_it() -> None:
    cells = read_code(NOTEBOOK)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert {kind for each in kinds(cells) for kind in each} == {
        "display_data",
        "execute_result",
        "stream",
    }
    assert len(read_book(NOTEBOOK).cells) <= 25


def test_it_names_no_machine_and_loads_nothing() -> None:
    book = read_book(NOTEBOOK)
    assert dict(book.metadata.language_info) == {"name": "python"}
    assert not any(cell.metadata for cell in book.cells)
    text = NOTEBOOK.read_text("utf-8")
    assert not re.search(r"/(home|root|tmp|Users|work)/|[A-Z]:\\\\", text)
    assert not re.search(r"https?://|<script", text)


def test_its_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)", NOTEBOOK.read_text("utf-8"))
    assert len(links) >= 4
    for link in links:
        assert (NOTEBOOK.parent / link).exists(), link


@pytest.mark.statistical
def test_its_claims_hold(tmp_path: Path) -> None:
    """Its cells assert what the text says; figures that no assertion is about may differ."""
    out = tmp_path / "run.ipynb"
    done = subprocess.run(
        [sys.executable, "-m", "scripts.record_notebook", "--out", str(out)],
        cwd=ROOT,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    run, kept = read_code(out), read_code(NOTEBOOK)
    assert [cell.source for cell in run] == [cell.source for cell in kept]
    assert kinds(run) == kinds(kept)
    assert sum("assert " in cell.source for cell in run) >= 7
    for claim in (
        "rantext, ε = 8: guarantee none, ε proved for the document inf",
        "rantext_ldp, ε = 8: guarantee ldp, ε proved for the document 512",
        "rantext_ldp  smallest ε 6",
    ):
        assert claim in printed(run)
        assert claim in printed(kept)
