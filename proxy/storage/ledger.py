"""Keep the ledger: the charges of tenants, days and conversations, and their budgets.

A request is charged before anything is sent, in the transaction that settles what is sent, and
only for texts that are released for the first time. A crash between the charge and the request
over-charges.

ε adds up (basic composition): n tokens at ε cost n·ε. If a mechanism's ε is not a bound, its
nominal ε is summed separately, under that name. Tokens without a proved bound are counted. An
account that has some has no bound, even if there is a proof for the others.

A conversation's account also holds what was disclosed in it: every release that was sent, charged
there or elsewhere, once.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

import sqlalchemy
from sqlalchemy import Row, bindparam, func, select

from perturb import Perturbation, Sanitizer
from perturb.audit.accounting import Bound, Spend, best, compose
from perturb.errors import ParameterError, PluginError
from perturb.registry import sanitizer_class
from perturb.sanitizer import FALSE_ALARM
from proxy.config.store import Budget
from proxy.errors import ApiError
from proxy.storage.schema import ACCOUNTS, DISCLOSURES, SPENDS
from proxy.storage.store import Connection, Store

__all__ = [
    "BudgetExceeded",
    "Channel",
    "Charge",
    "Disclosure",
    "Ledger",
    "Price",
    "price",
    "price_of",
    "total",
]


FIGURES = ("tokens", "unbounded", "proved", "nominal")
UNITS = {"epsilon": "ε", "tokens": "tokens", "unbounded": "tokens without a bound"}


class Channel(NamedTuple):
    """Name the channel of a release, for composition.

    Attributes:
        mechanism: its name.
        epsilon: ε of one unit.
        bounded_range: True if it is ε-bounded-range.
        unit: the unit that ε refers to.
    """

    mechanism: str
    epsilon: float
    bounded_range: bool
    unit: str = "token"


@dataclass(frozen=True)
class Price:
    """Hold the cost of one release.

    Attributes:
        tokens: the number of released tokens.
        proved: the bound for replacing them all at once, if there is one.
        nominal: tokens times the nominal ε, if there is no bound.
        channel: the channel that drew it, if there is a bound.
        count: how many times that ε is spent.
        unbounded: the number of tokens released without a proved bound, including those that
            no mechanism touches.
    """

    tokens: int = 0
    proved: float = 0.0
    nominal: float = 0.0
    channel: Channel | None = None
    count: int = 0
    unbounded: int = 0

    @property
    def epsilon(self) -> float:
        """Return the sum that the budgets in ε limit."""
        return self.proved + self.nominal

    @property
    def figures(self) -> dict[str, float]:
        """Return the sums as the tables hold them."""
        return {name: getattr(self, name) for name in FIGURES}

    def to_dict(self) -> dict[str, Any]:
        """Return it as the receipt shows it."""
        return {
            "tokens": self.tokens,
            "unbounded": self.unbounded,
            "epsilon": self.epsilon,
            "epsilon_nominal": self.nominal,
        }


@dataclass(frozen=True)
class Disclosure:
    """Hold a release that is sent in a conversation, new or not: its key and its price."""

    conversation: str
    key: bytes
    price: Price


@dataclass(frozen=True)
class Charge:
    """Hold the charge of a request.

    Attributes:
        charged: the sum charged for it.
        disclosed: the sum of all it discloses, charged now or earlier.
        left: the rest of its budgets, by unit (see `UNITS`) and limit.
        totals: the tenant's totals.
    """

    charged: Price = Price()
    disclosed: Price = Price()
    left: Mapping[str, Mapping[str, float]] = field(
        default_factory=lambda: {unit: {} for unit in UNITS}
    )
    totals: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return it as the receipt shows it."""
        return {
            "charged": self.charged.to_dict(),
            "disclosed": self.disclosed.to_dict(),
            "remaining": {unit: dict(left) for unit, left in self.left.items()},
        }


def price(sanitizer: Sanitizer, released: Perturbation) -> Price:
    """Return the price of a text that is released for the first time."""
    receipt = released.receipt
    free = Price(receipt.released, unbounded=receipt.unbounded)
    proved, each = receipt.epsilon_per_document, receipt.epsilon_per_token
    if not math.isfinite(proved):
        return replace(free, nominal=receipt.epsilon_nominal * receipt.released)
    if not proved or not math.isfinite(each):
        return free
    narrow = sanitizer.bounded_range and receipt.guarantee == "ldp"
    if sanitizer.grouped:
        each = proved
    channel = Channel(receipt.mechanism, each, narrow, receipt.unit)
    return replace(free, proved=proved, channel=channel, count=math.ceil(proved / each - 1e-9))


