"""The time that tests give to what must happen, on a slow and busy machine too."""

from __future__ import annotations

__all__ = ["LIMIT"]

LIMIT = 120.0  # seconds; only a hang reaches it
