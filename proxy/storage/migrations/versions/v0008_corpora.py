"""Add the accounts of corpora."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["downgrade", "upgrade"]

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "owners",
        sa.Column("key", sa.LargeBinary(32), primary_key=True),
        sa.Column("documents", sa.BigInteger, nullable=False),
        sa.Column("tokens", sa.BigInteger, nullable=False),
        sa.Column("unbounded", sa.BigInteger, nullable=False),
        sa.Column("proved", sa.Double, nullable=False),
        sa.Column("nominal", sa.Double, nullable=False),
    )
    op.create_table(
        "owner_spends",
        sa.Column(
            "key",
            sa.LargeBinary(32),
            sa.ForeignKey("owners.key", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("mechanism", sa.Text, primary_key=True),
        sa.Column("epsilon", sa.Double, primary_key=True),
        sa.Column("bounded_range", sa.Boolean, primary_key=True),
        sa.Column("unit", sa.Text, primary_key=True),
        sa.Column("count", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "blocks",
        sa.Column("key", sa.LargeBinary(32), primary_key=True),
        sa.Column("refused", sa.Text, nullable=False),
    )


def downgrade() -> None:
    """Drop the tables, and with them the accounts."""
    for name in ("blocks", "owner_spends", "owners"):
        op.drop_table(name)
