"""Define the store's tables: released text, the remote's generations, keyed hashes and counters.

No column holds raw text that is not encrypted. A change here needs a migration
(proxy/storage/migrations/versions) and its revision: a new database is made from these tables, an
older one is migrated, and a test compares the two.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    false,
)

METADATA = MetaData()
REVISION = "0012"  # of the last migration

# Alembic's own table, as Alembic makes it.
VERSIONS = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)


def _build_memory(name: str) -> Table:
    """Build a table of rows that are found by an HMAC.

    `value` is JSON in ASCII: PostgreSQL's text takes neither NUL nor half a surrogate pair, and a
    remote may send both.
    """
    return Table(
        name,
        METADATA,
        Column("key", LargeBinary(32), primary_key=True),
        Column("tenant", Text, nullable=False, index=True),
        Column("value", Text, nullable=False),
        Column("used", Double, nullable=False, index=True),  # seconds since 1970
    )


RELEASES = _build_memory("releases")
ANSWERS = _build_memory("answers")

# Passages of raw text by their HMAC, so that they are found again inside other texts. `anchor` is
# the HMAC of the passage's beginning; `value` holds, encrypted, its length and the keys of its
# releases.
PASSAGES = Table(
    "passages",
    METADATA,
    Column("key", LargeBinary(32), primary_key=True),
    Column("tenant", Text, nullable=False, index=True),
    Column("anchor", LargeBinary(32), nullable=False, index=True),
    Column("value", LargeBinary, nullable=False),
    Column("used", Double, nullable=False, index=True),
)

# The sums charged to a tenant: in all ("total", ""), on a day ("day", "2030-01-31") and in a
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
    # Tokens without a proved bound. The default is for replicas of an earlier version.
    Column("unbounded", BigInteger, nullable=False, server_default="0"),
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
    Column("unit", Text, primary_key=True),
    Column("count", BigInteger, nullable=False),
    ForeignKeyConstraint(
        ["tenant", "scope", "period"],
        ["accounts.tenant", "accounts.scope", "accounts.period"],
        ondelete="CASCADE",
    ),
)

# Every release that was sent in a conversation, new or not: its HMAC and its price.
DISCLOSURES = Table(
    "disclosures",
    METADATA,
    Column("tenant", Text, primary_key=True),
    Column("scope", Text, primary_key=True),  # "conversation"
    Column("period", Text, primary_key=True),
    Column("key", LargeBinary(32), primary_key=True),
    Column("tokens", BigInteger, nullable=False),
    Column("unbounded", BigInteger, nullable=False),
    Column("proved", Double, nullable=False),
    Column("nominal", Double, nullable=False),
    ForeignKeyConstraint(
        ["tenant", "scope", "period"],
        ["accounts.tenant", "accounts.scope", "accounts.period"],
        ondelete="CASCADE",
    ),
)

# The rate limits of keys: an HMAC of a key's id, and when its bucket is full (seconds since 1970).
RATES = Table(
    "rates",
    METADATA,
    Column("key", LargeBinary(32), primary_key=True),
    Column("full_at", Double, nullable=False, index=True),
)

# The audit record (proxy.records): rows of a tenant, numbered from 1, that are only appended. A
# tenant "" holds rows about the store. `value` is JSON in ASCII, and `hash` an HMAC of the row and
# of the hash before it.
RECORDS = Table(
    "records",
    METADATA,
    Column("tenant", Text, primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("time", Double, nullable=False),  # seconds since 1970
    Column("value", Text, nullable=False),
    Column("hash", LargeBinary(32), nullable=False),
)

# Files of batches (proxy.batches). `value`, encrypted, holds the name. Clients see a file once it
# is `ready`, and until it expires.
FILES = Table(
    "files",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("tenant", Text, nullable=False, index=True),
    Column("purpose", Text, nullable=False),
    Column("ready", Boolean, nullable=False),
    Column("value", LargeBinary, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("created", Double, nullable=False),
    Column("expires", Double, nullable=False, index=True),
)

# Their lines, encrypted. A line of an answer has the number of the line that asked.
FILE_LINES = Table(
    "file_lines",
    METADATA,
    Column("file", Text, primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("value", LargeBinary, nullable=False),
    ForeignKeyConstraint(["file"], ["files.id"], ondelete="CASCADE"),
)

# Batches. `value`, encrypted, holds the metadata; `errors` is JSON and holds no text. One process
# at a time is the `owner`, until the time `lease`. Times are in seconds since 1970.
BATCHES = Table(
    "batches",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("tenant", Text, nullable=False, index=True),
    Column("key", Text, nullable=False),  # the id of the key that made it
    Column("endpoint", Text, nullable=False),
    Column("status", Text, nullable=False, index=True),
    Column("value", LargeBinary, nullable=False),
    Column("errors", Text),
    Column("input", Text, nullable=False, index=True),
    Column("output", Text, nullable=False),
    Column("refused", Text, nullable=False),
    Column("total", BigInteger, nullable=False),
    Column("completed", BigInteger, nullable=False),
    Column("failed", BigInteger, nullable=False),
    Column("retention", Double, nullable=False),  # seconds from the end until it is forgotten
    Column("created", Double, nullable=False),
    Column("began", Double),
    Column("finalizing", Double),
    Column("cancelling", Double),
    Column("ended", Double),
    Column("closes", Double, nullable=False),  # the end of its completion window
    Column("forget", Double, nullable=False, index=True),
    Column("owner", Text),
    Column("lease", Double),
)

# The accounts of a corpus: the sums charged for all documents of an owner, by the HMAC of the
# owner's name, and the proved part by channel, as in `spends`.
OWNERS = Table(
    "owners",
    METADATA,
    Column("key", LargeBinary(32), primary_key=True),
    Column("documents", BigInteger, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("unbounded", BigInteger, nullable=False),
    Column("proved", Double, nullable=False),
    Column("nominal", Double, nullable=False),
)
OWNER_SPENDS = Table(
    "owner_spends",
    METADATA,
    Column("key", LargeBinary(32), ForeignKey("owners.key", ondelete="CASCADE"), primary_key=True),
    Column("mechanism", Text, primary_key=True),
    Column("epsilon", Double, primary_key=True),
    Column("bounded_range", Boolean, primary_key=True),
    Column("unit", Text, primary_key=True),
    Column("count", BigInteger, nullable=False),
)

# The releases that were charged to owners, each by an HMAC of its draw, owner, text and price.
CHARGES = Table(
    "charges",
    METADATA,
    Column("key", LargeBinary(32), primary_key=True),
    sqlite_with_rowid=False,  # half the size
)

# Clients' keys: the SHA-256 of each, and its grant (JSON), encrypted. `label` and `owner` are the
# operator's notes. `used` is exact to an hour. Times are in seconds since 1970.
KEYS = Table(
    "keys",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("sha256", Text, nullable=False),
    Column("tenant", Text, nullable=False),
    Column("grant", LargeBinary, nullable=False),
    Column("created", Double, nullable=False),
    Column("revoked", Double),
    # The defaults are for replicas of an earlier version.
    Column("on_behalf", Boolean, nullable=False, server_default=false()),
    Column("label", Text, nullable=False, server_default=""),
    Column("owner", Text, nullable=False, server_default=""),
    Column("expires", Double),
    Column("used", Double),
)

# The sessions of people who signed in to the console: an HMAC of each and of its person. `value`,
# encrypted, holds the person. A session that was ended keeps its row for a while.
SESSIONS = Table(
    "sessions",
    METADATA,
    Column("key", LargeBinary(32), primary_key=True),
    Column("person", LargeBinary(32), nullable=False, index=True),
    Column("value", LargeBinary, nullable=False),
    Column("expires", Double, nullable=False, index=True),  # seconds since 1970
)
