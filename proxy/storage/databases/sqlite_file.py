"""Guard the store's SQLite file: private, in WAL mode, and the same file while it is open."""

from __future__ import annotations

import contextlib
import logging
import math
import os
import sqlite3
import time
from pathlib import Path
from typing import Literal

from proxy.errors import ConfigError, store_unavailable

__all__ = ["BUSY_SECONDS", "DatabaseFile"]

logger = logging.getLogger("inferdpt.store")
BUSY_SECONDS = 30  # how long a writer waits for another process
# SQLite's own files. Without its log the database lacks the latest charges; without the shared
# index two processes no longer wait for each other.
ENDINGS = ("", "-wal", "-shm")


class DatabaseFile:
    """Watch a SQLite file.

    A deleted file is lost with the process, and with it every charge and every draw that equal
    texts must reuse.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._paths = [str(path) + ending for ending in ENDINGS]
        self._anchor: sqlite3.Connection | None = None
        self._log: int | None = None  # of the log
        self._identity: list[tuple[int, int]] | None = None
        self._size = 0  # at the last check
        self._least = 0  # a database below this size was cut short
        self._schema = 0
        self._lost = False
        self._checked = -math.inf

    def make(self) -> None:
        """Make the file before SQLite does, for this user alone.

        The files that SQLite puts beside it get its mode.

        Raises:
            ConfigError: it cannot be written.
        """
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except OSError as exc:
            raise ConfigError(f"store: {self.path} cannot be written ({exc.strerror})") from None
        if not os.access(self.path, os.R_OK | os.W_OK):
            raise ConfigError(f"store: {self.path} cannot be written (no permission)")

    def open(self) -> None:
        """Put the file into WAL mode, and remember its identity.

        One connection stays open, so that SQLite does not remove the log and the index before
        `close`.
        """
        self._anchor = sqlite3.connect(self.path, check_same_thread=False)
        # SQLite does not wait for other processes when it changes the mode.
        deadline = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                self._anchor.execute("PRAGMA journal_mode = WAL")
                self._anchor.execute("SELECT count(*) FROM sqlite_master").fetchone()
                break
            except sqlite3.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
        self._identity, self._size = self._inspect()
        self._least = self._size
        self._log = os.open(self._paths[1], os.O_RDWR)
        _sync_folder(self.path.parent)

    def check(self, *, since: float = math.inf) -> None:
        """Check that the path still leads to the open file, and that it was not cut short.

        Args:
            since: when the last check may have been (`time.monotonic`).

        Raises:
            ApiError: 503, one of these is not so, and nothing may be sent.
        """
        if self._identity is None or self._checked >= since:
            return
        lost = not self._is_whole()
        if lost and not self._lost:
            logger.error(
                "the database %s was deleted, replaced or cut short while the proxy was running: "
                "requests are refused and nothing is sent. Stop the proxy, put the file back "
                "with the -wal file beside it, and start it again; without them budgets start "
                "anew and texts released before are drawn afresh.",
                self.path,
            )
        self._lost = lost
        self._checked = -math.inf if lost else time.monotonic()
        if lost:
            raise store_unavailable()

    def sync(self) -> None:
        """Bring every commit so far to the disk; raise `OSError`."""
        if self._log is not None:
            os.fsync(self._log)

    def checkpoint(
        self, mode: Literal["PASSIVE", "RESTART", "TRUNCATE"], *, wait: bool = False
    ) -> bool:
        """Move the log into the database; see SQLite's `wal_checkpoint` for the modes.

        Args:
            wait: for readers, up to `BUSY_SECONDS`.

        Returns:
            Whether no reader was in the way.
        """
        seconds = BUSY_SECONDS if wait else 0
        uri = f"{self.path.absolute().as_uri()}?mode=rw"  # never makes an empty file
        with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=seconds)) as connection:
            busy, _, _ = connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
            return not busy

    def bytes(self) -> int:
        """Return the size of the database and its log, in bytes."""
        return sum(os.path.getsize(path) for path in self._paths[:2] if os.path.exists(path))

    def close(self) -> None:
        """Release the file."""
        if self._anchor is not None:
            self._anchor.close()
        if self._log is not None:
            os.close(self._log)
        self._anchor = self._identity = self._log = None

    def _is_whole(self) -> bool:
        """Return whether the files are those that were opened, and the database was not cut."""
        try:
            identity, size = self._inspect()
            if identity != self._identity:
                return False
            self._allow_vacuum()
        except (OSError, sqlite3.Error):
            return False
        if size < self._least:
            return False
        if size != self._size:  # it grew, or this is the checkpoint after a VACUUM
            self._least = size
        self._size = size
        return True

    def _allow_vacuum(self) -> None:
        """Let the file shrink to the size that a `VACUUM` leaves, now or at a later checkpoint.

        A `VACUUM` raises the schema's version, as migrations do. An open connection sees no such
        rise if an older copy replaces the file or the file is cut short.
        """
        assert self._anchor is not None
        (schema,) = self._anchor.execute("PRAGMA schema_version").fetchone()
        if schema > self._schema:
            (pages,) = self._anchor.execute("PRAGMA page_count").fetchone()
            (page,) = self._anchor.execute("PRAGMA page_size").fetchone()
            self._schema, self._least = schema, min(self._least, pages * page)

    def _inspect(self) -> tuple[list[tuple[int, int]], int]:
        """Return the identities of the files at the paths, and the size of the database."""
        found = [os.stat(path) for path in self._paths]
        return [(one.st_dev, one.st_ino) for one in found], found[0].st_size


def _sync_folder(folder: Path) -> None:
    """Make the files of a folder as durable as their contents."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