def price_of(row: Row[Any]) -> Price:
    """Return the sums in a row of a table."""
    # PostgreSQL's sums of whole numbers are decimals.
    return Price(int(row.tokens), row.proved, row.nominal, unbounded=int(row.unbounded))


def total(prices: Iterable[Price]) -> Price:
    """Return the price of several releases together."""
    prices = tuple(prices)
    if len(prices) == 1:  # nearly always
        (one,) = prices
        return Price(one.tokens, one.proved, one.nominal, unbounded=one.unbounded)
    return Price(
        sum(p.tokens for p in prices),
        math.fsum(p.proved for p in prices),
        math.fsum(p.nominal for p in prices),
        unbounded=sum(p.unbounded for p in prices),
    )


ROUNDING = 1e-9  # the relative error of a sum of many ε
SUMS = ("requests", *FIGURES)
NO_BOUND = {"basic": "infinity", "best": {"bound": "none", "epsilon": "infinity", "delta": 0.0}}
CONVERSATIONS = 100  # how many of a tenant's latest ones are shown
_LOCK = (
    select(ACCOUNTS.c.tenant)
    .where(*(ACCOUNTS.c[name] == bindparam(name) for name in ("tenant", "scope", "period")))
    .with_for_update()
)
EXACT = 10_000  # the most releases whose privacy loss distribution is computed, which takes long


class BudgetExceeded(ApiError):
    """Report that a request would cost more than is left: nothing was charged or sent.

    Attributes:
        scope: the exceeded limit: request, conversation, day or total.
    """

    def __init__(self, scope: str, unit: str, cost: float, left: float) -> None:
        of = {"day": "of the day", "total": "in all"}.get(scope, f"of a {scope}")
        super().__init__(
            403,
            f"The privacy budget {of} is exceeded: the new text costs {cost:g} {unit}, "
            f"{max(left, 0.0):g} are left. Nothing was sent.",
            type="permission_error",
            code="privacy_budget_exceeded",
        )
        self.scope = scope


