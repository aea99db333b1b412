"""Write files whole or not at all, and keep the finished parts of a long run (checkpoints), so
that a restart continues where it stopped.

The folder of a checkpoint belongs to one run: its file `run.json` names everything that the result
depends on, and another run is refused. Each part is a file that is complete or absent, with a
SHA-256: a damaged part counts as not done. So a run that was killed and started again gives the
same result as one that was not.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perturb.errors import CheckpointError

__all__ = ["Checkpoint", "hash_code", "hash_run", "write_atomically"]


def write_atomically(path: Path, *parts: bytes | memoryview, mode: int = 0o644) -> None:
    """Write a file of these parts complete or not at all: a temporary file beside it, then a
    rename. The file gets the permissions `mode`.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_atomically(Path(folder) / "note", b"do", b"ne")
    ...     (Path(folder) / "note").read_bytes()
    b'done'
    """
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name + ".")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(parts)
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


SECONDS = 1.0  # between two states of one loop: what a killed run may lose
_DIGEST = hashlib.sha256().digest_size


def hash_run(run: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a run's description, which must be JSON-ready.

    >>> hash_run({"epsilon": 6}) == hash_run({"epsilon": 7})
    False
    """
    return hashlib.sha256(json.dumps(run, sort_keys=True).encode()).hexdigest()


def hash_code() -> str:
    """Return the SHA-256 of this package's code, which decides what a run computes.

    >>> len(hash_code())
    64
    """
    files = sorted(Path(__file__).parents[1].rglob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


class Checkpoint:
    """Keep named parts of a run, each a set of arrays, in a folder.

    Args:
        folder: of this run alone; it is made with the first part.
        run: the arguments of the run and the hashes of its inputs, JSON-ready.

    Raises:
        CheckpointError: the folder belongs to another run.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as parent:
    ...     folder = Path(parent) / "partial"
    ...     Checkpoint(folder, {"epsilon": 6}).save("rows", kept=[1, 2])
    ...     Checkpoint(folder, {"epsilon": 6}).load("rows")
    {'kept': array([1, 2])}
    """

    def __init__(self, folder: Path, run: Mapping[str, Any]) -> None:
        self.folder = folder
        self._note = json.dumps(run, sort_keys=True).encode()
        self._key = hashlib.sha256(self._note).digest()
        self._saved = time.monotonic()
        note = folder / "run.json"
        if note.exists() and note.read_bytes() != self._note:
            raise CheckpointError(
                f"{folder} holds an unfinished run with other settings; remove it first"
            )

    @property
    def due(self) -> bool:
        """Tell whether the last part was saved so long ago that the state of a loop should be
        saved."""
        return time.monotonic() - self._saved >= SECONDS

    def save(self, part: str, **arrays: ArrayLike) -> None:
        """Write a part, in place of an earlier one of that name."""
        buffer, values = io.BytesIO(), dict[str, Any](arrays)
        np.savez(buffer, **values)
        data = buffer.getvalue()
        self.folder.mkdir(parents=True, exist_ok=True)
        if not (self.folder / "run.json").exists():
            write_atomically(self.folder / "run.json", self._note)
        write_atomically(self._find(part), self._digest(part, data), data)
        self._saved = time.monotonic()

    def load(self, part: str) -> dict[str, NDArray[Any]] | None:
        """Return the arrays of a part; None if it is not there, or damaged."""
        try:
            data = self._find(part).read_bytes()
        except FileNotFoundError:
            return None
        digest, data = data[:_DIGEST], data[_DIGEST:]
        if digest != self._digest(part, data):
            return None
        with np.load(io.BytesIO(data), allow_pickle=False) as found:
            return dict(found)

    def remove(self) -> None:
        """Remove the folder, once the result is written."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _find(self, part: str) -> Path:
        return self.folder / f"{part}.part"

    def _digest(self, part: str, data: bytes) -> bytes:
        """Return the SHA-256 of a part of this run."""
        return hashlib.sha256(self._key + part.encode() + b"\0" + data).digest()
