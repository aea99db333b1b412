"""Install the pinned clients into environments of their own, under `.venv-clients/`.

python -m tests.clients.install

An environment that is installed already is left alone until its pins change. One that cannot be
installed leaves the reason in a file, and the tests of its clients are skipped with it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

__all__ = ["ENVIRONMENTS", "FOLDER", "find_program", "find_reason", "install"]

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".venv-clients"
PINS = Path(__file__).parent / "pins"
ENVIRONMENTS = ("openai3", "openai2", "node", "agents", "open_webui", "pii_leak")
NODE = {"node": PINS, "agents": PINS / "agents"}  # the folders of their pins
NODE_FILES = ("package.json", "package-lock.json")
SECONDS = 900.0


def find_program(environment: str) -> Path:
    """Return the interpreter that runs scripts in an environment."""
    if environment in NODE:
        return Path(shutil.which("node") or "node")
    return FOLDER / environment / "bin" / "python"


def find_reason(environment: str) -> str | None:
    """Return the reason why an environment is not there; None if it is."""
    folder = FOLDER / environment
    if (folder / "reason").exists():
        return (folder / "reason").read_text("utf-8")
    return None if _is_current(folder, environment) else "not installed: make test-clients does it"


def install(environment: str) -> None:
    """Install the clients of an environment, unless they are there."""
    folder = FOLDER / environment
    if _is_current(folder, environment):
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        install_one = _install_node if environment in NODE else _install_python
        install_one(folder, environment)
    except (OSError, subprocess.SubprocessError) as exc:
        said = exc.stderr if isinstance(exc, subprocess.CalledProcessError) else ""
        (folder / "reason").write_text(f"cannot be installed: {exc}\n{said}", "utf-8")
        print(f"{environment}: cannot be installed\n{said}", file=sys.stderr)
        return
    (folder / "pins").write_text(_hash_pins(environment), "utf-8")


def _install_python(folder: Path, environment: str) -> None:
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    pins = str(PINS / f"{environment}.txt")  # every package is in it: nothing is resolved
    _call(python, "-m", "pip", "install", "--quiet", "--no-deps", "-r", pins)


def _install_node(folder: Path, environment: str) -> None:
    for name in NODE_FILES:
        shutil.copyfile(NODE[environment] / name, folder / name)
    # Not `npm ci`, which also wants what an index may lack: packages for other systems.
    quiet = ("--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--no-save")
    _call("npm", "install", *quiet, folder=folder)


def _call(*command: str, folder: Path = ROOT) -> None:
    env = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    subprocess.run(
        command,
        cwd=folder,
        env=env,
        check=True,
        stderr=subprocess.PIPE,
        text=True,
        timeout=SECONDS,
    )


def _is_current(folder: Path, environment: str) -> bool:
    stamp = folder / "pins"
    return stamp.exists() and stamp.read_text("utf-8") == _hash_pins(environment)


def _hash_pins(environment: str) -> str:
    node = NODE.get(environment)
    pins = [node / name for name in NODE_FILES] if node else [PINS / f"{environment}.txt"]
    return hashlib.sha256(b"".join(path.read_bytes() for path in pins)).hexdigest()


def main() -> None:
    """Install every environment."""
    for environment in ENVIRONMENTS:
        print(f"installing the clients of {environment} …", flush=True)
        install(environment)


if __name__ == "__main__":
    main()
