"""Add the rate limits of keys, so that several processes count them together."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["downgrade", "upgrade"]

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "rates",
        sa.Column("key", sa.LargeBinary(32), primary_key=True),
        sa.Column("full_at", sa.Double, nullable=False, index=True),
    )


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("rates")