class Ledger:
    """Charge and read the accounts in the store.

    Args:
        store: holds the accounts.
        delta: the δ at which compositions are stated.
    """

    def __init__(self, store: Store, *, delta: float) -> None:
        self._store = store
        self._delta = delta
        self._open = store.insert(ACCOUNTS).on_conflict_do_nothing()
        self._record = store.insert(DISCLOSURES).on_conflict_do_nothing()
        more = store.insert(ACCOUNTS)
        sums = {name: ACCOUNTS.c[name] + more.excluded[name] for name in SUMS}
        self._raise = more.on_conflict_do_update(
            index_elements=list(ACCOUNTS.primary_key),
            set_={"used": more.excluded.used, **sums},
        ).returning(ACCOUNTS)
        spent = store.insert(SPENDS)
        self._count = spent.on_conflict_do_update(
            index_elements=list(SPENDS.primary_key),
            set_={"count": SPENDS.c["count"] + spent.excluded["count"]},
        )

    def lock(self, connection: Connection, tenant: str) -> None:
        """Lock a tenant's account until the transaction ends.

        Meanwhile no other request, in this process or another, writes the tenant's texts or
        charges the account.
        """
        if self._store.file is not None:
            return  # SQLite has one writer
        row = {"tenant": tenant, "scope": "total", "period": ""}
        zero = {"requests": 0, **Price().figures, "used": time.time()}
        connection.execute(self._open, row | zero)
        connection.execute(_LOCK, row)

    def charge(
        self,
        connection: Connection,
        tenant: str,
        prices: Sequence[tuple[str, Price]],
        *,
        conversations: Sequence[str] = (),
        disclosed: Sequence[Disclosure] = (),
        budgets: Mapping[str, Budget],
    ) -> Charge:
        """Charge one request to an account that is locked.

        Args:
            prices: conversation and price of each text that is released for the first time.
            conversations: the conversations of the request, even if it costs nothing.
            disclosed: every release that is sent in them.
            budgets: the limits, by unit (see `UNITS`).

        Raises:
            BudgetExceeded: a limit would be exceeded; the transaction must be rolled back.
        """
        today = datetime.now(UTC).date().isoformat()
        accounts: dict[tuple[str, str], list[Price]] = {
            ("total", ""): [p for _, p in prices],
            ("day", today): [p for _, p in prices],
            **{("conversation", c): [] for c in conversations},
        }
        for conversation, one in prices:
            accounts.setdefault(("conversation", conversation), []).append(one)
        found = self._add(connection, tenant, accounts)
        whole = total(accounts["total", ""])
        checks = [("request", whole, whole)]
        for place, costs in accounts.items():
            checks.append((place[0], price_of(found[place]), total(costs)))
        left: dict[str, dict[str, float]] = {unit: {} for unit in UNITS}
        for scope, spent, cost in checks:
            for unit, budget in budgets.items():
                limit = getattr(budget, scope)
                if limit is None:
                    continue
                new, so_far = getattr(cost, unit), getattr(spent, unit)
                if new and so_far > limit * (1 + ROUNDING):
                    raise BudgetExceeded(scope, UNITS[unit], new, limit - (so_far - new))
                rest = left[unit].get(scope, math.inf)
                left[unit][scope] = min(rest, max(limit - so_far, 0.0))
        self._disclose(connection, tenant, disclosed)
        once = {disclosure.key: disclosure.price for disclosure in disclosed}
        return Charge(whole, total(once.values()), left, _totals(found["total", ""]))

    def _disclose(
        self, connection: Connection, tenant: str, disclosed: Sequence[Disclosure]
    ) -> None:
        """Record the releases that are sent in conversations that have accounts."""
        rows = [
            {
                "tenant": tenant,
                "scope": "conversation",
                "period": one.conversation,
                "key": one.key,
                **one.price.figures,
            }
            for one in disclosed
        ]
        if rows:
            connection.execute(self._record, rows)

    def _add(
        self,
        connection: Connection,
        tenant: str,
        accounts: Mapping[tuple[str, str], Sequence[Price]],
    ) -> dict[tuple[str, str], Row[Any]]:
        """Add to accounts and return their new sums."""
        rows, spends = [], []
        for (scope, period), costs in accounts.items():
            whole = total(costs)
            place = {"tenant": tenant, "scope": scope, "period": period}
            rows.append(place | whole.figures | {"requests": 1, "used": time.time()})
            counts: Counter[Channel] = Counter()
            for cost in costs:
                if cost.channel is not None:
                    counts[cost.channel] += cost.count
            for channel, count in counts.items():
                spends.append(place | channel._asdict() | {"count": count})
        found = connection.execute(self._raise, rows)
        sums = {(row.scope, row.period): row for row in found}
        if spends:
            connection.execute(self._count, spends)
        return sums

    async def totals(self) -> dict[str, dict[str, float]]:
        """Return the sums charged to each tenant in all, see `SUMS`."""
        charged = (ACCOUNTS.c.scope == "total") & (ACCOUNTS.c.requests > 0)  # `lock` opens others
        query = select(ACCOUNTS).where(charged).order_by(ACCOUNTS.c.tenant)
        rows = await self._store.scan(lambda connection: connection.execute(query).all())
        return {row.tenant: _totals(row) for row in rows}

    async def compare(self, since: str | None = None) -> dict[str, dict[str, Any]]:
        """Return the sums charged to each tenant, see `SUMS`, and the proved part by unit of ε.

        Args:
            since: only on the days from this one on (`2030-01-31`, UTC); None for all time.
        """
        return await self._store.scan(partial(_compare_accounts, since=since))

    async def figures(self, tenant: str, *, exact: bool = False) -> dict[str, Any]:
        """Return a tenant's account: in all, by day, and by conversation (the latest ones).

        Each keeps the units of ε and the mechanisms apart; a conversation also states the
        releases disclosed in it.

        Args:
            tenant: the tenant.
            exact: compute the privacy loss distribution, in all and by day, which takes long. It
                needs dp-accounting, and at most `EXACT` releases.
        """
        rows, spends, disclosed = await self._store.scan(partial(_read_account, tenant=tenant))
        mechanisms = {row.mechanism for found in spends.values() for row in found}
        out: dict[str, Any] = {
            "tenant": tenant,
            "guard_delta_per_text": _find_false_alarm(mechanisms),  # beside every δ
            "total": {
                "requests": 0,
                **_figures(Price(), best(compose([]))),
                "units": {},
                "mechanisms": {},
            },
            "days": {},
            "conversations": {},
        }
        for row in rows:
            found = spends.get((row.scope, row.period), [])
            fine = exact and row.scope != "conversation"  # there are many conversations
            bound = await asyncio.to_thread(self._bound, found, fine)
            account = {"requests": row.requests, **_figures(price_of(row), bound)}
            account["units"] = _count_by("unit", found)
            account["mechanisms"] = _count_by("mechanism", found)
            if row.scope == "total":
                out["total"] = account
                continue
            out[f"{row.scope}s"][row.period] = account
            if row.scope == "conversation":
                sent = disclosed.get(row.period, Price())
                account["disclosed"] = _figures(sent, Bound("basic", sent.proved, 0.0))
        return out

    def _bound(self, rows: Sequence[Row[Any]], exact: bool) -> Bound:
        spends = [Spend(row._mapping["count"], row.epsilon, row.bounded_range) for row in rows]
        fine = exact and sum(spent.count for spent in spends) <= EXACT
        return best(compose(spends, delta=self._delta, losses=fine and _has_accounting()))


