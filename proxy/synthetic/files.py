"""Read private texts, and write synthetic examples with the report of their guarantee."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from perturb.files.atomic import write_atomically
from perturb.synthetic.synthesis import Example
from proxy.errors import ConfigError

__all__ = ["check_output", "find_report", "read_private", "write_examples"]


def read_private(
    path: Path, text: str, label: str | None, labels: Sequence[str]
) -> dict[str | None, list[str]]:
    """Return the texts of each label, in the order of `labels`; under None where there are none.

    Args:
        path: JSONL in UTF-8, an object in each line that is not blank.
        text: the key of the text.
        label: the key of the label; None is no labels.
        labels: every label that there may be. They are public; labels found in the texts are not.

    Raises:
        ConfigError: a line breaks a rule. It is named by its number, and its text is not shown.
        OSError: the file cannot be read.
    """
    found: dict[str | None, list[str]] = {name: [] for name in labels} if label else {None: []}
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                raise ConfigError(f"{path}, line {number}: must be an object of JSON") from None
            value = row.get(text) if isinstance(row, dict) else None
            if not isinstance(value, str):
                raise ConfigError(f"{path}, line {number}: must be an object with a string {text}")
            name = row.get(label) if label else None
            if not isinstance(name, str | None) or name not in found:
                raise ConfigError(f"{path}, line {number}: {label} must be one of the labels")
            found[name].append(value)
    if not any(found.values()):
        raise ConfigError(f"{path}: must hold at least one text")
    return found


def find_report(out: Path) -> Path:
    """Return the path of the report of an output."""
    return out.with_name(out.name + ".report.json")


def check_output(out: Path) -> None:
    """Check that an output can be written, before any ε is spent on it.

    Raises:
        ConfigError: it exists: another run is another release, and its ε adds up.
        OSError: its folder does not exist.
    """
    for path in (out, find_report(out)):
        if path.exists():
            raise ConfigError(
                f"{path} exists; another run is another release, so move it away first"
            )
    out.parent.resolve(strict=True)


def write_examples(
    out: Path, examples: Sequence[Example], facts: Mapping[str, Any]
) -> dict[str, Any]:
    """Write the examples and their report; return the report.

    Args:
        out: JSONL with `text`, and `label` where there are labels.
        examples: in the order of the output.
        facts: the guarantee and the public parameters.
    """
    lines = [
        json.dumps(
            {"text": each.text} | ({} if each.label is None else {"label": each.label}),
            ensure_ascii=False,
        )
        for each in examples
    ]
    data = "".join(line + "\n" for line in lines).encode("utf-8", "replace")
    report = {**facts, "examples": len(examples), "sha256": hashlib.sha256(data).hexdigest()}
    write_atomically(out, data)
    write_atomically(
        find_report(out), (json.dumps(report, indent=2, ensure_ascii=False) + "\n").encode()
    )
    return report
