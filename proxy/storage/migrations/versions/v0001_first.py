"""Make the first tables: releases, answers, accounts, spends, keys."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["downgrade", "upgrade"]

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the tables."""
    for name in ("releases", "answers"):
        op.create_table(
            name,
            sa.Column("key", sa.LargeBinary(32), primary_key=True),
            sa.Column("tenant", sa.Text, nullable=False, index=True),
            sa.Column("value", sa.Text, nullable=False),
            sa.Column("used", sa.Double, nullable=False, index=True),
        )
    op.create_table(
        "accounts",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("scope", sa.Text, primary_key=True),
        sa.Column("period", sa.Text, primary_key=True),
        sa.Column("requests", sa.BigInteger, nullable=False),
        sa.Column("tokens", sa.BigInteger, nullable=False),
        sa.Column("proved", sa.Double, nullable=False),
        sa.Column("nominal", sa.Double, nullable=False),
        sa.Column("used", sa.Double, nullable=False, index=True),
    )
    op.create_table(
        "spends",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("scope", sa.Text, primary_key=True),
        sa.Column("period", sa.Text, primary_key=True),
        sa.Column("mechanism", sa.Text, primary_key=True),
        sa.Column("epsilon", sa.Double, primary_key=True),
        sa.Column("bounded_range", sa.Boolean, primary_key=True),
        sa.Column("count", sa.BigInteger, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "scope", "period"],
            ["accounts.tenant", "accounts.scope", "accounts.period"],
            ondelete="CASCADE",
        ),
    )
    op.create_table(
        "keys",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("sha256", sa.Text, nullable=False),
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("grant", sa.Text, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("revoked", sa.Double),
    )


def downgrade() -> None:
    """Drop what `upgrade` added."""
    for name in ("keys", "spends", "accounts", "answers", "releases"):
        op.drop_table(name)
