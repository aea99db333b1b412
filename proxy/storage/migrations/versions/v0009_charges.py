"""Know the releases of corpora that were charged, not the blocks.

A charged block did not tell which of its documents were released and paid for. The accounts of
owners stay as they are; a release of before that is made again is charged again.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["downgrade", "upgrade"]

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Replace the table."""
    op.create_table(
        "charges",
        sa.Column("key", sa.LargeBinary(32), primary_key=True),
        sqlite_with_rowid=False,
    )
    op.drop_table("blocks")


def downgrade() -> None:
    """Bring back the table of blocks, empty."""
    op.create_table(
        "blocks",
        sa.Column("key", sa.LargeBinary(32), primary_key=True),
        sa.Column("refused", sa.Text, nullable=False),
    )
    op.drop_table("charges")
