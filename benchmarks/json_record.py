"""Records of one run as JSON files."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

__all__ = ["JsonRecord", "read_json"]

T = TypeVar("T")


class JsonRecord:
    """Write a record, which is a dataclass, to a file."""

    def write(self, path: Path) -> None:
        """Write the record as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        found = asdict(self)  # type: ignore[call-overload]
        path.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


def read_json(
    path: Path, build: Callable[[Any], T], what: str, error: type[Exception] = ValueError
) -> T | None:
    """Read a record of `what`, such as "a soak"; None if there is no file.

    Raises:
        error: it is no record of this version: not JSON, or `build` fails.
    """
    if not path.exists():
        return None
    try:
        return build(json.loads(path.read_text("utf-8")))
    except (ValueError, TypeError, KeyError) as exc:
        raise error(f"{path} is not a record of {what}: {exc}") from exc
