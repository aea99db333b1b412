"""The plug-in for llm, installed and run as its users do."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.clients.install import find_program, find_reason
from tests.clients.runs import ALONE
from tests.hostile.stage import Stage
from tests.proxy.conftest import MODEL

SOURCE = Path(__file__).parents[2] / "integrations" / "llm"
ENVIRONMENT = "openai3"
ADDRESS = "qwrtpsdfghjk@example.com"
QUESTION = f"Our contact is {ADDRESS}. Who is our contact?"
Llm = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the plug-in into a folder of its own."""
    if (reason := find_reason(ENVIRONMENT)) is not None:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("site")
    command = [find_program(ENVIRONMENT), "-m", "pip", "install", "--quiet", "--no-deps"]
    command += ["--no-build-isolation", "--target", folder, _copy(tmp_path_factory)]
    subprocess.run(command, check=True, env={**os.environ, "PIP_NO_INDEX": "1"})
    return folder


def _copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the source: a build leaves files beside it."""
    folder = tmp_path_factory.mktemp("source")
    for path in SOURCE.iterdir():
        if path.is_file():
            (folder / path.name).write_bytes(path.read_bytes())
    return folder


@pytest.fixture
def llm(site: Path, tmp_path: Path) -> Llm:
    """Run the command line against an address."""

    def run(base_url: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        env = {
            **os.environ,
            **ALONE,
            "PYTHONPATH": str(site),
            "LLM_USER_PATH": str(tmp_path),
            "INFERDPT_BASE_URL": base_url,
        }
        command = [find_program(ENVIRONMENT), "-m", "llm", *arguments]
        return subprocess.run(
            command, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300
        )

    return run


def test_models_are_listed_answer_and_stream(stage: Callable[[str], Stage], llm: Llm) -> None:
    where = stage("gateway")
    base_url = where.child.base_url
    assert f"InferDPT: inferdpt/{MODEL}" in llm(base_url, "models").stdout
    for more in ([], ["--no-stream"]):
        done = llm(base_url, "-m", f"inferdpt/{MODEL}", QUESTION, *more)
        assert ADDRESS in done.stdout, done.stderr
    assert ADDRESS.partition("@")[0].encode() not in b"\n".join(where.remote.received)


def test_tools_and_schemas_are_served(stage: Callable[[str], Stage], llm: Llm) -> None:
    base_url = stage("gateway").child.base_url
    function = "def look_up(address: str) -> str:\n    return address + ' is known'"
    model = ("-m", f"inferdpt/{MODEL}")
    done = llm(base_url, *model, QUESTION, "--functions", function, "--td")
    assert f"{ADDRESS} is known" in done.stderr  # the function got the address, and ran
    assert ADDRESS in done.stdout
    done = llm(base_url, *model, QUESTION, "--schema", "address, priority int")
    assert json.loads(done.stdout) == {"address": ADDRESS, "priority": 7}


def test_options_of_the_proxy_are_options_of_the_model(
    stage: Callable[[str], Stage], llm: Llm
) -> None:
    where = stage("extraction")
    base_url = where.child.base_url
    before = len(where.remote.received)
    done = llm(base_url, "-m", f"inferdpt/{MODEL}", "-o", "local_only", "1", QUESTION)
    assert ADDRESS in done.stdout, done.stderr
    assert len(where.remote.received) == before
    done = llm(base_url, "-m", f"inferdpt/{MODEL}", "-o", "epsilon", "1e9", QUESTION)
    assert done.returncode != 0
    assert "epsilon" in done.stderr


def test_a_proxy_that_is_not_there_has_no_models(llm: Llm) -> None:
    done = llm("http://127.0.0.1:9/v1", "models")
    assert done.returncode == 0, done.stderr
    assert "inferdpt" not in done.stdout.lower()
