"""Make the matrix of docs/clients.md from the result of `make test-clients`.

    python -m benchmarks.pages.clients_page --results .venv-clients/results.json

The result is kept in docs/results/clients.json, and the matrix stands between two marks of the
page.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.harness.markdown import format_table

__all__ = ["BEGIN", "END", "KEPT", "PAGE", "main", "place_matrix", "render_matrix"]

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "clients.md"
KEPT = ROOT / "docs" / "results" / "clients.json"
BEGIN = "<!-- The matrix is made by benchmarks/pages/clients_page.py. -->\n"
END = "<!-- End of the matrix. -->\n"
TITLES = {"gateway": "Gateway mode", "extraction": "With a local model"}
PASSED, FAILED = "✓", "failed"


def render_matrix(found: dict[str, Any]) -> str:
    """Return a table for each mode, and the reasons why a client has no place in a column.

    Args:
        found: the result of the tier, as its fixtures write it.
    """
    lines: list[str] = []
    notes: list[str] = []
    for mode in found["modes"]:
        rows = [
            [
                f"[{client['name']}](../{client['script']})",
                client["version"],
                *(_fill_cell(client, mode, scene, notes) for scene in found["scenes"]),
            ]
            for client in found["clients"]
        ]
        head = ["Client", "Version", *found["scenes"]]
        lines += [f"### {TITLES[mode]}", "", format_table(head, rows), ""]
    lines += [*_number(notes), ""]
    return "\n".join(lines)


def place_matrix(page: str, matrix: str) -> str:
    """Return a page with another matrix between its marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{matrix}{END}{after}"


def _fill_cell(client: dict[str, Any], mode: str, scene: str, notes: list[str]) -> str:
    reason = client["lacks"].get(scene)
    if reason is None:
        return PASSED if scene in client["passed"].get(mode, ()) else FAILED
    if reason not in notes:
        notes.append(reason)
    return f"– ({notes.index(reason) + 1})"


def _number(notes: list[str]) -> Iterator[str]:
    return (f"({i}) The client {note}." for i, note in enumerate(notes, 1))


def main() -> None:
    """Keep a result, and write the matrix into the page."""
    parser = argparse.ArgumentParser(description="Write the matrix of clients.")
    parser.add_argument("--results", required=True, type=Path)
    found = json.loads(parser.parse_args().results.read_text("utf-8"))
    KEPT.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    PAGE.write_text(place_matrix(PAGE.read_text("utf-8"), render_matrix(found)), "utf-8")


if __name__ == "__main__":
    main()
