"""Add passages: the HMACs of released raw text, to find it again inside other texts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["downgrade", "upgrade"]

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "passages",
        sa.Column("key", sa.LargeBinary(32), primary_key=True),
        sa.Column("tenant", sa.Text, nullable=False, index=True),
        sa.Column("anchor", sa.LargeBinary(32), nullable=False, index=True),
        sa.Column("value", sa.LargeBinary, nullable=False),
        sa.Column("used", sa.Double, nullable=False, index=True),
    )


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("passages")
