"""A published benchmark of gateways: nothing that it plants leaves, and all of it comes back.

It answers as the remote itself, on a port that the gateway is configured with, one character an
event. Its second profile also asks whether a gateway redacts what a *remote* makes up, which this
one does not: those figures are not checked.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.install import find_program, find_reason
from tests.clients.runs import ALONE
from tests.hostile.stage import Stage
from tests.proxy.conftest import MODEL

ENVIRONMENT = "pii_leak"
KEPT = ("configured_upstream_boundary", "fragmentation_safety", "response_fidelity")


@pytest.fixture(scope="module")
def port() -> int:
    if (reason := find_reason(ENVIRONMENT)) is not None:
        pytest.skip(reason)
    with socket.socket() as free:  # the benchmark listens there, one run after the other
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture(scope="module")
def base_url(port: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a gateway whose remote is where the benchmark will listen."""
    settings = {
        "privacy": {"mechanism": "selective", "epsilon": 6},
        "remote": {"base_url": f"http://127.0.0.1:{port}/v1", "models": {MODEL: "any"}},
        "local": {"mode": "none", "embeddings_model": None},
    }
    with Stage(tmp_path_factory.mktemp("gateway"), settings) as stage:
        yield stage.child.base_url


def run(program: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [find_program(ENVIRONMENT).with_name(program), *arguments],
        cwd=folder,
        env={**os.environ, **ALONE, "HOME": str(folder)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )


def find_checks(path: Path) -> dict[str, Any]:
    checks: dict[str, Any] = json.loads(path.read_text("utf-8"))["checks"]
    return {name: checks[name]["passed"] for name in KEPT}


def test_its_own_check_is_clean(port: int, base_url: str, tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    arguments = ["--target-base-url", base_url, "--target-model", MODEL]
    arguments += ["--capture-port", str(port), "--json-out", str(out)]
    done = run("pii-leak-benchmark", "selfcheck", *arguments, folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "CLEAN" in done.stdout
    assert find_checks(out) == dict.fromkeys(KEPT, True)


def test_without_a_gateway_it_finds_leaks(port: int, base_url: str, tmp_path: Path) -> None:
    arguments = ["--target-base-url", "capture://self", "--capture-port", str(port)]
    done = run("pii-leak-benchmark", "selfcheck", *arguments, folder=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "LEAK" in done.stdout


def test_its_second_profile_restores_everything(port: int, base_url: str, tmp_path: Path) -> None:
    arguments = ["--out", str(tmp_path), "--only", "gateway", "--model", MODEL]
    arguments += ["--gateway-url", f"{base_url}/chat/completions", "--upstream-port", str(port)]
    done = run("pii-leak-benchmark-v2", *arguments, folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert find_checks(tmp_path / "gateway.json") == dict.fromkeys(KEPT, True)
    assert "fidelity=1.0" in done.stdout
