"""Add tokens without a bound to the accounts, and the disclosures of conversations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["downgrade", "upgrade"]

revision = "0002"
down_revision = "0001"

PLACE = ("tenant", "scope", "period")
FIGURES = ("tokens", "unbounded", "proved", "nominal")


def upgrade() -> None:
    """Add the column and the table, and fill them from the accounts.

    Earlier versions did not count text that `selective` leaves unchanged: the accounts hold only
    the replaced words of those releases. A conversation's charges become its disclosures; a
    release that is sent in it again is counted once more.
    """
    unbounded = sa.Column("unbounded", sa.BigInteger, nullable=False, server_default="0")
    op.add_column("accounts", unbounded)
    op.create_table(
        "disclosures",
        *(sa.Column(name, sa.Text, primary_key=True) for name in PLACE),
        sa.Column("key", sa.LargeBinary(32), primary_key=True),
        sa.Column("tokens", sa.BigInteger, nullable=False),
        sa.Column("unbounded", sa.BigInteger, nullable=False),
        sa.Column("proved", sa.Double, nullable=False),
        sa.Column("nominal", sa.Double, nullable=False),
        sa.ForeignKeyConstraint(PLACE, [f"accounts.{name}" for name in PLACE], ondelete="CASCADE"),
    )
    accounts = sa.table("accounts", *map(sa.column, (*PLACE, *FIGURES)))
    spends = sa.table("spends", *map(sa.column, (*PLACE, "count")))
    disclosures = sa.table("disclosures", *map(sa.column, (*PLACE, "key", *FIGURES)))
    mine = sa.and_(*(spends.c[name] == accounts.c[name] for name in PLACE))
    proved = sa.select(sa.func.coalesce(sa.func.sum(spends.c["count"]), 0)).where(mine)
    rest = accounts.c.tokens - proved.scalar_subquery()
    op.execute(
        sa.update(accounts)
        .where(accounts.c.nominal > 0)
        .values(unbounded=sa.case((rest > 0, rest), else_=0))
    )
    before = sa.literal(b"", sa.LargeBinary)
    charged = sa.select(
        *(accounts.c[name] for name in PLACE), before, *(accounts.c[name] for name in FIGURES)
    ).where(accounts.c.scope == "conversation", accounts.c.tokens > 0)
    op.execute(sa.insert(disclosures).from_select([*PLACE, "key", *FIGURES], charged))


def downgrade() -> None:
    """Drop what `upgrade` added."""
    op.drop_table("disclosures")
    op.drop_column("accounts", "unbounded")
