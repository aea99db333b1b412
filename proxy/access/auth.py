"""Check client keys: stored as SHA-256, compared in constant time; their grants are sealed.

A key is 256 random bits, so a plain hash cannot be searched. A slow hash, made for passwords,
would only slow every request. Keys are in config.yaml, or in the store, where they are made and
revoked while the proxy runs.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, bindparam, delete, func, select, update

from proxy.access.grants import ANONYMOUS, Client, Grant
from proxy.config.settings import Server, is_loopback
from proxy.errors import ConfigError, unauthorized
from proxy.storage.digests import Digests
from proxy.storage.schema import KEYS
from proxy.storage.sealing import open_sealed, place_of, seal
from proxy.storage.store import Store

__all__ = ["Holder", "Keyring", "StoredKey", "check_tenant", "new_key"]

PREFIX = "sk-inferdpt-"
_ANY = select(KEYS.c.id).limit(1)
_FIND = select(KEYS).where(KEYS.c.id == bindparam("id"))
NAMED = 16  # digits of the SHA-256 that name a key of the configuration
NOBODY = "0" * 64  # the digest to compare with if there is no such key


@dataclass(frozen=True)
class Holder:
    """Hold the client of a key in force.

    Attributes:
        client: the client.
        name: finds the key again: its id or, if it is of the configuration, the beginning of its
            SHA-256.
        sha256: of the key, in hexadecimal.
    """

    client: Client
    name: str
    sha256: str


@dataclass(frozen=True)
class StoredKey:
    """Describe a key of the store, without the key itself; times are seconds since 1970."""

    id: str
    tenant: str
    grant: Grant
    created: float
    revoked: float | None


class Keyring:
    """Hold the keys of the configuration and those of the store."""

    def __init__(self, store: Store, server: Server) -> None:
        self._store = store
        self._digests = Digests(store)
        self._server = server
        self.locked = bool(server.keys) or not is_loopback(server.host)

    async def required(self) -> bool:
        """Return whether clients need a key.

        They do if there is any key, also a revoked one, or if the proxy listens to more than
        this machine. Once they do, `locked` stays true.
        """
        if not self.locked:
            self.locked = await self._store.read(lambda c: c.scalar(_ANY)) is not None
        return self.locked

    async def count_in_force(self) -> int:
        """Return the number of keys in force."""
        mine = select(func.count()).select_from(KEYS).where(KEYS.c.revoked.is_(None))
        stored = await self._store.scan(lambda connection: connection.scalars(mine).one())
        return len(self._server.keys) + stored

    async def mode(self) -> str:
        """Describe who is served, as the start line, `keys` and `check` print it."""
        if not await self.required():
            return "open to this machine without a key"
        return f"keys required, {await self.count_in_force() or 'none'} in force"

    async def check(self) -> None:
        """Check that the proxy may start.

        Raises:
            ConfigError: it is open to the network and no client has a key.
        """
        if not is_loopback(self._server.host) and not await self.count_in_force():
            raise ConfigError(
                "server.host is not a loopback address, and neither server.keys nor the store "
                "has a key: give clients keys (`inferdpt keys create TENANT`) or listen on "
                "127.0.0.1"
            )

    async def client(self, authorization: str | None) -> Client:
        """Return the client that an `Authorization: Bearer …` header belongs to.

        Raises:
            ApiError: 401.
        """
        if not await self.required():
            return ANONYMOUS
        scheme, _, key = (authorization or "").partition(" ")
        found = await self.match(key.strip())
        if scheme.lower() != "bearer" or found is None:
            raise unauthorized()
        return found.client

    async def match(self, key: str) -> Holder | None:
        """Return the holder of a key; None if the key is not in force.

        A key of the store is found by its id, which is not secret, and then compared. The
        configuration's keys are all compared, also after one has matched.
        """
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
        found = None
        for entry in self._server.keys:
            if hmac.compare_digest(entry.sha256, digest):
                found = Holder(Client(entry.tenant), digest[:NAMED], digest)
        stored = await self._row(key.removeprefix(PREFIX).partition("-")[0])
        same = hmac.compare_digest(stored.sha256 if stored else NOBODY, digest)
        held = self._hold(stored) if stored is not None and same else None
        return held or found

    async def find(self, name: str) -> Holder | None:
        """Return the holder of a key by its name, see `Holder`; None if it is not in force."""
        for entry in self._server.keys:
            if entry.sha256[:NAMED] == name:
                return Holder(Client(entry.tenant), name, entry.sha256)
        stored = await self._row(name)
        return None if stored is None else self._hold(stored)

    async def recall(self, tenant: str, key: str) -> Client:
        """Return the client that a tenant's key, named by its id, stands for now.

        Args:
            key: "" for the keys of the configuration, or for a proxy that had none.

        Raises:
            ApiError: 401, the key is no longer in force.
        """
        if key:
            stored = await self._row(key)
            if stored is not None and stored.tenant == tenant and stored.revoked is None:
                return Client(tenant, self._open(stored), key)
        elif await self.required():
            if any(entry.tenant == tenant for entry in self._server.keys):
                return Client(tenant)
        elif tenant == ANONYMOUS.tenant:
            return ANONYMOUS
        raise unauthorized()

    def sees_all(self, client: Client) -> bool:
        """Return whether a client may see every tenant's figures."""
        return not self.locked or client.tenant in self._server.operators

    async def create(self, tenant: str, grant: Grant) -> tuple[str, str]:
        """Make a key and return its id and the key itself, which is not kept."""
        id_ = secrets.token_hex(6)
        key = f"{PREFIX}{id_}-{secrets.token_urlsafe(32)}"
        row = {
            "id": id_,
            "sha256": hashlib.sha256(key.encode()).hexdigest(),
            "tenant": tenant,
            "grant": self._seal(id_, grant),
            "created": time.time(),
        }
        await self._store.write(lambda connection: connection.execute(KEYS.insert(), row))
        return id_, key

    async def list_keys(self) -> Sequence[StoredKey]:
        """Return the store's keys, oldest first."""
        query = select(KEYS).order_by(KEYS.c.created)
        rows = await self._store.scan(lambda connection: connection.execute(query).all())
        return [
            StoredKey(row.id, row.tenant, self._open(row), row.created, row.revoked)
            for row in rows
        ]

    async def revoke(self, id_: str) -> bool:
        """Revoke a key from the next request on. Return False if no key of that id is in force."""
        change = update(KEYS).where(KEYS.c.id == id_, KEYS.c.revoked.is_(None))
        change = change.values(revoked=time.time())
        return bool(await self._store.write(lambda c: c.execute(change).rowcount))

    async def restrict(self, id_: str, grant: Grant) -> bool:
        """Replace the limits of a key from the next request on. Return False if no key of that
        id is in force."""
        change = update(KEYS).where(KEYS.c.id == id_, KEYS.c.revoked.is_(None))
        change = change.values(grant=self._seal(id_, grant))
        return bool(await self._store.write(lambda c: c.execute(change).rowcount))

    async def reopen(self) -> None:
        """Forget that there were keys.

        A proxy that starts on loopback after this serves this machine without a key.

        Raises:
            ConfigError: the configuration demands keys, or a key is in force.
        """
        if self._server.keys or not is_loopback(self._server.host):
            raise ConfigError("server.keys or server.host demands keys: change that first")
        if count := await self.count_in_force():
            raise ConfigError(f"keys in force: {count}; revoke them first (`inferdpt keys list`)")
        revoked = delete(KEYS).where(KEYS.c.revoked.is_not(None))
        await self._store.write(lambda connection: connection.execute(revoked))

    def _seal(self, id_: str, grant: Grant) -> bytes:
        """Return the grant of a key as the store holds it: `deny` names what nobody may read."""
        spelled = grant.model_dump_json(exclude_defaults=True).encode()
        return seal(self._digests, spelled, *place_of(KEYS, id_))

    def _open(self, row: Row[Any]) -> Grant:
        return Grant.model_validate_json(
            open_sealed(self._digests, row.grant, *place_of(KEYS, row.id))
        )

    def _hold(self, row: Row[Any]) -> Holder | None:
        """Return the holder of a stored key; None if it is revoked."""
        if row.revoked is not None:
            return None
        return Holder(Client(row.tenant, self._open(row), row.id), row.id, row.sha256)

    async def _row(self, id_: str) -> Row[tuple[str, ...]] | None:
        if not id_.isalnum():
            return None
        return await self._store.read(lambda c: c.execute(_FIND, {"id": id_}).first())


def check_tenant(name: str) -> None:
    """Check the name of a tenant; raise `ConfigError` if it cannot be one."""
    if not name or not name.isprintable():
        raise ConfigError("the tenant must be a name of printable characters")


def new_key() -> tuple[str, str]:
    """Return a fresh key, for the client, and its SHA-256, for config.yaml."""
    key = PREFIX + secrets.token_urlsafe(32)
    return key, hashlib.sha256(key.encode()).hexdigest()
