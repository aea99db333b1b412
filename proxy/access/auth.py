"""Know clients by their keys: stored as SHA-256, compared in constant time; grants are sealed.

A grant holds the limits that a key carries. A key is 256 random bits, so a plain hash cannot be
searched. A slow hash, made for passwords, would only slow every request. Keys are in config.yaml,
or in the store, where they are made, rotated and revoked while the proxy runs.

The key of a trusted front end stands for many users: each of its requests names one, who is a
tenant. A user's tenant is `FRONT-END::ID`, with the id as it came, so that an operator who reads
it in the console, the record or the log finds the person in the front end. A keyed digest would
serve any id, but a new secret would give every user a new account, and with it a new budget.
Names of tenants are logged, so ids must be opaque: `@` and spaces, which addresses and full names
have, are refused.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from pydantic import ConfigDict, Field, ValidationError, field_validator, model_validator
from sqlalchemy import ColumnElement, Row, and_, bindparam, delete, func, not_, or_, select, update

from perturb import Sanitizer
from perturb.sanitizer import Demands
from perturb.selective.parameters import check_thresholds
from perturb.selective.parts import check_terms
from perturb.selective.profiles import ACTIONS, EVERY, Actions, check_actions
from proxy.config.errors import explain_key
from proxy.config.fields import Section
from proxy.config.server import OF_USER, ClientKey, Role
from proxy.config.settings import Server, is_loopback
from proxy.config.store import Budget
from proxy.errors import (
    ApiError,
    ConfigError,
    bad_request,
    model_not_found,
    not_permitted,
    unauthorized,
)
from proxy.sanitizers import sanitizer_names
from proxy.storage.digests import Digests, open_sealed, place_of, seal
from proxy.storage.schema import KEYS
from proxy.storage.store import Connection, Store

__all__ = [
    "ANONYMOUS",
    "Client",
    "Grant",
    "Holder",
    "Keyring",
    "StoredKey",
    "Terms",
    "Visit",
    "build_grant",
    "check_note",
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

    def meet(self, other: Grant) -> Grant:
        """Return the limits of both, the stricter of each."""
        both = (self, other)

        def lowest(name: str, of: Sequence[Any] = both) -> Any:
            found = [value for each in of if (value := getattr(each, name)) is not None]
            return min(found, default=None)

        def common(name: str) -> tuple[str, ...] | None:
            lists = [value for each in both if (value := getattr(each, name)) is not None]
            return tuple(item for item in lists[0] if item in lists[-1]) if lists else None

        # Without it, a type that is not named would count as one with the usual action.
        weakest = (EVERY, ACTIONS[0])
        actions = Actions((weakest, *self.actions.items())).strengthen(other.actions.items())
        least = [each.epsilon_min for each in both if each.epsilon_min is not None]
        budgets = ("budget", "budget_tokens", "budget_unbounded")
        return self.model_copy(
            update={
                **{name: common(name) for name in ("mechanisms", "models")},
                **{name: lowest(name) for name in ("epsilon_max", "requests_per_minute", "burst")},
                "epsilon_min": max(least, default=None),
                "actions": dict(pair for pair in actions.pairs if pair != weakest),
                "deny": tuple(dict.fromkeys((*self.deny, *other.deny))),
                "thresholds": {
                    type_: min(each.thresholds.get(type_, 1.0) for each in both)
                    for type_ in (*self.thresholds, *other.thresholds)
                },
                **{
                    name: Budget(
                        **{
                            scope: lowest(scope, [getattr(each, name) for each in both])
                            for scope in Budget.model_fields
                        }
                    )
                    for name in budgets
                },
            }
        )


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
        on_behalf: whether the key is of a front end. The tenant is then its user or, where no
            user is named, the front end.
        role: of a person who signed in to the console; None for a key.
    """

    tenant: str
    grant: Grant = field(default_factory=Grant)
    key: str = ""
    visit: Visit = Visit()
    on_behalf: bool = False
    role: Role | None = None

    def during(self, visit: Visit) -> Client:
        """Return the client during a request."""
        return replace(self, visit=visit)

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
_USER = re.compile(r"[A-Za-z0-9._-]{1,64}")  # the ids of front ends: UUIDs, numbers, names
NOTE_CHARACTERS = 100  # of a label or an owner
USE_SECONDS = 3600.0  # between two writes of a key's last use: most requests only read
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
class Terms:
    """Hold what a key of the store is made with, beside its tenant and its grant.

    Attributes:
        on_behalf: whether it is of a trusted front end, see `Client`.
        label: tells it from other keys of its tenant.
        owner: the person who answers for it.
        seconds: for which it is in force; None for no end.
    """

    on_behalf: bool = False
    label: str = ""
    owner: str = ""
    seconds: float | None = None


