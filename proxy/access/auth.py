"""Know clients by their keys: stored as SHA-256, compared in constant time; grants are sealed.

A grant holds the limits that a key carries. A key is 256 random bits, so a plain hash cannot be
searched. A slow hash, made for passwords, would only slow every request. Keys are in config.yaml,
or in the store, where they are made and revoked while the proxy runs.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ConfigDict, Field, ValidationError, field_validator, model_validator
from sqlalchemy import Row, bindparam, delete, func, select, update

from perturb import Sanitizer
from perturb.sanitizer import Demands
from perturb.selective.actions import check_actions
from perturb.selective.parameters import check_thresholds
from perturb.selective.terms import check_terms
from proxy.config.errors import explain_key
from proxy.config.section import Section
from proxy.config.settings import Server, is_loopback
from proxy.config.store import Budget
from proxy.errors import ConfigError, model_not_found, not_permitted, unauthorized
from proxy.sanitizers import sanitizer_names
from proxy.storage.digests import Digests, open_sealed, place_of, seal
from proxy.storage.schema import KEYS
from proxy.storage.store import Store

__all__ = [
    "ANONYMOUS",
    "Client",
    "Grant",
    "Holder",
    "Keyring",
    "StoredKey",
    "Visit",
    "build_grant",
    "check_tenant",
    "new_key",
    "parse_pairs",
]


class Grant(Section):
    """Limit a key further than the configuration does; null is no further limit.

    `actions` hold for types of marked parts, where they are stronger than the configured ones;
    `deny` and `thresholds` mark more parts than the configuration does.
    `budget`, `budget_tokens` and `budget_unbounded` replace the configured limits that they
    name. They apply to the tenant's account, which all of its keys share.
    """

    # JSON has no infinity: in the store it would become null, which is no limit.
    model_config = ConfigDict(allow_inf_nan=False)

    mechanisms: tuple[str, ...] | None = None
    models: tuple[str, ...] | None = None
    epsilon_min: float | None = Field(None, gt=0)
    epsilon_max: float | None = Field(None, gt=0)
    requests_per_minute: float | None = Field(None, gt=0)
    burst: int | None = Field(None, ge=1)
    actions: dict[str, str] = Field({})
    deny: tuple[str, ...] = ()
    thresholds: dict[str, float] = Field({})
    budget: Budget = Budget()
    budget_tokens: Budget = Budget()
    budget_unbounded: Budget = Budget()

    @field_validator("mechanisms")
    @classmethod
    def _check_mechanisms(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        known = sanitizer_names()
        if not set(value or ()).issubset(known):
            raise ValueError(f"mechanisms must be among {', '.join(known)}")
        return value

    @field_validator("actions")
    @classmethod
    def _check_actions(cls, value: dict[str, str]) -> dict[str, str]:
        return dict(check_actions(value))

    @field_validator("deny")
    @classmethod
    def _check_deny(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return check_terms("deny", value)

    @field_validator("thresholds")
    @classmethod
    def _check_thresholds(cls, value: dict[str, float]) -> dict[str, float]:
        return dict(check_thresholds(value, ("detector",)))

    @model_validator(mode="after")
    def _check_burst(self) -> Grant:
        if self.burst is not None and self.requests_per_minute is None:
            raise ValueError("burst needs requests_per_minute: alone it limits nothing")
        return self

    @property
    def demands(self) -> Demands:
        """Return what is asked for beyond the configuration."""
        return Demands.of(self.actions, self.deny, self.thresholds)


@dataclass(frozen=True)
class Visit:
    """Identify one request of a client, for the audit record.

    Attributes:
        request: its id, as the client and the log see it.
        endpoint: its path, as the routes spell it.
        time: when it was admitted, in seconds since 1970.
    """

    request: str = ""
    endpoint: str = ""
    time: float = 0.0


@dataclass(frozen=True)
class Client:
    """Hold the client of a request.

    Attributes:
        tenant: the tenant.
        grant: the limits of its key.
        key: the key's id; "" for a key of the configuration, which has no further limits.
        visit: the request, once it is admitted.
    """

    tenant: str
    grant: Grant = field(default_factory=Grant)
    key: str = ""
    visit: Visit = Visit()

    def during(self, visit: Visit) -> Client:
        """Return the client during a request."""
        return Client(self.tenant, self.grant, self.key, visit)

    def serves(self, model: str) -> bool:
        """Return whether the key allows a model, by the name that clients use."""
        return self.grant.models is None or model in self.grant.models

    def check(self, model: str | None, sanitizer: Sanitizer) -> None:
        """Check that the key allows a request.

        Args:
            model: the name that clients use; None for a preview.
            sanitizer: the requested one, or the operator's.

        Raises:
            ApiError: 403, or 404 for the model.
        """
        grant, epsilon = self.grant, sanitizer.guarantee.nominal
        if model is not None and not self.serves(model):
            raise model_not_found()
        if grant.mechanisms is not None and sanitizer.name not in grant.mechanisms:
            raise not_permitted(
                f"This key does not allow the mechanism {sanitizer.name}.",
                param="inferdpt.mechanism",
            )
        if grant.epsilon_min is not None and epsilon < grant.epsilon_min:
            raise not_permitted(
                f"epsilon must be >= {grant.epsilon_min:g} with this key, is {epsilon:g}.",
                param="inferdpt.epsilon",
            )
        if grant.epsilon_max is not None and epsilon > grant.epsilon_max:
            raise not_permitted(
                f"epsilon must be <= {grant.epsilon_max:g} with this key, is {epsilon:g}.",
                param="inferdpt.epsilon",
            )


ANONYMOUS = Client("anonymous")  # the only client of a proxy without keys


def build_grant(**given: Any) -> Grant:
    """Build the grant of a key; None leaves out a limit.

    Raises:
        ConfigError: a limit breaks its rule.
    """
    try:
        grant = Grant.model_validate({k: v for k, v in given.items() if v is not None})
    except ValidationError as exc:
        error = exc.errors(include_url=False)[0]
        where = [".".join(str(part) for part in error["loc"])] if error["loc"] else []
        raise ConfigError(": ".join([*where, explain_key(dict(error), Grant)])) from None
    least, most = grant.epsilon_min, grant.epsilon_max
    if least is not None and most is not None and least > most:
        raise ConfigError(f"epsilon_min must be <= epsilon_max, is {least:g} > {most:g}")
    return grant


def parse_pairs(text: str | None) -> dict[str, str] | None:
    """Parse `NAME=VALUE,…`; None stays None.

    >>> parse_pairs("day=5000, total=100000")
    {'day': '5000', 'total': '100000'}
    """
    if text is None:
        return None
    pairs = [part.partition("=") for part in text.split(",")]
    return {name.strip(): value.strip() for name, _, value in pairs}


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
    """Hold the keys of the configuration and those of the store.

    Args:
        locked: whether clients have needed a key before, in this process.
    """

    def __init__(self, store: Store, server: Server, *, locked: bool = False) -> None:
        self._store = store
        self._digests = Digests(store)
        self._server = server
        self.locked = locked or bool(server.keys) or not is_loopback(server.host)

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
        """Describe who is served, as the start line, `keys` and `doctor` print it."""
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
