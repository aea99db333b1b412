"""Read demonstrations: public examples that stand in front of what is sent to the remote."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perturb import DocumentTooLong, Vocabulary
from perturb.synthetic.synthesis import Example
from proxy.errors import ConfigError
from proxy.strict_lines import check_text, read_lines

__all__ = ["Demonstrations", "read_demonstrations"]

SETTING = "privacy.demonstrations"
EXAMPLES = 256  # the most in a file
BYTES = 256_000  # the most of a file


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
        found = Demonstrations(tuple(read_lines(data, ("text", "label"), "text", _make_example)))
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


def _make_example(found: dict[str, Any]) -> Example:
    label = found.get("label")  # null is no label, as in tables without one
    return Example(
        check_text("text", found["text"]), None if label is None else check_text("label", label)
    )
