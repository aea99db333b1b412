"""Virtual environments of the gateways that the proxy is compared with."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

from benchmarks.load.processes import LoadError

__all__ = ["LITELLM", "VLLM_ROUTER", "Rival", "build_environment"]


@dataclass(frozen=True)
class Rival:
    """Name a package with its pinned version."""

    name: str
    version: str
    extra: str = ""

    @property
    def requirement(self) -> str:
        return f"{self.name}{self.extra}=={self.version}"


LITELLM = Rival("litellm", "1.106.2", "[proxy]")
VLLM_ROUTER = Rival("vllm-router", "0.1.17")


def build_environment(rival: Rival) -> Path:
    """Install a rival into an environment of its own, once; return the folder of its programs.

    The environments are kept in `$XDG_CACHE_HOME/inferdpt/load`.

    Raises:
        LoadError: the installation failed.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "inferdpt/load" / f"{rival.name}-{rival.version}"
    done = folder / "installed"
    programs = folder / "bin"
    if done.exists():
        return programs
    print(f"installing {rival.requirement} into {folder} (once) …", file=sys.stderr)
    venv.create(folder, with_pip=True, clear=True)
    command = [str(programs / "pip"), "install", "--quiet", "--disable-pip-version-check"]
    ended = subprocess.run([*command, rival.requirement], capture_output=True, text=True)
    if ended.returncode:
        raise LoadError(f"{rival.requirement} cannot be installed: {ended.stderr[-1000:].strip()}")
    done.touch()
    return programs
