"""Rows of a record, written by hand."""

from __future__ import annotations

from typing import Any

from benchmarks.load.measure import Measurement
from benchmarks.load.record import Record

__all__ = ["record", "row"]


def row(target: str, **changed: Any) -> Measurement:
    """A short chat over 16 connections, with some fields changed."""
    plain: dict[str, Any] = {
        "target": target,
        "connections": 16,
        "stream": False,
        "words": 61,
        "repeat": False,
        "round": 0,
        "requests": 500,
        "requests_per_second": 100.0,
        "p50_ms": 10.0,
        "p99_ms": 20.0,
        "max_ms": 30.0,
        "late": 0,
        "wrong": 0,
        "failed": 0,
        "example": "",
        "cpu_ms": 9.0,
        "rss_mb": 300.0,
        "ready_seconds": 10.0,
        "generator_cores": 0.01,
        "upstream_cores": 0.02,
        "busy_cores": 0.03,
    }
    return Measurement(**plain | changed)


def record(*rows: Measurement, **changed: Any) -> Record:
    """A record of these rows."""
    machine: dict[str, str | int] = {"processor": "some", "cores": 2}
    return Record(machine, 5.0, rows=list(rows), **changed)
