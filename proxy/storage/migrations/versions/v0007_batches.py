"""Add files and batches, whose contents are encrypted."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["downgrade", "upgrade"]

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "files",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("tenant", sa.Text, nullable=False, index=True),
        sa.Column("purpose", sa.Text, nullable=False),
        sa.Column("ready", sa.Boolean, nullable=False),
        sa.Column("value", sa.LargeBinary, nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("expires", sa.Double, nullable=False, index=True),
    )
    op.create_table(
        "file_lines",
        sa.Column("file", sa.Text, primary_key=True),
        sa.Column("number", sa.BigInteger, primary_key=True),
        sa.Column("value", sa.LargeBinary, nullable=False),
        sa.ForeignKeyConstraint(["file"], ["files.id"], ondelete="CASCADE"),
    )
    op.create_table(
        "batches",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("tenant", sa.Text, nullable=False, index=True),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("key", "endpoint")),
        sa.Column("status", sa.Text, nullable=False, index=True),
        sa.Column("value", sa.LargeBinary, nullable=False),
        sa.Column("errors", sa.Text),
        sa.Column("input", sa.Text, nullable=False, index=True),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("output", "refused")),
        *(
            sa.Column(name, sa.BigInteger, nullable=False)
            for name in ("total", "completed", "failed")
        ),
        *(sa.Column(name, sa.Double, nullable=False) for name in ("retention", "created")),
        *(sa.Column(name, sa.Double) for name in ("began", "finalizing", "cancelling", "ended")),
        sa.Column("closes", sa.Double, nullable=False),
        sa.Column("forget", sa.Double, nullable=False, index=True),
        sa.Column("owner", sa.Text),
        sa.Column("lease", sa.Double),
    )


def downgrade() -> None:
    """Drop the tables."""
    for name in ("batches", "file_lines", "files"):
        op.drop_table(name)
