"""The systemd unit: its rating, its keys, and that it forbids nothing that the proxy does."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.limits import LIMIT

ROOT = Path(__file__).parents[2]
UNIT = ROOT / "deploy" / "systemd" / "inferdpt.service"
WORST = 2.5  # on systemd's scale from 0 (safe) to 10
CALL = re.compile(r"^\d+ +([a-z0-9_]+)\(", re.MULTILINE)
# As root, SQLite gives the files beside a database that database's owner; the unit has no root.
AS_ROOT = {"fchown"}


def need(program: str, package: str) -> str:
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not installed (Debian: apt-get install {package})")
    return found


def read_values(key: str) -> list[str]:
    return re.findall(rf"^{key}=(.*)$", UNIT.read_text("utf-8"), re.MULTILINE)


def analyze(*arguments: str) -> str:
    done = subprocess.run(
        [need("systemd-analyze", "systemd"), "--no-pager", *arguments],
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    return done.stdout + done.stderr


def rate(unit: Path) -> float:
    found = re.search(
        r"exposure level for \S+: ([\d.]+)", analyze("security", "--offline=true", str(unit))
    )
    assert found
    return float(found[1])


def test_it_is_rated_as_little_exposed(tmp_path: Path) -> None:
    assert rate(UNIT) <= WORST
    bare = tmp_path / "bare.service"
    bare.write_text("[Service]\nExecStart=/bin/true\n")
    assert rate(bare) > WORST


def test_systemd_knows_every_key(tmp_path: Path) -> None:
    """The path of the program is another here; all else is as it is installed."""
    program = read_values("ExecStart")[0].split()[0]
    text = UNIT.read_text("utf-8").replace(program, sys.executable)
    for name, more in (("inferdpt", ""), ("unknown", "ProtectEverything=yes\n")):
        unit = tmp_path / f"{name}.service"
        unit.write_text(text.replace("[Service]\n", f"[Service]\n{more}"))
        said = analyze("verify", "--man=no", str(unit))
        complaints = [line for line in said.splitlines() if unit.name in line]
        assert bool(complaints) == bool(more), said


def test_it_names_what_the_page_says() -> None:
    page = (ROOT / "docs" / "deployment.md").read_text("utf-8")
    for key in ("ExecStart", "EnvironmentFile"):
        for path in re.findall(r"/\S+", read_values(key)[0]):
            assert path in page, path
    assert read_values("User")[0] in page


def read_set(name: str) -> set[str]:
    """Return the system calls of one of systemd's sets."""
    out: set[str] = set()
    for line in analyze("syscall-filter", name).splitlines():
        word = line.strip()
        if line.startswith(" ") and not word.startswith("#"):
            out |= read_set(word) if word.startswith("@") else {word}
    return out


def read_allowed() -> set[str]:
    allowed: set[str] = set()
    for line in read_values("SystemCallFilter"):
        for name in line.removeprefix("~").split():
            calls = read_set(name)
            allowed = allowed - calls if line.startswith("~") else allowed | calls
    return allowed


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The system calls of a proxy with the bundled local model and detector that serves one
    request."""
    tracer, folder = need("strace", "strace"), tmp_path_factory.mktemp("traced")
    config, out = folder / "config.yaml", folder / "calls"
    config.write_text(
        "server: {port: 0}\n"
        "privacy: {mechanism: selective, parameters: {policy: [regex, detector]}}\n"
        f"store: {{folder: {folder / 'state'}}}\n"
    )
    command = [sys.executable, "-m", "proxy.cli.main", "serve", "--config", str(config)]
    process = subprocess.Popen(
        [tracer, "-f", "-o", str(out), *command],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        url = next(word for word in process.stdout.readline().split() if word.startswith("http"))
        request = urllib.request.Request(
            f"{url}/privacy/perturb",
            b'{"text": "Jane Doe of Berlin"}',
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=LIMIT) as answer:
            assert answer.status == 200
        os.killpg(process.pid, signal.SIGTERM)
        process.communicate(timeout=LIMIT)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return out.read_text("utf-8", "replace")


def test_it_allows_every_system_call_of_the_proxy(trace: str) -> None:
    allowed, made = read_allowed(), set(CALL.findall(trace))
    assert {"epoll_wait", "fdatasync", "accept4"} <= made
    assert made - allowed - (AS_ROOT if os.geteuid() == 0 else set()) == set()
    assert not {"mount", "ptrace", "init_module", "chown"} & allowed


def test_it_allows_every_family_of_sockets(trace: str) -> None:
    allowed = set(read_values("RestrictAddressFamilies")[0].split())
    assert set(re.findall(r"socket\((AF_\w+)", trace)) <= allowed


def test_nothing_needs_memory_that_is_writable_and_executable(trace: str) -> None:
    assert read_values("MemoryDenyWriteExecute") == ["yes"]
    assert not re.findall(r"PROT_WRITE\|PROT_EXEC|mprotect\([^)\n]*PROT_EXEC", trace)
