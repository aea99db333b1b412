"""The built wheel, installed into an environment that holds nothing else."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytestmark = pytest.mark.wheel

ROOT = Path(__file__).parents[1]
PACKAGES = ("perturb", "extraction", "proxy")
BUILD = "import sys; from setuptools import build_meta; print(build_meta.build_wheel(sys.argv[1]))"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tree, out = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("out")
    for name in PACKAGES:
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copyfile(ROOT / name, tree / name)
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(out)], cwd=tree, capture_output=True, check=True
    )
    return out / done.stdout.decode().split()[-1]


@pytest.fixture(scope="module")
def scripts(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of commands of a fresh environment with the wheel in it."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    subprocess.run(
        [
            *(str(folder / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"),
            *("-c", str(ROOT / "constraints.txt"), f"{wheel}[embedded]"),
        ],
        check=True,
        timeout=900,
    )
    return folder / "bin"


def environment(folder: Path) -> dict[str, str]:
    """Return an environment with a state of its own, in which the repository cannot be imported by
    chance."""
    kept = ("HOME", "LANG", "LC_ALL", "PATH", "TMPDIR")
    own = {name: os.environ[name] for name in kept if name in os.environ}
    return {**own, "INFERDPT_STATE_DIR": str(folder)}


def run(*command: str | Path, folder: Path) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def serving(*command: str | Path, folder: Path) -> Iterator[str]:
    """Run `inferdpt serve` and yield its address."""
    process = subprocess.Popen(
        [str(part) for part in command],
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        yield next(word for word in line.split() if word.startswith("http"))
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        assert process.returncode == 0
    finally:
        process.kill()
        process.wait()


def test_it_holds_every_module_and_data_file(wheel: Path) -> None:
    kept = {
        *(".py", ".typed", ".npz", ".npy", ".json", ".txt", ".gguf", ".onnx", ".md", ".png"),
        *(".jinja", ".html", ".css", ".js", ".svg"),
    }
    files = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.suffix in kept and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
    assert packed >= files
    assert {name.partition("/")[0] for name in packed} - set(PACKAGES) == {
        name.partition("/")[0] for name in packed if ".dist-info/" in name
    }


def test_it_runs_where_the_repository_is_not(scripts: Path, tmp_path: Path) -> None:
    found = run(scripts / "python", "-c", "import proxy; print(proxy.__file__)", folder=tmp_path)
    assert Path(found.strip()).is_relative_to(scripts.parent)


def test_demo_shows_the_whole_path(scripts: Path, tmp_path: Path) -> None:
    """With the model that it fetches, once."""
    for _ in range(2):
        shown = run(scripts / "inferdpt", "demo", folder=tmp_path)
        assert "DEMO MODEL" not in shown
        answer = shown.partition("4. Your answer")[2].partition("5. The receipt")[0]
        assert "lighthouse" in answer
        assert len(shown.splitlines()) <= 64  # by the passage that is drawn
    listed = run(scripts / "inferdpt", "models", "list", "--json", folder=tmp_path)
    (model,) = [model for model in json.loads(listed) if model["here"] != "no"]
    assert model["name"] == "smollm2-135m"
    assert "DEMO MODEL" in run(scripts / "inferdpt", "demo", "--model", "bundled", folder=tmp_path)


def test_serve_answers_with_the_model_that_was_pulled(scripts: Path, tmp_path: Path) -> None:
    run(scripts / "inferdpt", "models", "pull", "smollm2-135m", folder=tmp_path)
    command = (
        *("serve", "--config", os.devnull, "--port", "0"),
        *("--remote-base-url", "http://127.0.0.1:9/v1", "--remote-model", "m"),
    )
    question = "What is the capital of France? Answer in one sentence."
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": question}],
        "temperature": 0,
        "max_tokens": 30,
        "inferdpt": {"local_only": True},
    }
    with serving(scripts / "inferdpt", *command, folder=tmp_path) as address:
        request = urllib.request.Request(
            f"{address}/chat/completions",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=300) as answer:
            done = json.load(answer)
    assert "Paris" in done["choices"][0]["message"]["content"]
    assert "local" not in done["inferdpt"]


def test_perturb_releases_a_document(scripts: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("The board met on Monday morning. " * 4)
    command = ("perturb", "--mechanism", "rantext_ldp", "--epsilon", "8", text)
    released = run(scripts / "inferdpt", *command, folder=tmp_path)
    assert released.strip()
    assert released.strip() != text.read_text().strip()


def test_serve_answers(scripts: Path, tmp_path: Path) -> None:
    command = (
        *("serve", "--config", os.devnull, "--port", "0"),
        *("--remote-base-url", "http://127.0.0.1:9/v1", "--remote-model", "m"),
        *("--local-base-url", "http://127.0.0.1:9/v1"),
    )
    with (
        serving(scripts / "inferdpt", *command, folder=tmp_path) as address,
        urllib.request.urlopen(f"{address}/models", timeout=60) as answer,
    ):
        assert json.load(answer)["object"] == "list"
