"""Write the first row of the audit record, when the store is made.

Later, nothing writes it: a store without it lost it, and `records check` says so.
"""

from __future__ import annotations

import time

from sqlalchemy import Connection, func, select

from extraction.codec import dump_ascii
from proxy.storage.digests import Digests
from proxy.storage.schema import ACCOUNTS, RECORDS

__all__ = ["ALL", "write_beginning"]

ALL = ""  # in place of a tenant: the rows about the store
_ANY = select(RECORDS.c.number).where(RECORDS.c.tenant == ALL).limit(1)
_CHARGED = select(func.count()).where(ACCOUNTS.c.scope == "total", ACCOUNTS.c.requests > 0)


def write_beginning(connection: Connection, digests: Digests) -> None:
    """Write the first row of a store that has none. It states how many accounts were charged
    before, by a version without a record."""
    if connection.scalar(_ANY) is not None:
        return
    now = time.time()
    value = dump_ascii({"kind": "beginning", "accounts": connection.scalar(_CHARGED)})
    digest = digests.record(b"", ALL, 1, now, value)
    row = {"tenant": ALL, "number": 1, "time": now, "value": value, "hash": digest}
    connection.execute(RECORDS.insert(), row)
