"""Add the sessions of people who signed in to the console."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["downgrade", "upgrade"]

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "sessions",
        sa.Column("key", sa.LargeBinary(32), primary_key=True),
        sa.Column("person", sa.LargeBinary(32), nullable=False, index=True),
        sa.Column("value", sa.LargeBinary, nullable=False),
        sa.Column("expires", sa.Double, nullable=False, index=True),
    )


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("sessions")
