"""Client keys: stored as SHA-256, compared in constant time.

Keys are 256 random bits, so a plain hash cannot be searched: a slow one, made for passwords,
would only make every request slow. Keys are in config.yaml, or in the store, where they are made
and revoked while the proxy runs.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Row, select, update

from proxy.config import Server, is_loopback
from proxy.errors import ConfigError, unauthorized
from proxy.grants import ANONYMOUS, Client, Grant
from proxy.schema import KEYS
from proxy.store import Store

__all__ = ["Keyring", "StoredKey", "new_key"]

PREFIX = "sk-inferdpt-"
NOBODY = "0" * 64  # compared with where there is no such key


@dataclass(frozen=True)
class StoredKey:
    """A key in the store, without the key: times are seconds since 1970."""

    id: str
    tenant: str
    grant: Grant
    created: float
    revoked: float | None


class Keyring:
    """The keys of the configuration and those of the store."""

    def __init__(self, store: Store, server: Server) -> None:
        self._store = store
        self._server = server
        self.locked = bool(server.keys) or not is_loopback(server.host)

    async def required(self) -> bool:
        """Whether clients need a key: where there are any, revoked ones too, or the proxy
        listens to more than this machine. Once they do, `locked` stays true."""
        if not self.locked:
            async with self._store.reading() as connection:
                self.locked = await connection.scalar(select(KEYS.c.id).limit(1)) is not None
        return self.locked

    async def check(self) -> None:
        """Before serving. Raises `ConfigError`: open to the network, and nobody has a key."""
        if self._server.keys or is_loopback(self._server.host):
            return
        if all(key.revoked is not None for key in await self.listed()):
            raise ConfigError(
                "server.host is not a loopback address, and neither server.keys nor the store "
                "has a key: give clients keys (`inferdpt keys create TENANT`) or listen on "
                "127.0.0.1"
            )

    async def client(self, authorization: str | None) -> Client:
        """Whose an `Authorization: Bearer …` header is.

        A key of the store is found by its id, which is no secret, and then compared; of the
        configuration's every one is compared, found or not.

        Raises:
            ApiError: 401.
        """
        if not await self.required():
            return ANONYMOUS
        scheme, _, key = (authorization or "").partition(" ")
        key = key.strip()
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
        found = None
        for entry in self._server.keys:
            if hmac.compare_digest(entry.sha256, digest):
                found = Client(entry.tenant)
        stored = await self._row(key.removeprefix(PREFIX).partition("-")[0])
        same = hmac.compare_digest(stored.sha256 if stored else NOBODY, digest)
        if stored is not None and same and stored.revoked is None:
            found = Client(stored.tenant, Grant.model_validate_json(stored.grant), stored.id)
        if scheme.lower() != "bearer" or found is None:
            raise unauthorized()
        return found

    def sees_all(self, client: Client) -> bool:
        """Whether a client may see every tenant's figures."""
        return not self.locked or client.tenant in self._server.operators

    async def create(self, tenant: str, grant: Grant) -> tuple[str, str]:
        """Make a key; return its id, and the key, which is not kept."""
        id_ = secrets.token_hex(6)
        key = f"{PREFIX}{id_}-{secrets.token_urlsafe(32)}"
        row = {
            "id": id_,
            "sha256": hashlib.sha256(key.encode()).hexdigest(),
            "tenant": tenant,
            "grant": grant.model_dump_json(exclude_defaults=True),
            "created": time.time(),
        }
        async with self._store.writing() as connection:
            await connection.execute(KEYS.insert(), [row])
        return id_, key

    async def listed(self) -> Sequence[StoredKey]:
        """The store's keys, oldest first."""
        async with self._store.reading() as connection:
            rows = (await connection.execute(select(KEYS).order_by(KEYS.c.created))).all()
        return [
            StoredKey(r.id, r.tenant, Grant.model_validate_json(r.grant), r.created, r.revoked)
            for r in rows
        ]

    async def revoke(self, id_: str) -> bool:
        """Revoke a key, from the next request on; False: there is none of that id in force."""
        change = update(KEYS).where(KEYS.c.id == id_, KEYS.c.revoked.is_(None))
        async with self._store.writing() as connection:
            done = await connection.execute(change.values(revoked=time.time()))
        return bool(done.rowcount)

    async def _row(self, id_: str) -> Row[tuple[str, ...]] | None:
        if not id_.isalnum():
            return None
        async with self._store.reading() as connection:
            return (await connection.execute(select(KEYS).where(KEYS.c.id == id_))).first()


def new_key() -> tuple[str, str]:
    """A fresh key and its SHA-256: the key goes to the client, the hash into config.yaml."""
    key = PREFIX + secrets.token_urlsafe(32)
    return key, hashlib.sha256(key.encode()).hexdigest()
