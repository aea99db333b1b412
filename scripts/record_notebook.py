"""Run the notebook of the documentation, and keep what its cells print.

python -m scripts.record_notebook                # docs/notebooks/mechanisms.ipynb
python -m scripts.record_notebook --out FILE     # elsewhere
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

__all__ = ["NOTEBOOK", "main"]

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / "docs" / "notebooks" / "mechanisms.ipynb"


def main() -> None:
    """Run every cell in its order; an error ends the run."""
    parser = argparse.ArgumentParser(description="Run the notebook, and keep its outputs.")
    parser.add_argument("--out", type=Path, default=NOTEBOOK, help="the file to write")
    out = parser.parse_args().out
    book = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    with tempfile.TemporaryDirectory() as folder:
        # No trace of the run in the user's own folders, and pictures whatever their settings.
        os.environ |= {
            "IPYTHONDIR": folder,
            "JUPYTER_RUNTIME_DIR": folder,
            "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        }
        place = {"metadata": {"path": str(NOTEBOOK.parent)}}
        NotebookClient(book, resources=place, record_timing=False).execute()
    # The version of Python is the machine's.
    book.metadata["language_info"] = {"name": "python"}
    nbformat.write(book, out)  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main()
