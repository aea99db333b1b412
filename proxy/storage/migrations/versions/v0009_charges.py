"""Know the releases of corpora that were charged, not the blocks; begin the record of each store.

A charged block did not tell which of its documents were released and paid for. The accounts of
owners stay as they are; a release of before that is made again is charged again.

The first row of the record was written when a proxy first started. Here it is written into stores
that have none, and from now on it is there from the beginning.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import context, op

from proxy.storage.opening import write_beginning

__all__ = ["downgrade", "upgrade"]

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Replace the table, and write the first row."""
    op.create_table(
        "charges",
        sa.Column("key", sa.LargeBinary(32), primary_key=True),
        sqlite_with_rowid=False,
    )
    op.drop_table("blocks")
    write_beginning(op.get_bind(), context.config.attributes["digests"])


def downgrade() -> None:
    """Bring back the table of blocks, empty."""
    op.create_table(
        "blocks",
        sa.Column("key", sa.LargeBinary(32), primary_key=True),
        sa.Column("refused", sa.Text, nullable=False),
    )
    op.drop_table("charges")
