"""Keep the sessions of people who signed in to the console.

A session is a row of the store, which all processes share: it ends at its time, when its person
signs out, when another configuration of the provider begins, and when the person has too many
newer ones. A row holds HMACs, a time and, encrypted, the person.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import Any

from sqlalchemy import select, update

from proxy.config.server import Oidc, Role
from proxy.storage.digests import Digests, open_sealed, place_of, seal
from proxy.storage.schema import SESSIONS
from proxy.storage.store import Connection, Store

__all__ = ["MOST", "People", "Person"]

MOST = 8  # sessions of one person: a few browsers


@dataclass(frozen=True)
class Person:
    """Hold a person as the provider describes them.

    Attributes:
        subject: the provider's name for them.
        role: in the console.
        tenant: whose records, budgets and batches are their own.
    """

    subject: str
    role: Role
    tenant: str


class People:
    """Begin, find and end sessions.

    Args:
        store: keeps them.
        settings: of the provider. A session counts only under those it began with.
        clock: the time in seconds since 1970.
    """

    def __init__(
        self, store: Store, settings: Oidc, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._store = store
        self._digests = Digests(store)
        self._settings = settings
        self._clock = clock

    async def begin(self, id_: str, person: Person) -> bool:
        """Begin a session. Return False if one of this id began before, also if it has ended.

        Args:
            id_: of the session, which only its browser has.
        """
        key, now = self._name(id_), self._clock()
        content = json.dumps(astuple(person)).encode()
        row = {
            "key": key,
            "person": self._digests.of("person", self._settings.issuer or "", person.subject),
            "value": seal(self._digests, content, *place_of(SESSIONS, key.hex())),
            "expires": now + self._settings.hours * 3600,
        }
        insert = self._store.insert(SESSIONS).on_conflict_do_nothing()
        mine = (SESSIONS.c.person == row["person"]) & (SESSIONS.c.expires > now)
        newest = select(SESSIONS.c.key).where(mine).order_by(SESSIONS.c.expires.desc())

        def work(connection: Connection) -> bool:
            if not connection.execute(insert, row).rowcount:
                return False
            for old in connection.execute(newest.offset(MOST)).all():
                connection.execute(self._end(old.key))
            return True

        return await self._store.write(work)

    async def find(self, id_: str) -> Person | None:
        """Return the person of a session; None if it is over."""
        key = self._name(id_)
        found = select(SESSIONS.c.value).where(
            SESSIONS.c.key == key, SESSIONS.c.expires > self._clock()
        )
        value = await self._store.read(lambda connection: connection.scalar(found))
        if value is None:
            return None
        place = place_of(SESSIONS, key.hex())
        return Person(*json.loads(open_sealed(self._digests, value, *place)))

    async def end(self, id_: str) -> None:
        """End a session; whoever has its id has nothing."""
        statement = self._end(self._name(id_))
        await self._store.write(lambda connection: connection.execute(statement))

    def _end(self, key: bytes) -> Any:
        """Return the statement that ends a session; its row shows that it began."""
        return update(SESSIONS).where(SESSIONS.c.key == key).values(expires=self._clock())

    def _name(self, id_: str) -> bytes:
        return self._digests.of("session", self._settings.model_dump_json(), id_)
