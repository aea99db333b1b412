"""JSON schemas of other projects' files, checked in one process: it starts for seconds."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["find_faults"]


def find_faults(schema: str, files: Sequence[Path]) -> dict[Path, Any]:
    """Return what is wrong with each of the files that break a schema."""
    command = [sys.executable, "-m", "check_jsonschema", "-o", "json", "--builtin-schema", schema]
    done = subprocess.run(
        [*command, *map(str, files)], capture_output=True, text=True, timeout=120
    )
    told = json.loads(done.stdout)
    assert done.returncode == (told["status"] != "ok"), done.stderr
    assert not told.get("parse_errors"), told
    return {Path(error["filename"]): error for error in told.get("errors", ())}
