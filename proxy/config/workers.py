"""Name the limits that workers divide among themselves, and check that there is enough."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

__all__ = ["DIVIDED", "check_workers"]

# section -> settings
DIVIDED: Mapping[str, tuple[str, ...]] = {
    "server": ("connections_per_address",),
    "limits": (
        "concurrent_requests",
        "concurrent_per_client",
        "queue_requests",
        "held_bytes",
    ),
    "remote": ("concurrency",),
    "local": ("concurrency",),
    "memo": ("megabytes",),
}


def check_workers(workers: int, config: Any) -> None:
    """Check that each of several workers gets something of every divided limit.

    Raises:
        ValueError: one would get nothing, or this system has no workers.
    """
    if workers == 1:
        return
    if sys.platform != "linux":
        raise ValueError("server.workers must be 1 on this system: more need Linux")
    for section, names in DIVIDED.items():
        for name in names:
            _check_share(workers, f"{section}.{name}", getattr(getattr(config, section), name))
    for alias, remote in config.remotes.items():
        for name in DIVIDED["remote"]:
            _check_share(workers, f"remotes.{alias}.{name}", getattr(remote, name))


def _check_share(workers: int, name: str, limit: float) -> None:
    if isinstance(limit, int) and 0 < limit < workers:
        raise ValueError(
            f"server.workers must be <= {name}, of which each worker gets an equal part: "
            f"{workers} > {limit}"
        )
