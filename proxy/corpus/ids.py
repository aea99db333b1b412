"""Find the documents of a run whose id an earlier one has.

Two documents with one id and one text would have one release, which tells everybody that they are
equal: who can put a document into the corpus could test a guess of another's text. The ids that
were seen are in a file beside the output, so memory is bounded and a resumed run knows them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from proxy.storage.digests import digest

__all__ = ["Ids", "open_ids"]

BYTES = 16  # of an HMAC: among 10⁹ ids, two are equal with probability 2e-21
_MAKE = (
    "CREATE TABLE IF NOT EXISTS ids "
    "(id BLOB PRIMARY KEY, block INTEGER NOT NULL, place INTEGER NOT NULL) WITHOUT ROWID"
)
_ADD = "INSERT INTO ids VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
_FIND = "SELECT block, place FROM ids WHERE id = ?"


class Ids:
    """Remember ids and the places where they came first, see `open_ids`."""

    def __init__(self, connection: sqlite3.Connection, key: bytes) -> None:
        self._connection = connection
        self._key = key

    def find_repeated(self, block: int, ids: Sequence[str | None]) -> frozenset[int]:
        """Return the places in a block whose ids came earlier. The ids are on disk when this
        returns, so the answer is the same after a kill.

        Args:
            block: the number of the block. Blocks come in their order.
            ids: the ids of its documents; None for one that is not released.
        """
        rows = [
            (digest(self._key, "id", name)[:BYTES], block, place)
            for place, name in enumerate(ids)
            if name is not None
        ]
        with self._connection as transaction:
            transaction.executemany(_ADD, rows)
            return frozenset(
                place
                for name, _, place in rows
                if transaction.execute(_FIND, (name,)).fetchone() != (block, place)
            )


@contextmanager
def open_ids(path: Path, key: bytes) -> Iterator[Ids]:
    """Open the file of a run's ids; make it if there is none.

    Args:
        key: of the digests that are kept in place of ids.
    """
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(_MAKE)
        yield Ids(connection, key)
