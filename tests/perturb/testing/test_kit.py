"""The kit is apart: nothing imports it, and without its packages it says what to install."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_perturb_is_imported_without_the_kit() -> None:
    code = (
        "import sys, perturb, extraction.extractor, proxy.app\n"
        "print({'pytest', 'scipy', 'perturb.testing', 'extraction.testing'} & set(sys.modules))"
    )
    assert run(code).strip() == "set()"


def test_kit_without_its_packages_says_what_to_install() -> None:
    for package in ("pytest", "scipy"):
        code = (
            f"import sys; sys.modules[{package!r}] = None\n"
            "from perturb.errors import MissingPackage\n"
            "try:\n    import perturb.testing\n"
            "except MissingPackage as exc:\n    print(exc)"
        )
        said = run(code)
        assert said.startswith("the conformance kit needs pytest and SciPy: ")
        assert "[testing]" in said
