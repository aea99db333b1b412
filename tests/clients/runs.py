"""Run a client's script against an address, with a canary in the prompt of each scene."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.clients.catalogue import SCRIPTS, Client
from tests.clients.install import FOLDER, find_program
from tests.proxy.canaries import LETTERS

__all__ = ["Run", "play"]

SECONDS = 300.0  # only a hang reaches it
# Nothing but loopback can be reached, and no client reports to its makers.
NOWHERE = "http://127.0.0.1:9"
ALONE = {
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), NOWHERE),
    **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1"),
    "AI_SDK_LOG_WARNINGS": "false",
    "HF_HUB_OFFLINE": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LANGSMITH_TRACING": "false",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "OPENAI_API_KEY": "none",
}


@dataclass(frozen=True)
class Run:
    """Hold what a client saw.

    Attributes:
        version: of the client.
        seen: the JSON that each scene returned.
        canaries: the address in the prompt of each scene.
    """

    version: str
    seen: dict[str, Any]
    canaries: dict[str, str]

    def found_in(self, data: bytes) -> list[str]:
        """Return the scenes whose canary is in some bytes, in any capitals."""
        text = data.decode("utf-8", "replace").casefold()
        return [
            scene for scene, canary in self.canaries.items() if canary.partition("@")[0] in text
        ]


def play(client: Client, base_url: str, scratch: Path) -> Run:
    """Play every scene of a client in one process.

    Args:
        scratch: a folder for all that the client writes.

    Raises:
        AssertionError: the script failed; with what it wrote.
    """
    letters = random.Random()
    canaries = {
        scene: "".join(letters.choices(LETTERS, k=12)) + "@example.com" for scene in client.scenes
    }
    prompts = {
        scene: f"Our contact is {canary}. Who is our contact, and with which priority?"
        for scene, canary in canaries.items()
    }
    done = subprocess.run(
        [find_program(client.environment), _place(client), base_url, json.dumps(prompts)],
        cwd=scratch,
        env={**os.environ, **ALONE, **_homes(scratch)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    seen = json.loads(done.stdout.strip().splitlines()[-1])
    return Run(seen.pop("version"), seen, canaries)


def _place(client: Client) -> Path:
    """Return the script's place: Node looks for packages beside the script."""
    if client.environment != "node":
        return client.path
    for path in SCRIPTS.glob("*.mjs"):
        shutil.copyfile(path, FOLDER / "node" / path.name)
    return FOLDER / "node" / client.path.name


def _homes(scratch: Path) -> dict[str, str]:
    names = ("HOME", "DSPY_CACHEDIR", "HF_HOME", "NLTK_DATA", "XDG_CACHE_HOME", "LLM_USER_PATH")
    return {name: str(scratch) for name in names}
