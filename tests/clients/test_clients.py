"""Real clients against a running proxy: they see their own values, and the remote does not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.clients.assistant import NUMBER, answer
from tests.clients.catalogue import CLIENTS, MODES, Client
from tests.clients.conftest import Note, Played
from tests.clients.install import find_reason
from tests.clients.runs import play
from tests.hostile.upstream import Upstream

FEWEST = 10  # clients that have to run: those for Node may be missing
CASES = [
    pytest.param(client, mode, scene, id=f"{client.script}-{mode}-{scene}")
    for client in CLIENTS
    for mode in MODES
    for scene in client.scenes
]
# The status of the error that each model gives.
STATUSES = {"no-such-model": 404, "broken": 502}


@pytest.mark.parametrize(("client", "mode", "scene"), CASES)
def test_a_client_is_served(
    played: Callable[[Client, str], Played], note: Note, client: Client, mode: str, scene: str
) -> None:
    done = played(client, mode)
    seen, canary = done.run.seen[scene], done.run.canaries[scene]
    assert "failed" not in seen, seen["failed"]
    check(scene, seen, canary)
    assert scene not in done.run.found_in(done.remote)
    note(client, mode, scene, done.run.version)


def check(scene: str, seen: dict[str, Any], canary: str) -> None:
    """Fail unless a client saw its own address, whole."""
    if scene == "errors":
        for model, status in STATUSES.items():
            told = seen[model]
            assert "answered" not in told
            assert told["status"] in (status, None), told
            assert str(status) in f"{told['status']} {told['told']}", told
            assert canary not in told["told"]
            assert "upstream-secret" not in told["told"]
    elif scene == "structured":
        assert seen["value"] == {"address": canary, "priority": NUMBER}
    else:
        assert canary in seen.get("text", canary)
        assert seen.get("arguments") == (
            {"address": canary, "priority": NUMBER} if scene == "tools" else None
        )
    if scene == "stream":
        assert seen["pieces"] > 1


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.script)
def test_the_remote_was_asked(played: Callable[[Client, str], Played], client: Client) -> None:
    """The search for canaries looked at something, and finds them where they are."""
    gateway, extraction = played(client, "gateway"), played(client, "extraction")
    asking = [scene for scene in client.scenes if scene != "errors"]
    assert gateway.remote.count(b"POST ") > len(asking)
    assert extraction.remote.count(b"POST ") > len(asking)
    assert set(extraction.run.found_in(extraction.local)) >= set(asking)
    assert gateway.local == b""


@pytest.mark.parametrize("client", CLIENTS[:2], ids=lambda client: client.script)
def test_a_pass_through_shows_every_canary(client: Client, tmp_path: Path) -> None:
    """The negative control: without the proxy the remote receives them all."""
    if (reason := find_reason(client.environment)) is not None:
        pytest.skip(f"{client.name}: {reason}")
    with Upstream() as upstream:
        upstream.script = answer
        run = play(client, upstream.base_url, tmp_path)
        found = run.found_in(b"\n".join(upstream.received))
    assert found == list(client.scenes)


def test_enough_clients_can_be_installed() -> None:
    missing = {
        client.name: reason for client in CLIENTS if (reason := find_reason(client.environment))
    }
    assert len(CLIENTS) - len(missing) >= FEWEST, missing
