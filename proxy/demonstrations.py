"""Read demonstrations: public examples that stand in front of what is sent to the remote."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from perturb import DocumentTooLong, Vocabulary
from perturb.synthetic.synthesis import Example
from proxy.errors import ConfigError

__all__ = ["Demonstrations", "read_demonstrations"]

SETTING = "privacy.demonstrations"
EXAMPLES = 256  # the most in a file
BYTES = 256_000  # the most of a file
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Demonstrations:
    """Hold the demonstrations in the order of their file.

    They are the same for every request, so that the remote learns nothing from them.
    """

    examples: tuple[Example, ...] = ()

    def __len__(self) -> int:
        return len(self.examples)

    def spell(self) -> str:
        """Return the text that is sent, with one blank line between two examples."""
        return "\n\n".join(
            f"Example {number}:\n{example.text}"
            + (f"\nLabel: {example.label}" if example.label is not None else "")
            for number, example in enumerate(self.examples, 1)
        )


def read_demonstrations(
    path: str | None, vocabulary: Vocabulary, *, at_most: int
) -> Demonstrations:
    """Read a file with one object of JSON in each line: `text`, and perhaps a `label`.

    Args:
        path: the file; None is no demonstrations.
        vocabulary: counts tokens.
        at_most: cl100k tokens of all demonstrations together.

    Raises:
        ConfigError: the file cannot be read, exceeds a limit, or a line is not of that form. The
            message names the line and the rule, and holds nothing of the text.
    """
    if path is None:
        return Demonstrations()
    try:
        with Path(path).open("rb") as file:
            data = file.read(BYTES + 1)
    except OSError as exc:
        raise ConfigError(f"{SETTING}: {path}: cannot be read ({exc.strerror})") from exc
    if len(data) > BYTES:
        raise ConfigError(f"{SETTING}: {path}: must have at most {BYTES} bytes")
    try:
        found = Demonstrations(tuple(_read_lines(data)))
        if not 1 <= len(found) <= EXAMPLES:
            raise ValueError(f"must hold 1 to {EXAMPLES} demonstrations, got {len(found)}")
        vocabulary.encode(found.spell(), at_most=at_most)
    except ValueError as exc:
        raise ConfigError(f"{SETTING}: {path}: {exc}") from None
    except DocumentTooLong:
        raise ConfigError(
            f"{SETTING}: {path}: must have <= {at_most} tokens in all (limits.document_tokens)"
        ) from None
    return found


def _read_lines(data: bytes) -> Iterator[Example]:
    """Yield the demonstration in each line that is not blank. Raises `ValueError`."""
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            yield _read_line(line)
        except ValueError as exc:
            raise ValueError(f"line {number}: {exc}") from None


def _read_line(line: bytes) -> Example:
    try:
        found = json.loads(
            line.decode("utf-8"), object_pairs_hook=_build_object, parse_constant=_refuse
        )
    except _NotStrict:
        raise
    except (ValueError, RecursionError):
        raise ValueError("is not valid JSON in UTF-8") from None
    if not isinstance(found, dict):
        raise ValueError("must be an object of JSON")
    if not found.keys() <= {"text", "label"}:
        raise ValueError("must have no key but 'text' and 'label'")
    if "text" not in found:
        raise ValueError("'text' is required")
    label = found.get("label")  # null is no label, as in tables without one
    return Example(
        _check_text("text", found["text"]), None if label is None else _check_text("label", label)
    )


def _check_text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"'{name}' must be a string, got {type(value).__name__}")
    if not value.strip() or _LONE_SURROGATE.search(value):
        raise ValueError(f"'{name}' must hold a text in Unicode that is not blank")
    return value


class _NotStrict(ValueError):
    """Report what a lenient parser would accept."""


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise _NotStrict("has a duplicate key")
    return out


def _refuse(name: str) -> NoReturn:
    raise _NotStrict(f"numbers must be finite, got {name}")