@dataclass(frozen=True)
class StoredKey:
    """Describe a key of the store, without the key itself; times are seconds since 1970.

    Attributes:
        sha256: of the key, in hexadecimal.
        expires: when it ends; None for no end.
        used: its last use, exact to an hour; None for a new key.
        in_force: whether it is neither revoked nor at its end.
    """

    id: str
    sha256: str = field(repr=False)
    tenant: str
    grant: Grant
    created: float
    revoked: float | None
    on_behalf: bool
    label: str
    owner: str
    expires: float | None
    used: float | None
    in_force: bool


class Keyring:
    """Hold the keys of the configuration and those of the store.

    Args:
        locked: whether clients have needed a key before, in this process.
        clock: the time in seconds since 1970.
    """

    def __init__(
        self,
        store: Store,
        server: Server,
        *,
        locked: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._digests = Digests(store)
        self._server = server
        self._clock = clock
        self.locked = locked or self._demanded

    @property
    def _demanded(self) -> bool:
        """Return whether the configuration demands keys."""
        server = self._server
        return bool(server.keys) or not is_loopback(server.host) or server.oidc.issuer is not None

    async def required(self) -> bool:
        """Return whether clients need a key.

        They do if there is any key, also a revoked one, if the proxy listens to more than this
        machine, or if people sign in. Once they do, `locked` stays true.
        """
        if not self.locked:
            self.locked = await self._store.read(lambda c: c.scalar(_ANY)) is not None
        return self.locked

    async def count_in_force(self) -> int:
        """Return the number of keys in force."""
        mine = select(func.count()).select_from(KEYS).where(self._in_force())
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
            ConfigError: it is open to the network, no client has a key, and nobody can sign in to
                make one.
        """
        alone = is_loopback(self._server.host) or self._server.oidc.issuer is not None
        if not alone and not await self.count_in_force():
            raise ConfigError(
                "server.host is not a loopback address, and neither server.keys nor the store "
                "has a key: give clients keys (`inferdpt keys create TENANT`) or listen on "
                "127.0.0.1"
            )

    async def client(
        self, authorization: str | None, users: Sequence[str] = (), *, unnamed: bool = False
    ) -> Client:
        """Return the client that an `Authorization: Bearer …` header belongs to.

        Args:
            users: the values of `server.user_header`. They count for keys of front ends alone:
                from any other client, they name nobody.
            unnamed: whether a front end may leave out its user.

        Raises:
            ApiError: 401; 400, a front end does not name its user as it has to.
        """
        if not await self.required():
            return ANONYMOUS
        scheme, _, key = (authorization or "").partition(" ")
        found = await self.match(key.strip())
        if scheme.lower() != "bearer" or found is None:
            raise unauthorized()
        client = found.client
        if not client.on_behalf or (unnamed and not users):
            return client
        return replace(client, tenant=f"{client.tenant}{OF_USER}{self._read_user(users)}")

    def _read_user(self, users: Sequence[str]) -> str:
        """Return the id of the user whom a front end names; raise `ApiError`."""
        header = self._server.user_header
        if not users:
            raise bad_request(
                f"This key is of a front end: the header {header} must name the user of each "
                "request.",
                param=header,
                code="user_required",
            )
        if len(users) > 1 or not _USER.fullmatch(users[0]):
            raise bad_request(
                f"The header {header} must be one id of 1 to 64 letters, digits, '.', '_' and "
                "'-'.",
                param=header,
                code="invalid_user",
            )
        return users[0]

    async def match(self, key: str) -> Holder | None:
        """Return the holder of a key; None if the key is not in force.

        A key of the store is found by its id, which is not secret, and then compared. The
        configuration's keys are all compared, also after one has matched.
        """
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
        found = None
        for entry in self._server.keys:
            if hmac.compare_digest(entry.sha256, digest):
                found = _hold_configured(entry)
        stored = await self._row(key.removeprefix(PREFIX).partition("-")[0])
        same = hmac.compare_digest(stored.sha256 if stored else NOBODY, digest)
        if stored is None or not same or (held := self._hold(stored)) is None:
            return found
        await self._note_use(stored)
        return held

    async def find(self, name: str) -> Holder | None:
        """Return the holder of a key by its name, see `Holder`; None if it is not in force."""
        for entry in self._server.keys:
            if entry.sha256[:NAMED] == name:
                return _hold_configured(entry)
        stored = await self._row(name)
        return None if stored is None else self._hold(stored)

    async def find_grant(self, tenant: str) -> Grant:
        """Return the limits of a tenant's keys in force, the strictest of each. Those of a front
        end's user are the front end's."""
        front_end = tenant.rpartition(OF_USER)[0]
        mine = select(KEYS).where(KEYS.c.tenant == (front_end or tenant), self._in_force())
        if front_end:
            mine = mine.where(KEYS.c.on_behalf)
        rows = await self._store.scan(lambda connection: connection.execute(mine).all())
        grants = [self._open(row) for row in rows]
        return reduce(Grant.meet, grants) if grants else Grant()

    async def recall(self, tenant: str, key: str) -> Client:
        """Return the client that a tenant's key, named by its id, stands for now.

        Args:
            key: "" for the keys of the configuration, or for a proxy that had none.

        Raises:
            ApiError: 401, the key is no longer in force.
        """
        if key:
            found = [await self.find(key)]
        elif await self.required():
            found = [_hold_configured(entry) for entry in self._server.keys]
        elif tenant == ANONYMOUS.tenant:
            return ANONYMOUS
        else:
            found = []
        for holder in found:
            if holder is not None and holder.client.key == key and _stands_for(holder, tenant):
                return replace(holder.client, tenant=tenant)
        raise unauthorized()

    def sees_all(self, client: Client) -> bool:
        """Return whether a client may see every tenant's figures. No front end may: whoever has
        its key names its users. Of a person, the role alone decides."""
        if client.role is not None:
            return client.role != "member"
        known = client.tenant in self._server.operators and not client.on_behalf
        return known or not self.locked

    async def create(self, tenant: str, grant: Grant, terms: Terms = Terms()) -> tuple[str, str]:
        """Make a key and return its id and the key itself, which is not kept."""
        key, row = self._make(grant, terms.seconds)
        row |= {
            "tenant": tenant,
            "on_behalf": terms.on_behalf,
            "label": terms.label,
            "owner": terms.owner,
        }
        await self._store.write(lambda connection: connection.execute(KEYS.insert(), row))
        return row["id"], key

    async def rotate(
        self, id_: str, overlap: float, seconds: float | None = None
    ) -> tuple[str, str] | None:
        """Make a key that takes the place of another, which ends after an overlap.

        The new one has its tenant, limits, label and owner.

        Args:
            overlap: the seconds for which both are in force. A key that ends earlier does so.
            seconds: for which the new one is in force; None for no end.

        Returns:
            The id and the key itself, which is not kept; None if no key of that id is in force.

        Raises:
            ConfigError: the key has an end and the new one would have none.
        """
        now = self._clock()
        mine = and_(KEYS.c.id == id_, self._in_force())

        def work(connection: Connection) -> tuple[str, str] | None:
            old = connection.execute(select(KEYS).where(mine).with_for_update()).first()
            if old is None:
                return None
            if old.expires is not None and seconds is None:
                raise ConfigError("this key has an end: say when the new one ends, too")
            ends = now + overlap if old.expires is None else min(old.expires, now + overlap)
            connection.execute(update(KEYS).where(KEYS.c.id == id_).values(expires=ends))
            key, row = self._make(self._open(old), seconds)
            kept = ("tenant", "on_behalf", "label", "owner")
            row |= {name: getattr(old, name) for name in kept}
            connection.execute(KEYS.insert(), row)
            return row["id"], key

        return await self._store.write(work)

    async def list_keys(self) -> Sequence[StoredKey]:
        """Return the store's keys, oldest first."""
        query = select(KEYS).order_by(KEYS.c.created)
        rows = await self._store.scan(lambda connection: connection.execute(query).all())
        plain = ("id", "sha256", "tenant", "created", "revoked", "label", "owner")
        return [
            StoredKey(
                grant=self._open(row),
                on_behalf=bool(row.on_behalf),
                in_force=self._holds(row),
                **{name: getattr(row, name) for name in (*plain, "expires", "used")},
            )
            for row in rows
        ]

    async def adopt(self, keys: Mapping[int, StoredKey], *, only_check: bool = False) -> None:
        """Take over keys of another store: all of them, or none.

        Args:
            keys: by the numbers of the lines that they come from.
            only_check: whether to change nothing.

        Raises:
            ConfigError: the store has some of them already, a line for each.
        """

        def work(connection: Connection) -> None:
            held = connection.execute(select(KEYS.c.id, KEYS.c.sha256)).all()
            ids, hashes = {row.id for row in held}, {row.sha256: row.id for row in held}
            faults = [
                f"line {number}: the key {key.id} is in the store already"
                if key.id in ids
                else f"line {number}: its SHA-256 is that of {hashes[key.sha256]} in the store"
                for number, key in keys.items()
                if key.id in ids or key.sha256 in hashes
            ]
            if faults:
                raise ConfigError("\n".join(faults))
            if not only_check:
                connection.execute(KEYS.insert(), [self._row_of(key) for key in keys.values()])

        await (self._store.scan(work) if only_check else self._store.write(work))

    async def revoke(self, id_: str) -> bool:
        """Revoke a key from the next request on. Return False if no key of that id is in force."""
        return await self._change(id_, revoked=self._clock())

    async def restrict(self, id_: str, grant: Grant) -> bool:
        """Replace the limits of a key from the next request on. Return False if no key of that
        id is in force."""
        return await self._change(id_, grant=self._seal(id_, grant))

    async def reopen(self) -> None:
        """Forget that there were keys.

        A proxy that starts on loopback after this serves this machine without a key.

        Raises:
            ConfigError: the configuration demands keys, or a key is in force.
        """
        if self._demanded:
            raise ConfigError(
                "server.keys, server.host or server.oidc demands keys: change that first"
            )
        if count := await self.count_in_force():
            raise ConfigError(f"keys in force: {count}; revoke them first (`inferdpt keys list`)")
        ended = delete(KEYS).where(not_(self._in_force()))
        await self._store.write(lambda connection: connection.execute(ended))

    def _in_force(self) -> ColumnElement[bool]:
        """Return the condition of rows that `_holds` is true for."""
        ends = or_(KEYS.c.expires.is_(None), KEYS.c.expires > self._clock())
        return and_(KEYS.c.revoked.is_(None), ends)

    def _holds(self, row: Row[Any]) -> bool:
        """Return whether a stored key is neither revoked nor at its end."""
        return row.revoked is None and (row.expires is None or row.expires > self._clock())

    def _make(self, grant: Grant, seconds: float | None) -> tuple[str, dict[str, Any]]:
        """Return a new key and the columns of its row that no other key has."""
        id_, now = secrets.token_hex(6), self._clock()
        key = f"{PREFIX}{id_}-{secrets.token_urlsafe(32)}"
        return key, {
            "id": id_,
            "sha256": hashlib.sha256(key.encode()).hexdigest(),
            "grant": self._seal(id_, grant),
            "created": now,
            "expires": None if seconds is None else now + seconds,
        }

    def _row_of(self, key: StoredKey) -> dict[str, Any]:
        """Return the columns of a key of another store."""
        plain = ("id", "sha256", "tenant", "created", "revoked", "on_behalf", "label", "owner")
        row = {name: getattr(key, name) for name in (*plain, "expires", "used")}
        return row | {"grant": self._seal(key.id, key.grant)}

    async def _change(self, id_: str, **values: Any) -> bool:
        change = update(KEYS).where(KEYS.c.id == id_, self._in_force()).values(**values)
        return bool(await self._store.write(lambda c: c.execute(change).rowcount))

    async def _note_use(self, row: Row[Any]) -> None:
        now = self._clock()
        if row.used is None or row.used <= now - USE_SECONDS:
            note = update(KEYS).where(KEYS.c.id == row.id).values(used=now)
            with suppress(ApiError):  # a full disk keeps no client from its answer, or figures
                await self._store.write(lambda connection: connection.execute(note), wait=False)

    def _seal(self, id_: str, grant: Grant) -> bytes:
        """Return the grant of a key as the store holds it: `deny` names what nobody may read."""
        spelled = grant.model_dump_json(exclude_defaults=True).encode()
        return seal(self._digests, spelled, *place_of(KEYS, id_))

    def _open(self, row: Row[Any]) -> Grant:
        return Grant.model_validate_json(
            open_sealed(self._digests, row.grant, *place_of(KEYS, row.id))
        )

    def _hold(self, row: Row[Any]) -> Holder | None:
        """Return the holder of a stored key; None if it is not in force."""
        if not self._holds(row):
            return None
        client = Client(row.tenant, self._open(row), row.id, on_behalf=bool(row.on_behalf))
        return Holder(client, row.id, row.sha256)

    async def _row(self, id_: str) -> Row[tuple[str, ...]] | None:
        if not id_.isalnum():
            return None
        return await self._store.read(lambda c: c.execute(_FIND, {"id": id_}).first())


def _hold_configured(entry: ClientKey) -> Holder:
    client = Client(entry.tenant, on_behalf=entry.on_behalf)
    return Holder(client, entry.sha256[:NAMED], entry.sha256)


def _stands_for(holder: Holder, tenant: str) -> bool:
    """Return whether a key is of a tenant or, as that of a front end, of its user."""
    client = holder.client
    return client.tenant == (tenant.rpartition(OF_USER)[0] if client.on_behalf else tenant)


def check_tenant(name: str) -> None:
    """Check the name of a tenant; raise `ConfigError` if it cannot be one."""
    if not name or not name.isprintable() or OF_USER in name:
        raise ConfigError(
            f"the tenant must be a name of printable characters without {OF_USER!r}, which the "
            "users of front ends have"
        )


def check_note(name: str, text: str) -> None:
    """Check a label or an owner; raise `ConfigError`."""
    if not text.isprintable() or len(text) > NOTE_CHARACTERS:
        raise ConfigError(f"{name} must be at most {NOTE_CHARACTERS} printable characters")


def new_key() -> tuple[str, str]:
    """Return a fresh key, for the client, and its SHA-256, for config.yaml."""
    key = PREFIX + secrets.token_urlsafe(32)
    return key, hashlib.sha256(key.encode()).hexdigest()
