"""Price releases: the cost of one, the charge of a request, and what it discloses."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from sqlalchemy import Row

from perturb import Perturbation, Sanitizer

__all__ = ["Channel", "Charge", "Disclosure", "Price", "price", "price_of", "total"]

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
