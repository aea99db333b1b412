"""Remember the remote's generation behind each answer.

The local model's answer holds raw text. Where a client sends it back as history, or inside a
prompt, the remote's own generation is sent in its place, and nothing is drawn.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence

from sqlalchemy import bindparam, select, update

from extraction.codec import dump_ascii, load
from proxy.errors import ApiError
from proxy.storage.cache import Cache
from proxy.storage.databases.base import Connection
from proxy.storage.digests import Digests, batches
from proxy.storage.passages import Passage, Passages, Piece
from proxy.storage.schema import ANSWERS
from proxy.storage.store import Store

__all__ = ["Answers"]

logger = logging.getLogger("inferdpt.memo")
_FIND = select(ANSWERS.c.value).where(ANSWERS.c.key == bindparam("key"))
_USE = (
    update(ANSWERS)
    .where(ANSWERS.c.key.in_(bindparam("keys", expanding=True)))
    .values(used=bindparam("now"))
)


class Answers:
    """Remember the answers of all tenants. Not thread-safe: use it from the event loop.

    Args:
        passages: keep the text of answers, so that it is found inside other texts.
        size: approximate bytes of generations in memory.
        ttl: seconds without use after which memory forgets a generation.
    """

    def __init__(
        self,
        store: Store,
        passages: Passages,
        *,
        size: int,
        ttl: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._digests = Digests(store)
        self._passages = passages
        insert = store.insert(ANSWERS)
        self._add = insert.on_conflict_do_update(
            index_elements=["key"], set_={"used": insert.excluded.used}
        ).returning(ANSWERS.c.value)
        self._cache: Cache[str] = Cache(size=size, ttl=ttl, clock=clock)

    def key(self, tenant: str, scope: str, question: str, answer: str) -> bytes:
        """Return the key of an answer to a turn, both as `spell_turn` spells them."""
        return self._digests.answer(tenant, scope, question, answer)

    async def generation(self, key: bytes) -> str | None:
        """Return the remote's generation behind an answer, if the proxy gave it to that turn.

        Raises:
            ApiError: 503, the store failed.
        """
        found = self._cache.get(key)
        if found is None:
            value = await self._store.read(lambda c: c.scalar(_FIND, {"key": key}))
            if value is not None:
                found = load(value)
                self._cache.put(key, found, len(found))
        return found

    def reuse(self, connection: Connection, keys: Sequence[bytes]) -> None:
        """Record that the generations behind these answers are sent again."""
        now = time.time()
        for some in batches(keys):
            connection.execute(_USE, {"keys": some, "now": now})

    async def remember(
        self, tenant: str, scope: str, question: str, answer: str, text: str, generation: str
    ) -> None:
        """Remember the remote's generation behind the answer to a turn.

        An equal answer to an equal turn in one scope (see `Memo.releases`) keeps its first one.

        Args:
            question, answer: the turn and the answer to it, as `spell_turn` spells them.
            text: the answer's own text, without its tool calls.
        """
        if not answer:
            return
        key = self.key(tenant, scope, question, answer)
        if self._cache.get(key) is None:
            self._cache.put(key, generation, len(generation))
        row = {"key": key, "tenant": tenant, "value": dump_ascii(generation), "used": time.time()}
        passage = Passage(text, (Piece("answer", key.hex(), 0, len(text)),))
        rows = self._passages.rows(tenant, scope, "", [passage])

        def write(connection: Connection) -> str:
            first: str = connection.execute(self._add, row).scalar_one()
            self._passages.add(connection, rows)
            return first

        try:
            # Nobody waits for the disk: a lost answer is drawn and charged as the user's text.
            first = load(await self._store.write(write, lane=tenant, wait=False))
        except ApiError:  # the client gets its answer nevertheless
            logger.warning("an answer could not be remembered: the store failed")
        else:
            self._cache.put(key, first, len(first))
