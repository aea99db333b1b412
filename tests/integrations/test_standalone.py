"""The files that users install: complete, and made of what the integrations use."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.release import integrations
from scripts.release.integrations import INTEGRATIONS, PACKAGES, bundle, write_integration
from tests.integrations.standalone import read

NAMES = [path.stem for path in INTEGRATIONS]


def find_faults(text: str) -> str:
    """Return what ruff says of undefined names, double ones and imports without a use."""
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F", "-"],
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return "" if done.returncode == 0 else done.stdout


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_defined_once_and_used(name: str) -> None:
    text = read(name)
    assert find_faults(text) == ""
    assert "F821" in find_faults(text.replace("class AnswerRestorer", "class Other"))


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_imported_from_this_project(name: str) -> None:
    for node in ast.walk(ast.parse(read(name))):
        if isinstance(node, ast.ImportFrom):
            assert (node.module or "").partition(".")[0] not in PACKAGES
        elif isinstance(node, ast.Import):
            assert PACKAGES.isdisjoint(alias.name.partition(".")[0] for alias in node.names)


def test_open_webui_reads_the_first_lines() -> None:
    assert read("inferdpt_filter").startswith('"""\ntitle: InferDPT\n')


def test_one_command_writes_the_files(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "scripts.release.integrations", "--out", str(tmp_path)]
    subprocess.run(command, cwd=integrations.ROOT, check=True, capture_output=True, timeout=60)
    assert sorted(path.stem for path in tmp_path.iterdir()) == sorted(NAMES)
    for name in NAMES:
        assert (tmp_path / f"{name}.py").read_text("utf-8") == read(name)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a small project."""
    monkeypatch.setattr(integrations, "ROOT", tmp_path)
    (tmp_path / "perturb").mkdir()
    (tmp_path / "integrations").mkdir()
    (tmp_path / "perturb" / "__init__.py").write_text("")
    return tmp_path


def write(project: Path, **sources: str) -> Path:
    """Write modules of `perturb`, and the integration `main`; return its path."""
    for name, source in sources.items():
        folder = "integrations" if name == "main" else "perturb"
        (project / folder / f"{name}.py").write_text(f'"""A module."""\n\n{source}')
    return project / "integrations" / "main.py"


def test_only_what_is_used_is_copied(project: Path) -> None:
    first = (
        "import json as js\nimport os\nimport re\n\n# Why.\nSIZE = 2\nOTHER = os.sep, js\n\n\n"
        "def run():\n    re.I\n"
    )
    second = "from perturb.first import SIZE, run\n\n\nclass Base:\n    size = SIZE, run\n"
    main = "from perturb.second import Base\n\n\nclass Main(Base):\n    pass\n"
    path = write(project, first=first, second=second, main=main)
    text = write_integration(path, project / "out").read_text("utf-8")
    assert "# Why.\nSIZE = 2\n" in text
    assert "import re\n" in text
    assert "OTHER" not in text
    assert "import os" not in text
    assert "json" not in text
    names: dict[str, type] = {}
    exec(text, names)
    assert names["Main"].mro()[1] is names["Base"]


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ({"main": "import re as ree\n\nA = ree\n"}, "as they are"),
        ({"main": "from perturb.first import gone\n\nA = gone\n"}, "from its module"),
        ({"main": "from perturb import first\n\nA = first\n"}, "from its module"),
        (
            {"first": "A = B = 1\n", "main": "from perturb.first import A\n\nB = A\n"},
            "stands for two things",
        ),
        ({"main": "def run():\n    from perturb.first import A\n\n    A()\n"}, "at the top"),
        ({"main": "if True:\n    A = 1\n"}, "only imports and definitions"),
    ],
)
def test_what_cannot_be_copied_is_refused(
    project: Path, sources: dict[str, str], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        bundle(write(project, **{"first": "", **sources}))
