"""Add the audit record."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["downgrade", "upgrade"]

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "records",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("number", sa.BigInteger, primary_key=True),
        sa.Column("time", sa.Double, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.Column("hash", sa.LargeBinary(32), nullable=False),
    )


def downgrade() -> None:
    """Drop the table, and with it the record."""
    op.drop_table("records")
