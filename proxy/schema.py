"""The store's tables: released text, the remote's generations, keyed hashes and counters.

No column holds raw text. A change here needs a migration (proxy/migrations/versions).
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKeyConstraint,
    LargeBinary,
    MetaData,
    Table,
    Text,
)

METADATA = MetaData()


def _remembered(name: str) -> Table:
    """Rows found by an HMAC. `value` is JSON in ASCII: PostgreSQL's text takes neither NUL nor
    half a surrogate pair, and a remote may send both."""
    return Table(
        name,
        METADATA,
        Column("key", LargeBinary(32), primary_key=True),
        Column("tenant", Text, nullable=False, index=True),
        Column("value", Text, nullable=False),
        Column("used", Double, nullable=False, index=True),  # seconds since 1970
    )


RELEASES = _remembered("releases")
ANSWERS = _remembered("answers")

# What a tenant has been charged in all ("total", ""), on a day ("day", "2030-01-31") and in a
# conversation ("conversation", its HMAC in hexadecimal).
ACCOUNTS = Table(
    "accounts",
    METADATA,
    Column("tenant", Text, primary_key=True),
    Column("scope", Text, primary_key=True),
    Column("period", Text, primary_key=True),
    Column("requests", BigInteger, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("proved", Double, nullable=False),  # Σ n·ε where ε is a proved bound
    Column("nominal", Double, nullable=False),  # Σ n·ε where it is not
    Column("used", Double, nullable=False, index=True),
)

# The proved part by channel, for composition: `count` releases at ε.
SPENDS = Table(
    "spends",
    METADATA,
    Column("tenant", Text, primary_key=True),
    Column("scope", Text, primary_key=True),
    Column("period", Text, primary_key=True),
    Column("mechanism", Text, primary_key=True),
    Column("epsilon", Double, primary_key=True),
    Column("bounded_range", Boolean, primary_key=True),
    Column("count", BigInteger, nullable=False),
    ForeignKeyConstraint(
        ["tenant", "scope", "period"],
        ["accounts.tenant", "accounts.scope", "accounts.period"],
        ondelete="CASCADE",
    ),
)

# Clients' keys: the SHA-256 of each, and what its bearer may do (JSON).
KEYS = Table(
    "keys",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("sha256", Text, nullable=False),
    Column("tenant", Text, nullable=False),
    Column("grant", Text, nullable=False),
    Column("created", Double, nullable=False),
    Column("revoked", Double),
)
