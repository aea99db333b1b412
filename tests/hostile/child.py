"""The proxy as a real process: started from a configuration file, watched, killed by its pid."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import yaml

from tests.hostile.watch import Watch
from tests.proxy.conftest import MODEL, merge

__all__ = ["Child"]

START_SECONDS = 120.0
ROOT = Path(__file__).parents[2]


class Child:
    """`inferdpt serve`. Its state, output and log lie in `folder`, and outlive it.

    Args:
        folder: its own.
        remote, local: base URLs of both upstreams.
        settings: laid over the configuration.
        env: laid over the environment.
    """

    def __init__(
        self,
        folder: Path,
        *,
        remote: str,
        local: str,
        settings: dict[str, Any] | None = None,
        env: dict[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self._env = {**os.environ, "OPENAI_API_KEY": "sk-operator", **(env or {})}
        self._settings = merge(_defaults(folder, remote, local), settings or {})
        self._process: subprocess.Popen[bytes] | None = None
        self.watch: Watch | None = None
        self.base_url = ""

    @property
    def root(self) -> str:
        return self.base_url.removesuffix("/v1")

    @property
    def port(self) -> int:
        return int(self.root.rsplit(":", 1)[1])

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start it, and wait until it listens."""
        self.folder.mkdir(parents=True, exist_ok=True)
        config = self.folder / "config.yaml"
        config.write_text(yaml.safe_dump(self._settings), "utf-8")
        out = self.folder / "stdout"
        begin = out.stat().st_size if out.exists() else 0
        with out.open("ab") as stdout, (self.folder / "stderr").open("ab") as stderr:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "proxy.cli.main", "serve", "--config", str(config)],
                cwd=ROOT,
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
            )
        self.base_url = self._listening(out, begin)
        self.watch = Watch(self.port, self._process.pid)

    def kill(self) -> None:
        """End it at once, as a power cut would."""
        if self.watch is not None:
            self.watch.close()
            self.watch = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    @property
    def log(self) -> bytes:
        """Read what it has written on standard error."""
        return (self.folder / "stderr").read_bytes()

    def written(self) -> bytes:
        """Return all it has left on the disk: output, log, database."""
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        return b"\n".join(path.read_bytes() for path in files if path.name != "secret")

    def _listening(self, out: Path, begin: int) -> str:
        limit = time.monotonic() + START_SECONDS
        while time.monotonic() < limit and self.alive:
            for line in out.read_bytes()[begin:].decode().splitlines(keepends=True):
                if "base_url http" in line and line.endswith("\n"):
                    return next(word for word in line.split() if word.startswith("http"))
            time.sleep(0.02)
        self.kill()
        raise RuntimeError((self.folder / "stderr").read_text("utf-8")[-2000:])


def _defaults(folder: Path, remote: str, local: str) -> dict[str, Any]:
    return {
        "server": {"port": 0, "drain_seconds": 0.5},
        "store": {"folder": str(folder / "state")},
        "limits": {"mechanisms": ["rantext", "rantext_ldp", "selective"]},
        "remote": {"base_url": remote, "models": {MODEL: "remote-model"}, "retries": 0},
        "local": {"mode": "external", "base_url": local, "embeddings_model": "fake-embeddings"},
    }
