"""Transactions of one statement, for `Store.read`, `scan` and `write`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Executable

__all__ = ["execute", "scalar"]


def execute(statement: Executable, *rows: dict[str, Any]) -> Callable[[Connection], int]:
    """Run a statement that returns no rows."""
    return lambda connection: connection.execute(statement, list(rows) or None).rowcount


def scalar(statement: Executable) -> Callable[[Connection], Any]:
    """Run a query and return the first column of its first row."""
    return lambda connection: connection.scalar(statement)
