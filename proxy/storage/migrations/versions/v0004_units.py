"""Add the unit of ε to the spends, so that an account keeps units apart."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["downgrade", "upgrade"]

revision = "0004"
down_revision = "0003"

PLACE = ("tenant", "scope", "period")
CHANNEL = ("mechanism", "epsilon", "bounded_range")
# The mechanisms of earlier versions whose unit was not a token.
UNITS = {
    "selective": "marked part",
    "dp_prompt": "generated token",
    "surrogate": "document",
}


def upgrade() -> None:
    """Make the table anew: the unit belongs to its key."""
    op.rename_table("spends", "spends_before")
    _create_table(sa.Column("unit", sa.Text, primary_key=True))
    before = sa.table("spends_before", *map(sa.column, (*PLACE, *CHANNEL, "count")))
    unit = sa.case(UNITS, value=before.c.mechanism, else_="token")
    kept = [before.c[name] for name in (*PLACE, *CHANNEL)]
    _fill(sa.select(*kept, unit, before.c["count"]), (*PLACE, *CHANNEL, "unit", "count"))
    op.drop_table("spends_before")


def downgrade() -> None:
    """Add up what the unit kept apart."""
    op.rename_table("spends", "spends_after")
    _create_table()
    after = sa.table("spends_after", *map(sa.column, (*PLACE, *CHANNEL, "count")))
    kept = [after.c[name] for name in (*PLACE, *CHANNEL)]
    query = sa.select(*kept, sa.func.sum(after.c["count"])).group_by(*kept)
    _fill(query, (*PLACE, *CHANNEL, "count"))
    op.drop_table("spends_after")


def _create_table(*more: sa.Column[str]) -> None:
    op.create_table(
        "spends",
        *(sa.Column(name, sa.Text, primary_key=True) for name in (*PLACE, "mechanism")),
        sa.Column("epsilon", sa.Double, primary_key=True),
        sa.Column("bounded_range", sa.Boolean, primary_key=True),
        *more,
        sa.Column("count", sa.BigInteger, nullable=False),
        sa.ForeignKeyConstraint(PLACE, [f"accounts.{name}" for name in PLACE], ondelete="CASCADE"),
    )


def _fill(rows: sa.Select[tuple[object, ...]], names: tuple[str, ...]) -> None:
    spends = sa.table("spends", *map(sa.column, names))
    op.execute(sa.insert(spends).from_select(list(names), rows))
