"""The image: its file, and where buildah and mmdebstrap are, the image itself.

No image is pulled: the base is made of Debian's packages (`make test-container`, as root, in some
minutes).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.load.processes import post, start_child
from proxy.local import find_free_port

ROOT = Path(__file__).parents[2]
FILE = ROOT / "deploy" / "Containerfile"
TEXT = FILE.read_text("utf-8")
CODE = ("perturb", "extraction", "proxy")
BASE, IMAGE = "localhost/inferdpt-base", "localhost/inferdpt-test"
BUILD_SECONDS = 1500
START_SECONDS = 120.0
USER = "10001"
# A mount namespace of its own, in which the image's files cannot be written.
START = """\
set -e
mount --bind {image} {image}
mount -o remount,ro,bind {image}
mount -t tmpfs tmpfs {image}/tmp
mount -t proc proc {image}/proc
mount --bind {state} {image}/var/lib/inferdpt
exec setpriv --no-new-privs chroot --userspec={user}:{user} {image} env -i {variables} {command}
"""
WRITE = "import os,sys; print(os.getuid(), [p for p in sys.argv[1:] if os.access(p, os.W_OK)])"


def test_it_does_not_run_as_root() -> None:
    assert re.findall(r"^USER (\S+)$", TEXT, re.MULTILINE) == [f"{USER}:{USER}"]


def test_it_holds_the_package_and_nothing_else() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) (\S+)$", TEXT, re.MULTILINE)
    sources = {name for names, _ in copied for name in names.split()}
    files = {"pyproject.toml", "README.md", "LICENSE", "deploy/requirements.txt"}
    assert sources == {*files, *CODE}
    assert all((ROOT / name).exists() for name in sources)


def test_it_has_a_health_check() -> None:
    (check,) = re.findall(r"^HEALTHCHECK .*CMD (\[.*\])$", TEXT, re.MULTILINE)
    assert "/health" in json.loads(check)[-1]


class Builder:
    """Buildah with its storage in a folder."""

    def __init__(self, folder: Path) -> None:
        store = ("--root", str(folder / "images"), "--runroot", str(folder / "run"))
        self._command = ("buildah", *store, "--storage-driver", "vfs")

    def __call__(self, *arguments: str) -> str:
        done = subprocess.run(
            [*self._command, *arguments],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=BUILD_SECONDS,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout.strip()


@pytest.fixture(scope="module")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Builder:
    """One that has built the image."""
    for program in ("buildah", "mmdebstrap"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed (Debian: apt-get install {program})")
    if os.geteuid() != 0:
        pytest.skip("only root can make the base and mount the image")
    folder = tmp_path_factory.mktemp("containers")
    files = folder / "base.tar"
    subprocess.run(
        [
            *("mmdebstrap", "--quiet", "--variant=minbase"),
            *("--include=ca-certificates,python3,python3-venv", "bookworm", str(files)),
        ],
        check=True,
        timeout=BUILD_SECONDS,
    )
    run = Builder(folder)
    empty = run("from", "scratch")
    run("add", empty, str(files), "/")
    run("commit", "--rm", empty, BASE)
    run(
        *("build", "--format", "docker", "--isolation", "chroot", "--network", "host"),
        *("--volume", "/etc/ssl/certs:/etc/ssl/certs:ro", "--build-arg", f"BASE={BASE}"),
        *("-f", str(FILE), "-t", IMAGE, "."),
    )
    return run


@pytest.fixture(scope="module")
def described(builder: Builder) -> dict[str, Any]:
    found = json.loads(builder("inspect", "--type", "image", IMAGE))
    config: dict[str, Any] = found["Docker"]["config"]
    return config


@pytest.fixture(scope="module")
def start(
    builder: Builder, described: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., list[str]]]:
    """Return a function that makes the command line of a command in the image."""
    container = builder("from", IMAGE)
    image, state = builder("mount", container), tmp_path_factory.mktemp("state")
    os.chown(state, int(USER), int(USER))
    variables = " ".join(described["Env"])

    def make(*command: str) -> list[str]:
        words = " ".join(f"'{word}'" for word in command)
        script = START.format(
            image=image, state=state, user=USER, variables=variables, command=words
        )
        return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", script]

    yield make
    builder("rm", container)


@pytest.mark.container
def test_the_image_says_how_it_runs(described: dict[str, Any]) -> None:
    assert described["User"] == f"{USER}:{USER}"
    assert described["Entrypoint"] == ["inferdpt"]
    assert "/health" in described["Healthcheck"]["Test"][-1]


@pytest.mark.container
def test_only_the_state_can_be_written(start: Callable[..., list[str]]) -> None:
    places = ("/", "/etc", "/opt/inferdpt/bin", "/var/lib", "/var/lib/inferdpt")
    command = start("python", "-c", WRITE, *places)
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stdout.split(maxsplit=1) == [USER, "['/var/lib/inferdpt']\n"], done.stderr


@pytest.mark.container
def test_the_proxy_answers_in_the_image(
    start: Callable[..., list[str]], tmp_path: Path, described: dict[str, Any]
) -> None:
    """With the bundled model, and with the image's own health check."""
    port = find_free_port()
    command = start("inferdpt", "serve", "--config", "/dev/null", "--port", str(port))
    with start_child(command, tmp_path) as child:
        child.wait_until(lambda: "base_url" in child.tail(), START_SECONDS)
        url = f"http://127.0.0.1:{port}/v1/privacy/perturb"
        status, body = post(url, b'{"text": "Jane Doe of Berlin"}', 60.0)
        assert (status, b"Jane" in body) == (200, False)
        check = [word.replace(":8100", f":{port}") for word in described["Healthcheck"]["Test"]]
        healthy = start(*(word.replace("'", '"') for word in check[1:]))
        assert subprocess.run(healthy, timeout=60).returncode == 0
        child.process.send_signal(signal.SIGTERM)
    assert subprocess.run(healthy, stderr=subprocess.DEVNULL, timeout=60).returncode != 0
