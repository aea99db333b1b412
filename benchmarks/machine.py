"""Describe the machine that figures were measured on."""

from __future__ import annotations

import os
import platform
import tempfile
from pathlib import Path

import psutil

from benchmarks.run import read_commit

__all__ = ["describe_host"]


def describe_host() -> dict[str, str | int]:
    """Return what figures depend on: processor, cores, file system, Python and commit."""
    return {
        "processor": _find_processor(),
        "cores": len(os.sched_getaffinity(0)),
        "file system": _find_file_system(Path(tempfile.gettempdir())),
        "python": platform.python_version(),
        "commit": read_commit(),
    }


def _find_processor() -> str:
    for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _find_file_system(folder: Path) -> str:
    """Return the type of the file system that durable writes go to: on tmpfs they are free."""
    mounts = {Path(part.mountpoint): part.fstype for part in psutil.disk_partitions(all=True)}
    return next((mounts[path] for path in (folder, *folder.parents) if path in mounts), "unknown")
