"""Seal the grants of keys, which name terms that nobody may read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from alembic import context, op

from proxy.storage.digests import open_sealed, place_of, seal
from proxy.storage.schema import KEYS

__all__ = ["downgrade", "upgrade"]

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Encrypt the grants. SQLite overwrites the rows of before (`secure_delete`); PostgreSQL
    deletes their file."""
    digests = context.config.attributes["digests"]
    _rewrite(
        sa.LargeBinary(), lambda key, grant: seal(digests, grant.encode(), *place_of(KEYS, key))
    )


def downgrade() -> None:
    """Decrypt the grants."""
    digests = context.config.attributes["digests"]
    _rewrite(
        sa.Text(), lambda key, grant: open_sealed(digests, grant, *place_of(KEYS, key)).decode()
    )


def _rewrite(kind: Any, change: Callable[[str, Any], Any]) -> None:
    """Make the table anew, with grants of another kind."""
    rows = op.get_bind().execute(sa.text("SELECT * FROM keys")).mappings().all()
    new = op.create_table(
        "new_keys",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("sha256", sa.Text, nullable=False),
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("grant", kind, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("revoked", sa.Double),
    )
    op.bulk_insert(new, [{**row, "grant": change(row["id"], row["grant"])} for row in rows])
    op.drop_table("keys")
    op.rename_table("new_keys", "keys")
