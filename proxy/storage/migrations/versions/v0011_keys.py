"""Keep with a key whether it is of a front end, its label and owner, its end and its last use."""

from __future__ import annotations

import time

import sqlalchemy as sa
from alembic import op

__all__ = ["downgrade", "upgrade"]

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Add the columns. Keys of before are of ordinary clients and do not end."""
    op.add_column(
        "keys", sa.Column("on_behalf", sa.Boolean, nullable=False, server_default=sa.false())
    )
    for name in ("label", "owner"):
        op.add_column("keys", sa.Column(name, sa.Text, nullable=False, server_default=""))
    for name in ("expires", "used"):
        op.add_column("keys", sa.Column(name, sa.Double))


def downgrade() -> None:
    """Revoke the keys that an earlier version would take for those of one client without an end,
    and remove the columns."""
    keys = sa.table("keys", *map(sa.column, ("revoked", "on_behalf", "expires")))
    special = sa.or_(keys.c.on_behalf, keys.c.expires.is_not(None))
    op.execute(
        sa.update(keys).where(keys.c.revoked.is_(None), special).values(revoked=time.time())
    )
    for name in ("on_behalf", "label", "owner", "expires", "used"):
        op.drop_column("keys", name)
