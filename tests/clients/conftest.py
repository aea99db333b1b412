"""Mark the tier, play each client once in each mode, and keep the results."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.clients.assistant import BROKEN, answer
from tests.clients.catalogue import CLIENTS, MODES, SCENES, Client
from tests.clients.install import FOLDER, find_reason
from tests.clients.runs import Run, play
from tests.hostile.stage import Stage
from tests.proxy.conftest import MODEL

HERE = Path(__file__).parent
RESULTS = FOLDER / "results.json"
REMOTE = {"models": {MODEL: "remote-model", "broken": BROKEN}}
SETTINGS: dict[str, dict[str, Any]] = {
    "gateway": {
        "privacy": {"mechanism": "selective", "epsilon": 6},
        "remote": REMOTE,
        "local": {"mode": "none", "embeddings_model": None},
    },
    "extraction": {"remote": REMOTE},
}
Note = Callable[[Client, str, str], None]


@dataclass(frozen=True)
class Played:
    """Hold a client's run, and what the upstreams received during it."""

    run: Run
    remote: bytes
    local: bytes


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.clients)


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Stage]]:
    """Start `inferdpt serve` in a mode, between scripted models, when it is first asked for."""
    with ExitStack() as stack:

        @cache
        def start(mode: str) -> Stage:
            made = stack.enter_context(Stage(tmp_path_factory.mktemp(mode), SETTINGS[mode]))
            made.remote.script = made.local.script = answer
            return made

        yield start


@pytest.fixture(scope="session")
def played(
    stage: Callable[[str], Stage], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Client, str], Played]:
    """Play all scenes of a client in a mode, once for all tests."""

    @cache
    def once(client: Client, mode: str) -> Played:
        if (reason := find_reason(client.environment)) is not None:
            pytest.skip(f"{client.name}: {reason}")
        where = stage(mode)
        base_url = where.child.base_url
        before = len(where.remote.received), len(where.local.received)
        run = play(client, base_url, tmp_path_factory.mktemp(client.script))
        remote, local = where.remote.received[before[0] :], where.local.received[before[1] :]
        return Played(run, b"\n".join(remote), b"\n".join(local))

    return once


@pytest.fixture(scope="session")
def note() -> Iterator[Note]:
    """Note that a scene of a client passed in a mode. At the end, all that passed is written; the
    result of a client that did not run stays as it was."""
    passed: dict[str, dict[str, list[str]]] = {}
    versions: dict[str, str] = {}

    def add(client: Client, mode: str, scene: str, version: str) -> None:
        passed.setdefault(client.name, {}).setdefault(mode, []).append(scene)
        versions[client.name] = version

    yield add
    kept = json.loads(RESULTS.read_text("utf-8"))["clients"] if RESULTS.exists() else []
    told = {client["name"]: client for client in kept}
    for client in CLIENTS:
        if client.name in passed:
            told[client.name] = {
                "name": client.name,
                "script": client.path.relative_to(HERE.parents[1]).as_posix(),
                "version": versions[client.name],
                "lacks": client.lacks,
                "passed": passed[client.name],
            }
    clients = [told[client.name] for client in CLIENTS if client.name in told]
    found = {"scenes": SCENES, "modes": MODES, "clients": clients}
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