def _figures(whole: Price, bound: Bound) -> dict[str, Any]:
    """Return sums for display.

    `bound` is for the part that has a proof. With any other part, the whole has no bound.
    """
    proved = {"basic": whole.proved, "best": bound.to_dict()}
    return {
        "tokens": whole.tokens,
        "unbounded": whole.unbounded,
        "epsilon": {
            "charged": whole.epsilon,
            **(NO_BOUND if whole.unbounded or whole.nominal else proved),
            "nominal": whole.nominal,
            "proved_part": proved,
        },
    }


def _count_by(column: str, spends: Sequence[Row[Any]]) -> dict[str, dict[str, float]]:
    """Return, for each unit or mechanism, how many units were charged and the sum of their ε."""
    out: dict[str, dict[str, float]] = {}
    for row in spends:
        count = row._mapping["count"]
        unit = out.setdefault(row._mapping[column], {"count": 0, "epsilon": 0.0})
        unit["count"] += count
        unit["epsilon"] += count * row.epsilon
    return dict(sorted(out.items()))


def _read_account(
    connection: sqlalchemy.Connection, tenant: str
) -> tuple[list[Row[Any]], dict[tuple[str, str], list[Row[Any]]], dict[str, Price]]:
    """Return a tenant's accounts, the spends of each, and the sums disclosed in the
    conversations."""
    rows: list[Row[Any]] = []
    for scope in ("total", "day", "conversation"):
        query = select(ACCOUNTS).where(ACCOUNTS.c.tenant == tenant, ACCOUNTS.c.scope == scope)
        query = query.order_by(ACCOUNTS.c.used.desc()).limit(CONVERSATIONS)
        rows += connection.execute(query).all()
    spends: dict[tuple[str, str], list[Row[Any]]] = {}
    for row in connection.execute(select(SPENDS).where(SPENDS.c.tenant == tenant)):
        spends.setdefault((row.scope, row.period), []).append(row)
    shown = [row.period for row in rows if row.scope == "conversation"]
    sums = [func.sum(DISCLOSURES.c[name]).label(name) for name in FIGURES]
    table = DISCLOSURES.c
    query = select(table.period, *sums).where(
        table.tenant == tenant, table.scope == "conversation", table.period.in_(shown)
    )
    found = connection.execute(query.group_by(table.period))
    return rows, spends, {row.period: price_of(row) for row in found}


def _compare_accounts(
    connection: sqlalchemy.Connection, since: str | None
) -> dict[str, dict[str, Any]]:
    def choose(table: sqlalchemy.Table) -> sqlalchemy.ColumnElement[bool]:
        if since is None:
            return table.c.scope == "total"
        return (table.c.scope == "day") & (table.c.period >= since)

    sums = [func.sum(ACCOUNTS.c[name]).label(name) for name in SUMS]
    query = select(ACCOUNTS.c.tenant, *sums).where(choose(ACCOUNTS)).group_by(ACCOUNTS.c.tenant)
    found: dict[str, dict[str, Any]] = {
        row.tenant: {"requests": int(row.requests), **price_of(row).figures, "units": {}}
        for row in connection.execute(query)
    }
    epsilon = func.sum(SPENDS.c["count"] * SPENDS.c.epsilon).label("epsilon")
    place = (SPENDS.c.tenant, SPENDS.c.unit)
    for row in connection.execute(select(*place, epsilon).where(choose(SPENDS)).group_by(*place)):
        found[row.tenant]["units"][row.unit] = row.epsilon
    return found


def _find_false_alarm(mechanisms: Collection[str]) -> float:
    """Return the largest probability with which the guard refuses an honest draw of one of these
    mechanisms."""
    found = [0.0 if mechanisms else FALSE_ALARM]
    for name in mechanisms:
        try:
            found.append(sanitizer_class(name).false_alarm)
        except (ParameterError, PluginError):  # it is not installed any more
            found.append(FALSE_ALARM)
    return max(found)


def _totals(row: Row[Any]) -> dict[str, float]:
    return {name: getattr(row, name) for name in SUMS}


def _has_accounting() -> bool:
    from importlib.util import find_spec

    return find_spec("dp_accounting") is not None
