"""Write files complete or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

__all__ = ["write_atomically"]


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
