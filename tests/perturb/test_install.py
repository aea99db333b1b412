"""The install command in a message works from where the user is."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from perturb import install

ROOT = Path(__file__).resolve().parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
]
ASK = "from perturb.install import install_command; print(install_command('embedded'))"
METADATA = """\
Metadata-Version: 2.4
Name: inferdpt
Version: 0.1.0
Requires-Dist: numpy>=2.1
Provides-Extra: embedded
Requires-Dist: bpe-openai>=0.1.4; extra == "embedded"
Requires-Dist: xllamacpp>=2026.10; extra == "embedded"
Provides-Extra: audit
Requires-Dist: scipy>=1.16; extra == "audit"
"""


def asked(folder: Path, cwd: Path, *, bin_on_path: bool = True) -> str:
    """Return what the copy of the program in a folder says, without the command's beginning."""
    python = Path(sys.executable)
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        env={
            **os.environ,
            "PYTHONPATH": str(folder),
            "PATH": str(python.parent) if bin_on_path else "/nowhere",
        },
        cwd=cwd,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    begin = "pip install " if bin_on_path else f"{python} -m pip install "
    assert done.stdout.startswith(begin)
    return done.stdout.removeprefix(begin).strip()


def installed(folder: Path, origin: Any, *, checkout: str | None = None) -> Path:
    """A copy of the program as pip leaves it, or as a checkout holds it."""
    (folder / "perturb").mkdir(parents=True)
    (folder / "perturb" / "__init__.py").touch()
    source = Path(install.__file__).read_text("utf-8")
    (folder / "perturb" / "install.py").write_text(source)
    if checkout is not None:
        (folder / "pyproject.toml").write_text(f"[project]\nname = {checkout!r}\n")
        return folder
    info = folder / "inferdpt-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(METADATA)
    if origin is not None:
        (info / "direct_url.json").write_text(json.dumps(origin))
    return folder


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "with blank" / "inferdpt-0.1.0-py3-none-any.whl"
    path.parent.mkdir()
    path.touch()
    return path


def test_a_checkout_is_installed_again_with_the_extra(tmp_path: Path) -> None:
    checkout = installed(tmp_path / "checkout", None, checkout="inferdpt")
    assert asked(checkout, checkout) == "-e '.[embedded]'"
    assert asked(checkout, tmp_path) == f"-e '{checkout}[embedded]'"


def test_an_index_is_asked_only_where_it_was_installed_from_one(tmp_path: Path) -> None:
    assert asked(installed(tmp_path / "a", None), tmp_path) == "'inferdpt[embedded]'"
    # somebody else's project file beside the packages makes no checkout
    foreign = installed(tmp_path / "b", None)
    (foreign / "pyproject.toml").write_text("[project]\nname = 'other'\n")
    assert asked(foreign, tmp_path) == "'inferdpt[embedded]'"


def test_a_wheel_is_named_as_long_as_it_is_there(tmp_path: Path, wheel: Path) -> None:
    folder = installed(tmp_path / "a", {"url": wheel.as_uri(), "archive_info": {}})
    assert asked(folder, tmp_path) == f"'{wheel}[embedded]'"
    wheel.unlink()
    assert asked(folder, tmp_path) == "'bpe-openai>=0.1.4' 'xllamacpp>=2026.10'"


def test_a_folder_and_a_repository_are_named(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    folder = installed(tmp_path / "a", {"url": source.as_uri(), "dir_info": {}})
    assert asked(folder, tmp_path) == f"'{source}[embedded]'"
    assert asked(folder, source) == "'.[embedded]'"
    git = {"url": "https://host/x.git", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}}
    folder = installed(tmp_path / "b", git)
    assert asked(folder, tmp_path) == "'inferdpt[embedded] @ git+https://host/x.git@c0ffee'"


def test_the_pip_of_this_python_is_named_where_the_path_has_another(tmp_path: Path) -> None:
    assert asked(installed(tmp_path / "a", None), tmp_path, bin_on_path=False)


def test_every_message_takes_the_command_from_here_and_names_an_extra_there_is() -> None:
    asked_for = set()
    for package in ("perturb", "extraction", "proxy", "benchmarks"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    assert "pip install" not in node.value, path
                elif isinstance(node, ast.Call) and "install_command" in ast.unparse(node.func):
                    (extra,) = node.args
                    assert isinstance(extra, ast.Constant)
                    asked_for.add(extra.value)
    assert asked_for <= set(EXTRAS)
    assert len(asked_for) >= 7
