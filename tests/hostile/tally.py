"""The seed of the tier, the counts it ran, and the line that states them."""

from __future__ import annotations

import os
from collections import Counter

__all__ = ["COUNTS", "MEMORY", "SEED", "STALL", "note", "summary"]

SEED = int(os.environ.get("INFERDPT_HOSTILE_SEED", "829"))
STALL = 1.0  # seconds `/health` may take longer than on an idle proxy
MEMORY = 600 * 2**20  # bytes a proxy may hold at its peak
COUNTS: Counter[str] = Counter()
_worst = {"stall": 0.0, "peak": 0}


def note(stall: float, peak: int) -> None:
    """Keep the worst answer of `/health` and the highest memory of all proxies."""
    _worst["stall"] = max(_worst["stall"], stall)
    _worst["peak"] = max(_worst["peak"], peak)


def summary() -> str:
    """Return the line, or an empty one where nothing ran."""
    if not COUNTS:
        return ""
    counts = ", ".join(f"{count:,} {name}" for name, count in COUNTS.items())
    return (
        f"hostile: seed {SEED}; {counts}; worst /health {_worst['stall']:.2f} s over idle, "
        f"peak {_worst['peak'] / 2**20:.0f} MB"
    )
