"""The ledger: what left, by tenant, day and conversation, and what it may cost at most.

It is charged before anything is sent, in the transaction that settles what is sent, and only for
texts that leave for the first time. A crash between the charge and the request over-charges.

ε adds up (basic composition): n tokens at ε cost n·ε. Where a mechanism's ε is no bound, its
nominal ε is counted in the same way, apart and by that name.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from weakref import WeakValueDictionary

from sqlalchemy import Row, select
from sqlalchemy.ext.asyncio import AsyncConnection

from perturb import Perturbation, Perturber, Sanitizer
from perturb.accounting import Spend, best, compose
from proxy.config_store import Budget
from proxy.errors import ApiError
from proxy.schema import ACCOUNTS, SPENDS
from proxy.store import Store

__all__ = ["BudgetExceeded", "Charge", "Ledger", "Price", "price"]

ROUNDING = 1e-9  # relative: what a sum of many ε may be off
SUMS = ("requests", "tokens", "proved", "nominal")
CONVERSATIONS = 100  # shown of a tenant's, the latest
EXACT = 10_000  # releases up to which the privacy loss distribution is computed: it takes long


class BudgetExceeded(ApiError):
    """The request would cost more than is left; nothing was charged and nothing leaves.

    Attributes:
        scope: which limit: request, conversation, day or total.
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


@dataclass(frozen=True)
class Price:
    """What one release costs.

    Attributes:
        tokens: how many tokens leave.
        proved: the bound for replacing them all at once, where there is one.
        nominal: where there is none, tokens times the nominal ε.
        channel: mechanism, ε of one token, whether it is ε-bounded-range; for composition.
        count: how many times that ε is spent.
    """

    tokens: int
    proved: float = 0.0
    nominal: float = 0.0
    channel: tuple[str, float, bool] | None = None
    count: int = 0

    @property
    def epsilon(self) -> float:
        """What budgets are about."""
        return self.proved + self.nominal


@dataclass(frozen=True)
class Charge:
    """What a request was charged, and what its budgets leave: by limit, in ε and in tokens."""

    tokens: int = 0
    proved: float = 0.0
    nominal: float = 0.0
    left: Mapping[str, float] = field(default_factory=dict)
    left_tokens: Mapping[str, float] = field(default_factory=dict)
    totals: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """For the receipt."""
        return {
            "charged": {
                "tokens": self.tokens,
                "epsilon": self.proved + self.nominal,
                "epsilon_nominal": self.nominal,
            },
            "remaining": {"epsilon": dict(self.left), "tokens": dict(self.left_tokens)},
        }


def price(sanitizer: Sanitizer, released: Perturbation) -> Price:
    """What a release costs when it leaves for the first time."""
    receipt = released.receipt
    proved = receipt.epsilon_per_document
    if not math.isfinite(proved):
        return Price(receipt.released, nominal=receipt.epsilon_nominal * receipt.released)
    each = receipt.epsilon_per_token
    if not proved or not math.isfinite(each):
        return Price(receipt.released)
    narrow = (
        isinstance(sanitizer, Perturber)
        and sanitizer.mechanism.bounded_range
        and receipt.guarantee == "ldp"
    )
    channel = (receipt.mechanism, each, narrow)
    return Price(receipt.released, proved, channel=channel, count=math.ceil(proved / each - 1e-9))


