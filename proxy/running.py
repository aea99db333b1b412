"""Find the proxies that run on this machine: each holds a lock on a file of its own.

The file lies in the state folder, is named after the process and holds the path of its
configuration. The lock ends with the process, however that ends, so that no number of a process
that is gone is ever used.
"""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["find_running", "registered"]

FOLDER = "running"
logger = logging.getLogger("inferdpt.process")


@contextmanager
def registered(state: Path, config: str | None) -> Iterator[None]:
    """Let `find_running` find this process during the block. Where its file cannot be written,
    that is logged, and it is not found.

    Args:
        state: the state folder.
        config: the path of its configuration; None if it has no file to read again.
    """
    if config is None:
        yield
        return
    try:
        path, held = _register(state / FOLDER, Path(config))
    except OSError as exc:
        logger.warning("`inferdpt reload` will not find this process: %s", exc.strerror)
        yield
        return
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()
        os.close(held)


def find_running(state: Path) -> dict[int, str]:
    """Return the numbers of the processes that were registered and run, each with the path of its
    configuration."""
    found = {}
    for path in sorted((state / FOLDER).glob("*")):
        with suppress(OSError, ValueError):
            if _is_held(path):
                found[int(path.name)] = path.read_text("utf-8")
    return found


def _register(folder: Path, config: Path) -> tuple[Path, int]:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / str(os.getpid())
    while True:
        held = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(held, fcntl.LOCK_EX)
        # Another process may have taken it for that of a dead one, and removed it.
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(held), os.stat(path)):
                os.ftruncate(held, 0)
                os.write(held, str(config.resolve()).encode())
                return path, held
        os.close(held)


def _is_held(path: Path) -> bool:
    """Return whether the process that a file stands for runs; remove the file if it does not."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        path.unlink()
    return False