class Ledger:
    """The accounts in the store.

    Args:
        delta: the δ at which compositions are stated.
    """

    def __init__(self, store: Store, *, delta: float) -> None:
        self._store = store
        self._delta = delta
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def turn(self, tenant: str) -> asyncio.Lock:
        """To hold around a transaction that locks the account: who waits for it here takes no
        connection from other tenants."""
        return self._turns.setdefault(tenant, asyncio.Lock())

    async def lock(self, connection: AsyncConnection, tenant: str) -> None:
        """Hold a tenant's account until the transaction ends: nobody else writes the tenant's
        texts or charges it meanwhile, in this process or another."""
        row = {"tenant": tenant, "scope": "total", "period": ""}
        zero = {"requests": 0, "tokens": 0, "proved": 0.0, "nominal": 0.0, "used": time.time()}
        insert = self._store.insert(ACCOUNTS).values(row | zero)
        await connection.execute(insert.on_conflict_do_nothing())
        await connection.execute(
            select(ACCOUNTS.c.tenant)
            .where(*(ACCOUNTS.c[name] == value for name, value in row.items()))
            .with_for_update()
        )

    async def charge(
        self,
        connection: AsyncConnection,
        tenant: str,
        prices: Sequence[tuple[str, Price]],
        *,
        conversations: Sequence[str] = (),
        budget: Budget,
        budget_tokens: Budget,
    ) -> Charge:
        """Charge one request to an account that is locked.

        Args:
            prices: conversation and price of each text that leaves for the first time.
            conversations: those the request belongs to, also where it costs nothing.
            budget, budget_tokens: the limits, in ε and in tokens.

        Raises:
            BudgetExceeded: the transaction has to be rolled back.
        """
        today = datetime.now(UTC).date().isoformat()
        accounts: dict[tuple[str, str], list[Price]] = {
            ("total", ""): [p for _, p in prices],
            ("day", today): [p for _, p in prices],
            **{("conversation", c): [] for c in conversations},
        }
        for conversation, one in prices:
            accounts.setdefault(("conversation", conversation), []).append(one)
        found = await self._add(connection, tenant, accounts)
        left: dict[str, float] = {}
        left_tokens: dict[str, float] = {}
        whole = _sum(accounts["total", ""])
        checks = [("request", whole.epsilon, whole.epsilon, whole.tokens, whole.tokens)]
        for (scope, period), costs in accounts.items():
            row, new = found[scope, period], _sum(costs)
            epsilon = row.proved + row.nominal
            checks.append((scope, epsilon, new.epsilon, row.tokens, new.tokens))
        for scope, epsilon, new_epsilon, tokens, new_tokens in checks:
            for unit, limits, spent, cost, rest in (
                ("ε", budget, epsilon, new_epsilon, left),
                ("tokens", budget_tokens, tokens, new_tokens, left_tokens),
            ):
                limit = getattr(limits, scope)
                if limit is None:
                    continue
                if cost and spent > limit * (1 + ROUNDING):
                    raise BudgetExceeded(scope, unit, cost, limit - (spent - cost))
                rest[scope] = min(rest.get(scope, math.inf), max(limit - spent, 0.0))
        total = found["total", ""]
        totals = {
            name: getattr(total, name) for name in ("requests", "tokens", "proved", "nominal")
        }
        return Charge(whole.tokens, whole.proved, whole.nominal, left, left_tokens, totals)

    async def _add(
        self,
        connection: AsyncConnection,
        tenant: str,
        accounts: Mapping[tuple[str, str], Sequence[Price]],
    ) -> dict[tuple[str, str], Row[Any]]:
        """Add to accounts; return them as they are then."""
        rows, spends = [], []
        for (scope, period), costs in accounts.items():
            whole = _sum(costs)
            place = {"tenant": tenant, "scope": scope, "period": period}
            figures = {"tokens": whole.tokens, "proved": whole.proved, "nominal": whole.nominal}
            rows.append(place | figures | {"requests": 1, "used": time.time()})
            counts: Counter[tuple[str, float, bool]] = Counter()
            for cost in costs:
                if cost.channel is not None:
                    counts[cost.channel] += cost.count
            for (mechanism, epsilon, narrow), count in counts.items():
                channel = {"mechanism": mechanism, "epsilon": epsilon, "bounded_range": narrow}
                spends.append(place | channel | {"count": count})
        insert = self._store.insert(ACCOUNTS).values(rows)
        upsert = insert.on_conflict_do_update(
            index_elements=list(ACCOUNTS.primary_key),
            set_={
                "used": insert.excluded.used,
                **{name: ACCOUNTS.c[name] + insert.excluded[name] for name in SUMS},
            },
        ).returning(ACCOUNTS)
        found = {(row.scope, row.period): row for row in await connection.execute(upsert)}
        if spends:
            more = self._store.insert(SPENDS).values(spends)
            await connection.execute(
                more.on_conflict_do_update(
                    index_elements=list(SPENDS.primary_key),
                    set_={"count": SPENDS.c["count"] + more.excluded["count"]},
                )
            )
        return found

    async def totals(self) -> dict[str, dict[str, float]]:
        """What everybody who has an account was charged in all: requests, tokens, proved and
        nominal ε."""
        query = select(ACCOUNTS).where(ACCOUNTS.c.scope == "total").order_by(ACCOUNTS.c.tenant)
        async with self._store.reading() as connection:
            rows = (await connection.execute(query)).all()
        return {row.tenant: _totals(row) for row in rows}

    async def figures(self, tenant: str, *, exact: bool = False) -> dict[str, Any]:
        """A tenant's account: in all, by day, and by conversation (the latest).

        Args:
            exact: in all and by day also the privacy loss distribution, where dp-accounting is
                installed and the releases are not too many for it: it takes long.
        """
        mine = ACCOUNTS.c.tenant == tenant
        order = ACCOUNTS.c.used.desc()
        async with self._store.reading() as connection:
            rows: list[Row[Any]] = []
            for scope in ("total", "day", "conversation"):
                query = select(ACCOUNTS).where(mine, ACCOUNTS.c.scope == scope).order_by(order)
                rows += (await connection.execute(query.limit(CONVERSATIONS))).all()
            spends: dict[tuple[str, str], list[Spend]] = {}
            for row in await connection.execute(select(SPENDS).where(SPENDS.c.tenant == tenant)):
                spent = Spend(row._mapping["count"], row.epsilon, row.bounded_range)
                spends.setdefault((row.scope, row.period), []).append(spent)
        out: dict[str, Any] = {
            "tenant": tenant,
            "total": _NOTHING,
            "days": {},
            "conversations": {},
        }
        for row in rows:
            found = spends.get((row.scope, row.period), [])
            fine = exact and row.scope != "conversation"  # they are many
            shown = await asyncio.to_thread(self._shown, row, found, fine)
            if row.scope == "total":
                out["total"] = shown
            else:
                out[f"{row.scope}s"][row.period] = shown
        return out

    def _shown(self, row: Row[Any], spends: Sequence[Spend], exact: bool) -> dict[str, Any]:
        fine = exact and sum(spent.count for spent in spends) <= EXACT
        bound = best(compose(spends, delta=self._delta, losses=fine and _has_accounting()))
        return {
            "requests": row.requests,
            "tokens": row.tokens,
            "epsilon": {
                "charged": row.proved + row.nominal,
                "basic": row.proved,
                "best": bound.to_dict(),
                "nominal": row.nominal,
            },
        }


_NOTHING: dict[str, Any] = {
    "requests": 0,
    "tokens": 0,
    "epsilon": {
        "charged": 0.0,
        "basic": 0.0,
        "best": {"bound": "basic", "epsilon": 0.0, "delta": 0.0},
        "nominal": 0.0,
    },
}


def _totals(row: Row[Any]) -> dict[str, float]:
    return {name: getattr(row, name) for name in SUMS}


def _sum(prices: Sequence[Price]) -> Price:
    return Price(
        sum(p.tokens for p in prices),
        math.fsum(p.proved for p in prices),
        math.fsum(p.nominal for p in prices),
    )


def _has_accounting() -> bool:
    from importlib.util import find_spec

    return find_spec("dp_accounting") is not None
